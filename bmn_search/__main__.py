"""`python -m bmn_search` is `bmn`."""

from bmn_search.cli import main

if __name__ == "__main__":
    main()
