"""The command line. One file = one verb; no logic here, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import gc
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

from sentprobe.cli._exits import run_to_exit_code
from sentprobe.cli._options import STDIN
from sentprobe.cli._printing import printed_warnings
from sentprobe.cli._verbs import COMPLETION, VERBS, add_installed_verbs, built_in_verbs, make_app

if TYPE_CHECKING:
    import cyclopts

    app: cyclopts.App


def __getattr__(name: str) -> Any:
    """``app``: the command line with all built-in verbs."""
    if name == "app":
        globals()[name] = make_app(built_in_verbs())
        return globals()[name]
    raise AttributeError(f"module 'sentprobe.cli' has no attribute {name!r}")


def main() -> None:
    """Run the command line and exit with the documented code."""
    gc.set_threshold(100_000, 50, 50)  # a command makes many objects that last and few cycles
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a file name may have bytes that are not text
    arguments = [STDIN if a == "-" else a for a in sys.argv[1:] if a != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1

    is_built_in = bool(arguments) and arguments[0] in built_in_verbs()

    def command() -> object:
        with printed_warnings():
            if is_built_in:  # to load and to look for others takes longer than the rest
                app = make_app(arguments[:1])
            else:
                app = make_app(built_in_verbs())
                if arguments[:1] == [COMPLETION]:  # costs time that no other command should take
                    app.register_install_completion_command(COMPLETION)
                add_installed_verbs(app)
            return app(arguments, result_action="return_value", exit_on_error=False)

    code = run_to_exit_code(command, debug=debug, resumes=is_built_in and VERBS[arguments[0]].resumes)
    gc.freeze()  # the process is about to end: nothing needs to be looked through once more
    sys.exit(code)
