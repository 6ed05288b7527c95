"""`python -m engines`."""

from engines.run import main

if __name__ == "__main__":
    main()
