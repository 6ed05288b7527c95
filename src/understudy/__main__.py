"""`python -m understudy`: the command line without its installed script."""

from understudy.cli import main

if __name__ == "__main__":
    main()
