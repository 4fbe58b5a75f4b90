"""Rows in a language other than the set's, if a language detector is installed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from sentprobe.audit.check import ERROR_SHARE, AuditCheck, Code, Finding, Severity, pick_examples
from sentprobe.core.hashing import hash_64
from sentprobe.corpus.languages import detector, detector_code, has_detector, is_long, other_language
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split
from sentprobe.tasks import SPLIT_NAMES

OTHER_LANGUAGE = Code(
    "other-language",
    "rows in a language other than the set's",
    "Rows of at least five words with letters for which the detector gives another language a probability of 0.7 "
    "or more and the set's own language 0.02 or less; close relatives that it confuses, such as Croatian and "
    "Serbian, count as one. At most 2,000 rows of a split are examined, chosen by a hash of their text; shares "
    "are of these. A note below 1 %, a warning from 1 %, an error from 10 %, and a warning again from 50 % on, "
    "since then the code is probably wrong, not the rows; the evidence counts the languages found. Such rows are "
    "noise for a probe of one language, and they are rarely distributed evenly over classes. Needs "
    "the extra `language`. If the set does not say which language it is in, it is the one that the detector gives "
    "at least 70 % of 500 rows, if there is one.",
    "Drop these rows, or filter the source by language before the set is made.",
)
LANGUAGE_NOT_CHECKED = Code(
    "language-not-checked",
    "the detector does not know the set's language",
    "The set says which language it is in, but the detector has no such language, so no row was examined. Always a "
    "note. The detector goes by two-letter ISO 639-1 codes where there is one.",
    "Check the language code; if it is right, check the rows by other means.",
)
MOST_ROWS = 2000
TOO_MANY = 10 * ERROR_SHARE
WRONG_CODE_SHARE = 0.5
"""From here on it is probably the code that is wrong."""
SHOWN_WORDS, SHOWN_LETTERS = 4, 30
GUESSED_FROM, FEWEST_GUESSED, USUAL_SHARE = 500, 50, 0.7
"""Rows from which the language of a set that does not name it is guessed, and the share that must agree."""


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """A finding for every split with rows in another language; nothing without a detector."""
    if not has_detector():
        return
    language = expectations.language or _usual_language(rows)
    if not language:
        return
    code = detector_code(language)
    if code is None:
        yield LANGUAGE_NOT_CHECKED.finding("note", f"{language}: {LANGUAGE_NOT_CHECKED.title}")
        return
    for split in rows.split_names:
        sample = _sample([i for i, s in enumerate(rows.splits) if s == split], rows)
        foreign = {i: name for i in sample if (name := other_language(rows.texts[i], code))}
        if foreign:
            yield _finding(rows, split, len(sample), foreign, language)


def _finding(rows: Split, split: str, examined: int, foreign: dict[int, str], rows_language: str) -> Finding:
    """The rows of one split that are in another language."""
    share = len(foreign) / examined
    languages = sorted(Counter(foreign.values()).items(), key=lambda m: (-m[1], m[0]))
    doubt = "" if share < WRONG_CODE_SHARE else f"; is {rows_language} the right code?"
    severity: Severity = "note" if share < ERROR_SHARE else "warning"
    if TOO_MANY <= share < WRONG_CODE_SHARE:
        severity = "error"
    return OTHER_LANGUAGE.finding(
        severity,
        f"{len(foreign):,} of the {examined:,} {SPLIT_NAMES[split]} rows examined: {OTHER_LANGUAGE.title}{doubt}",
        split,
        len(foreign),
        pick_examples(" ".join(rows.texts[i].split()[:SHOWN_WORDS])[:SHOWN_LETTERS] + " …" for i in foreign),
        {"rows": rows.split_sizes[split], "looked at": examined, **dict(languages)},
    )


def _usual_language(rows: Split) -> str | None:
    """The language of nearly all rows of a set that does not say which it is in."""
    sample = _sample(range(len(rows)), rows)[:GUESSED_FROM]
    languages = Counter(detector().classify(rows.texts[i])[0] for i in sample).most_common(1)
    (best, n), *_ = languages or [("", 0)]
    return best if n >= USUAL_SHARE * len(sample) and len(sample) >= FEWEST_GUESSED else None


def _sample(where: Sequence[int], rows: Split) -> list[int]:
    """The rows that are long enough, those with the lowest hashes if there are too many."""
    long = [i for i in where if is_long(rows.texts[i], rows.tokens[i])]
    return long if len(long) <= MOST_ROWS else sorted(long, key=lambda i: hash_64(rows.texts[i]))[:MOST_ROWS]


audit_check = AuditCheck(
    name="language", topic="text", codes=(OTHER_LANGUAGE, LANGUAGE_NOT_CHECKED), in_sentences=find, order=62
)
