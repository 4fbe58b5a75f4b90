"""Run the command line: ``python -m sonde``."""

from sonde.cli import main

if __name__ == "__main__":
    main()
