"""Rows that still have the quotes of the CSV file they were in."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

from sentprobe.audit.check import AuditCheck, Code, Finding, pick_examples
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
    doubled, enclosing = _patterns()
    return bool((outer and doubled.search(text.strip('"'))) or enclosing.search(text))


def find(rows: Split, expectations: Expectations) -> Iterator[Finding]:
    """Such rows, split by split."""
    for split in rows.split_names:
        hits = [t for name, t in zip(rows.splits, rows.texts, strict=True) if name == split and has_csv_quotes(t)]
        if hits:
            yield CODE.finding_in_rows(split, len(hits), rows.split_sizes[split], pick_examples(hits))


audit_check = AuditCheck(name="quoting", topic="text", codes=(CODE,), in_sentences=find, order=64)
