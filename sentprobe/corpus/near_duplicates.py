"""Near-duplicate sentences: texts that are equal but for case, numbers, punctuation and Unicode normalisation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import compress
from unicodedata import category

from sentprobe.core.hashing import hash_64
from sentprobe.corpus.folding import fold_text

NO_LETTERS = bytes(c for c in range(128) if not chr(c).isalpha() and chr(c) != "\n")
"""ASCII that is no letter, and does not end a line."""
ZEROS = re.compile("00+")
INSIDE_NUMBERS = re.compile(r"(?<=\d)[.,'’٫٬\u00a0\u202f](?=\d)")
"""What separates the digits of one number: 8.679 and 677 are the same but for their digits."""


@lru_cache(maxsize=1 << 14)  # a sentence is looked at by a pass over the corpus and by the audit of several sets
def near_duplicate_key(text: str) -> int:
    """The same hash for texts that differ only in case, numbers, punctuation, spacing and Unicode normalisation."""
    return hash_64(folded(text))


def letters_of(texts: Sequence[str]) -> list[bytes]:
    """What near-duplicates have in common at least: the letters of each text, in lower case, in a fifth of the time.

    Those of texts in ASCII are taken together; in others, all that is folded but zeros and spaces.
    """
    plain = [text.isascii() and "\n" not in text for text in texts]
    lines = iter("\n".join(compress(texts, plain)).encode().lower().translate(None, NO_LETTERS).split(b"\n"))
    return [
        next(lines) if is_plain else folded(text).replace(" ", "").replace("0", "").encode(errors="surrogatepass")
        for text, is_plain in zip(texts, plain, strict=True)
    ]


def folded(text: str) -> str:
    """The words of a text without what near-duplicates may differ in; every number is a zero."""
    same = fold_text(text)  # without a language, so that it does not depend on what a file is called
    words = " ".join(same.translate(_folding()).split())
    if "0" not in words:
        return words
    if not text.isascii():  # folding makes plain spaces of those that separate digits
        same = fold_text(INSIDE_NUMBERS.sub("", text))
    return ZEROS.sub("0", " ".join(INSIDE_NUMBERS.sub("", same).translate(_folding()).split()))


class _Folding(dict[int, int | str]):
    """Letters, marks and other numbers stay, digits become zeros, the rest becomes space; each is looked up once."""

    def __missing__(self, code: int) -> int | str:
        kind = category(chr(code))
        self[code] = "0" if kind == "Nd" else code if kind[0] in "LMN" else " "
        return self[code]


@cache
def _folding() -> _Folding:
    return _Folding()
