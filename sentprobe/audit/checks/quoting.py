"""Rows that still have the quotes of the CSV file they were in."""

from __future__ import annotations

import re
from collections.abc import Iterator

from sentprobe.audit.check import AuditCheck
from sentprobe.audit.finding import SPLIT_NAMES, Code, Finding, severity_by_share, some
from sentprobe.audit.rows import Rows
from sentprobe.data.expected import Expectations

CODE = Code(
    "csv-quoting",
    "the quotes of a CSV file are in the text",
    'Rows that begin or end with a double quote and have doubled quotes inside (‘"Say ""no""."’), or doubled quotes '
    "before and after a word: how CSV writes quotes, which whoever read the file did not undo. An error from 1 % of "
    "the rows of a split, otherwise a warning. Tokenisers take them for words, and sentences with quotes become "
    "recognisable.",
    "Read the file again with a CSV reader.",
)
DOUBLED = re.compile(r'(?<=\s)""(?=\w)|(?<=[\w.,!?])""(?=[\s.,!?;:]|$)')
AROUND_A_WORD = re.compile(r'(?:^|(?<=[\s(]))""(?=\w)[^"]*(?<=[\w.,!?])""(?!")')


def has_csv_quotes(text: str) -> bool:
    """Whether a text has quotes that a CSV writer added or doubled."""
    if '""' not in text:
        return False
    outer = text.startswith('"') or text.endswith('"')
    return bool((outer and DOUBLED.search(text.strip('"'))) or AROUND_A_WORD.search(text))


def find(rows: Rows, expectations: Expectations) -> Iterator[Finding]:
    """Such rows, split by split."""
    for split in rows.splits:
        hits = [t for own, t in zip(rows.split, rows.text, strict=True) if own == split and has_csv_quotes(t)]
        if hits:
            n = rows.sizes[split]
            message = f"{len(hits):,} of the {n:,} {SPLIT_NAMES[split]} rows: {CODE.title}"
            severity = severity_by_share(len(hits), n)
            yield Finding(CODE.name, severity, message, CODE.advice, split, len(hits), some(hits), {"rows": n})


audit_check = AuditCheck(name="quoting", topic="text", codes=(CODE,), in_sentences=find, order=64)
