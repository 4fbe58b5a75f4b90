"""Reading sets that are named on the command line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonde.data.dataset import Dataset


def readable_sets(paths: Sequence[str], unread: list[str]) -> Iterator[Dataset]:
    """The sets that can be read; the others are reported, and their names are put into ``unread``."""
    from sonde.console import err, printable
    from sonde.data.sources import find_sets
    from sonde.errors import SondeError

    for source in find_sets(paths):
        try:
            dataset = source.load()
        except SondeError as e:  # the others are still to be read
            unread.append(source.name)
            message = printable(f"not read: {source.name}: {e}")
            err().print(message, style="yellow", markup=False, soft_wrap=True)
            continue
        yield dataset
