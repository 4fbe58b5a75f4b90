"""What papers printed for a set: for this very one, for the release it is a part of, or on request for others.

For spaces of words, what was printed for the same languages and scored in the same way, whatever the vectors.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from sentprobe.core.formatting import POINTS
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.probes import parse
from sentprobe.published import TRANSFER, WORDS, Row, human, papers, published
from sentprobe.published.sets import Extent, recognise
from sentprobe.report.types import PublishedResult, SetSummary, Summary
from sentprobe.results.result import Result
from sentprobe.tasks import SUITES

MAX_PUBLISHED_ROWS = 30
"""The most published rows that are shown with a set: as many as one table of Conneau et al. (2018) has for a task."""
MLP_TABLE, LOGISTIC_TABLE = "2", "4"
"""The tables of Conneau et al. (2018) with the same models under a probe with a hidden layer, and without one."""
EXTENT_NOTES: Mapping[Extent, str] = {
    "this set": "", "the whole set": "(whole set)", "another set": "(another set)", "other vectors": "(other vectors)",
}  # fmt: skip
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
    others: bool = False,
) -> Published:
    """Published results for a set that run.json describes by ``info``; ``others``: also those for other sets.

    Scores of a sample (``--limit``) are not compared with any: of papers, only what they printed for people is left.
    """
    if task in WORDS:
        kept = _of_words(task, language, results)
        return Published("other vectors" if kept else None, None, kept)
    found = recognise(info.get("content") or {}, info.get("rows") or {})
    if found is not None:
        release, extent = found
        rows = published(release.task, suite=release.suite, language=release.language)
        people = human(release.task, release.suite)
    elif others:
        suite, extent = _suite(name, task, info.get("source")), "another set"
        people = human(task, suite)
        rows = [row for row in published(task, suite=suite) if language in (None, row.language)]
        if language is None and len({row.language for row in rows}) > 1:
            rows = []  # the language of the set is unknown
        if people is not None and language not in (None, people.language):
            people = None
    else:
        return Published()
    metrics = {r.metric for r in results} or {"accuracy"}
    if results and all(r.cell.limit is not None for r in results):
        rows, extent = [], "the whole set" if extent == "this set" else extent
    kept = _kept([row for row in rows if row.metric in metrics], task, results)
    shown = people is not None and people.metric == "accuracy"
    return Published(extent if kept or shown else None, _result(people) if people is not None and shown else None, kept)


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


def _kept(rows: Sequence[Row], task: str, results: Sequence[Result]) -> tuple[PublishedResult, ...]:
    """Rows in the papers' order; of too many, the best models and all others.

    Of two tables that differ in the probe, the one whose probe is like that of the results.
    """
    other = MLP_TABLE if all(_flat(probe, task) for probe in {r.cell.probe for r in results}) else LOGISTIC_TABLE
    once: dict[tuple[str, float], Row] = {}
    for row in rows:
        if (row.suite, row.table) != ("conneau2018", other):
            once.setdefault((row.model, row.value), row)
    kept = sorted(once.values(), key=lambda row: (row.kind == "model", -row.value))[:MAX_PUBLISHED_ROWS]
    return tuple(_result(row) for row in once.values() if row in kept)


def _result(row: Row) -> PublishedResult:
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
        found = [s for s in sets if s.printed_for == extent]
        if found:
            printed = dict.fromkeys(row.paper for s in found for row in (s.human, *s.published) if row is not None)
            where = f" ({', '.join(s.label for s in found)})" if names and len(found) < len(sets) else ""
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
