"""The command line. One file = one verb; no logic here, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import gc
import sys
from io import TextIOWrapper

from sonde.cli._exits import run_to_exit_code
from sonde.cli._options import STDIN
from sonde.cli._verbs import add_installed_verbs, make_app
from sonde.cli._warnings import printed_warnings

app = make_app()


def main() -> None:
    """Run the command line and exit with the documented code."""
    gc.set_threshold(100_000, 50, 50)  # a command makes many objects that last and few cycles
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file name may have bytes that are not text
    arguments = [STDIN if a == "-" else a for a in sys.argv[1:] if a != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1

    def command() -> object:
        with printed_warnings():
            # not for built-in verbs: to look for others takes longer than most of the start
            if not arguments or arguments[0].startswith("-") or arguments[0] not in app:
                add_installed_verbs(app)
            return app(arguments, result_action="return_value", exit_on_error=False)

    sys.exit(run_to_exit_code(command, debug=debug))
