"""Near-duplicate sentences: texts that are equal but for case, digits and punctuation."""

from __future__ import annotations

import re
from functools import cache, lru_cache
from unicodedata import category

from sonde.core.hashing import hash_64

ZEROS = re.compile("00+")


@lru_cache(maxsize=1 << 14)  # a sentence is looked at by a pass over the corpus and by the audit of several sets
def near_duplicate_key(text: str) -> int:
    """The same number for texts that differ only in case, digits, punctuation and spacing."""
    return hash_64(folded(text))


def folded(text: str) -> str:
    """The words of a text without what near-duplicates may differ in: case, digits, punctuation and spacing."""
    words = " ".join(text.casefold().translate(_folding()).split())
    return ZEROS.sub("0", words) if "0" in words else words


class _Folding(dict[int, int | str]):
    """Letters, marks and other numbers stay, digits become zeros, the rest becomes space; each is looked up once."""

    def __missing__(self, code: int) -> int | str:
        kind = category(chr(code))
        self[code] = "0" if kind == "Nd" else code if kind[0] in "LMN" else " "
        return self[code]


@cache
def _folding() -> _Folding:
    return _Folding()
