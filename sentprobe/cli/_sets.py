"""Reading sets that are named on the command line."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from sentprobe.data.dataset import Dataset
    from sentprobe.data.sources import Source

T = TypeVar("T")

MIN_WORKER_BYTES = 1 << 23
"""Smaller files are read sooner than worker processes start."""


def readable_sets(paths: Sequence[str], unread: list[str]) -> Iterator[Dataset]:
    """The sets that can be read; the others are reported, and their names are put into ``unread``."""
    return map_sets(paths, unread, _itself)


def map_sets(paths: Sequence[str], unread: list[str], call: Callable[[Dataset], T], jobs: int = 1) -> Iterator[T]:
    """The same with a function called on each set where it is read: here, or in worker processes if they are large."""
    from sentprobe.console import err
    from sentprobe.core.formatting import printable
    from sentprobe.core.workers import map_largest_first
    from sentprobe.data.sources import find_sets

    sources = find_sets(paths)
    sizes = [source.size_bytes for source in sources] if jobs > 1 else [0] * len(sources)
    calls = [(source, call) for source in sources]
    outcomes = map_largest_first(_read, calls, sizes, jobs if sum(sizes) >= MIN_WORKER_BYTES else 1)
    for source, (result, problem) in zip(sources, outcomes, strict=True):
        if result is not None:
            yield result
            continue
        unread.append(source.name)  # the others are still to be read
        err().print(
            printable(f"not read: {source.name}: {problem}"), style="yellow", markup=False, soft_wrap=True
        )  # fmt: skip


def _read(source: Source, call: Callable[[Dataset], T]) -> tuple[T | None, str]:
    from sentprobe.errors import SentProbeError

    try:
        return call(source.load()), ""
    except SentProbeError as e:
        return None, str(e)


def _itself(dataset: Dataset) -> Dataset:
    return dataset
