"""Whether a method of alignment follows the rules: matrices of the right shape, the same from the same seed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from sentprobe.core.arguments import Value, resolve_settings
from sentprobe.errors import SentProbeError, describe_error, error_location
from sentprobe.lab.alignment.map_scores import criterion
from sentprobe.lab.alignment.maps import prepare
from sentprobe.lab.alignment.method import Arrays, Matrices, Method, Problem
from sentprobe.testing.verdict import Verdict, verdicts

WORDS, DIM = 300, 8
ORTHOGONAL = 0.1
"""The largest entry of W Wᵀ − I of a method that says its matrices are nearly orthogonal."""


class _Interrupted(Exception):
    """Raised when a state was kept."""


def check_alignment_method(method: Method, settings: Mapping[str, Value] | None = None) -> None:
    """Raise SentProbeError at the first rule that a method of alignment breaks.

    Parameters
    ----------
    method: Method
        What a file of ``sentprobe/lab/alignment/methods``, or an entry point of ``sentprobe.alignment_methods``, has.
    settings: Mapping, optional
        Values of its settings, such as few rounds; the others are as by default.
    """
    for verdict in examine_alignment_method(method, settings):
        if not verdict.passed:
            raise SentProbeError(f"The alignment method breaks a rule: {verdict.rule}. {verdict.detail}")


def examine_alignment_method(method: Method, settings: Mapping[str, Value] | None = None) -> Iterator[Verdict]:
    """Try a method, rule by rule, on two spaces: one is a rotated, noisy copy of the other."""
    problem = _planted(method, resolve_settings(method.settings, settings or {}, f"the method {method.name}"))
    vectors_before = problem.source.copy(), problem.target.copy()
    rule = "it gives matrices of finite numbers for both sides, of the same width"
    try:
        matrices = method.solve(problem)
        defect = _shape(matrices)
    except Exception as e:  # whatever third-party code raises
        yield Verdict(rule, False, f"got {describe_error(e)}{error_location(e)}")
        return
    yield Verdict(rule, not defect, defect)
    if defect:
        return

    def unchanged() -> str:
        is_unchanged = np.array_equal(vectors_before[0], problem.source) and np.array_equal(
            vectors_before[1], problem.target
        )
        return "" if is_unchanged else "it changed the vectors it was given"

    def repeated() -> str:
        return _difference(matrices, method.solve(problem))

    def near_orthogonal() -> str:
        gap = max(float(np.abs(m @ m.T - np.eye(len(m))).max()) for m in matrices if m is not None)
        return f"W Wᵀ − I has an entry of {gap:.2g}" if method.orthogonal and gap > ORTHOGONAL else ""

    def resumed() -> str:
        return _difference(matrices, _interrupted(method, problem))

    yield from verdicts(
        (
            ("it leaves the vectors as they are", unchanged),
            ("the same seed gives the same matrices", repeated),
            ("its matrices are nearly orthogonal, if it says so", near_orthogonal),
            ("if it is interrupted, it ends as if it had not been", resumed),
        )
    )


def _planted(method: Method, settings: Mapping[str, Value]) -> Problem:
    rng = np.random.default_rng(0)
    turn, _ = np.linalg.qr(rng.standard_normal((DIM, DIM)))
    centres = rng.standard_normal((WORDS // 10, DIM)) * np.linspace(1.5, 0.5, DIM)
    source = (centres[rng.integers(0, len(centres), WORDS)] + 0.3 * rng.standard_normal((WORDS, DIM))).astype(
        np.float32
    )
    target = (source @ turn + 0.01 * rng.standard_normal((WORDS, DIM))).astype(np.float32)
    for vectors in (source, target):
        prepare(vectors, method.steps)
    pairs = None if method.dictionary != "needed" else np.stack([np.arange(0, WORDS, 2)] * 2, axis=1)
    return Problem(source, target, pairs, settings, 1, lambda matrices: criterion(source, target, matrices))


def _interrupted(method: Method, problem: Problem) -> Matrices:
    """What is found if the work stops whenever a state is kept, and goes on from it."""
    state: Arrays | None = None
    while True:
        saved_states: list[Arrays] = []

        def save(arrays: Arrays, saved_states: list[Any] = saved_states) -> None:
            saved_states.append({name: np.array(array) for name, array in arrays.items()})
            raise _Interrupted

        def load(state: Arrays | None = state) -> Arrays | None:
            return state

        try:
            return method.solve(replace(problem, load=load, save=save))
        except _Interrupted:
            state = saved_states[-1]


def _shape(matrices: Matrices) -> str:
    for matrix in matrices:
        if matrix is None:
            continue
        if matrix.ndim != 2 or len(matrix) != DIM:
            return f"expected matrices with {DIM} rows, got shape {matrix.shape}"
        if not np.isfinite(matrix).all():
            return "got numbers that are not finite"
    width = DIM if matrices.target is None else matrices.target.shape[1]
    return "" if matrices.source.shape[1] == width else f"got widths {matrices.source.shape[1]} and {width}"


def _difference(first: Matrices, second: Matrices) -> str:
    for name, a, b in zip(first._fields, first, second, strict=True):
        if (a is None) != (b is None) or (a is not None and b is not None and not np.array_equal(a, b)):
            return f"the {name} matrix differs"
    return ""
