"""The features of two sentences: their vectors u and v combined, row by row, only when they are needed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sentprobe.errors import ShapeError
from sentprobe.probes.features import Features, Floats


def compare(one: Features, two: Features) -> Features:
    """[|u − v|, u · v] of each row, (n, 2d): as SentEval does for MRPC, SICK and the STS benchmark."""
    return _pair(one, two, _compared)


def juxtapose(one: Features, two: Features) -> Features:
    """[u, v, u · v, |u − v|] of each row, (n, 4d): as SentEval does for SNLI."""
    return _pair(one, two, _juxtaposed)


def _pair(one: Features, two: Features, combine: Callable[[Sequence[Floats]], Floats]) -> Features:
    widths = [[table.shape[1] for table in side.tables] for side in (one, two)]
    if one.combine is not None or two.combine is not None:
        raise ShapeError("Expected the vectors of two sentences, got features that are a pair already.")
    if len(one) != len(two) or widths[0] != widths[1]:
        raise ShapeError(
            f"The sides of a pair have {len(one)} and {len(two)} rows, and the dimensions {widths[0]} and {widths[1]}; "
            "expected the same of both."
        )
    return Features(one.tables + two.tables, one.places + two.places, combine)


def _compared(parts: Sequence[Floats]) -> Floats:
    u, v = _sides(parts)
    made = np.empty((len(u), 2, u.shape[1]), np.float32)
    _differ(u, v, made[:, 0])
    _multiply(u, v, made[:, 1])
    return made.reshape(len(u), 2 * u.shape[1])


def _juxtaposed(parts: Sequence[Floats]) -> Floats:
    u, v = _sides(parts)
    made = np.empty((len(u), 4, u.shape[1]), np.float32)
    made[:, 0], made[:, 1] = u, v
    _multiply(u, v, made[:, 2])
    _differ(u, v, made[:, 3])
    return made.reshape(len(u), 4 * u.shape[1])


def _sides(parts: Sequence[Floats]) -> tuple[Floats, Floats]:
    """The first half of the parts belongs to one sentence, the second to the other."""
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
