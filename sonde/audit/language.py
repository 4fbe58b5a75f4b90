"""Rows that are written in another language than the set, where a language detector is installed to tell."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from sonde.audit.finding import ERROR_SHARE, Code, Finding, some
from sonde.audit.rows import Rows
from sonde.audit.text import UNSPACED
from sonde.core.hashing import hash_64
from sonde.data.expected import Expectations

CODES: tuple[Code, ...] = (
    Code(
        "other-language",
        "rows in another language than the set's",
        "Rows of at least five words with letters for which the detector gives another language a probability of 0.7 "
        "or more and the set's own language 0.02 or less; close relatives that it mixes up, such as Croatian and "
        "Serbian, count as one. At most 2,000 rows of a split are looked at, chosen by a hash of their text; shares "
        "are of these. A note below 1 %, a warning from 1 %, an error from 10 %, and a warning again from 50 % on, "
        "since then the code is probably wrong, not the rows; the evidence counts the languages met. Such rows are "
        "noise for a probe of one language, and they are rarely spread evenly over classes. Needs `sonde[language]`.",
        "Drop these rows, or filter the source by language before the set is made.",
    ),
    Code(
        "language-not-checked",
        "the detector does not know the set's language",
        "The set says which language it is in, but the detector has no such language, so no row was looked at. Always "
        "a note. The detector goes by two-letter ISO 639-1 codes where there is one.",
        "Check the language code; if it is right, look through the rows by other means.",
    ),
)
CODE_BY_NAME = {code.name: code for code in CODES}
MOST_ROWS, FEWEST_WORDS = 2000, 5
MIN_OTHER_PROBABILITY, UNLIKELY = 0.7, 0.02
"""How probable another language must be, and how improbable the set's own: short sentences are easily mistaken."""
TOO_MANY = 10 * ERROR_SHARE
WRONG_CODE_SHARE = 0.5
"""From here on it is the code that is wrong."""
SHOWN_WORDS, SHOWN_LETTERS = 4, 30
NO_LANGUAGE = "zxx"
LANGUAGE_ALIASES = {"nb": "no", "iw": "he", "in": "id", "fil": "tl", "cmn": "zh"}
"""Codes of which the detector knows another form."""
ALIKE: tuple[tuple[str, ...], ...] = (
    ("no", "nn"), ("bs", "hr", "sr"), ("id", "ms"), ("zh", "yue", "wuu"), ("ar", "arz", "ary"), ("el", "grc"),
    ("he", "hbo"), ("en", "pcm"), ("fr", "wa", "gcf", "gcr"), ("it", "lij", "vec"), ("es", "an", "ext"),
    ("lv", "ltg"), ("ku", "sdh"),
)  # fmt: skip
"""Languages between which the detector wavers."""


def available() -> bool:
    """Whether the detector is installed."""
    return find_spec("py3langid") is not None


def language(rows: Rows, expectations: Expectations) -> Iterator[Finding]:
    """Yield a finding for every split with rows in another language; nothing without a language or a detector."""
    if not expectations.language or not available():
        return
    code = expectations.language.lower().replace("_", "-").partition("-")[0]
    code = LANGUAGE_ALIASES.get(code, code)
    if code not in _detector().labels:
        about = CODE_BY_NAME["language-not-checked"]
        yield Finding(about.name, "note", f"{expectations.language}: {about.title}", about.advice)
        return
    own = _family(code)
    for split in rows.splits:
        sample = _sample([i for i, s in enumerate(rows.split) if s == split], rows)
        others = {i: other for i in sample if (other := _other(rows.text[i], own))}
        if others:
            yield _finding(rows, split, len(sample), others, expectations.language)


def _finding(rows: Rows, split: str, looked_at: int, others: dict[int, str], rows_language: str) -> Finding:
    """The rows of one split that are in another language."""
    about, share = CODE_BY_NAME["other-language"], len(others) / looked_at
    met = sorted(Counter(others.values()).items(), key=lambda m: (-m[1], m[0]))
    asked = "" if share < WRONG_CODE_SHARE else f"; is {rows_language} the right code?"
    return Finding(
        about.name,
        "warning"
        if share >= WRONG_CODE_SHARE
        else "error"
        if share >= TOO_MANY
        else "warning"
        if share >= ERROR_SHARE
        else "note",
        f"{len(others):,} of {looked_at:,} rows of {split} looked at: {about.title}{asked}",
        about.advice,
        split,
        len(others),
        some(" ".join(rows.text[i].split()[:SHOWN_WORDS])[:SHOWN_LETTERS] + " …" for i in others),
        {"rows": rows.sizes[split], "looked at": looked_at, **dict(met)},
    )


def _sample(where: Sequence[int], rows: Rows) -> list[int]:
    """The rows that are long enough, those with the lowest hashes if they are too many."""
    long = [i for i in where if _is_long(rows.text[i], rows.tokens[i])]
    return long if len(long) <= MOST_ROWS else sorted(long, key=lambda i: hash_64(rows.text[i]))[:MOST_ROWS]


def _is_long(text: str, tokens: Sequence[str]) -> bool:
    words = sum(any(map(str.isalpha, token)) for token in tokens)
    # a word of an unspaced script is two letters long or so
    return words >= FEWEST_WORDS or len(UNSPACED.findall(text)) >= 2 * FEWEST_WORDS


def _family(code: str) -> tuple[str, ...]:
    return next((group for group in ALIKE if code in group), (code,))


def _other(text: str, own: tuple[str, ...]) -> str | None:
    """The language a text is in, if it surely is none of the set's own."""
    best, _ = _detector().classify(text)
    if best in own or best == NO_LANGUAGE:
        return None
    ranked = dict(_detector().rank(text))
    theirs, ours = (sum(ranked.get(code, 0.0) for code in family) for family in (_family(best), own))
    return str(best) if theirs >= MIN_OTHER_PROBABILITY and ours <= UNLIKELY else None


@cache
def _detector() -> Any:
    """The detector, loaded once: it takes a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
