"""What the demo adds to what a run says: where nobody is above chance, and what order and training contribute."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sentprobe.core.formatting import WHOLE_POINTS
from sentprobe.report.names import listed

if TYPE_CHECKING:
    from sentprobe.report.types import Summary

CHANCE_POINTS = 0.06
"""A score whose interval begins less than this above the majority baseline says next to nothing."""
PERMUTED = "permuted"


class Found(NamedTuple):
    """One encoder on one set."""

    encoder: str
    task: str
    score: float
    low: float
    """Where its interval begins."""
    baseline: float
    """The score of the best baseline."""
    above: bool
    """Whether it is significantly better than that."""
    permuted: float | None = None
    """Its score with the words of every sentence in random order."""


def tell_story(summary: Summary, twins: Mapping[str, str]) -> list[str]:
    """Sentences about the results; ``twins`` has the name of an encoder before training by that after it."""
    return tell([*_read(summary)], _majorities(summary), twins)


def tell(scores: Sequence[Found], majorities: Mapping[str, float], twins: Mapping[str, str]) -> list[str]:
    """The same, from the results and the score of the majority baseline by task."""
    tasks = list(dict.fromkeys(score.task for score in scores))
    above = [score for score in scores if score.above]
    told = []
    if chance := [t for t in tasks if _at_chance([score for score in scores if score.task == t], majorities[t])]:
        told.append(f"Nobody, neither encoder nor baseline, is clearly above chance on {listed(chance)}.")
    if why := [*_order(above), *_training(above, scores, twins)]:
        told.append(f"Why: {'; '.join(why)}.")
    return told


def _read(summary: Summary) -> Iterator[Found]:
    names = [column.name for column in summary.columns]
    for of_set in summary.sets:
        for column, cell in enumerate(of_set.cells):
            if cell is None or cell.against is None:
                continue
            variants = of_set.variants[column] if of_set.variants else ()
            yield Found(
                names[column],
                of_set.task,
                cell.accuracy,
                cell.accuracy if cell.low is None else cell.low,
                cell.against.value,
                cell.against.verdict == "above",
                next((variant.value for variant in variants if variant.of == PERMUTED), None),
            )


def _majorities(summary: Summary) -> dict[str, float]:
    """The score of the majority baseline by task, or of a guess if it was not run."""
    positions = [i for i, column in enumerate(summary.baselines) if column.encoder == "majority"]
    majorities = {}
    for of_set in summary.sets:
        scores = [cell.accuracy for i in positions if (cell := of_set.baselines[i]) is not None]
        majorities[of_set.task] = scores[0] if scores else 1 / of_set.classes
    return majorities


def _at_chance(scores: Sequence[Found], majority: float) -> bool:
    """Whether neither the encoders nor the baselines are clearly above the majority baseline on a set."""
    most = majority + CHANCE_POINTS
    return not any(score.above or score.low >= most for score in scores) and all(
        score.baseline < most for score in scores
    )


def _order(above: Sequence[Found]) -> list[str]:
    """How much of what is known beyond words is lost with the order of the words."""
    drops: dict[str, list[tuple[float, str]]] = {}
    for score in above:
        if score.permuted is not None:
            which = f"{score.task}, {_points(score.score)} to {_points(score.permuted)}"
            drops.setdefault(score.encoder, []).append((score.score - score.permuted, which))
    texts = []
    for encoder, encoder_drops in drops.items():
        mean, (most, which) = sum(drop for drop, _ in encoder_drops) / len(encoder_drops), max(encoder_drops)
        named = f" (most on {which})" if len(encoder_drops) > 1 and most > 0 else ""
        texts.append(f"{_points(max(0.0, mean))} points for {encoder}{named}")
    if not texts:
        return []
    return [f"with words in random order, the scores above the baselines fall on average by {listed(texts)}"]


def _training(above: Sequence[Found], scores: Sequence[Found], twins: Mapping[str, str]) -> list[str]:
    """How much of what is known beyond words an encoder knew before it was trained."""
    told = []
    for encoder in dict.fromkeys(score.encoder for score in above):
        twin = {score.task: score.score for score in scores if score.encoder == twins.get(encoder)}
        gains = [score.score - twin[score.task] for score in above if score.encoder == encoder and score.task in twin]
        if gains:
            mean = _points(sum(gains) / len(gains))
            told.append(f"{twins[encoder]} ({encoder} before training) is {mean} points lower there")
    return told


def _points(value: float) -> str:
    return WHOLE_POINTS.number(value)
