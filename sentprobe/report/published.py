"""What papers printed for a set, and how far scores are from it: by default from the best model printed for the set.

It is for this very set, for the release it is a part of, or on request for others. For spaces of words, it is what was
printed for the same languages and scored in the same way, whatever the vectors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.formatting import ABSENT, POINTS
from sentprobe.core.table import CellText, Table, TableColumn
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.probes import parse
from sentprobe.published import TRANSFER, WORDS, PublishedRow, human, papers, published
from sentprobe.published.releases import Extent, recognise
from sentprobe.report.types import PublishedResult, SetSummary, Summary
from sentprobe.results.metric import DEFAULT_METRIC
from sentprobe.results.result import Result
from sentprobe.tasks import SUITES

MAX_PUBLISHED_ROWS = 30
"""The most published rows that are shown with a set: as many as one table of Conneau et al. (2018) has for a task."""
MLP_TABLE, LOGISTIC_TABLE = "2", "4"
"""The tables of Conneau et al. (2018) with the same models under a probe with a hidden layer, and without one."""
EXTENT_NOTES: Mapping[Extent, str] = {
    "this set": "",
    "the whole set": "(whole set)",
    "another set": "(another set)",
    "other vectors": "(other vectors)",
}
"""The note after a printed number."""
EXTENT_PHRASES: Mapping[Extent, str] = {
    "this set": "for this very set",
    "the whole set": "for the whole released set, of which this is a part",
    "another set": "for another set of the same task, and not comparable with this one",
    "other vectors": "for the same task and languages, with other vectors and vocabularies, and other test sets or "
    "parts of them",
}


LIMITED = "scores of a sample (--limit) are not compared with published ones, which are of all rows."


class Published(NamedTuple):
    """What papers printed for a set."""

    extent: Extent | None = None
    """What the numbers are about; None: there are none."""
    human: PublishedResult | None = None
    models: tuple[PublishedResult, ...] = ()


def published_results(
    info: Mapping[str, Any],
    name: str,
    task: str,
    language: str | None,
    results: Sequence[Result],
    *,
    other_sets: bool = False,
) -> Published:
    """Published results for a set that run.json describes by ``info``; ``others``: also those for other sets.

    Scores of a sample (``--limit``) are not compared with any: of papers, only what they printed for people is left.
    """
    if task in WORDS:
        printed = _of_words(task, language, results)
        return Published("other vectors" if printed else None, None, printed)
    recognised = recognise(info.get("content") or {}, info.get("rows") or {})
    if recognised is not None:
        release, extent = recognised
        rows = published(release.task, suite=release.suite, language=release.language)
        people = human(release.task, release.suite)
    elif other_sets:
        suite, extent = _suite(name, task, info.get("source")), "another set"
        people = human(task, suite)
        rows = [row for row in published(task, suite=suite) if language in (None, row.language)]
        if language is None and len({row.language for row in rows}) > 1:
            rows = []  # the language of the set is unknown
        if people is not None and language not in (None, people.language):
            people = None
    else:
        return Published()
    metrics = {r.metric for r in results} or {DEFAULT_METRIC}
    # papers score the test rows of the set: not a sample of them, nor all rows in folds
    if results and all(r.cell.limit is not None or r.cell.folds is not None for r in results):
        rows, extent = [], "the whole set" if extent == "this set" else extent
    printed = _selected([row for row in rows if row.metric in metrics], task, results)
    has_human = people is not None and people.metric == DEFAULT_METRIC
    return Published(
        extent if printed or has_human else None, _result(people) if people is not None and has_human else None, printed
    )


def _of_words(task: str, language: str | None, results: Sequence[Result]) -> tuple[PublishedResult, ...]:
    """Rows of the same pair of languages and metric; those whose scoring is known, only if there are such results."""
    metrics, scorings = {r.metric for r in results}, {r.cell.probe for r in results}
    return tuple(
        _result(row)
        for row in published(task, suite="words")
        if row.language == language and row.metric in metrics and (not row.note or row.note in scorings)
    )


def _suite(name: str, task: str, source: Mapping[str, Any] | None) -> str:
    """The suite of the paper with the same task."""
    if task in TRANSFER:
        return "transfer"
    if source and source["kind"] == "xprobe":
        return "xprobe2019"
    return next((part for part in name.split("/") if part in SUITES), "conneau2018")


def _selected(rows: Sequence[PublishedRow], task: str, results: Sequence[Result]) -> tuple[PublishedResult, ...]:
    """Rows in the papers' order; of too many, the best models and all others.

    Of two tables that differ in the probe, the one whose probe is like that of the results.
    """
    excluded_table = (
        MLP_TABLE if all(_flat(probe, task) for probe in {r.cell.probe for r in results}) else LOGISTIC_TABLE
    )
    once: dict[tuple[str, float], PublishedRow] = {}
    for row in rows:
        if (row.suite, row.table) != ("conneau2018", excluded_table):
            once.setdefault((row.model, row.value), row)
    best = sorted(once.values(), key=lambda row: (row.kind == "model", -row.value))[:MAX_PUBLISHED_ROWS]
    return tuple(_result(row) for row in once.values() if row in best)


def _result(row: PublishedRow) -> PublishedResult:
    return PublishedResult(model=row.model, kind=row.kind, accuracy=row.value, paper=row.paper, table=row.table)


def _flat(probe: str | None, task: str) -> bool:
    """Whether a probe has no hidden layer, as those that learn from words have none."""
    with suppress(SentProbeError):  # a probe that only a later version knows
        return probe is None or parse(probe)[1].of_task(task).hidden == (0,)
    return False


def is_limited(summary: Summary) -> bool:
    """Whether all scores are of samples."""
    return bool(summary.columns) and all(column.limit is not None for column in summary.columns)


def check_published(summary: Summary, requested: bool) -> None:
    """Raise UsageError if results for other sets were requested and there are none."""
    if requested and is_limited(summary):
        raise UsageError(f"--published adds nothing: {LIMITED}")
    if requested and all(s.printed_for != "another set" for s in summary.sets):
        tasks = ", ".join(dict.fromkeys(s.task for s in summary.sets)) or "any task"
        raise UsageError(f"--published adds nothing: no paper printed an accuracy for other sets of {tasks}.")


def footnotes(sets: Sequence[SetSummary], what: str, *, names: bool = True) -> Iterator[str]:
    """Which sets the published numbers are for, in a sentence for each extent; ``what`` names the numbers."""
    for extent, words in EXTENT_PHRASES.items():
        covered = [s for s in sets if s.printed_for == extent]
        if covered:
            printed = dict.fromkeys(row.paper for s in covered for row in (s.human, *s.published) if row is not None)
            where = f" ({', '.join(s.label for s in covered)})" if names and len(covered) < len(sets) else ""
            yield f"{what}: printed by {', '.join(printed)} {words}{where}."


def printed_scores(sets: Sequence[SetSummary]) -> Iterator[str]:
    """What was printed for spaces of words, in a sentence for each set and table, with what the table is of."""
    for s in sets:
        if s.printed_for == "other vectors":
            for paper, table in dict.fromkeys((row.paper, row.table) for row in s.published):
                rows = [row for row in s.published if (row.paper, row.table) == (paper, table)]
                scores = ", ".join(f"{row.model} {POINTS.number(row.accuracy)}" for row in rows)
                yield (
                    f"{s.label}: {scores} in {paper}, table {table} ({papers()[paper].tables[table]}), "
                    f"{EXTENT_PHRASES[s.printed_for]}."
                )


# Differences


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
    matches = [name for name in names if name.lower() == text.lower()]
    matches = matches or [name for name in names if text.lower() in name.lower()]
    if len(matches) != 1:
        if matches:
            raise UsageError(f"--against {text} fits {', '.join(matches)}; expected one of them.")
        hint = did_you_mean(text, names)
        raise UsageError(f"--against {text}: no such model was printed.{hint} Expected one of {', '.join(names)}.")
    chosen = [
        _marked(s, next((row for row in s.published if _name(row, twice) == matches[0]), None)) for s in summary.sets
    ]
    return replace(summary, sets=tuple(chosen))


def compared(s: SetSummary) -> PublishedResult | None:
    """The published result that scores of a set are compared with."""
    return next((row for row in s.published if row.compared), None)


def difference_table(summary: Summary) -> Table | None:
    """The table of sets with a published result: that result, and the difference of each encoder; None for samples."""
    rows = [(s, printed) for s in summary.sets if (printed := compared(s)) is not None]
    if not summary.by_set_metric or not rows or not summary.columns:
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
    if not summary.by_set_metric:
        return
    # of each set only what the table shows: the paper of another row is not meant
    compared_sets = [replace(s, human=None, published=(row,)) for s in summary.sets if (row := compared(s)) is not None]
    if compared_sets:
        yield LEGEND
        yield from footnotes(compared_sets, "published")


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
