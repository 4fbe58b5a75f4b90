"""What `sentprobe train` prints: where it is, a summary at the end, and the parts that it can train with."""

from __future__ import annotations

import shlex
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any, Self

if TYPE_CHECKING:
    from sentprobe.core.arguments import Setting
    from sentprobe.lab.networks.folder import TrainedFolder
    from sentprobe.lab.training.history import TrainingReport


class TrainingDisplay:
    """Where training is, on standard error: one transient line on a terminal, otherwise a line per finished epoch."""

    def __init__(self, epochs: int) -> None:
        self._epochs = epochs
        self._stack = ExitStack()
        self._bar: Any = None
        self._task: Any = None
        self._first: tuple[float, int] | None = None
        self._ends: float | None = None
        self._score = ""

    def __enter__(self) -> Self:
        from sentprobe.lab.training.train import is_main_process

        if is_main_process() and sys.stderr.isatty():
            from rich.progress import BarColumn, Progress, SpinnerColumn, TextColumn

            from sentprobe.console import err

            display = self

            class Left(TextColumn):
                """The time left, which goes on between reports."""

                def render(self, task: Any) -> Any:
                    self.text_format = display.time_left(time.monotonic())
                    return super().render(task)

            text = TextColumn("{task.description}", markup=False)
            columns = (SpinnerColumn(), text, BarColumn(20), TextColumn("{task.fields[facts]}", markup=False), Left(""))
            self._bar = self._stack.enter_context(Progress(*columns, console=err(), transient=True))
            self._task = self._bar.add_task("reading the data", total=None, facts="")
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def report(self, report: TrainingReport) -> None:
        """Show a report."""
        self._estimate(report, time.monotonic())
        if report.scores:
            self._score = scores_text(report.scores)
        if self._bar is None:
            if report.checkpoint:
                _print_epoch(report, self._epochs)
            return
        facts = [f"loss {report.loss:.4f}", self._score, f"{report.words_per_second:,.0f} words/s"]
        self._bar.update(
            self._task,
            description=f"epoch {report.epoch}/{self._epochs}",
            completed=report.steps,
            total=report.of,
            facts=" · ".join(filter(None, facts)),
        )

    def time_left(self, now: float) -> str:
        """How long all epochs take from now on, at most: training may stop before."""
        if self._ends is None:
            return ""
        minutes, seconds = divmod(round(max(0.0, self._ends - now)), 60)
        hours, minutes = divmod(minutes, 60)
        return f"· {hours}:{minutes:02d}:{seconds:02d} left"

    def _estimate(self, report: TrainingReport, now: float) -> None:
        """Estimate the end from the steps since the first report, scoring and checkpoints included."""
        if self._first is None:
            self._first = now, report.step
        began, step = self._first
        if report.step > step:
            steps = report.of - report.steps + max(0, self._epochs - report.epoch) * report.of
            self._ends = now + steps * (now - began) / (report.step - step)


def _print_epoch(report: TrainingReport, epochs: int) -> None:
    """A plain line on an epoch."""
    from sentprobe.console import say

    parts = [f"epoch {report.epoch}/{epochs}", f"loss {report.loss:.4f}", scores_text(report.scores)]
    parts += [f"{report.words_per_second:,.0f} words/s", f"{report.seconds:,.1f} s", "best so far" * report.best]
    say("  ".join(filter(None, parts)))


def scores_text(scores: Mapping[str, float]) -> str:
    """Scores with their names."""
    from sentprobe.lab.training.history import score_text, score_title

    return ", ".join(f"{score_title(name)} {score_text(value)}" for name, value in scores.items())


def print_summary(folder: TrainedFolder, was_finished: bool) -> None:
    """Print which checkpoint is best, what training took, and what to do next."""
    from sentprobe.console import out
    from sentprobe.lab.training.card import encoder_name, languages_of, main_facts, translation_command
    from sentprobe.lab.training.history import read_history

    history = read_history(folder)
    facts = main_facts(folder, history)
    console, name = out(), shlex.quote(encoder_name(str(folder.path), languages_of(folder)))
    if was_finished:
        console.print(f"{folder.path}/ is finished; nothing was trained.", markup=False, soft_wrap=True)
    for fact in ("best", "training"):
        console.print(f"{fact + ':':10}{facts[fact]}", markup=False, soft_wrap=True)
    console.print(f"{'folder:':10}{folder.path}/ (card.md describes it)", markup=False, soft_wrap=True)
    show = f"sentprobe show {shlex.quote(str(folder.path))}"
    commands = translation_command(folder, str(folder.path)), f"sentprobe run -e {name} -d SETS", show
    for i, command in enumerate(filter(None, commands)):
        console.print(f"{'next:' if not i else '':10}{command}", markup=False, soft_wrap=True)


def print_parts(objective: str, encoder: str, preset: str = "") -> None:
    """Print architectures, objectives and presets; or all settings of those that are named."""
    from sentprobe.cli.ls import ls
    from sentprobe.console import out
    from sentprobe.lab.networks import ARCHITECTURES
    from sentprobe.lab.training import OBJECTIVES

    console = out()
    if not objective and not encoder and not preset:
        for i, what in enumerate(("objectives", "architectures", "presets")):
            console.print(f"{chr(10) * (i > 0)}{what}", style="bold")
            ls(what)
        return
    if objective:
        goal = OBJECTIVES.get(objective)
        console.print(f"{goal.name}: {goal.summary}", f"Data: {goal.data}.", sep="\n", markup=False, soft_wrap=True)
        for i, (name, options) in enumerate(goal.optimisers.items()):
            default = " (the default)" * (i == 0)
            changed = _options(options) or "general defaults"
            console.print(f"With --optimiser {name}{default}: {changed}.", markup=False, soft_wrap=True)
        print_settings(goal.settings)
    if encoder:
        network = ARCHITECTURES.get(encoder)
        console.print(f"{chr(10) * bool(objective)}{network.name}: {network.summary}", markup=False, soft_wrap=True)
        print_settings(network.settings)

    if preset:
        _print_preset(preset, blank_line=bool(objective or encoder))


def _print_preset(name: str, *, blank_line: bool) -> None:
    """Print what a preset chooses, and for which objectives."""
    from sentprobe.console import out
    from sentprobe.lab.training import PRESETS

    preset = PRESETS.get(name)
    lines = [
        f"{chr(10) * blank_line}{preset.name}: {preset.summary}",
        f"Paper: {preset.paper}." * bool(preset.paper),
        f"Encoder: {preset.encoder}{': ' * bool(preset.settings)}{_texts(preset.settings)}.",
        f"Words: {_options(preset.inputs)}." * bool(preset.inputs),
        f"Training: {_options(preset.training)}." * bool(preset.training),
    ]
    for goal, objective_settings in preset.objective.items():
        chosen = {**objective_settings, **preset.objective_training.get(goal, {})}
        tuned = ", word vectors fine-tuned" * (goal in preset.fine_tune)
        lines.append(f"For {goal}: {_texts(chosen) or 'its defaults'}{tuned}.")
    out().print(*filter(None, lines), sep="\n", markup=False, soft_wrap=True)


def _options(values: Mapping[str, Any]) -> str:
    """Options with their values."""
    return _texts({key.replace("_", "-"): value for key, value in values.items()})


def _texts(values: Mapping[str, Any]) -> str:
    """Settings with their values."""
    from sentprobe.core.arguments import value_text

    return ", ".join(f"{key} {value_text(value)}" for key, value in values.items())


def print_settings(settings: Mapping[str, Setting]) -> None:
    """Print a table of settings; nothing if there are none."""
    from sentprobe.cli.ls import print_table
    from sentprobe.core.arguments import value_text

    def rows() -> Iterator[tuple[str, ...]]:
        yield "setting", "default", "description", "values"
        for name, setting in settings.items():
            yield name, value_text(setting.default), setting.doc, setting.expected

    if settings:
        print_table(rows())
