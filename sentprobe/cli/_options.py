"""Options that several verbs have."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from sentprobe.data.records import Columns
    from sentprobe.encoders.store import Store

TABLES = Group("Sets in tables (TSV, CSV, JSON lines, Parquet)", sort_key=30)
RESOURCES = Group("Resources", sort_key=50)
OUTPUT = Group("Output", sort_key=60)

Jobs = Annotated[int, Parameter(("--jobs", "-j"), group=RESOURCES)]
"""How much is done in parallel, as `resolve_jobs` takes it."""
ClusterName = Annotated[str | None, Parameter("--cluster", group=RESOURCES)]
"""The cluster to work on, as `workers_of` takes it."""
STDIN = "<standard input>"
"""What a lone dash is replaced by, since cyclopts would parse it as an option."""


def parse_columns(
    text: tuple[str, ...],
    label: str | None,
    split: str | None,
    target: str | None,
    no_header: bool,
    group: str | None = None,
    split_seed: int | None = None,
) -> Columns | None:
    """The columns of a table that the options name, if any, and how it is split if ``split`` names shares."""
    from sentprobe.data.random_split import is_random_split, parse_random_split
    from sentprobe.data.records import Columns
    from sentprobe.errors import UsageError

    given = {"--split": split, "--group": group, "--split-seed": split_seed is not None, "--target": target}
    if (idle := [option for option, value in given.items() if value] + ["--no-header"] * no_header) and not (
        text and label
    ):
        raise UsageError(f"{idle[0]} is for tables: add --text and --label.")
    if bool(text) != bool(label):
        raise UsageError("A table needs both --text and --label.")
    random = parse_random_split(split, group, split_seed) if split and is_random_split(split) else None
    if random is None and (group or split_seed is not None):
        option = "--group" if group else "--split-seed"
        raise UsageError(f"{option} is for rows that are split here: add their shares, such as --split 80/10/10.")
    column = None if random else split
    return Columns(text, label, column, target, not no_header, random) if text and label else None


def open_store(no_store: bool, limit: float | None) -> Store | None:
    """The embedding store, limited to this many gigabytes, or none."""
    from sentprobe.encoders.store import Store, default_root
    from sentprobe.errors import UsageError

    if no_store and limit is not None:
        raise UsageError(f"--store-limit {limit:g} has no effect together with --no-store: leave one of them out.")
    if limit is not None and limit < 0:
        raise UsageError(f"--store-limit {limit:g}: expected a number of gigabytes, 0 or more.")
    return None if no_store else Store(default_root(), limit=None if limit is None else int(limit * 1e9))


@contextmanager
def workers_of(
    jobs: int, cluster: str | None, *, reads: Sequence[str | Path] = (), store: Store | None = None
) -> Iterator[int]:
    """The number of workers: processes of this machine, or those of a cluster, which is joined inside.

    ``reads`` are paths that workers read, ``store`` is what they write to.
    """
    from sentprobe.console import announce, count_of
    from sentprobe.core.cluster import current_cluster, joined

    with joined(cluster, jobs, reads=reads, writes=() if store is None else (store.root,)) as workers:
        if (there := current_cluster()) is not None:
            announce(f"{there.name}: {count_of(there.workers, 'worker')}")
        yield workers
