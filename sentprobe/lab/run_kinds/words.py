"""`sentprobe words`: runs of spaces of words, where neighbours are retrieved and no probe is trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from sentprobe.report.types import Summary
from sentprobe.results.run_kind import RunKind
from sentprobe.stats.level import level_text

RETRIEVALS = {
    "nn": "the candidate with the highest cosine",
    "csls": "twice the cosine, less the mean cosine of either one to its ten nearest neighbours in the other "
    "language, so that what is near to everything is found less often",
    "isf": "the inverted softmax, by which a candidate should be mapped back to the query",
}
"""How neighbours are scored, in words."""
INTERVALS = {
    "wilson": "Wilson's over words or sentences",
    "bootstrap": "bootstrap over pairs or sentences for correlations, cosines and BLEU",
}


def set_notes() -> Mapping[str, str]:
    """How sets are scored, by task."""
    from sentprobe.lab.words import WORD_EVALUATIONS

    return {part.task: part.set_note for part in WORD_EVALUATIONS.parts().values() if part.set_note}


def score_note(kinds: set[str]) -> str:
    """The first line of a legend."""
    intervals = "; ".join(text for kind, text in INTERVALS.items() if kind in kinds)
    return (
        f"Scores times 100; ± is half the width of the {level_text()} interval: {intervals}. It is about these "
        "spaces, on other samples of test rows: not about other vectors or alignments."
    )


def notes(summary: Summary) -> Iterator[str]:
    """What the ways to retrieve are; and that some scores do not depend on them."""
    from sentprobe.lab.words import WORD_EVALUATIONS

    used = dict.fromkeys(c.probe for c in summary.columns if c.probe in RETRIEVALS)
    if used:
        yield f"Retrieval: {'; '.join(f'{name}, {RETRIEVALS[name]}' for name in used)}."
    compared = {part.task for part in WORD_EVALUATIONS.parts().values() if not part.retrieves}
    same = [s.label for s in summary.sets if s.task in compared]
    if len(used) > 1 and same:
        yield f"{', '.join(same)}: the same for every retrieval."
    if any(column.encoder == "copy" for column in summary.baselines):
        yield (
            "copy: every word is left as it is; for sentences, the one with most identical words, weighted by inverse "
            "document frequency."
        )


run_kind = RunKind(
    name="words",
    summary="Spaces of words, where neighbours are retrieved.",
    command="sentprobe words",
    probes=frozenset(RETRIEVALS),
    way="retrieval",
    noun="system",
    columns="Columns",
    tested="on the same words or sentences",
    mark_note="† not significantly better than the best baseline on the same rows (paired test, as sentprobe compare "
    "makes it; Holm over the columns of a set, {alpha}).",
    no_errors="No words or sentences were retrieved, or the predictions cannot be read.",
    score_note=score_note,
    notes=notes,
    set_notes=set_notes,
)
