"""The verbs. A built-in verb is a file of this folder, named as the verb; other packages offer theirs as entry points.

The file of a verb has a function of the file's name, or a cyclopts ``App`` with commands of its own, and ``order``, its
place in ``sentprobe --help``; and it may have ``examples``, which are printed below its own help, and
``resumes``, if the same command goes on where it was interrupted. Files whose names begin
with _ hold what verbs share. An entry point names a function or an ``App``, and is not imported before the verb is
called:

    [project.entry-points."sentprobe.verbs"]
    cluster = "my_package.cluster:cluster"
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import FunctionType, ModuleType
from typing import TYPE_CHECKING, Annotated

import cyclopts
from cyclopts import Parameter

from sentprobe import __version__
from sentprobe.core.plugins import load_entry, module_names, offered
from sentprobe.errors import SentProbeError, UsageError, describe_error, error_location

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "sentprobe.verbs"
AFTER_BUILT_IN = 1000
"""The place of installed verbs in ``sentprobe --help``."""
PARAMETER_INDENT = " " * 8
"""Of the lines in a docstring that describe a parameter."""
DEFAULT_PARAMETER = Parameter(negative=(), show_default=False)


def make_app(verbs: Sequence[str]) -> cyclopts.App:
    """The command line with these built-in verbs."""
    app = cyclopts.App(
        name="sentprobe",
        help="Ask a sentence encoder what it knows.\n\nExit codes: 0 success, 1 wrong usage or bad input, "
        "2 some of what was requested failed, 130 interrupted, 143 or 129 terminated by SIGTERM or SIGHUP (what was "
        "written is kept). `--debug` shows the traceback of an error.",
        version=__version__,
        help_format="plaintext",
        suppress_keyboard_interrupt=False,
        default_parameter=DEFAULT_PARAMETER,
    )
    for name, module in verb_modules(verbs).items():
        verb = getattr(module, name)
        if isinstance(verb, cyclopts.App):
            verb.sort_key = module.order
            app.command(verb)
            for command in verb.subapps:
                _unwrap(command.default_command)
        else:
            _unwrap(verb)
            app.command(verb, sort_key=module.order, help_epilogue=_epilogue(module))
    return app


def resumes(verb: str) -> bool:
    """Whether the same command goes on where it was interrupted, as far as the file of the verb says so."""
    return verb in verb_names() and bool(getattr(importlib.import_module(f"sentprobe.cli.{verb}"), "resumes", False))


def _epilogue(module: ModuleType) -> str:
    """The examples below the help of a verb, if its file has some."""
    examples = getattr(module, "examples", "")
    return f"Examples\n{examples.rstrip()}" if examples else ""


def _unwrap(verb: object) -> None:
    """Put the help of each parameter on one line: cyclopts would keep the line breaks of the docstring."""
    if not isinstance(verb, FunctionType) or not verb.__doc__:
        return
    lines: list[str] = []
    for line in verb.__doc__.split("\n"):
        if line.startswith(PARAMETER_INDENT) and lines[-1].startswith(PARAMETER_INDENT):
            lines[-1] += f" {line.strip()}"
        else:
            lines.append(line)
    verb.__doc__ = "\n".join(lines)


def verb_names() -> list[str]:
    """The built-in verbs."""
    return module_names("sentprobe.cli")


def verb_modules(verbs: Sequence[str]) -> dict[str, ModuleType]:
    """The files of built-in verbs by name, in the order of ``sentprobe --help``."""
    modules = {name: importlib.import_module(f"sentprobe.cli.{name}") for name in verbs}
    return dict(sorted(modules.items(), key=lambda item: item[1].order))


def add_installed_verbs(app: cyclopts.App) -> None:
    """Add the verbs that installed packages offer; one whose name is taken is left out."""
    for name, entry in offered(GROUP).items():
        if name not in app:
            app.command(_installed_verb(entry))


def _installed_verb(entry: EntryPoint) -> cyclopts.App:
    """A command that loads the verb when it is called, so that a broken one breaks no other."""
    package = f"{entry.dist.name} {entry.dist.version}" if entry.dist else entry.value
    app = cyclopts.App(
        name=entry.name, help=f"From {package}.", help_flags=(), version_flags=(), sort_key=AFTER_BUILT_IN
    )

    @app.default
    def call(*words: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)]) -> object:
        verb = load_entry(entry)
        if not isinstance(verb, cyclopts.App):
            if not callable(verb):
                kind = type(verb).__name__
                raise UsageError(f"The verb {entry.name!r} of {package}: expected a function or an App, got {kind}.")
            own = cyclopts.App(name=f"sentprobe {entry.name}", version_flags=(), default_parameter=DEFAULT_PARAMETER)
            own.default(verb)
            verb = own
        try:
            return verb(list(words), result_action="return_value", exit_on_error=False)
        except (SentProbeError, cyclopts.CycloptsError, OSError):
            raise
        except Exception as e:
            failure = f"{describe_error(e)}{error_location(e)}"
            raise UsageError(f"The verb {entry.name!r} of {package} failed: {failure}") from e

    return app
