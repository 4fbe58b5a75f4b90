"""When two words, or two texts, count as the same: the one comparison that making, auditing and splitting share.

``str.lower`` and ``str.casefold`` know no language and no spelling variant. What they get wrong, and what is done here:

    Turkish, Azerbaijani …   I is the capital of ı and İ that of i; elsewhere I, İ, i and ı are one letter
    Lithuanian               the dot that an accented i keeps in lower case is dropped: i̇̀ is ì
    Greek                    capitals have no accents, ΝΟΜΟΣ, so accents are dropped; ς is σ
    German                   ß is ss, as in capitals, in Switzerland, and before 1996 (*muß*)
    Armenian                 և is եվ, as in the capitals of today, not եւ
    Russian                  ё is е, as most write it; stress marks are dropped (also in other Cyrillic scripts)
    Romanian, Persian        ş, ţ with a cedilla are ș, ț; Arabic ي, ك are Persian ی, ک
    every script             NFKC; soft hyphens, joiners and other ignorable characters are dropped; one apostrophe

Some different words come out equal (*Maße*, *Masse*; *νόμος*, *νομός*): they share a split, which costs nothing, where
two spellings of one word in two splits are a leak. If the language is not known, what any language folds is folded.
A folded form is a key, not a spelling: ``lower_case`` gives what a reader may see.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from itertools import compress
from unicodedata import category, normalize

from sentprobe.core.hashing import hash_64
from sentprobe.corpus.languages import code_of

DOTLESS_I = frozenset({"az", "crh", "gag", "kaa", "ota", "tr"})
"""Languages with ı beside i in Latin script."""
_SPELLINGS = {"ru": str.maketrans("ё", "е"), "ro": str.maketrans("şţ", "șț")}
"""What is spelled in two ways in a language, and in other languages means something else."""
_TATWEEL = 0x0640
"""The Arabic tatweel only stretches a word."""
# Default_Ignorable_Code_Point of DerivedCoreProperties.txt (Unicode 15), without the unassigned ones
_IGNORABLE_RANGES = (
    (0x00AD, 0x00AD), (0x034F, 0x034F), (0x061C, 0x061C), (0x115F, 0x1160), (0x17B4, 0x17B5), (0x180B, 0x180F),
    (0x200B, 0x200F), (0x202A, 0x202E), (0x2060, 0x206F), (0x3164, 0x3164), (0xFE00, 0xFE0F), (0xFEFF, 0xFEFF),
    (0xFFA0, 0xFFA0), (0xE0001, 0xE0001), (0xE0020, 0xE007F), (0xE0100, 0xE01EF),
)  # fmt: skip
_IGNORABLE = dict.fromkeys((_TATWEEL, *(c for low, high in _IGNORABLE_RANGES for c in range(low, high + 1))))
# NFKC would make a space and a mark of an acute accent that serves as an apostrophe
_VARIANTS = _IGNORABLE | str.maketrans("’ʼ‘ʻ´‐‑يك", "'''''--یک")
_SOFT_DOT = re.compile("(?<=[ijį])\u0307")
_GREEK = re.compile("[\u0370-\u03ff\u1f00-\u1fff]")
_GREEK_MARKS = re.compile("(?<=[\u0370-\u03ff])[\u0300-\u036f]+")
_STRESS = re.compile("(?<=[аеёиоуыэюяєіїў])[\u0300\u0301]")
_ASCII_BUT_LETTERS = bytes(c for c in range(128) if not chr(c).isalpha() and chr(c) != "\n")
_ZEROS = re.compile("00+")
_INSIDE_NUMBERS = re.compile(r"(?<=\d)[.,'’٫٬\u00a0\u202f](?=\d)")
"""What separates the digits of one number: 8.679 and 677 are the same but for their digits."""


@lru_cache(maxsize=1 << 16)
def fold(word: str, language: str | None = None) -> str:
    """A word as a key: equal for all spellings of one form in this language, in any case."""
    return fold_text(word, language)


def fold_text(text: str, language: str | None = None) -> str:
    """The same for a text; not cached."""
    code = code_of(language)
    dotless = code in DOTLESS_I
    if text.isascii() and not (dotless and "I" in text):
        return text.lower()
    text = normalize("NFKC", text.translate(_VARIANTS))
    if dotless:
        text = text.replace("İ", "i").replace("I", "ı")
    text = _SOFT_DOT.sub("", text.casefold())
    if not dotless:
        text = text.replace("ı", "i")
    if _GREEK.search(text):
        text = _GREEK_MARKS.sub("", normalize("NFD", text))
    for spelling in [_SPELLINGS[code]] if code in _SPELLINGS else () if code else _SPELLINGS.values():
        text = text.translate(spelling)
    text = _STRESS.sub("", text.translate(_VARIANTS)).replace("եւ", "եվ")
    return normalize("NFKC", text)


def lower_case(word: str, language: str | None = None) -> str:
    """A word in the lower case of its language, for readers and as an input of encoders."""
    if code_of(language) in DOTLESS_I:
        word = word.replace("I\u0307", "i").replace("İ", "i").replace("I", "ı")
    return word.lower() if word.isascii() else _SOFT_DOT.sub("", word.lower())


def capitalised(text: str, language: str | None = None) -> str:
    """A text with a capital at its start, as its language writes it: *İzmir*, *IJsland*; Georgian has none."""
    match code_of(language):
        case code if code in DOTLESS_I and text[:1] == "i":
            return "İ" + text[1:]
        case "nl" if text[:2] == "ij":
            return "IJ" + text[2:]
    return text[:1].title() + text[1:]


def uncapitalised(text: str, language: str | None = None) -> str:
    """A text without a capital at its start."""
    first = 2 if code_of(language) == "nl" and text[:2] == "IJ" else 1
    return lower_case(text[:first], language) + text[first:]


# Near-duplicates: texts that are equal but for case, numbers, punctuation and Unicode normalisation


@lru_cache(maxsize=1 << 14)  # a sentence is looked at by a pass over the corpus and by the audit of several sets
def near_duplicate_key(text: str) -> int:
    """The same hash for texts that differ only in case, numbers, punctuation, spacing and Unicode normalisation."""
    return hash_64(near_duplicate_text(text))


def letters_of(texts: Sequence[str]) -> list[bytes]:
    """What near-duplicates have in common at least: the letters of each text, in lower case, in a fifth of the time.

    Those of texts in ASCII are taken together; in others, all that is folded but zeros and spaces.
    """
    plain = [text.isascii() and "\n" not in text for text in texts]
    lines = iter("\n".join(compress(texts, plain)).encode().lower().translate(None, _ASCII_BUT_LETTERS).split(b"\n"))
    return [
        next(lines)
        if is_plain
        else near_duplicate_text(text).replace(" ", "").replace("0", "").encode(errors="surrogatepass")
        for text, is_plain in zip(texts, plain, strict=True)
    ]


def near_duplicate_text(text: str) -> str:
    """The words of a text without what near-duplicates may differ in; every number is a zero."""
    folded = fold_text(text)  # without a language, so that it does not depend on what a file is called
    words = " ".join(folded.translate(_letters_and_zeros()).split())
    if "0" not in words:
        return words
    if not text.isascii():  # folding makes plain spaces of those that separate digits
        folded = fold_text(_INSIDE_NUMBERS.sub("", text))
    return _ZEROS.sub("0", " ".join(_INSIDE_NUMBERS.sub("", folded).translate(_letters_and_zeros()).split()))


class _LettersAndZeros(dict[int, int | str]):
    """Letters, marks and other numbers stay, digits become zeros, the rest becomes space; each is looked up once."""

    def __missing__(self, code: int) -> int | str:
        unicode_category = category(chr(code))
        self[code] = "0" if unicode_category == "Nd" else code if unicode_category[0] in "LMN" else " "
        return self[code]


@cache
def _letters_and_zeros() -> _LettersAndZeros:
    return _LettersAndZeros()
