"""Word frequencies, from a file of lines ``word count``."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from sentprobe.core.files import open_text
from sentprobe.errors import CorpusError, DataError


@dataclass(frozen=True)
class Frequencies:
    """The relative frequency p of every word in a corpus."""

    share: Mapping[str, float]
    digest: str


def read_frequencies(path: str) -> Frequencies:
    """Read lines of a word and its count."""
    counts: dict[str, float] = {}
    for line, row in enumerate(open_text(str(Path(path).expanduser())), 1):
        word, _, count = row.rstrip().rpartition(" ")
        try:
            value = float(count)
        except ValueError:
            value = -1.0
        if not word or not 0 <= value < math.inf:
            raise CorpusError(path, line, repr(row.rstrip()[-40:]), "a word, a space and its count")
        counts.setdefault(word, value)
    if not (total := sum(counts.values())) > 0:
        raise DataError(f"{path} has no counts above 0; expected lines of a word, a space and its count.")
    state = hashlib.blake2b(digest_size=16)
    for word in sorted(counts):
        state.update(f"{word} {counts[word]!r}\n".encode())
    return Frequencies({word: count / total for word, count in counts.items()}, state.hexdigest())
