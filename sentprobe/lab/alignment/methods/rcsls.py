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
from sentprobe.lab.alignment.methods._weighted import products, rotation
from sentprobe.lab.alignment.space import Matrix, Rows
from sentprobe.lab.alignment.top_k import top_columns

Square = NDArray[np.float64]
BLOCK = 1 << 22
"""Products in a block."""
SMALLEST_RATE = 1e-4
"""The learning rate, relative to the first, below which the search ends."""


class RcslsLoss(NamedTuple):
    """The mean loss of pairs, and its gradient."""

    value: float
    gradient: Square
    """(d, d)."""


class RcslsVectors(NamedTuple):
    """Vectors of both sides, and those of their most frequent words, which translations must be nearer than."""

    source: Matrix
    target: Matrix
    source_negatives: Matrix
    target_negatives: Matrix
    k: int


def loss(words: RcslsVectors, pairs: Rows, matrix: Square) -> RcslsLoss:
    """The mean loss of pairs (p, 2) and its gradient; a subgradient where neighbours change."""
    source_rows, target_rows = pairs.T
    pair_products = products(words.source, source_rows, words.target, target_rows)
    forwards, forwards_gradient = _neighbour_term(words.source, source_rows, matrix, words.target_negatives, words.k)
    backwards, backwards_gradient = _neighbour_term(
        words.target, target_rows, matrix.T, words.source_negatives, words.k
    )
    value = forwards + backwards - 2 * np.vdot(pair_products, matrix)
    return RcslsLoss(
        float(value) / len(pairs), (forwards_gradient + backwards_gradient.T - 2 * pair_products) / len(pairs)
    )


def _neighbour_term(vectors: Matrix, rows: Rows, matrix: Square, candidates: Matrix, k: int) -> tuple[float, Square]:
    """Σ over rows x of the mean of xMz over the k others z with the largest products, and its gradient.

    A word with several translations is in several pairs, but its neighbours are looked for once.
    """
    words, counts = np.unique(rows, return_counts=True)
    total, gradient = 0.0, np.zeros(matrix.shape)
    single_matrix = matrix.astype(vectors.dtype)  # only the choice of neighbours is in single precision
    size = max(1, BLOCK // len(candidates))
    for at in range(0, len(words), size):
        block = vectors[words[at : at + size]]
        scores = (block @ single_matrix) @ candidates.T
        # sorted, so that means are summed in one order whatever the size of blocks
        neighbours = np.sort(top_columns(scores, k), axis=1)
        mean = candidates[neighbours].mean(1, dtype=np.float64)
        weighted = block.astype(np.float64) * counts[at : at + size, None]
        block_gradient = weighted.T @ mean
        gradient += block_gradient
        total += float(np.vdot(block_gradient, matrix))
    return total, gradient


def project(matrix: Square) -> Square:
    """The nearest matrix whose singular values are 1 at most."""
    u, singular_values, vt = np.linalg.svd(matrix)
    return np.asarray((u * np.minimum(singular_values, 1)) @ vt)


@dataclass(frozen=True, eq=False)
class RcslsState:
    """Where the search is: after an epoch, the best matrix so far."""

    matrix: Square
    at: RcslsLoss
    rate: float
    epoch: int = 0


def solve(problem: Problem) -> Matrices:
    """Steps along the gradient; a step that makes the loss larger is taken back, and the learning rate halved."""
    assert problem.pairs is not None
    settings, words = problem.settings, _vectors_of_settings(problem)
    first = float(settings["lr"])
    state = _initial_state(problem, words, first)
    while state.epoch < int(settings["epochs"]) and state.rate >= first * SMALLEST_RATE:
        state = _run_epoch(problem, words, state)
        facts = {"loss": state.at.value, "lr": state.rate}
        problem.report("epoch", state.epoch, _matrices(state.matrix), facts)
        problem.save(_arrays(state))
    return _matrices(state.matrix)


def _run_epoch(problem: Problem, words: RcslsVectors, state: RcslsState) -> RcslsState:
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
    epoch_loss = loss(words, pairs, matrix)
    if epoch_loss.value < state.at.value:
        return RcslsState(matrix, epoch_loss, state.rate, epoch)
    return replace(state, rate=state.rate / 2, epoch=epoch)


def _step(problem: Problem, matrix: Square, gradient: Square, rate: float) -> Square:
    stepped = matrix - rate * gradient
    return project(stepped) if problem.settings["spectral"] else stepped


def _vectors_of_settings(problem: Problem) -> RcslsVectors:
    """The words of either side; of their most frequent ones all, or a sample that stays the same."""
    limit, sample = int(problem.settings["negatives"]), int(problem.settings["sample"])
    negatives_of_sides = []
    for number, vectors in enumerate((problem.source, problem.target)):
        negatives = vectors[:limit]
        if 0 < sample < len(negatives):
            negatives = negatives[np.sort(problem.rng(0, number).choice(len(negatives), sample, replace=False))]
        negatives_of_sides.append(negatives)
    return RcslsVectors(
        problem.source, problem.target, negatives_of_sides[0], negatives_of_sides[1], int(problem.settings["k"])
    )


def _initial_state(problem: Problem, words: RcslsVectors, rate: float) -> RcslsState:
    """Where an interrupted run ended, or the Procrustes solution."""
    assert problem.pairs is not None
    if (saved := problem.load()) is not None:
        numbers = saved["numbers"]
        start_loss = RcslsLoss(float(numbers[0]), saved["gradient"])
        return RcslsState(saved["matrix"], start_loss, float(numbers[1]), int(numbers[2]))
    matrix = rotation(problem.source, problem.target, problem.pairs).astype(np.float64)
    return RcslsState(matrix, loss(words, problem.pairs, matrix), rate)


def _arrays(state: RcslsState) -> Arrays:
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
