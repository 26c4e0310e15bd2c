"""`python -m templatediff`: the same as the script."""

from templatediff.cli import main

if __name__ == "__main__":
    main()
