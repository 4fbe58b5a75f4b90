"""How far scores are from published ones: by default the best model that a paper printed for the set."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.formatting import ABSENT, POINTS
from sentprobe.core.table import CellText, Table, TableColumn
from sentprobe.errors import UsageError
from sentprobe.report.published_results import EXTENT_NOTES, LIMITED, footnotes, is_limited
from sentprobe.report.types import PublishedResult, SetSummary, Summary

TITLE = "Differences from published results, in points"
LEGEND = "Differences: a score minus the published one; ± is that of the score alone, since papers print no intervals."


def mark_best(sets: Sequence[SetSummary]) -> list[SetSummary]:
    """Sets with the best published model of each marked as the one to compare with."""
    return [_marked(s, max(_models(s), key=lambda row: row.accuracy, default=None)) for s in sets]


def choose_published(summary: Summary, text: str) -> Summary:
    """The summary with differences from one published model; UsageError if no set has it, or the name fits several.

    A name is that of a model in whatever case, or a part that occurs in only one. Where two tables have different
    numbers of a model for the same set, its names have the tables, as in *SkipThought, table 3.7*.
    """
    twice = _printed_twice(summary)
    names = list(dict.fromkeys(_name(row, twice) for s in summary.sets for row in s.published if row.kind != "human"))
    if not names and is_limited(summary):
        raise UsageError(f"--against {text}: {LIMITED}")
    if not names:
        raise UsageError(
            f"--against {text}: nothing was printed for these sets. --published adds what was printed for other sets."
        )
    found = [name for name in names if name.lower() == text.lower()]
    found = found or [name for name in names if text.lower() in name.lower()]
    if len(found) != 1:
        if found:
            raise UsageError(f"--against {text} fits {', '.join(found)}; expected one of them.")
        hint = did_you_mean(text, names)
        raise UsageError(f"--against {text}: no such model was printed.{hint} Expected one of {', '.join(names)}.")
    chosen = [
        _marked(s, next((row for row in s.published if _name(row, twice) == found[0]), None)) for s in summary.sets
    ]
    return replace(summary, sets=tuple(chosen))


def compared(s: SetSummary) -> PublishedResult | None:
    """The published result that scores of a set are compared with."""
    return next((row for row in s.published if row.compared), None)


def difference_table(summary: Summary) -> Table | None:
    """The table of sets with a published result: that result, and the difference of each encoder; None for samples."""
    rows = [(s, printed) for s in summary.sets if (printed := compared(s)) is not None]
    if summary.metric != "accuracy" or not rows or not summary.columns:
        return None
    twice = _printed_twice(summary)
    models = {_name(printed, twice) for _, printed in rows}
    model = models.pop() if len(models) == 1 else ""
    return Table(
        [
            TableColumn(["set"], [s.label for s, _ in rows], "left"),
            TableColumn(
                ["published"], [_printed(s, printed, "" if model else _name(printed, twice)) for s, printed in rows]
            ),
            *(
                TableColumn(column.label, [_difference(s, printed, i) for s, printed in rows])
                for i, column in enumerate(summary.columns)
            ),
        ],
        f"{TITLE}: from {model}" if model else f"{TITLE}: from the best model that was printed for each set",
    )


def difference_notes(summary: Summary) -> Iterator[str]:
    """How to read the table, and what its numbers were printed for."""
    if summary.metric != "accuracy":
        return
    # of each set only what the table shows: the paper of another row is not meant
    shown = [replace(s, human=None, published=(row,)) for s in summary.sets if (row := compared(s)) is not None]
    if shown:
        yield LEGEND
        yield from footnotes(shown, "published")


def _printed_twice(summary: Summary) -> frozenset[str]:
    """Models with two numbers for the same set, from two tables."""
    return frozenset(
        model for s in summary.sets for model, n in Counter(row.model for row in s.published).items() if n > 1
    )


def _name(row: PublishedResult, twice: Collection[str]) -> str:
    return f"{row.model}, table {row.table}" if row.model in twice else row.model


def _models(s: SetSummary) -> list[PublishedResult]:
    """What may be compared with: not spaces of words, whose vectors and vocabularies are others."""
    return [] if s.printed_for == "other vectors" else [row for row in s.published if row.kind == "model"]


def _marked(s: SetSummary, chosen: PublishedResult | None) -> SetSummary:
    return replace(s, published=tuple(replace(row, compared=row is chosen) for row in s.published))


def _printed(s: SetSummary, printed: PublishedResult, model: str) -> CellText:
    extent = EXTENT_NOTES[s.printed_for] if s.printed_for else ""
    return CellText(POINTS.number(printed.accuracy), note=" ".join(filter(None, (model, extent))))


def _difference(s: SetSummary, printed: PublishedResult, column: int) -> CellText:
    cell = s.cells[column] if column < len(s.cells) else None
    if cell is None or cell.score.value is None or cell.partial:
        return CellText(ABSENT)
    score = cell.score
    half_width = POINTS.half_width(score.low, score.high)
    return CellText(POINTS.number(cell.score.value - printed.accuracy, sign=True), half_width)
