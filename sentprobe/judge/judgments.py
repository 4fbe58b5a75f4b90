"""Judgments: tables that annotators filled in, as (annotator, item, label)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.files import plain_name
from sentprobe.core.reader import read_lines, split_cells, wrong_width
from sentprobe.errors import CorpusError, UsageError
from sentprobe.judge.sheet import Sheet

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Characters that no one types, such as NUL, without the tab; they would make two people, or two answers, of one."""

DAMAGED = "the file is damaged, or no table; save it again, as UTF-8 with tabs"


class Judgment(NamedTuple):
    """What one person says about one item."""

    annotator: str
    item: str
    label: str


def read_judgments(paths: Sequence[Path | str], sheets: Sequence[Sheet]) -> list[Judgment]:
    """Read tables with the columns ``item`` and ``label``, and ``annotator`` unless each file is of one person.

    Without that column the annotator is named as the file is, or as its folder, if the file has the name of a sheet.
    Empty labels are skipped; answers may be written as labels or as what they mean, in any case.

    Raises
    ------
    CorpusError
        For an unknown item or answer, or two different answers of one person to one item; with file and line.
    """
    answers = {
        item.id: sheet_answers for sheet in sheets for sheet_answers in (_Answers.of(sheet),) for item in sheet.items
    }
    stems = {sheet.stem for sheet in sheets}
    judgments: dict[tuple[str, str], Judgment] = {}
    for path in map(Path, paths):
        for line, judgment in _rows(path, stems):
            sheet_answers = answers.get(judgment.item)
            if sheet_answers is None:
                hint = did_you_mean(judgment.item, list(answers))
                raise CorpusError(str(path), line, f"the item {judgment.item!r}", f"one of the sheets{hint}")
            label = sheet_answers.label(judgment.label)
            if label is None:
                few = ", ".join(sheet_answers.labels[:8])
                raise CorpusError(str(path), line, f"the label {judgment.label!r}", f"one of {few}, or nothing")
            same = judgments.setdefault((judgment.annotator, judgment.item), judgment._replace(label=label))
            if same.label != label:
                got = f"another answer of {judgment.annotator} to {judgment.item}, {label!r} after {same.label!r}"
                raise CorpusError(str(path), line, got, "one answer of each person to each item")
    return list(judgments.values())


class _Answers(NamedTuple):
    """The labels that answers to the items of a sheet mean."""

    labels: tuple[str, ...]
    folded: Mapping[str, str | None]
    """By labels and names in lower case, a label before a name; None where it could be several."""

    @classmethod
    def of(cls, sheet: Sheet) -> _Answers:
        folded: dict[str, str | None] = {}
        for names in (sheet.answers, {label: label for label in sheet.answers}):
            times = Counter(name.casefold() for name in names.values())
            folded |= {n.casefold(): label if times[n.casefold()] == 1 else None for label, n in names.items()}
        return cls(tuple(sheet.answers), folded)

    def label(self, answer: str) -> str | None:
        """The label that is meant, if one is."""
        return answer if answer in self.labels else self.folded.get(answer.casefold())


def _rows(path: Path, stems: set[str]) -> Iterator[tuple[int, Judgment]]:
    stem = plain_name(path.name).partition(".tsv")[0].partition(".csv")[0]
    person = path.resolve().parent.name if stem in stems else stem
    head: list[str] = []
    for number, text in read_lines(str(path), DAMAGED):
        if bad := CONTROL.search(text):
            got = f"the control character U+{ord(bad[0]):04X} in column {text.count(chr(9), 0, bad.start()) + 1}"
            raise CorpusError(str(path), number, got, f"text: {DAMAGED}")
        if not text.strip():
            continue
        cells = [_unquoted(cell.strip()) for cell in split_cells(str(path), number, text)]
        if not head:
            head = [cell.casefold() for cell in cells]
            if missing := [name for name in ("item", "label") if name not in head]:
                raise CorpusError(
                    str(path),
                    number,
                    f"no column {missing[0]!r}",
                    "a tab-separated table with the columns item and label",
                )
            continue
        if len(cells) < len(head) and head[len(cells) :] != ["label"]:  # editors drop empty cells at the end
            raise wrong_width(str(path), number, cells, f"{len(head)}, tab-separated")
        if any(cells[len(head) :]):
            raise wrong_width(str(path), number, cells, f"{len(head)}: a sentence has no tabs")
        row = dict(zip(head, cells, strict=False))
        if row.get("label"):
            yield number, Judgment(row.get("annotator") or person, row["item"], row["label"])


def _unquoted(cell: str) -> str:
    """A cell without the quotes that spreadsheets put around commas."""
    return cell[1:-1].replace('""', '"').strip() if len(cell) > 1 and cell[0] == cell[-1] == '"' else cell


def experts_of(judgments: Sequence[Judgment], names: Sequence[str]) -> list[str]:
    """The annotators of these names, or an error with those that there are."""
    annotators = dict.fromkeys(judgment.annotator for judgment in judgments)
    for name in names:
        if name not in annotators:
            raise UsageError(f"There is no annotator {name!r}; expected one of {', '.join(annotators) or 'none'}.")
    return list(names)
