"""What is known about a transfer set before it is read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from sentprobe.data.protocol import Protocol
from sentprobe.data.records import Columns

LineFormat = Literal[
    "sentence",
    "sentence<TAB>label",
    "label sentence",
    "COARSE:fine sentence",
    "seven columns",
    "sentence|sentence|label",
    "sentence<TAB>sentence|score",
    "nli",
    "captions",
]
"""What a line holds; a bar separates files that are read in parallel."""


@dataclass(frozen=True, slots=True)
class Part:
    """Files that are read in parallel, line by line, and the split that their rows belong to."""

    split: str
    files: tuple[str, ...]
    stratum: str = ""
    """The name of a sub-dataset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Layout:
    """One set: its files in SentEval's order, how they are read, and what should be in them."""

    home: str
    """The set's folder below ``downstream``."""
    parts: tuple[Part, ...]
    """Rows of a set without splits of its own are test rows. Empty where the files depend on the languages."""
    read: Columns | LineFormat
    """A table with a header and these columns, or what a line holds; a bare sentence's label is its file's suffix."""
    protocol: Protocol
    sizes: tuple[Mapping[str, int], ...]
    """The rows of every sub-dataset, or else split, in each release that is known; the first is the usual one."""
    source: str
    """Where the sizes are from."""
    labels: tuple[str, ...] = ()
    """In the order of SentEval's numbers for them."""
    scale: tuple[float, float] | None = None
    """The lowest and highest score, where the labels are scores."""
    second: str = ""
    """The name of the second sentence in the rows, where there is no header."""
    latin1_fallback: bool = False
    """Whether SentEval reads the files as Latin-1; here they are read so only if they are not UTF-8."""
    first: str = ""
    """What the first line looks like, where the file names do not identify the set."""
    folder: str = ""
    """What the name of the folder looks like, where neither identifies the set."""
    marker_file: str = ""
    """A file that identifies the set whatever its folder is called."""
    language: str | None = None

    @property
    def files(self) -> tuple[str, ...]:
        """The names of all files, in order."""
        return tuple(file for part in self.parts for file in part.files)

    @property
    def inputs(self) -> tuple[str, ...]:
        """The columns that hold the sentences after the first."""
        return self.read.inputs if isinstance(self.read, Columns) else (self.second,) if self.second else ()
