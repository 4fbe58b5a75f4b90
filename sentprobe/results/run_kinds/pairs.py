"""`sentprobe pairs`: runs of sentence encoders whose vectors are compared as they are, and no probe is trained."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sentprobe.results.run_kind import RunKind
from sentprobe.stats.level import level_text

SIMILARITIES = {
    "cosine": "the cosine of two vectors",
    "dot": "their dot product",
    "euclidean": "their Euclidean distance, with its sign changed",
}
"""How vectors are compared, in words."""
BASELINES = {
    "chance": "a coin: half of the rows",
    "length": "texts are near if they have as many words",
    "overlap": "if they share words (Jaccard)",
    "tf-idf": "if they share rare words (cosine of tf-idf)",
}
INTERVALS = {
    "wilson": "Wilson's, over rows or groups of rows, for shares",
    "cluster": "Wilson's, over rows or groups of rows, for shares",
    "bootstrap": "bootstrap over rows or groups of rows, for correlations and AUC",
}
SET_NOTES = {
    "triplets": "the share of rows whose positive is nearer to the anchor than the contrast is; a tie counts one half. "
    "Below 50, the contrast is nearer.",
    "scored_pairs": "Spearman's rho of similarities and scores of people, times 100.",
    "labelled_pairs": "area under the ROC curve: how often a pair labelled 1 is nearer than one labelled 0, times 100.",
}
"""How sets are scored, by task."""
DIVIDED = frozenset({*SET_NOTES, "triplet_accuracy", "spearman", "roc_auc"})
"""Tasks and metrics of sets that have others as their parts."""


def disjoint_sets(sets: Sequence[tuple[str, str, int]]) -> list[int]:
    """The numbers of the sets without those whose rows others have: of pairs by kind, the whole, or kinds that are few.

    Of each set: its task or its metric, its name, and how many rows it has.
    """
    repeated: set[int] = set()
    for i, (scored, name, rows) in enumerate(sets):
        parts = [
            j
            for j, (scored_as, part, _) in enumerate(sets)
            if scored in DIVIDED and scored_as == scored and part.startswith(f"{name}/")
        ]
        if parts:
            # where some rows have no kind, the kinds would not speak of all
            repeated.update([i] if sum(sets[j][2] for j in parts) == rows else parts)
    return [i for i in range(len(sets)) if i not in repeated]


def set_notes() -> Mapping[str, str]:
    """How sets are scored, by task."""
    return SET_NOTES


def score_note(kinds: set[str]) -> str:
    """The first line of a legend."""
    intervals = "; ".join(dict.fromkeys(text for kind, text in INTERVALS.items() if kind in kinds))
    how = f": {intervals}" if intervals else ""
    return f"Scores times 100; ± is half the width of the {level_text()} interval{how}."


def notes(summary: Any) -> Iterator[str]:
    """How vectors are compared, and what baselines do."""
    used = dict.fromkeys(column.probe for column in summary.columns if column.probe in SIMILARITIES)
    if used:
        yield f"Near by {'; '.join(f'{name}: {SIMILARITIES[name]}' for name in used)}."
    named = [column.encoder for column in summary.baselines if column.encoder in BASELINES]
    if named:
        yield f"Baselines see texts only. {'; '.join(f'{name}: {BASELINES[name]}' for name in named)}."


run_kind = RunKind(
    name="pairs",
    summary="Sentences that mean the same, and sentences that do not: which ones an encoder puts nearer.",
    command="sentprobe pairs",
    probes=frozenset(SIMILARITIES),
    way="similarity",
    tested="on the same rows",
    mark_note="† not significantly better than the best baseline on the same rows (paired test, as sentprobe compare "
    "makes it; Holm over the encoders of a set, {alpha}).",
    no_errors="No set has triplets, or they cannot be read.",
    score_note=score_note,
    notes=notes,
    set_notes=set_notes,
)
