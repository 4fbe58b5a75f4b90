"""Rows that still have the quotes of the CSV file they were in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from sentprobe.audit.check import AuditCheck
from sentprobe.audit.finding import SPLIT_NAMES, Code, Finding, severity_by_share, some
from sentprobe.core.words import mark_class
from sentprobe.data.expectations import Expectations
from sentprobe.data.splits import Split

CODE = Code(
    "csv-quoting",
    "the quotes of a CSV file are in the text",
    'Rows that begin or end with a double quote and have doubled quotes inside (‘"Say ""no""."’), or doubled quotes '
    "before and after a word: how CSV writes quotes, which whoever read the file did not undo. An error from 1 % of "
    "the rows of a split, otherwise a warning. Tokenisers take them for words, and sentences with quotes become "
    "recognisable.",
    "Read the file again with a CSV reader.",
)
STOPS = ".,!?।॥،؟۔。，！？"


@cache
def _patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Doubled quotes on either side of a word or a sentence; and around one."""
    before = rf"(?<=[\w{mark_class()}{STOPS}])"
    return (
        re.compile(rf'(?<=\s)""(?=\w)|{before}""(?=[\s{STOPS};:]|$)'),
        re.compile(rf'(?:^|(?<=[\s(]))""(?=\w)[^"]*{before}""(?!")'),
    )


def has_csv_quotes(text: str) -> bool:
    """Whether a text has quotes that a CSV writer added or doubled."""
    if '""' not in text:
        return False
    outer = text.startswith('"') or text.endswith('"')
    doubled, around = _patterns()
    return bool((outer and doubled.search(text.strip('"'))) or around.search(text))


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Such rows, split by split."""
    for split in rows.split_names:
        hits = [t for own, t in zip(rows.splits, rows.texts, strict=True) if own == split and has_csv_quotes(t)]
        if hits:
            n = rows.split_sizes[split]
            message = f"{len(hits):,} of the {n:,} {SPLIT_NAMES[split]} rows: {CODE.title}"
            severity = severity_by_share(len(hits), n)
            yield Finding(CODE.name, severity, message, CODE.advice, split, len(hits), some(hits), {"rows": n})


audit_check = AuditCheck(name="quoting", topic="text", codes=(CODE,), in_sentences=find, order=64)
