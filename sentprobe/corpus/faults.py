"""What is wrong with a block of CoNLL-U lines, and on which line; the slow path of the reader."""

from __future__ import annotations

import re
from collections.abc import Sequence

from sentprobe.errors import CorpusError

FEATS = re.compile(r"_|[^\s=|]+=[^\s=|]+(?:\|[^\s=|]+=[^\s=|]+)*")
RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
EMPTY_NODE = re.compile(r"[0-9]+\.[1-9][0-9]*")

_WORD = re.compile(r"[1-9][0-9]*")
_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL")
_MAX_DIGITS = 19
"""Characters of an ID or HEAD; anything longer is not a word number and not worth converting."""


def find_fault(path: str, line: int, rows: list[str]) -> CorpusError:
    """Find out what is wrong with a block that failed a check: the first malformed line, otherwise the tree."""
    for at, row in enumerate(rows, line):
        if problem := _row_fault(row):
            return CorpusError(path, at, *problem)
    cells = [row.split("\t") for row in rows]
    words = [i for i, c in enumerate(cells) if c[0].isdigit()]
    n = len(words)
    if not n:
        return CorpusError(path, line, "a sentence without words", "at least one line with an integer ID")
    expected, end = 1, 0
    for at, cell in enumerate(cells, line):
        if m := RANGE.fullmatch(cell[0]):
            first, last = int(m[1]), int(m[2])
            if first != expected:
                return CorpusError(path, at, f"the range {cell[0]}", f"one that begins with the next word, {expected}")
            if first <= end:
                return CorpusError(path, at, f"the range {cell[0]} inside another", f"one that begins after {end}")
            if last <= first or last > n:
                return CorpusError(path, at, f"the range {cell[0]}", f"an end after {first} and up to {n}, the last")
            end = last
        elif cell[0].isdigit():
            if cell[0] != str(expected):
                return CorpusError(path, at, f"the ID {cell[0]}", f"{expected}; words are numbered 1, 2, 3, …")
            expected += 1
    heads = [cells[i][6] for i in words]
    if (unset := heads.count("_")) not in (0, n):
        at = words[heads.index("_")] + line
        return CorpusError(path, at, f"the HEAD _ ({unset} of {n} words)", "a HEAD for every word or for none")
    for i, head in zip(words, heads, strict=True):
        if head != "_" and int(head) > n:
            return CorpusError(path, line + i, f"the HEAD {head}", f"an integer from 0 to {n}, the last word")
        if head == cells[i][0]:
            return CorpusError(path, line + i, f"the HEAD {head}, the word itself", "another word, or 0 for the root")
    roots = [i for i, head in zip(words, heads, strict=True) if head == "0"]
    if not roots:
        return CorpusError(path, line, "no root", "exactly one word with the HEAD 0")
    if len(roots) > 1:
        also = ", ".join(cells[i][0] for i in roots)
        got = f"{len(roots)} roots (words {also})"
        return CorpusError(path, line + roots[1], got, "exactly one word with the HEAD 0")
    loop = _loop([int(head) - 1 for head in heads])
    round_trip = " → ".join(str(i + 1) for i in (*loop, loop[0]))
    return CorpusError(path, line + words[min(loop)], f"a cycle of heads: {round_trip}", "heads that lead to the root")


def _row_fault(row: str) -> tuple[str, str] | None:
    """What is wrong with a single line, taken alone."""
    cells = row.split("\t")
    if row.startswith("#"):
        return "a comment between words", "comments above the first word of the sentence"
    if not row.strip():
        return "a line of white space", "an empty line between sentences"
    if len(cells) != 10:
        if len(cells) == 1 and len(row.split()) == 10:
            return "10 columns separated by spaces", "10 columns separated by tabs"
        return f"{len(cells)} column{'s' * (len(cells) != 1)}", "10 columns separated by tabs"
    one = cells[0]
    if not (_WORD.fullmatch(one) or RANGE.fullmatch(one) or EMPTY_NODE.fullmatch(one)) or len(one) > _MAX_DIGITS:
        return f"the ID {_short(one)}", "a word number (8), a range (8-9) or an empty node (8.1)"
    for name, cell in zip(_NAMES, cells, strict=False):
        if not cell:
            return f"an empty {name}", "a value, or _ where there is none"
    if not _WORD.fullmatch(one):
        return None
    if not FEATS.fullmatch(cells[5]):
        return f"the FEATS {_short(cells[5])}", "_ or Name=Value pairs joined by |"
    if cells[6] not in ("0", "_") and (not _WORD.fullmatch(cells[6]) or len(cells[6]) > _MAX_DIGITS):
        return f"the HEAD {_short(cells[6])}", "the number of a word, 0 for the root, or _ throughout"
    return None


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:39] + "…")


def _loop(heads: Sequence[int]) -> list[int]:
    """The words of one cycle, in the order of their heads."""
    done: set[int] = set()
    for start in range(len(heads)):
        path: dict[int, None] = {}
        at = start
        while at >= 0 and at not in done and at not in path:
            path[at] = None
            at = heads[at]
        if at in path:
            return list(path)[list(path).index(at) :]
        done |= path.keys()
    raise AssertionError("a block failed a check, but no error was found in it")
