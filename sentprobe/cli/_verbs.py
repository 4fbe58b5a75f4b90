"""The verbs: a kind of part whose files have the names of the verbs.

The file of a verb has a function of the file's name, or a cyclopts ``App`` with commands of its own, and ``order``, its
place in ``sentprobe --help``, and ``group``, its heading there; and it may have ``examples``, which are printed below
its own help, and ``resumes``, if the same command goes on where it was interrupted. A file ``data_xnli.py`` has a
function or an App ``xnli`` and is the command ``xnli`` of the verb ``data``, which is an App. Files whose names begin
with _ hold what verbs share. An entry point names a function or an ``App``, and is not imported before the verb is
called:

    [project.entry-points."sentprobe.verbs"]
    cluster = "my_package.cluster:cluster"
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FunctionType
from typing import Annotated, Any

import cyclopts
from cyclopts import Parameter

from sentprobe import __version__
from sentprobe.core.plugins import Kind, PartSource
from sentprobe.errors import SentProbeError, UsageError, describe_error, error_location

AFTER_BUILT_IN = 1000
"""The place of installed verbs in ``sentprobe --help``."""
GROUPS = {
    name: cyclopts.Group(name, sort_key=i)
    for i, name in enumerate(("Start", "Sets", "Probe", "Read", "Train and align"), 1)
}
"""The headings of ``sentprobe --help``."""
COMPLETION = "--install-completion"
"""Instead of a verb: has the shell (bash, zsh, fish) complete verbs and options."""
PARAMETER_INDENT = " " * 8
"""Of the lines in a docstring that describe a parameter."""
DEFAULT_PARAMETER = Parameter(negative=(), show_default=False)


@dataclass(frozen=True)
class Verb:
    """A command of ``sentprobe``, or of one of its verbs."""

    name: str
    command: cyclopts.App | Callable[..., Any]
    order: int = AFTER_BUILT_IN
    group: str = ""
    summary: str = ""
    examples: str = ""
    resumes: bool = False


def _read(source: PartSource, content: object) -> Verb:
    if source.entry is None:
        about = vars(content)
        summary = (about["__doc__"] or "").split("\n")[0].partition(": ")[2]
        return Verb(
            source.name,
            about[source.name.partition("_")[2] or source.name],
            about.get("order", AFTER_BUILT_IN),
            about.get("group", ""),
            summary[:1].upper() + summary[1:],
            about.get("examples", ""),
            about.get("resumes", False),
        )
    if not callable(content):  # an App is callable, too
        raise UsageError(f"{source}: expected a function or an App, got {type(content).__name__}.")
    return Verb(source.name, content, summary=f"From {source.package}.")


VERBS = Kind("verb", "sentprobe.cli", Verb, by_file=True, read=_read)


def built_in_verbs() -> list[str]:
    """The names of the built-in verbs, without the commands of verbs."""
    return [name for name in VERBS.built_in() if "_" not in name]


def make_app(verbs: Iterable[str]) -> cyclopts.App:
    """The command line with these built-in verbs, of which no others are loaded."""
    app = cyclopts.App(
        name="sentprobe",
        help="Ask a sentence encoder what it knows.\n\nExit codes: 0 success, 1 wrong usage or bad input, "
        "2 some of what was requested failed, 130 interrupted, 143 or 129 terminated by SIGTERM or SIGHUP (what was "
        "written is kept). `--debug` shows the traceback of an error.\n\n"
        f"`sentprobe {COMPLETION}` has your shell complete verbs and options.",
        version=__version__,
        help_format="plaintext",
        suppress_keyboard_interrupt=False,
        default_parameter=DEFAULT_PARAMETER,
    )
    for verb in sorted(map(VERBS.get, verbs), key=lambda verb: verb.order):
        if isinstance(verb.command, cyclopts.App):
            _add_commands(verb)
            verb.command.sort_key = verb.order
            verb.command.group = GROUPS.get(verb.group, ())
            app.command(verb.command)
        else:
            _unwrap(verb.command)
            epilogue = f"Examples\n{verb.examples.rstrip()}" if verb.examples else ""
            group = GROUPS.get(verb.group)
            app.command(verb.command, sort_key=verb.order, group=group, help_epilogue=epilogue)
    return app


def _add_commands(verb: Verb) -> None:
    """Add the commands of a verb that have files of their own."""
    assert isinstance(verb.command, cyclopts.App)
    for name in VERBS.built_in():
        command = name.removeprefix(f"{verb.name}_")
        if command != name and command not in verb.command:
            verb.command.command(VERBS[name].command)
    for subapp in verb.command.subapps:
        _unwrap(subapp.default_command)


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


def add_installed_verbs(app: cyclopts.App) -> None:
    """Add the verbs that installed packages offer."""
    for source in VERBS.sources().values():
        if source.package:
            app.command(_installed_verb(source))


def _installed_verb(source: PartSource) -> cyclopts.App:
    """A command that loads the verb when it is called, so that a broken one breaks no other."""
    version = f" {source.entry.dist.version}" if source.entry and source.entry.dist else ""
    app = cyclopts.App(
        name=source.name,
        help=f"From {source.package}{version}.",
        help_flags=(),
        version_flags=(),
        sort_key=AFTER_BUILT_IN,
    )

    @app.default
    def call(*words: Annotated[str, Parameter(show=False, allow_leading_hyphen=True)]) -> object:
        command = VERBS.get(source.name).command
        if not isinstance(command, cyclopts.App):
            name = f"sentprobe {source.name}"
            function_app = cyclopts.App(name=name, version_flags=(), default_parameter=DEFAULT_PARAMETER)
            function_app.default(command)
            command = function_app
        try:
            return command(list(words), result_action="return_value", exit_on_error=False)
        except (SentProbeError, cyclopts.CycloptsError, OSError):
            raise
        except Exception as e:
            raise UsageError(f"{source} failed: {describe_error(e)}{error_location(e)}") from e

    return app
