"""The features of two sentences: their vectors u and v combined, row by row, only when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from sentprobe.errors import ShapeError
from sentprobe.probes.features import Features, Floats
from sentprobe.probes.probe import PairFeatures


def compare(first: Features, second: Features) -> Features:
    """[|u − v|, u · v] of each row, (n, 2d): as SentEval does for MRPC, SICK and the STS benchmark."""
    return _pair(first, second, _compared)


def juxtapose(first: Features, second: Features) -> Features:
    """[u, v, u · v, |u − v|] of each row, (n, 4d): as SentEval does for SNLI."""
    return _pair(first, second, _juxtaposed)


PAIR_FEATURES: Mapping[str, Callable[[Features, Features], Features]] = {"two": compare, "four": juxtapose}
"""How the vectors of two sentences are combined, by the name that the setting ``pairs`` of a probe has for it."""
TASK_PAIRS = {
    **dict.fromkeys(("SICKRelatedness", "STSBenchmark", "STSBenchmark-fix", "CDSRelatedness"), "two"),
    **dict.fromkeys(("SNLI", "XNLI", "SICKEntailment", "CDSEntailment", "MRPC"), "four"),
}
"""The features of the transfer tasks that are pairs, unless a probe says otherwise, as Conneau (2019, section 3.1.3)
describes them. SentEval has two blocks only for SICKEntailment and MRPC, and so has the drop-in."""


def pair_features(task: str, requested: PairFeatures = "task") -> str | None:
    """How the pairs of a task are combined if a probe has ``pairs=requested``, by name; None: concatenated."""
    return TASK_PAIRS.get(task) if requested == "task" else requested


def _pair(first: Features, second: Features, combine: Callable[[Sequence[Floats]], Floats]) -> Features:
    widths = [[table.shape[1] for table in side.tables] for side in (first, second)]
    if first.combine is not None or second.combine is not None:
        raise ShapeError("Expected the vectors of two sentences, got features that are a pair already.")
    if len(first) != len(second) or widths[0] != widths[1]:
        raise ShapeError(
            f"The sides of a pair have {len(first)} and {len(second)} rows, and the dimensions {widths[0]} and "
            f"{widths[1]}; expected the same of both."
        )
    return Features(first.tables + second.tables, first.indices + second.indices, combine)


def _compared(parts: Sequence[Floats]) -> Floats:
    """(m, 2d), from the rows (m, d) of both sentences."""
    u, v = _sides(parts)
    blocks = np.empty((len(u), 2, u.shape[1]), np.float32)
    _differ(u, v, blocks[:, 0])
    _multiply(u, v, blocks[:, 1])
    return blocks.reshape(len(u), 2 * u.shape[1])


def _juxtaposed(parts: Sequence[Floats]) -> Floats:
    """(m, 4d), from the rows (m, d) of both sentences."""
    u, v = _sides(parts)
    blocks = np.empty((len(u), 4, u.shape[1]), np.float32)
    blocks[:, 0], blocks[:, 1] = u, v
    _multiply(u, v, blocks[:, 2])
    _differ(u, v, blocks[:, 3])
    return blocks.reshape(len(u), 4 * u.shape[1])


def _sides(parts: Sequence[Floats]) -> tuple[Floats, Floats]:
    """u and v, (m, d) each: the first half of the parts belongs to one sentence, the second to the other."""
    half = len(parts) // 2
    if half == 1:
        return parts[0], parts[1]
    return np.concatenate(parts[:half], axis=1), np.concatenate(parts[half:], axis=1)


def _differ(u: Floats, v: Floats, out: Floats) -> None:
    with np.errstate(over="ignore", invalid="ignore"):  # what is not finite is reported in training
        np.abs(np.subtract(u, v, out=out), out=out)


def _multiply(u: Floats, v: Floats, out: Floats) -> None:
    with np.errstate(over="ignore", invalid="ignore"):
        np.multiply(u, v, out=out)
