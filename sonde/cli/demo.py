"""`sonde demo`: every step on what comes with the package, from the built-in corpus to the page."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from sonde.make import Progress
    from sonde.run import Run

order = 10

DEMO_SENTENCES, DEMO_SIZES = 12_000, "1200/240/240"
"""Enough for every task of both suites, in two minutes on two cores."""
DEMO_SUITES = ("conneau2018", "universal2019")


def demo(*, out: Annotated[Path, Parameter(("--out", "-o"))] = Path("demo")) -> int:
    """Make sets from the built-in corpus and probe the built-in encoder on them, in a minute or two.

    Parameters
    ----------
    out: Path
        The folder to write to. Default: demo.
    """
    from sonde.console import err, print_sets, progress_bar
    from sonde.report import Report
    from sonde.report.summary import summarise
    from sonde.report.tables import print_table

    with progress_bar() as progress:
        manifests, run = _make_and_probe(out, progress)
    print_sets(manifests)
    err().print()
    print_table(summarise(run))
    page = Report.of(run, title="sonde demo").save(out / "report.html")
    err().print(f"\nThe sets are in {out}/probes/, the results in {out}/run/, the page is {page}", markup=False)
    return 2 if run.failures else 0


def _make_and_probe(folder: Path, progress: Progress) -> tuple[list[Mapping[str, Any]], Run]:
    """Make the sets and probe ``static:`` on them; the manifests of the sets, and the run."""
    from sonde.core.arguments import resolve_jobs
    from sonde.corpus.corpus import Corpus
    from sonde.data.dataset import Dataset
    from sonde.data.sources import find_sets
    from sonde.encoders.store import Store, default_root
    from sonde.make import make_sets
    from sonde.make.request import check_writable, select_tasks
    from sonde.run import evaluate

    check_writable(folder)
    requests = select_tasks(DEMO_SUITES, (), sizes=DEMO_SIZES)
    jobs = resolve_jobs(0)
    manifests: list[Mapping[str, Any]] = []
    for found in make_sets(Corpus.synthetic(DEMO_SENTENCES), requests, jobs=jobs, progress=progress):
        if isinstance(found, Dataset):
            found.save(folder / "probes" / found.name)
            manifests.append(found.manifest)
    sources = find_sets([os.fspath(folder / "probes")])
    store = Store(default_root())
    return manifests, evaluate(["static:"], sources, folder / "run", store=store, jobs=jobs, progress=progress)
