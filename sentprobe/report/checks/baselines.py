"""Checks of results against baselines that know nothing, or only words."""

from __future__ import annotations

from sentprobe.core.formatting import POINTS
from sentprobe.report.check import Check, CheckFinding, ScoredCell, differs_significantly, scored_cells
from sentprobe.report.types import Summary
from sentprobe.report.verdict import verdict_of
from sentprobe.results.metric import metric_named
from sentprobe.stats.level import alpha_text

WORD_BASELINES = ("nb-uni", "nb-bi", "baseline:hash")
ANSWER_BASELINES = {"sentence_length": ("length",), "word_content": WORD_BASELINES}
"""Baselines that read the answer off the sentence, which no embedding can be expected to beat: in table 2 of Conneau et
al. (2018), length has 100 on SentLen, and naive Bayes over words 97.8 on WC."""


def below_baseline(summary: Summary) -> CheckFinding | None:
    """The scores that are marked with † in every table."""
    scores = [n for n in scored_cells(summary) if n.cell.against and n.right_or_wrong]
    if not scores:
        return None
    total = len(scores)
    below, close, untested = (
        [n for n in scores if verdict_of(n.cell) == verdict] for verdict in ("below", "not_significant", "untested")
    )
    where = [
        f"{n.name}: {POINTS.number(n.cell.score.value)}, "
        f"{n.cell.against.baseline} {POINTS.number(n.cell.against.value)}"
        for n in (*below, *close)
        if n.cell.against
    ]
    tested = f"paired test, Holm over all {summary.kind.noun}s and sets, {alpha_text()}"
    if below or close:
        text = []
        if below:
            text.append(f"{len(below)} of {total} scores: not higher than the best baseline on the same rows.")
        if close:
            text.append(f"{len(close)} of {total} scores: higher, but not significantly ({tested}).")
        if any(_is_answer(n) for n in (*below, *close)):
            text.append("Length on sentence_length, and words on word_content, are the answer itself.")
        if untested:
            text.append(f"{len(untested)} of {total} could not be tested.")
        if any(not _is_answer(n) for n in below):
            return CheckFinding("issue", "Some scores are no better than a baseline", " ".join(text), where)
        return CheckFinding("tip", "Some scores are not significantly better than a baseline", " ".join(text), where)
    if untested:
        return CheckFinding(
            "issue",
            "Some scores were not compared with the baselines",
            f"{len(untested)} of {total} scores: their predictions cannot be read, so they could not be tested.",
        )
    text = [f"{total} of {total} scores: significantly better than the best baseline on the same rows ({tested})."]
    return CheckFinding("passed", "Every score is better than the baselines", text[0])


def _is_answer(scored_cell: ScoredCell) -> bool:
    """Whether the best baseline reads the answer off the sentence."""
    against = scored_cell.cell.against
    return against is not None and against.baseline in ANSWER_BASELINES.get(scored_cell.set_summary.task, ())


def chance(summary: Summary) -> CheckFinding | None:
    """Scores that the most frequent label reaches as well."""
    scores = [n for n in scored_cells(summary) if "majority" in n.baselines and n.right_or_wrong]
    if not scores:
        return None
    bounds = [n.baselines["majority"].accuracy for n in scores]
    far = differs_significantly([n.cell for n in scores], bounds)
    below, at = [], []
    for n, bound, apart in zip(scores, bounds, far, strict=True):
        if apart and n.cell.accuracy < bound:
            below.append((n, bound))
        elif n.low <= bound and verdict_of(n.cell) != "above":
            at.append((n, bound))
    where = [f"{n.name}: {POINTS.number(n.cell.accuracy)}, majority {POINTS.number(b)}" for n, b in below + at]
    held = f"{len(at)} of {len(scores)} scores: not significantly above the most frequent label of the test rows"
    if below:
        comment = f" {held}." if at else ""
        text = (
            f"{len(below)} of {len(scores)} scores: significantly below the most frequent label of the test rows "
            f"(Holm over the scores, {alpha_text()}). What was learned is reversed in the test rows, or labels are "
            f"wrong.{comment}"
        )
        return CheckFinding("issue", "Some scores are below chance", text, where)
    if at:
        text = f"{held}. The probe found nothing there, which does not show that there is nothing."
        return CheckFinding("tip", "Some scores are at chance", text, where)
    text = f"{len(scores)} of {len(scores)} scores: significantly above the most frequent label."
    return CheckFinding("passed", "Every score is above chance", text)


def leak_like(summary: Summary) -> CheckFinding | None:
    """Sets on which a random vector for each text is better than any constant answer."""
    scores = []
    for i, s in enumerate(summary.sets):
        for column, cell in zip(summary.baselines, s.baselines, strict=True):
            if column.encoder == "baseline:random" and cell and metric_named(s.scored_by).predicts == "classes":
                scores.append((s.label, cell, _constant(summary, i, column.sample)))
    if not scores:
        return None
    apart = differs_significantly([cell for _, cell, _ in scores], [bound for *_, bound in scores])
    above = [f for f, far in zip(scores, apart, strict=True) if far and f[1].accuracy > f[2]]
    if not above:
        text = f"{len(scores)} of {len(scores)} sets: random vectors are not significantly above a constant answer."
        return CheckFinding("passed", "Random vectors find nothing", text)
    text = (
        f"{len(above)} of {len(scores)} sets: random vectors are significantly better than a constant answer (Holm "
        f"over the sets, {alpha_text()}). All they reveal is which texts are identical, so test rows probably occur in "
        "the training rows as well, and scores on these sets are too high."
    )
    where = [
        f"{label}: {POINTS.number(cell.accuracy)}, constant answer {POINTS.number(bound)}"
        for label, cell, bound in above
    ]
    return CheckFinding("issue", "Random vectors find something", text, where)


def _constant(summary: Summary, number: int, sample: tuple[int | None, str]) -> float:
    """The best constant answer on the test rows, whose majority may not be that of the training rows."""
    s = summary.sets[number]
    errors = summary.errors[number] if summary.errors else None
    shares: list[float] = [1 / max(1, s.classes)]
    for column, cell in zip(summary.baselines, s.baselines, strict=True):
        if column.encoder == "majority" and cell and column.sample == sample:
            shares.append(cell.accuracy)
    if errors is not None:
        for column, column_errors in zip(summary.columns, errors.columns, strict=True):
            if column_errors and column_errors.label_counts and column.sample == sample:
                counts = [truth for truth, _ in column_errors.label_counts]
                shares.append(max(counts) / sum(counts))
    return max(shares)


checks = (
    Check(
        name="leak-like",
        order=40,
        find=leak_like,
        advice="Run `sentprobe audit` on the set, which lists the duplicates; remove them, or do not use the set.",
        doc="""
An issue where the baseline `baseline:random`, a random vector for each text, is significantly above the best constant
answer: the accuracy of the majority, or the share of the most frequent label of the test rows where that is higher. It
knows nothing but which texts are identical, so test rows must occur in the training rows.
""",
    ),
    Check(
        name="below-baseline",
        order=80,
        find=below_baseline,
        advice="Do not claim that the encoder captures the property; words alone, or duplicates, explain the score as "
        "well.",
        doc="""
An issue where a score is not higher than the [best baseline](show.md#the-best-baseline) on the same rows; a tip where
it is, but not significantly by a paired test, adjusted by Holm over all encoders and sets. These are the scores that †
marks in every table and figure. Length on sentence length, and bags of words on word content, are only a tip: they
read the answer off the sentence, and have 100 and 97.8 in table 2 of Conneau et al. (2018). The best of several
baselines is partly luck on a small set, so the bar is a little too high there.
""",
    ),
    Check(
        name="chance",
        order=90,
        find=chance,
        advice='Report scores at chance as "not found by this probe with this many rows"; where they are below, look '
        "at the set.",
        doc="""
A tip where the share of the most frequent label of the test rows lies within the interval of a score, or above it, and
the score is not significantly better than the best baseline: the probe found nothing. An issue where the score is
significantly below: what was learned is reversed in the test rows, as happens where sentences come in pairs, splits
were not drawn alike, or labels are wrong.
""",
    ),
)
