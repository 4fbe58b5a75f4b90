"""The whole line on what comes with the package: built-in corpus → sets → built-in encoder → results."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from sonde.corpus.corpus import Corpus
from sonde.data.dataset import Dataset
from sonde.data.sources import find_sets
from sonde.encoders.store import Store, default_root
from sonde.make import make_sets
from sonde.make.request import check_writable, resolve_jobs, select_tasks
from sonde.run import Run, evaluate

DEMO_SENTENCES, DEMO_SIZES = 12_000, "1200/240/240"
"""Enough for every task of both suites, and for two minutes on two cores."""
SUITES = ("conneau2018", "universal2019")


def demo(
    folder: Path, *, progress: Callable[[str, int, int | None], None] | None = None
) -> tuple[list[Mapping[str, Any]], Run]:
    """Make the sets, probe ``static:`` on them, and give the sets' manifests and the run."""
    check_writable(folder)
    corpus = Corpus.synthetic(DEMO_SENTENCES)
    manifests: list[Mapping[str, Any]] = []
    for found in make_sets(corpus, select_tasks(SUITES, (), sizes=DEMO_SIZES), jobs=resolve_jobs(0), progress=progress):
        if isinstance(found, Dataset):
            found.save(folder / "probes" / found.name)
            manifests.append(found.manifest)
    sources = find_sets([os.fspath(folder / "probes")])
    run = evaluate(
        ["static:"], sources, folder / "run", store=Store(default_root()), jobs=resolve_jobs(0), progress=progress
    )
    return manifests, run
