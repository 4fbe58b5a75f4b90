"""`sentprobe demo`: what words alone know, what an encoder that sees their order knows, and what nobody knows."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

from cyclopts import Parameter

from sentprobe.core.formatting import WHOLE_POINTS
from sentprobe.core.install import pip_install

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from sentprobe.core.arguments import Progress
    from sentprobe.data.dataset import Dataset
    from sentprobe.report.types import Summary
    from sentprobe.run import Run

order = 10
group = "Start"
resumes = True

TWINS = {"parser": "untrained"}
"""The name of an encoder before training, by that after it."""
PERMUTED = "permuted"
CHANCE_POINTS = 0.06
"""A score whose interval begins less than this above the majority baseline says next to nothing."""


def demo(*, out: Annotated[Path, Parameter(("--out", "-o"))] = Path("demo")) -> int:
    """Make sets from the built-in corpus and probe four encoders on them, in a minute or two.

    Parameters
    ----------
    out: Path
        The folder to write to. Default: demo.
    """
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.cli._sets import print_sets
    from sentprobe.console import announce, err, progress_bar
    from sentprobe.core.arguments import resolve_jobs
    from sentprobe.core.formatting import count_of
    from sentprobe.report import Report
    from sentprobe.report.names import listed
    from sentprobe.report.summary import summarise
    from sentprobe.report.tables import print_table
    from sentprobe.run.references import DEMO_SENTENCES, DEMO_TASKS, make_demo_sets

    _check_folder(out)
    jobs = resolve_jobs(0)
    tasks = sum(map(len, DEMO_TASKS.values()))
    announce(
        f"Making {count_of(tasks, 'set')} from {DEMO_SENTENCES:,} built-in sentences, and probing "
        f"{count_of(len(_encoders()), 'encoder')} on them; {count_of(jobs, 'job')}; writing to {out}/"
    )
    with progress_bar() as progress:
        sets = make_demo_sets(out / "probes", jobs, progress)
    print_sets([dataset.manifest for dataset in sets])
    err().print()
    with printed_warnings():
        missing = _add_missing(out / "run", sets)
    with progress_bar() as progress:
        run = _probe(out, jobs, progress)
    summary = summarise(run)
    print_table(_without_controls(summary))
    err().print()
    for line in tell_story(summary, TWINS):
        err().print(line, markup=False)
    if missing:
        note = f"The results of {listed(missing)} come with sentprobe, without controls. To compute them here: "
        err().print(f"{note}{pip_install('use')}", markup=False)
    page = Report.of(run, title="sentprobe demo").save(out / "report.html")
    err().print(f"\nThe sets are in {out}/probes/, the results in {out}/run/, the page is {page}", markup=False)
    return 2 if run.failures else 0


def _without_controls(summary: Summary) -> Summary:
    """The summary for a short table; the page and ``sentprobe show`` have the controls."""
    return replace(summary, sets=tuple(replace(of_set, variants=()) for of_set in summary.sets), interpretations={})


def _encoders() -> list[str]:
    """The encoders that can be loaded: ``use:`` needs a package of its own."""
    from sentprobe.encoders.schemes.use import MODULE
    from sentprobe.run.references import DEMO_ENCODERS

    is_use_installed = find_spec(MODULE) is not None
    return [f"{name}={encoder}" for name, encoder in DEMO_ENCODERS.items() if is_use_installed or encoder != "use:"]


def _add_missing(folder: Path, sets: Sequence[Dataset]) -> list[str]:
    """Add results that come with sentprobe of encoders whose packages are not installed; their names."""
    from sentprobe.run.references import DEMO_ENCODERS, References, add_references, read_references

    available = {encoder.partition("=")[2] for encoder in _encoders()}
    if available == {*DEMO_ENCODERS.values()}:
        return []
    shipped = read_references()
    results = [result for result in shipped.results if result.cell.encoder in {*DEMO_ENCODERS.values()} - available]
    names = {encoder: name for name, encoder in DEMO_ENCODERS.items() if encoder in available}
    return add_references(folder, References(results, shipped.predictions), sets, names)


def _check_folder(folder: Path) -> None:
    """Raise UsageError if a folder has something that is not of a demo, which might be overwritten."""
    from sentprobe.errors import UsageError
    from sentprobe.run.references import DEMO_TASKS

    tasks = {f"probes/{suite}/{task}" for suite, tasks in DEMO_TASKS.items() for task in tasks}
    demo_files = {"run", "report.html", "probes", *(f"probes/{suite}" for suite in DEMO_TASKS), *tasks}
    depths = ("*", "probes/*", "probes/*/*")
    existing = sorted(p.relative_to(folder).as_posix() for depth in depths for p in folder.glob(depth))
    if odd := [name for name in existing if name not in demo_files]:
        raise UsageError(
            f"{folder} exists and is not the folder of a demo: it has {odd[0]}. Choose a new folder: sentprobe demo -o "
            "NEW."
        )


def _probe(folder: Path, jobs: int, progress: Progress) -> Run:
    """Probe the encoders on the sets."""
    from sentprobe.data.sources import find_sets
    from sentprobe.encoders.store import Store, default_root
    from sentprobe.run import evaluate

    return evaluate(
        _encoders(),
        find_sets([os.fspath(folder / "probes")]),
        folder / "run",
        controls=(PERMUTED,),
        store=Store(default_root()),
        jobs=jobs,
        progress=progress,
    )


# What the demo says of its results: where nobody is above chance, and what order and training contribute


class EncoderScore(NamedTuple):
    """One encoder on one set."""

    encoder: str
    task: str
    score: float
    low: float
    """Where its interval begins."""
    baseline: float
    """The score of the best baseline."""
    above: bool
    """Whether it is significantly better than that."""
    permuted: float | None = None
    """Its score with the words of every sentence in random order."""


def tell_story(summary: Summary, twins: Mapping[str, str]) -> list[str]:
    """Sentences about the results; ``twins`` has the name of an encoder before training by that after it."""
    return tell([*_scores(summary)], _majorities(summary), twins)


def tell(scores: Sequence[EncoderScore], majorities: Mapping[str, float], twins: Mapping[str, str]) -> list[str]:
    """The same, from the results and the score of the majority baseline by task."""
    from sentprobe.report.names import listed

    tasks = list(dict.fromkeys(score.task for score in scores))
    above = [score for score in scores if score.above]
    sentences = []
    if chance := [t for t in tasks if _at_chance([score for score in scores if score.task == t], majorities[t])]:
        sentences.append(f"No encoder and no baseline is clearly above chance on {listed(chance)}.")
    if why := [*_order(above), *_training(above, scores, twins)]:
        sentences.append(f"Why: {'; '.join(why)}.")
    return sentences


def _scores(summary: Summary) -> Iterator[EncoderScore]:
    names = [column.name for column in summary.columns]
    for of_set in summary.sets:
        for column, cell in enumerate(of_set.cells):
            if cell is None or cell.against is None:
                continue
            variants = of_set.variants[column] if of_set.variants else ()
            yield EncoderScore(
                names[column],
                of_set.task,
                cell.accuracy,
                cell.accuracy if cell.low is None else cell.low,
                cell.against.value,
                cell.against.verdict == "above",
                next((variant.value for variant in variants if variant.of == PERMUTED), None),
            )


def _majorities(summary: Summary) -> dict[str, float]:
    """The score of the majority baseline by task, or of a guess if it was not run."""
    positions = [i for i, column in enumerate(summary.baselines) if column.encoder == "majority"]
    majorities = {}
    for of_set in summary.sets:
        scores = [cell.accuracy for i in positions if (cell := of_set.baselines[i]) is not None]
        majorities[of_set.task] = scores[0] if scores else 1 / of_set.classes
    return majorities


def _at_chance(scores: Sequence[EncoderScore], majority: float) -> bool:
    """Whether neither the encoders nor the baselines are clearly above the majority baseline on a set."""
    most = majority + CHANCE_POINTS
    return not any(score.above or score.low >= most for score in scores) and all(
        score.baseline < most for score in scores
    )


def _order(above: Sequence[EncoderScore]) -> list[str]:
    """How much of what is known beyond words is lost with the order of the words."""
    from sentprobe.report.names import listed

    drops: dict[str, list[tuple[float, str]]] = {}
    for score in above:
        if score.permuted is not None:
            which = f"{score.task}, {_points(score.score)} to {_points(score.permuted)}"
            drops.setdefault(score.encoder, []).append((score.score - score.permuted, which))
    texts = []
    for encoder, encoder_drops in drops.items():
        mean, (most, which) = sum(drop for drop, _ in encoder_drops) / len(encoder_drops), max(encoder_drops)
        named = f" (most on {which})" if len(encoder_drops) > 1 and most > 0 else ""
        texts.append(f"{_points(max(0.0, mean))} points for {encoder}{named}")
    if not texts:
        return []
    return [f"with words in random order, the scores above the baselines fall on average by {listed(texts)}"]


def _training(above: Sequence[EncoderScore], scores: Sequence[EncoderScore], twins: Mapping[str, str]) -> list[str]:
    """How much of what is known beyond words an encoder knew before it was trained."""
    texts = []
    for encoder in dict.fromkeys(score.encoder for score in above):
        twin = {score.task: score.score for score in scores if score.encoder == twins.get(encoder)}
        gains = [score.score - twin[score.task] for score in above if score.encoder == encoder and score.task in twin]
        if gains:
            mean = _points(sum(gains) / len(gains))
            texts.append(f"{twins[encoder]} ({encoder} before training) is {mean} points lower there")
    return texts


def _points(value: float) -> str:
    return WHOLE_POINTS.number(value)
