"""RCSLS: the matrix that makes translations nearest under CSLS itself, by gradient descent from Procrustes' matrix.

Joulin et al. 2018, "Loss in translation: learning bilingual word mapping with a retrieval criterion"; the aligned
vectors of fastText are made so. For rows of length one, the loss of a pair (x, y) and a matrix M is

    −2 xMy + mean of xMz over the k nearest target words z of xM + mean of zMy over the k nearest source words z of y

which is convex in M: CSLS, but with products instead of cosines, so that M need not be orthogonal. A multiple of M has
that multiple of its loss, so that a negative loss has no minimum unless singular values are limited (``spectral``);
without that, the number of epochs keeps M near to where it began. A step that makes the loss larger is taken back, as
the released code means to do: it keeps no copy of the matrix, so that there only the learning rate is halved.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import Setting
from sentprobe.lab.alignment.method import Arrays, Matrices, Method, Problem
from sentprobe.lab.alignment.methods._top import top_columns
from sentprobe.lab.alignment.methods._weighted import products, rotation
from sentprobe.lab.alignment.space import Matrix, Rows

Square = NDArray[np.float64]
BLOCK = 1 << 22
"""Products in a block."""
SMALLEST_RATE = 1e-4
"""The learning rate, relative to the first, below which the search ends."""


class Loss(NamedTuple):
    """The mean loss of pairs, and its gradient."""

    value: float
    gradient: Square
    """(d, d)."""


class Words(NamedTuple):
    """Vectors of both sides, and those of their most frequent words, which translations must be nearer than."""

    source: Matrix
    target: Matrix
    source_negatives: Matrix
    target_negatives: Matrix
    k: int


def loss(words: Words, pairs: Rows, matrix: Square) -> Loss:
    """The mean loss of pairs (p, 2) and its gradient; a subgradient where neighbours change."""
    rows, others = pairs.T
    near = products(words.source, rows, words.target, others)
    there, there_gradient = _nearest(words.source, rows, matrix, words.target_negatives, words.k)
    back, back_gradient = _nearest(words.target, others, matrix.T, words.source_negatives, words.k)
    value = there + back - 2 * np.vdot(near, matrix)
    return Loss(float(value) / len(pairs), (there_gradient + back_gradient.T - 2 * near) / len(pairs))


def _nearest(vectors: Matrix, rows: Rows, matrix: Square, others: Matrix, k: int) -> tuple[float, Square]:
    """Σ over rows x of the mean of xMz over the k others z with the largest products, and its gradient.

    A word with several translations is in several pairs, but its neighbours are looked for once.
    """
    found, counts = np.unique(rows, return_counts=True)
    total, gradient = 0.0, np.zeros(matrix.shape)
    moved = matrix.astype(vectors.dtype)
    size = max(1, BLOCK // len(others))
    for at in range(0, len(found), size):
        here = vectors[found[at : at + size]]
        scores = (here @ moved) @ others.T
        best = np.sort(top_columns(scores, k), axis=1)
        mean = others[best].mean(1, dtype=np.float64)
        weighted = here.astype(np.float64) * counts[at : at + size, None]
        part = weighted.T @ mean
        gradient += part
        total += float(np.vdot(part, matrix))
    return total, gradient


def project(matrix: Square) -> Square:
    """The nearest matrix whose singular values are 1 at most."""
    left, values, right = np.linalg.svd(matrix)
    return np.asarray((left * np.minimum(values, 1)) @ right)


@dataclass(frozen=True, eq=False)
class _State:
    """Where the search is: after an epoch, the best matrix so far."""

    matrix: Square
    at: Loss
    rate: float
    epoch: int = 0


def solve(problem: Problem) -> Matrices:
    """Steps along the gradient; a step that makes the loss larger is taken back, and the learning rate halved."""
    assert problem.pairs is not None
    settings, words = problem.settings, _words(problem)
    first = float(settings["lr"])
    state = _begin(problem, words, first)
    while state.epoch < int(settings["epochs"]) and state.rate >= first * SMALLEST_RATE:
        state = _epoch(problem, words, state)
        facts = {"loss": state.at.value, "lr": state.rate}
        problem.report("epoch", state.epoch, _matrices(state.matrix), facts)
        problem.save(_arrays(state))
    return _matrices(state.matrix)


def _epoch(problem: Problem, words: Words, state: _State) -> _State:
    """One pass over all pairs, in batches."""
    assert problem.pairs is not None
    pairs, batch, epoch = problem.pairs, int(problem.settings["batch"]), state.epoch + 1
    matrix = state.matrix
    if batch == 0 or batch >= len(pairs):
        matrix = _step(problem, matrix, state.at.gradient, state.rate)
    else:
        order = problem.rng(epoch).permutation(len(pairs))
        for at in range(0, len(pairs), batch):
            gradient = loss(words, pairs[order[at : at + batch]], matrix).gradient
            matrix = _step(problem, matrix, gradient, state.rate)
    found = loss(words, pairs, matrix)
    if found.value < state.at.value:
        return _State(matrix, found, state.rate, epoch)
    return replace(state, rate=state.rate / 2, epoch=epoch)


def _step(problem: Problem, matrix: Square, gradient: Square, rate: float) -> Square:
    found = matrix - rate * gradient
    return project(found) if problem.settings["spectral"] else found


def _words(problem: Problem) -> Words:
    """The words of either side; of their most frequent ones all, or a sample that stays the same."""
    limit, sample = int(problem.settings["negatives"]), int(problem.settings["sample"])
    sides = []
    for number, vectors in enumerate((problem.source, problem.target)):
        some = vectors[:limit]
        if 0 < sample < len(some):
            some = some[np.sort(problem.rng(0, number).choice(len(some), sample, replace=False))]
        sides.append(some)
    return Words(problem.source, problem.target, sides[0], sides[1], int(problem.settings["k"]))


def _begin(problem: Problem, words: Words, rate: float) -> _State:
    """Where an interrupted run ended, or the Procrustes solution."""
    assert problem.pairs is not None
    if (saved := problem.load()) is not None:
        numbers = saved["numbers"]
        at = Loss(float(numbers[0]), saved["gradient"])
        return _State(saved["matrix"], at, float(numbers[1]), int(numbers[2]))
    matrix = rotation(problem.source, problem.target, problem.pairs).astype(np.float64)
    return _State(matrix, loss(words, problem.pairs, matrix), rate)


def _arrays(state: _State) -> Arrays:
    numbers = np.array([state.at.value, state.rate, state.epoch], np.float64)
    return {"matrix": state.matrix, "gradient": state.at.gradient, "numbers": numbers}


def _matrices(matrix: Square) -> Matrices:
    return Matrices(np.ascontiguousarray(matrix, np.float32))


alignment_method = Method(
    "rcsls",
    "the matrix with the best CSLS translations of a dictionary",
    solve,
    settings={
        "k": Setting(10, "neighbours of CSLS"),
        "lr": Setting(25.0, "learning rate, halved when the loss grows", low=1e-6),
        "batch": Setting(0, "pairs in a batch; 0: all", low=0),
        "epochs": Setting(10, "passes over the dictionary at most"),
        "spectral": Setting(False, "keep all singular values of the matrix at 1 or below"),
        "negatives": Setting(200_000, "most frequent words of either side to stay away from"),
        "sample": Setting(0, "how many of these to draw at random; 0: all", low=0),
    },
    steps=("unit", "center", "unit"),
    orthogonal=False,
    order=50,
)
