"""Printed results as evidence: what can be decided from the cells of a paper alone.

A cell is one trained probe on one test set. It says how often the probe was right on the rows that were tested, so that
its sampling error is that of a share of n rows, or, for a correlation, that of Fisher's transformation. Which rows two
encoders have right in common is not printed: their difference is tested as if they had been tested on different rows,
which is conservative where encoders tend to fail on the same ones. What was cut off by rounding counts against every
verdict. Nothing printed says how scores vary over training runs of an encoder: a verdict is about the encoders that
were trained. Where n is not known, or a score is not a mean over rows (BLEU, perplexity), a single cell decides
nothing: then signs are counted.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from functools import cache

from sentprobe.data.layouts.catalogue import LAYOUTS
from sentprobe.published import PublishedRow, papers, rows_of
from sentprobe.replicate.evidence import ClaimScore, Contrast, Models, Scope

P_VALUE = "p-value"
"""The metric of printed p-values; the model is one name vs. the other."""
METRICS = ("accuracy", "lowest accuracy", "highest accuracy", "precision@1", "pearson", "bleu", "perplexity")
"""Of several numbers about a model and a set, which is the score, the preferred first."""
PROBING_ROWS = {"conneau2018": 10_000, "universal2019": 7_500, "xprobe2019": 10_000, "adi2017": 25_000}
"""Test rows of probing sets: section 2 of Conneau et al.; section 4.2 of Krasnowska-Kieraś and Wróblewska; section 6.1
of Ravishankar et al.; of Adi et al. the test sentences: two rows of word presence are of one, and not independent."""
HUMAN_ROWS = dict.fromkeys(("bigram_shift", "odd_man_out", "coordination_inversion"), 1_000)
"""Sentences judged by people, 200 for other tasks (Conneau et al. 2018, section 2)."""
WORD_ROWS = {"word_translation": 1_500, "sentence_retrieval": 2_000}
"""Queries (captions of tables 4.1 and 4.3 of the thesis)."""
WORD_PAIRS = {"en-de": 914, "en-es": 978, "en-it": 967}
"""Of the sets of cross-lingual similarity (Camacho-Collados et al. 2017, SemEval-2017 task 2, table 3)."""
DIGITS = {
    ("xprobe2019", "3"): 0.01, ("xprobe2019", "4"): 0.01, ("universal2019", "1"): 0.0001, ("adi2017", "text"): 0.01,
    ("conneau2019", "4.4"): 0.01, ("conneau2019", "4.16"): 0.01,
}  # fmt: skip
"""The last digit that tables have; 0.001 where it is not listed."""


class PrintedResults:
    """The tables of a paper."""

    rule = "rows as independent samples"

    def __init__(self, paper: str) -> None:
        self.paper = paper

    def scores(self, role: Models, scope: Scope) -> list[ClaimScore]:
        """The printed scores of a role."""
        scope, scores = scope.of(role), dict[tuple[str, ...], ClaimScore]()
        for row in self._rows(scope):
            varies = role.match(row.model)
            key = row.table, row.model, row.task, row.language
            if varies is None or row.metric == P_VALUE:
                continue
            if scope.metric == row.metric or (not scope.metric and row.metric in METRICS):
                score = _scored(row, varies)
                previous = scores.get(key)
                if previous is None or METRICS.index(row.metric) < METRICS.index(previous.metric):
                    scores[key] = score
        return list(scores.values())

    def contrast(self, first: ClaimScore, second: ClaimScore) -> Contrast:
        """As if the two had been tested on different rows."""
        errors = [_error(score.source) for score in (first, second)]
        error = None if None in errors else math.hypot(*(e for e in errors if e is not None))
        value = round(first.value - second.value, 9)
        label = f"{first.encoder} – {second.encoder}, {_where(first, second)}"
        rounding = _half_digit(first) + _half_digit(second)
        return Contrast(label, first.same_rows, value, error, rounding).of(first, second)

    def above(self, score: ClaimScore, threshold: float) -> Contrast:
        """Of one score."""
        label = f"{score.encoder}, {_where(score, score)}"
        value = round(score.value - threshold, 9)
        return Contrast(label, score.same_rows, value, _error(score.source), _half_digit(score)).of(score)

    def tested_only(self, first: Models, second: Models, scope: Scope) -> Iterator[Contrast]:
        """Printed p-values, which do not say which of the two is better."""
        for row in self._rows(scope):
            if row.metric != P_VALUE:
                continue
            before, _, after = row.model.partition(" vs. ")
            varies, follows = first.match(before), second.match(after)
            if varies is not None and follows is not None and (first is second or varies == follows):
                yield Contrast(f"{row.model}, {row.task}", row.task, None, p=row.value, tasks=(row.task,))

    def missing(self, role: Models, scope: Scope) -> str:  # noqa: ARG002
        """The paper prints no number."""
        return f"printed numbers of {role.name}"

    def tasks(self, table: str) -> tuple[str, ...]:
        """The tasks of a table, or of several."""
        return tuple(dict.fromkeys(row.task for row in _rows(self.paper, table)))

    def languages(self, table: str) -> tuple[str, ...]:
        """The languages of a table, or of several."""
        return tuple(dict.fromkeys(row.language for row in _rows(self.paper, table)))

    def _rows(self, scope: Scope) -> Iterator[PublishedRow]:
        for row in _rows(self.paper, scope.table):
            if (not scope.tasks or row.task in scope.tasks) and (
                not scope.languages or row.language in scope.languages
            ):
                yield row


@cache
def _rows(paper: str, table: str) -> Sequence[PublishedRow]:
    """The rows of one table, or of several, separated by commas."""
    names = table.split(",") if table else papers()[paper].tables if paper in papers() else ()
    return [row for name in names for row in rows_of(paper, name)]


def _scored(row: PublishedRow, varies: Mapping[str, str]) -> ClaimScore:
    test_set = f"{row.suite}/{row.task}/{row.language}"
    key = f"{row.table}/{row.model}/{row.metric}"
    return ClaimScore(row.model, varies, row.task, row.language, test_set, row.metric, row.value, key, row)


def _where(first: ClaimScore, second: ClaimScore) -> str:
    tasks = dict.fromkeys((first.task, second.task))
    languages = dict.fromkeys((first.language, second.language))
    return f"{' – '.join(tasks)}/{' – '.join(languages)}"


def _half_digit(score: ClaimScore) -> float:
    return DIGITS.get((score.source.paper, score.source.table), 0.001) / 2


def _error(row: PublishedRow) -> float | None:
    """The standard error of a printed score on other test rows; None if it is unknown."""
    n = sample_size(row)
    if n is None:
        return None
    if row.metric == "pearson":
        return (1 - row.value**2) / math.sqrt(n - 1)
    share = (n * row.value + 2) / (n + 4)  # which has an error where all rows are right, too (Agresti and Coull 1998)
    return math.sqrt(share * (1 - share) / (n + 4))


def sample_size(row: PublishedRow) -> int | None:
    """How many rows a printed score is a mean over; None if that is unknown, or it is no mean over rows."""
    if row.task == "word_similarity":
        return WORD_PAIRS.get(row.language)
    of_pairs = row.metric == "pearson" and row.task in ("SICKRelatedness", "STSBenchmark", "CDSRelatedness")
    if not of_pairs and not row.metric.endswith(("accuracy", "precision@1", "recall@1")):
        return None
    if row.suite in PROBING_ROWS:
        human = row.kind == "human"
        return HUMAN_ROWS.get(row.task, 200) if human else PROBING_ROWS[row.suite]
    if row.task in WORD_ROWS:
        return WORD_ROWS[row.task]
    if row.task == "ImageCaptionRetrieval":
        return 5_000  # images, of five captions each, which are not independent
    if row.task not in LAYOUTS:
        return None
    sizes = LAYOUTS[row.task].sizes[0]
    return sizes.get("va" if row.metric == "dev accuracy" else "te")
