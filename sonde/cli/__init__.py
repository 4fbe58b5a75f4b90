"""The command line: one verb per station. No logic here, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import gc
import sys
from io import TextIOWrapper

import cyclopts
from cyclopts import Parameter

from sonde import __version__
from sonde.cli.audit import audit
from sonde.cli.data import data
from sonde.cli.encode import encode, sentences
from sonde.cli.exits import run_to_exit_code
from sonde.cli.figure import figure
from sonde.cli.look import check, ls
from sonde.cli.make import make
from sonde.cli.report import report
from sonde.cli.run import compare, demo, repeat, run
from sonde.cli.senteval import senteval
from sonde.cli.serve import serve
from sonde.cli.shared import STDIN, printed_warnings
from sonde.cli.show import show

app = cyclopts.App(
    name="sonde",
    help="Ask a sentence encoder what it knows.\n\nExit codes: 0 done, 1 wrong use or bad input, "
    "2 some of what was asked for could not be made, 130 interrupted, 143 or 129 ended by SIGTERM or "
    "SIGHUP (what was written is kept). "
    "`--debug` shows the traceback of an error.",
    version=__version__,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(negative=(), show_default=False),
)
for verb in (
    demo, make, audit, data, encode, sentences, run, show, compare, report, figure, serve, repeat, senteval, check, ls,
):  # fmt: skip
    app.command(verb)


def main() -> None:
    """Run the command line and end with the documented exit code."""
    gc.set_threshold(100_000, 50, 50)  # a command makes many objects that last and few cycles
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file's name may have bytes that are no text
    arguments = [STDIN if a == "-" else a for a in sys.argv[1:] if a != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1

    def command() -> object:
        with printed_warnings():
            return app(arguments, result_action="return_value", exit_on_error=False)

    sys.exit(run_to_exit_code(command, debug=debug))
