"""`python -m peers`."""

from peers.run import main

if __name__ == "__main__":
    main()
