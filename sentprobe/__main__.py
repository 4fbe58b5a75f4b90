"""Run the command line: ``python -m sentprobe``."""

from sentprobe.cli import main

if __name__ == "__main__":
    main()
