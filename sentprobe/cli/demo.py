"""`sentprobe demo`: what words alone know, what an encoder that sees their order knows, and what nobody knows."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sentprobe.core.install import pip_install

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sentprobe.core.arguments import Progress
    from sentprobe.data.dataset import Dataset
    from sentprobe.report.types import Summary
    from sentprobe.run import Run

order = 10
resumes = True

TWINS = {"parser": "untrained"}
DEMO_CONTROLS = ("permuted",)


def demo(*, out: Annotated[Path, Parameter(("--out", "-o"))] = Path("demo")) -> int:
    """Make sets from the built-in corpus and probe four encoders on them, in a minute or two.

    Parameters
    ----------
    out: Path
        The folder to write to. Default: demo.
    """
    from sentprobe.cli._shown_sets import print_sets
    from sentprobe.cli._story import tell_story
    from sentprobe.cli._warnings import printed_warnings
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
        controls=DEMO_CONTROLS,
        store=Store(default_root()),
        jobs=jobs,
        progress=progress,
    )
