"""Which columns of a table hold text, label and split, where nobody says so: only if there is no doubt.

The names that people give such columns come first, then what the first rows hold. A guess is said, with the options
that say the same, and in doubt the error shows every column with its first value.
"""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from sentprobe.core.formatting import printable
from sentprobe.core.reader import Cells, sample_table
from sentprobe.data.random_split import parse_random_split
from sentprobe.data.rows import DEFAULT_SHARES, SPLIT_NAMES, Columns
from sentprobe.errors import DataError

TEXT_NAMES, LABEL_NAMES = ("text", "sentence"), ("label", "labels")
"""Columns with these names hold what they say, whatever other columns look like."""
PAIR_NAMES = (
    ("sentence1", "sentence2"), ("sentence_1", "sentence_2"), ("sentence_a", "sentence_b"), ("text1", "text2"),
    ("text_1", "text_2"), ("text_a", "text_b"), ("premise", "hypothesis"), ("question1", "question2"),
)  # fmt: skip
SPLIT_COLUMNS = ("split", "partition", "part", "fold", "subset", "set")
SAMPLED_ROWS = 500
MIN_WORDS = 2.5
"""Columns of text have more words per cell on average, labels fewer."""
MAX_LABELS = 50
"""A column with more values in the sample is no label."""
MAX_LABEL_SHARE = 0.5
"""Nor is one with more values than this share of the rows."""
SHOWN_COLUMNS, SHOWN_CHARACTERS = 10, 50
_HEADER_NAMES = {*TEXT_NAMES, *LABEL_NAMES, *SPLIT_COLUMNS, *(name for pair in PAIR_NAMES for name in pair)}


@dataclass(frozen=True)
class _SampledColumn:
    """The first values of a column."""

    name: str
    values: Sequence[str]

    @property
    def is_split(self) -> bool:
        filled = {value.strip().lower() for value in self.values} - {""}
        return bool(filled) and filled <= SPLIT_NAMES.keys() and (len(filled) > 1 or self._is_called(SPLIT_COLUMNS))

    @property
    def is_text(self) -> bool:
        words = sum(len(value.split()) for value in self.values)
        return words >= MIN_WORDS * len(self.values) and 2 * len({*self.values}) > len(self.values)

    @property
    def is_label(self) -> bool:
        n = len({*self.values} - {""})
        few = max(2, min(MAX_LABELS, MAX_LABEL_SHARE * len(self.values)))
        return 1 < n <= few and "" not in self.values and not self.is_text

    def _is_called(self, names: Sequence[str]) -> bool:
        return self.name.lower() in names


def has_header_names(line: str) -> bool:
    """Whether a line has names, tab-separated, that columns of sets commonly have.

    >>> has_header_names("split\\tlabel\\ttext"), has_header_names("tr\\tlabel\\tShe left .")
    (True, False)
    """
    return len({cell.strip().lower() for cell in line.split("\t")} & _HEADER_NAMES) > 1


def guess_columns(path: str, from_names: bool) -> Columns:
    """The columns of a table; ``from_names``: the names of the files say the split of rows without a split column.

    Raises
    ------
    DataError
        If several columns could hold the text or the label, or none; the message shows all, and what to type.
    """
    return guess_from_sample(path, *sample_table(path, SAMPLED_ROWS), from_names=from_names)


def guess_from_sample(path: str, names: Sequence[str], rows: Sequence[Cells], *, from_names: bool) -> Columns:
    """The same from the names of the columns and the first rows; ``path`` names the table in errors."""
    if not rows or len(set(names)) < len(names):
        raise DataError(f"{path} has {'no rows' if not rows else 'several columns of one name'}. Is it the right file?")
    columns = [_SampledColumn(name, values) for name, values in zip(names, zip(*rows, strict=True), strict=True)]
    splits = [column.name for column in columns if column.is_split]
    texts = _text_columns(columns)
    labels = _label_columns([column for column in columns if column.name not in (*texts, *splits)])
    if len(splits) > 1 or len(labels) != 1 or not _is_sure(texts) or not _is_header(columns, texts[0], labels[0]):
        raise _in_doubt(path, names, rows[0], texts, labels, splits)
    split = splits[0] if splits else None
    random = None if split or from_names else parse_random_split(DEFAULT_SHARES)
    return Columns(tuple(texts), labels[0], split, random=random)


def _is_header(columns: Sequence[_SampledColumn], text: str, label: str) -> bool:
    """Whether the first line is not a row: a text has words, and a label other rows."""
    values = next(column.values for column in columns if column.name == label)
    return len(text.split()) < MIN_WORDS and label not in values


def _is_sure(texts: Sequence[str]) -> bool:
    return len(texts) == 1 or tuple(name.lower() for name in texts) in PAIR_NAMES


def _text_columns(columns: Sequence[_SampledColumn]) -> list[str]:
    """The columns with text: a pair or one by name, otherwise all that look like it."""
    by_name = {column.name.lower(): column.name for column in columns}
    for pair in (*PAIR_NAMES, *((name,) for name in TEXT_NAMES)):
        if all(name in by_name for name in pair):
            return [by_name[name] for name in pair]
    return [column.name for column in columns if column.is_text]


def _label_columns(columns: Sequence[_SampledColumn]) -> list[str]:
    """The columns with labels: one by name, otherwise all that look like it."""
    by_name = {column.name.lower(): column.name for column in columns}
    named = [by_name[name] for name in LABEL_NAMES if name in by_name]
    return named or [column.name for column in columns if column.is_label]


def described_guess(paths: Sequence[str], columns: Columns) -> str:
    """What was guessed of a table, and the options that say the same."""
    texts = " and ".join(f"column `{name}`" for name in columns.text)
    if columns.split:
        split = f"split: column `{columns.split}`"
    elif columns.random:
        split = f"split {DEFAULT_SHARES} by sentprobe, since there is no split column"
    else:
        split = "split: from the names of the files"
    named = f"{paths[0]}{f' and {len(paths) - 1} more' if len(paths) > 1 else ''}"
    return printable(
        f"{named}: text: {texts}; label: column `{columns.label}`; {split}. To say otherwise: {options_of(columns)}"
    )


def options_of(columns: Columns) -> str:
    """The options that name these columns."""
    split = columns.split or (DEFAULT_SHARES if columns.random else None)
    words = [word for name in columns.text for word in ("--text", name)] + ["--label", columns.label]
    return shlex.join([*words, *(["--split", split] if split else [])])


def _in_doubt(
    path: str, names: Sequence[str], first: Cells, texts: Sequence[str], labels: Sequence[str], splits: Sequence[str]
) -> DataError:
    """The error for a table that may be read in several ways, or in none."""
    doubts = []
    if not _is_sure(texts):
        doubts.append(f"the text ({_choices(texts)})")
    if len(labels) != 1:
        doubts.append(f"the label ({_choices(labels)})")
    if len(splits) > 1:
        doubts.append(f"the split ({_choices(splits)})")
    problem = f"it is not clear which column holds {' and '.join(doubts)}" if doubts else "its first line is like a row"
    width = max(map(len, names[:SHOWN_COLUMNS]))
    lines = [
        f"  {name:{width}}  {value if len(value) <= SHOWN_CHARACTERS else value[:SHOWN_CHARACTERS] + '…'!s}"
        for name, value in zip(names[:SHOWN_COLUMNS], first, strict=False)
    ]
    if len(names) > SHOWN_COLUMNS:
        lines.append(f"  and {len(names) - SHOWN_COLUMNS} more")
    split = splits[0] if len(splits) == 1 else DEFAULT_SHARES
    if doubts:
        text, label = (choices[0] if len(choices) == 1 else "COLUMN" for choices in (texts, labels))
        typed = ["--text", text, "--label", label]
        hint = " If its first line is not a header, use --no-header and give their numbers."
    else:
        text, label = (f"{names.index(name) + 1}" for name in (texts[0], labels[0]))
        typed = ["--no-header", "--text", text, "--label", label]
        hint = ""
    columns = "\n".join(lines)
    return DataError(
        f"{path} is a table, and {problem}. Its columns, with the first value of each:\n{columns}\n"
        f"Name the columns: {shlex.join([*typed, '--split', split])}.{hint}"
    )


def _choices(names: Sequence[str]) -> str:
    if not names:
        return "no column looks like it"
    return " or ".join(f"`{name}`" for name in names[:SHOWN_COLUMNS])
