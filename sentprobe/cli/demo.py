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
    from collections.abc import Mapping
    from typing import Any

    from sentprobe.make import Progress
    from sentprobe.report.types import Summary
    from sentprobe.run import Run

order = 10
resumes = True

DEMO_SENTENCES, DEMO_SIZES = 14_000, "1500/300/1000"
"""Few sets and many rows, so that intervals are narrow; in a minute on two cores."""
DEMO_TASKS = {
    "conneau2018": ("word_content", "tree_depth", "past_present", "bigram_shift", "odd_man_out"),
    "universal2019": ("top_dependencies", "passive", "subj_number"),
}
"""Suites and what the demo makes of them."""
DEMO_ENCODERS = {"words": "static:", "USE": "use:", "parser": "builtin:", "untrained": "builtin:?random=0"}
"""A bag of word vectors, two encoders that see word order, and one of them before training; by name."""
TWINS = {"parser": "untrained"}
DEMO_CONTROLS = ("permuted",)


def demo(*, out: Annotated[Path, Parameter(("--out", "-o"))] = Path("demo")) -> int:
    """Make sets from the built-in corpus and probe four encoders on them, in a minute or two.

    Parameters
    ----------
    out: Path
        The folder to write to. Default: demo.
    """
    from sentprobe.cli._story import tell_story
    from sentprobe.console import announce, count_of, err, print_sets, progress_bar
    from sentprobe.core.arguments import resolve_jobs
    from sentprobe.report import Report
    from sentprobe.report.summary import summarise
    from sentprobe.report.tables import print_table

    _check_folder(out)
    jobs = resolve_jobs(0)
    tasks = sum(map(len, DEMO_TASKS.values()))
    announce(
        f"Making {count_of(tasks, 'set')} from {DEMO_SENTENCES:,} built-in sentences, and probing "
        f"{count_of(len(_encoders()), 'encoder')} on them; {count_of(jobs, 'job')}; writing to {out}/"
    )
    with progress_bar() as progress:
        manifests = _make(out, jobs, progress)
    print_sets(manifests)
    err().print()
    with progress_bar() as progress:
        run = _probe(out, jobs, progress)
    summary = summarise(run)
    print_table(_without_controls(summary))
    err().print()
    for line in tell_story(summary, TWINS):
        err().print(line, markup=False)
    if len(_encoders()) < len(DEMO_ENCODERS):
        err().print(f"Left out: use:, the Universal Sentence Encoder. To add it: {pip_install('use')}", markup=False)
    page = Report.of(run, title="sentprobe demo").save(out / "report.html")
    err().print(f"\nThe sets are in {out}/probes/, the results in {out}/run/, the page is {page}", markup=False)
    return 2 if run.failures else 0


def _without_controls(summary: Summary) -> Summary:
    """The summary for a short table; the page and ``sentprobe show`` have the controls."""
    return replace(summary, sets=tuple(replace(each, variants=()) for each in summary.sets), interpretations={})


def _encoders() -> list[str]:
    """The encoders that can be loaded: ``use:`` needs a package of its own."""
    from sentprobe.encoders.schemes.use import MODULE

    there = find_spec(MODULE) is not None
    return [f"{name}={encoder}" for name, encoder in DEMO_ENCODERS.items() if there or encoder != "use:"]


def _check_folder(folder: Path) -> None:
    """Raise UsageError if a folder has something that is not of a demo, which might be overwritten."""
    from sentprobe.errors import UsageError

    tasks = {f"probes/{suite}/{task}" for suite, tasks in DEMO_TASKS.items() for task in tasks}
    own = {"run", "report.html", "probes", *(f"probes/{suite}" for suite in DEMO_TASKS), *tasks}
    depths = ("*", "probes/*", "probes/*/*")
    there = sorted(p.relative_to(folder).as_posix() for depth in depths for p in folder.glob(depth))
    if odd := [name for name in there if name not in own]:
        raise UsageError(
            f"{folder} exists and is not the folder of a demo: it has {odd[0]}. Choose a new folder: sentprobe demo -o "
            "NEW."
        )


def _make(folder: Path, jobs: int, progress: Progress) -> list[Mapping[str, Any]]:
    """Make the sets; their manifests."""
    from sentprobe.corpus.corpus import Corpus
    from sentprobe.data.dataset import Dataset
    from sentprobe.make import make_sets
    from sentprobe.make.request import check_writable, select_tasks

    check_writable(folder)
    requests = [
        request for suite, tasks in DEMO_TASKS.items() for request in select_tasks([suite], tasks, sizes=DEMO_SIZES)
    ]
    manifests: list[Mapping[str, Any]] = []
    for found in make_sets(Corpus.synthetic(DEMO_SENTENCES), requests, jobs=jobs, progress=progress):
        if isinstance(found, Dataset):
            found.save(folder / "probes" / found.name)
            manifests.append(found.manifest)
    return manifests


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
