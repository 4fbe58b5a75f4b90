"""Adversarial alignment (Conneau et al. 2018): a map that a discriminator cannot tell from the other language."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from sonde.alignment.method import Arrays, Matrices, Method, Problem
from sonde.alignment.methods._discriminator import Discriminator, cross_entropy
from sonde.alignment.space import Matrix
from sonde.core.settings import Setting
from sonde.errors import SondeError

SETTINGS = {
    "hidden": Setting(2048, "units of each hidden layer of the discriminator"),
    "layers": Setting(2, "hidden layers of the discriminator"),
    "input_dropout": Setting(0.1, "dropout on the input of the discriminator", low=0, high=0.99),
    "dropout": Setting(0.0, "dropout on the hidden layers of the discriminator", low=0, high=0.99),
    "smoothing": Setting(0.2, "label smoothing", low=0, high=0.49),
    "most_frequent": Setting(50_000, "words of either side that the discriminator is fed; 0: all", low=0),
    "batch": Setting(32, "words of either side in a batch"),
    "lr": Setting(0.1, "learning rate of the mapping and of the discriminator", low=0),
    "decay": Setting(0.95, "factor of the learning rate after every epoch", low=0, high=1),
    "shrink": Setting(0.5, "factor of the learning rate after an epoch whose criterion falls", low=0, high=1),
    "shrink_from": Setting(1, "which fall is the first to shrink the learning rate"),
    "dis_steps": Setting(1, "updates of the discriminator per update of the mapping"),
    "dis_lambda": Setting(1.0, "weight of the loss of the mapping", low=0),
    "clip": Setting(0.0, "bound of all weights of the discriminator; 0: none", low=0),
    "beta": Setting(0.01, "strength of the orthogonalisation after every update of the mapping", low=0, high=0.5),
    "epochs": Setting(5, "epochs"),
    "epoch_size": Setting(1_000_000, "source words per epoch"),
    "norm": Setting(1.0, "length to which vectors are scaled, in the mean of squares; 0: as they are", low=0),
    "joint": Setting(False, ""),
}


@dataclass(frozen=True)
class Options:
    """The values of all settings."""

    hidden: int
    layers: int
    input_dropout: float
    dropout: float
    smoothing: float
    most_frequent: int
    batch: int
    lr: float
    decay: float
    shrink: float
    shrink_from: int
    dis_steps: int
    dis_lambda: float
    clip: float
    beta: float
    epochs: int
    epoch_size: int
    norm: float
    joint: bool


@dataclass
class State:
    """All that changes from epoch to epoch."""

    discriminator: Discriminator
    matrix: Matrix
    best: Matrix
    lr: float
    best_criterion: float = -math.inf
    last_criterion: float = -math.inf
    falls: int = 0
    epoch: int = 0
    """Epochs done."""

    def arrays(self) -> Arrays:
        """As they are kept."""
        numbers = [self.lr, self.best_criterion, self.last_criterion, self.falls, self.epoch]
        return {"matrix": self.matrix, "best": self.best, "numbers": np.array(numbers), **self.discriminator.arrays()}

    def restore(self, arrays: Arrays) -> None:
        """From what was kept."""
        for name, array in self.arrays().items():
            if name != "numbers":
                array[...] = arrays[name]
        self.lr, self.best_criterion, self.last_criterion = map(float, arrays["numbers"][:3])
        self.falls, self.epoch = map(int, arrays["numbers"][3:])


def solve(problem: Problem) -> Matrices:
    """The mapping of the epoch with the best criterion."""
    values: dict[str, Any] = dict(problem.settings)
    options = Options(**{field.name: values[field.name] for field in fields(Options)})
    source, target = (fed(vectors, options) for vectors in (problem.source, problem.target))
    state = start(source.shape[1], options, problem.rng(0))
    if kept := problem.load():
        state.restore(kept)
    while state.epoch < options.epochs:
        facts = epoch(source, target, state, options, problem.rng(state.epoch + 1))
        found = Matrices(state.matrix.copy())
        criterion = problem.criterion(found)
        state.epoch += 1
        problem.report("epoch", state.epoch, found, {"criterion": criterion, **facts})
        judge(state, criterion, options)
        problem.save(state.arrays())
    return Matrices(state.best)


def fed(vectors: Matrix, options: Options) -> Matrix:
    """The rows that are sampled, scaled."""
    rows = vectors[: options.most_frequent or len(vectors)]
    square = np.einsum("ij,ij->", rows, rows, dtype=np.float64) / len(rows)
    return rows * np.float32(options.norm / np.sqrt(square)) if options.norm and square else rows


def start(dim: int, options: Options, rng: np.random.Generator) -> State:
    """The identity, and a random discriminator."""
    sizes = (dim, *[options.hidden] * options.layers)
    discriminator = Discriminator(sizes, 2 * options.batch, (options.input_dropout, options.dropout))
    discriminator.initialise(rng)
    matrix = np.eye(dim, dtype=np.float32)
    return State(discriminator, matrix, matrix.copy(), options.lr)


def epoch(source: Matrix, target: Matrix, state: State, options: Options, rng: np.random.Generator) -> dict[str, float]:
    """Train for one epoch; returns what is known of it."""
    n, lr, discriminator, matrix = options.batch, state.lr, state.discriminator, state.matrix
    rows = np.empty((2 * n, len(matrix)), np.float32)
    labels = np.repeat(np.array([1 - options.smoothing, options.smoothing], np.float32), n)
    losses = correct = count = 0.0
    scratch = np.empty_like(matrix), np.empty_like(matrix)
    for _ in range(max(1, options.epoch_size // n)):
        for _ in range(options.dis_steps):
            words = source[rng.integers(len(source), size=n)]
            np.matmul(words, matrix, out=rows[:n])
            np.take(target, rng.integers(len(target), size=n), axis=0, out=rows[n:])
            logits = discriminator.logits(rows, rng)
            loss, errors = cross_entropy(logits, labels)
            if not math.isfinite(loss):
                raise SondeError("nan")
            losses, count = losses + loss, count + 1
            correct += np.count_nonzero((logits > 0) == (labels > 0.5))
            if options.joint:
                fool = errors[:n] + np.float32((1 - 2 * options.smoothing) / (2 * n))
                grad = joint(discriminator, errors, fool, lr)
            else:
                discriminator.descend(errors, lr)
            if options.clip:
                discriminator.clip(options.clip)
        if not options.joint:
            words = source[rng.integers(len(source), size=n)]
            logits = discriminator.logits(words @ matrix)
            _, errors = cross_entropy(logits, 1 - labels[:n])
            errors *= np.float32(0.5 * options.dis_lambda)
            grad = discriminator.input_gradient(errors)
        matrix -= np.float32(lr) * (words.T @ grad)
        orthogonalise(matrix, options.beta, scratch)
    return {
        "discriminator_loss": losses / count,
        "discriminator_accuracy": correct / count / (2 * n),
        "orthogonality": orthogonality(matrix),
        "lr": lr,
    }


def joint(self, errors, fool, rate):
    from scipy.linalg.blas import sgemm
    n = len(errors)
    self._gradients[-1][:n, 0] = 1
    for at in reversed(range(len(self.weights))):
        self._propagate(at, n if at else len(fool))
    for at in range(len(self.weights)):
        g = self._gradients[at + 1][:n]
        g *= errors[:, None]
        sgemm(-rate, g.T, self._activations[at][:n].T, 1.0, self.weights[at].T, trans_b=True, overwrite_c=True)
        self.biases[at] -= np.float32(rate) * g.sum(0)
    g = self._gradients[0][: len(fool)]
    g *= fool[:, None]
    return g


def orthogonalise(matrix: Matrix, beta: float, scratch: tuple[Matrix, Matrix]) -> None:
    """Move a matrix nearer to the orthogonal ones, in place: (1 + β) M − β M Mᵀ M."""
    square, cube = scratch
    np.matmul(matrix.T, matrix, out=square)
    np.matmul(matrix, square, out=cube)
    matrix *= np.float32(1 + beta)
    cube *= np.float32(beta)
    matrix -= cube


def orthogonality(matrix: Matrix) -> float:
    """‖M Mᵀ − I‖: 0 if a matrix is orthogonal."""
    wide = matrix.astype(np.float64)
    return float(np.linalg.norm(wide @ wide.T - np.eye(len(wide))))


def judge(state: State, criterion: float, options: Options) -> None:
    """Keep the best matrix, and set the learning rate of the next epoch."""
    state.lr *= options.decay
    if criterion > state.best_criterion:
        state.best_criterion, state.best = criterion, state.matrix.copy()
    elif criterion < state.best_criterion:
        state.falls += 1
        if state.falls >= options.shrink_from:
            state.lr *= options.shrink


alignment_method = Method(
    "adversarial",
    "an orthogonal matrix with which a discriminator cannot tell the words of both sides apart",
    solve,
    dictionary="unused",
    settings=SETTINGS,
    refine=5,
    seeded=True,
    order=40,
)
