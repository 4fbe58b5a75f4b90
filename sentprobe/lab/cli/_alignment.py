"""What `sentprobe align` prints: how far it is, its results, and the methods there are."""

from __future__ import annotations

import shlex
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

from sentprobe.cli._printing import print_rows

if TYPE_CHECKING:
    from sentprobe.core.arguments import Value
    from sentprobe.lab.alignment.folder import AlignmentFolder
    from sentprobe.lab.alignment.method import Method, ProgressReport
    from sentprobe.lab.alignment.request import AlignmentRequest


class AlignmentDisplay:
    """Where an alignment is, on standard error: one transient line on a terminal, and a line per seed."""

    def __init__(self, request: AlignmentRequest) -> None:
        self._request = request
        self._stack = ExitStack()
        self._bar: Any = None
        self._task: Any = None
        self._notes: set[str] = set()
        self._done: dict[int, float] = {}

    def __enter__(self) -> Self:
        from sentprobe.console import err

        self._console = err()
        if sys.stderr.isatty():
            from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

            columns = (SpinnerColumn(), TextColumn("{task.description}", markup=False), TimeElapsedColumn())
            self._bar = self._stack.enter_context(Progress(*columns, console=self._console, transient=True))
            self._task = self._bar.add_task("reading the vectors", total=None)
        if self._request.why:
            self._print(f"method {self._request.method}: {self._request.why}")
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def report(self, report: ProgressReport) -> None:
        """Show a report."""
        from sentprobe.core.formatting import printable

        if report.stage == "note":
            if report.text not in self._notes:  # every candidate reads the same spaces
                self._print(printable(report.text))
            self._notes.add(report.text)
        elif report.stage == "seed":
            self._print(printable(f"seed {report.seed}: {report.text or facts_text(report.facts)}"))
            if report.seed in self._done:  # of another method
                self._done.clear()
            if "criterion" in report.facts:
                self._done[report.seed] = report.facts["criterion"]
            if len(criteria := self._done.values()) > 1:
                self._print(f"{len(criteria)} tries: criterion {min(criteria):.4f} to {max(criteria):.4f}")
        elif self._bar is not None:
            self._bar.update(
                self._task,
                description=f"seed {report.seed} · {report.stage} {report.number} · {facts_text(report.facts)}",
            )

    def _print(self, text: str) -> None:
        self._console.print(text, markup=False, soft_wrap=True)


def facts_text(facts: Mapping[str, float]) -> str:
    """Numbers with their names, the most important ones first."""
    from sentprobe.lab.alignment.card import NAMES, number_text, title_of

    first = ("criterion", "orthogonality", "pairs", *NAMES)
    keys = [*(key for key in first if key in facts), *(key for key in facts if key not in (*first, "seconds", "round"))]
    return ", ".join(f"{title_of(key)} {number_text(key, _count(key, facts[key]))}" for key in keys)


def _count(key: str, value: float) -> float:
    return int(value) if key == "pairs" else value


def print_summary(folder: AlignmentFolder, export: str) -> None:
    """Print what came out, and what to do next."""
    from sentprobe.console import out
    from sentprobe.core.formatting import printable
    from sentprobe.lab.alignment.card import ORTHOGONALITY, candidate_table, main_facts, seed_table
    from sentprobe.lab.alignment.export import export_files

    console, config = out(), folder.config
    if config.get("candidates"):
        print_rows(candidate_table(config))
        console.print()
    if len(config["seeds"]) > 1:
        print_rows(seed_table(config))
        console.print()
    facts = main_facts(folder)
    for name in ("method", "criterion", "search", ORTHOGONALITY, "dev P@1"):
        if name in facts:
            console.print(printable(f"{name + ':':16}{facts[name]}"), markup=False, soft_wrap=True)
    name = shlex.quote(str(folder.path))
    files = [shlex.quote(str(file)) for file in export_files(folder.path, export)]
    lines = [
        f"{'folder:':16}{folder.path}/ (card.md describes it)",
        f"{'next:':16}sentprobe words {name} --dictionary TEST",
        f"{'':16}sentprobe serve {name} --open",
    ]
    lines += [f"{'':16}sentprobe run -e vec:{file} -d SETS" for file in files]
    for line in (*lines, f"{'':16}sentprobe show {name}"):
        console.print(printable(line), markup=False, soft_wrap=True)


def print_methods(method: str) -> None:
    """Print all methods, or the settings of one."""
    from sentprobe.cli.ls import ls
    from sentprobe.console import out
    from sentprobe.core.arguments import value_text
    from sentprobe.lab.alignment import METHODS
    from sentprobe.lab.cli._training import print_settings

    if not method:
        ls("alignment-methods")
        return
    part = METHODS.get(method)
    out().print(f"{part.name}: {part.summary}", markup=False, soft_wrap=True)
    out().print(
        f"Dictionary: {part.dictionary}. Steps: {','.join(part.steps) or 'none'}. Rounds of refinement: {part.refine}.",
        markup=False,
    )
    for name, settings in part.presets.items():
        text = " ".join(f"{key}={value_text(value)}" for key, value in changed_settings(part, settings).items())
        out().print(f"With --preset {name}: {text}.", markup=False, soft_wrap=True)
    print_settings(part.settings)


def changed_settings(method: Method, settings: Mapping[str, Value]) -> dict[str, Value]:
    """The settings of a preset that differ from the defaults of a method."""
    return {name: value for name, value in settings.items() if value != method.settings[name].default}
