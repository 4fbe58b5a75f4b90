"""What is read: rows, from parts of sources."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

LABEL, DOCUMENT, TREE, TEXT = "label", "document", "tree", "text"
NOT_TEXT = (LABEL, DOCUMENT, TREE)
"""The fields that are not text; the words of a tree are in the texts of its row."""


class Row(NamedTuple):
    """One example as it was read."""

    values: tuple[str, ...]
    """Those of the fields, in their order."""
    path: str
    line: int
    """From 1; where sentences take several lines, the number of the sentence."""
    texts: tuple[str, ...] = ()
    """The sentences of the row, where these are not the values: the words of a tree."""


class Part(NamedTuple):
    """Files that are read together, and how."""

    kind: str
    """``tsv``, ``csv``, ``json``, ``parquet``, ``conllu``, ``brackets``, ``lines``, ``aligned``, ``senteval`` (probing
    set), ``set`` (transfer set)."""
    paths: tuple[str, ...]
    """One, or one for each field; for a ``set``, its folder."""
    split: str = ""
    """Which rows of a file that has those of several splits: ``tr``, ``va``; empty for all."""
    name: str = ""
    """Which of SentEval's transfer sets it is."""

    def __str__(self) -> str:
        return ",".join(self.paths)


def text_places(fields: Sequence[str]) -> tuple[int, ...]:
    """Which of the fields are sentences."""
    return tuple(place for place, name in enumerate(fields) if name not in NOT_TEXT)
