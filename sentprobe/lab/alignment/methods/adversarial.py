"""Adversarial alignment (Conneau et al. 2018): a map with which a discriminator cannot tell two languages apart.

A discriminator learns to tell mapped source words from target words, the mapping learns to mislead it, and after every
update the mapping is moved back towards the orthogonal matrices. It starts at the identity; the epoch with the highest
criterion counts. Compared with the paper and its released code (MUSE):

- Both learning rates decay, as the paper says; the code's decays for the mapping only. They are halved when the
  criterion is below the best so far, but not the first time, as in the code (the paper: ``shrink_from=1``): before the
  mapping has found anything, the criterion rises and falls by chance, and a halved rate may then never find it.
- The loss is the mean over the words of both sides, as in the code; the target words have no part in the gradient of
  the mapping, and are not computed there.
- Vectors are scaled before they are fed (``scale``): the learning rate is meant for coordinates of a certain size.
- A vocabulary smaller than ``most_frequent`` is used as a whole.
- Defaults are made for CPUs; the preset ``paper`` is what the paper does, at 40 times the time.
  On rotated copies of a space and on English and French, the smaller discriminator and the higher rate suffice.
  ``dis_lambda=3`` needed fewer epochs for vectors of 50 dimensions, but diverged on English and French of 300.
- ``updates=joint`` updates the mapping with the batch of the discriminator, from the same pass: less work per update.
  It is not what the paper does, and found 9 of 10 planted rotations where alternating updates found all.
- The released code differs from the paper: the preset ``muse`` has its defaults.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import Setting, Value
from sentprobe.errors import SentProbeError
from sentprobe.lab.alignment.method import Arrays, Matrices, Method, Problem
from sentprobe.lab.alignment.methods._discriminator import Discriminator, cross_entropy
from sentprobe.lab.alignment.space import Matrix

SETTINGS = {
    "hidden": Setting(512, "units of each hidden layer of the discriminator; the paper has 2048"),
    "layers": Setting(2, "hidden layers of the discriminator"),
    "input_dropout": Setting(0.1, "dropout on the input of the discriminator", low=0, high=0.99),
    "dropout": Setting(0.0, "dropout on the hidden layers of the discriminator", low=0, high=0.99),
    "smoothing": Setting(0.2, "label smoothing", low=0, high=0.49),
    "most_frequent": Setting(50_000, "words of either side that the discriminator is fed; 0: all", low=0),
    "scale": Setting(1.0, "root mean square of coordinates to which both sides are scaled; 0: not scaled", low=0),
    "batch": Setting(32, "words of either side in a batch"),
    "updates": Setting(
        "alternate",
        "whether the mapping is updated with a batch of its own, after the discriminator, or jointly with it: faster",
        choices=("alternate", "joint"),
    ),
    "dis_steps": Setting(1, "updates of the discriminator per update of the mapping"),
    "dis_lambda": Setting(1.0, "weight of the loss of the mapping", low=0),
    "clip": Setting(0.0, "bound of all weights of the discriminator; 0: none", low=0),
    "beta": Setting(0.01, "strength of the orthogonalisation after every update of the mapping", low=0, high=0.5),
    "lr": Setting(0.3, "learning rate of the mapping and of the discriminator; the paper has 0.1", low=0),
    "decay": Setting(0.95, "factor of the learning rate after every epoch", low=0, high=1),
    "shrink": Setting(
        0.5, "factor of the learning rate after an epoch whose criterion is below the best", low=0, high=1
    ),
    "shrink_from": Setting(2, "the first of these epochs after which it shrinks"),
    "epochs": Setting(5, "epochs"),
    "epoch_size": Setting(200_000, "source words per epoch; the paper's code has 1,000,000"),
}
PAPER: dict[str, Value] = {
    "hidden": 2048, "layers": 2, "input_dropout": 0.1, "dropout": 0.0, "smoothing": 0.2, "most_frequent": 50_000,
    "scale": 0.0, "batch": 32, "updates": "alternate", "dis_steps": 1, "dis_lambda": 1.0, "clip": 0.0, "beta": 0.01,
    "lr": 0.1, "decay": 0.95, "shrink": 0.5, "shrink_from": 1, "epochs": 5, "epoch_size": 1_000_000,
}  # fmt: skip
"""Conneau et al. 2018, section 3 of their paper; it does not print epochs and their size, which are those of MUSE."""
MUSE: dict[str, Value] = {
    **PAPER, "smoothing": 0.1, "most_frequent": 75_000, "dis_steps": 5, "beta": 0.001, "decay": 0.98, "shrink_from": 2,
}  # fmt: skip
"""The defaults of MUSE's unsupervised.py, at revision 3159355."""
HALF = np.float32(0.5)
"""The share of source words in the loss of the mapping, a mean over the words of both sides."""


@dataclass(frozen=True)
class AdversarialOptions:
    """The values of all settings."""

    hidden: int
    layers: int
    input_dropout: float
    dropout: float
    smoothing: float
    most_frequent: int
    scale: float
    batch: int
    updates: str
    dis_steps: int
    dis_lambda: float
    clip: float
    beta: float
    lr: float
    decay: float
    shrink: float
    shrink_from: int
    epochs: int
    epoch_size: int


@dataclass
class AdversarialState:
    """All that changes from epoch to epoch."""

    discriminator: Discriminator
    matrix: Matrix
    best: Matrix
    lr: float
    criterion: float = -math.inf
    """Of the best matrix."""
    falls: int = 0
    """Epochs whose criterion was below the best."""
    epoch: int = 0
    """Epochs done."""

    def arrays(self) -> dict[str, NDArray[Any]]:
        """As they are kept; only the numbers are a copy."""
        numbers = np.array([self.lr, self.criterion, self.falls, self.epoch])
        return {"matrix": self.matrix, "best": self.best, "numbers": numbers, **self.discriminator.arrays()}

    def restore(self, arrays: Arrays) -> None:
        """From what was kept."""
        for name, array in self.arrays().items():
            array[...] = arrays[name]
        self.lr, self.criterion = map(float, arrays["numbers"][:2])
        self.falls, self.epoch = map(int, arrays["numbers"][2:])


def solve(problem: Problem) -> Matrices:
    """The mapping after the epoch with the highest criterion."""
    values: dict[str, Any] = dict(problem.settings)
    options = AdversarialOptions(**values)
    source, target = (discriminator_rows(vectors, options) for vectors in (problem.source, problem.target))
    state = start(source.shape[1], options, problem.rng(0))
    if saved := problem.load():
        state.restore(saved)
    while state.epoch < options.epochs:
        state.epoch += 1
        facts = train_epoch(source, target, state, options, problem.rng(state.epoch))
        matrices = Matrices(state.matrix.copy())
        criterion = problem.criterion(matrices)
        keep_best(state, criterion, options)
        problem.report("epoch", state.epoch, matrices, {"criterion": criterion, **facts})
        problem.save(state.arrays())
    return Matrices(state.best)


def discriminator_rows(vectors: Matrix, options: AdversarialOptions) -> Matrix:
    """The rows that are sampled, scaled."""
    rows = vectors[: options.most_frequent or len(vectors)]
    square = np.einsum("ij,ij->", rows, rows, dtype=np.float64) / rows.size
    return rows * np.float32(options.scale / np.sqrt(square)) if options.scale and square else rows


def start(dim: int, options: AdversarialOptions, rng: np.random.Generator) -> AdversarialState:
    """The identity, and a random discriminator."""
    sizes = (dim, *[options.hidden] * options.layers)
    discriminator = Discriminator(sizes, 2 * options.batch, (options.input_dropout, options.dropout))
    discriminator.initialise(rng)
    matrix = np.eye(dim, dtype=np.float32)
    return AdversarialState(discriminator, matrix, matrix.copy(), options.lr)


def train_epoch(
    source: Matrix, target: Matrix, state: AdversarialState, options: AdversarialOptions, rng: np.random.Generator
) -> dict[str, float]:
    """Train for one epoch; returns what is known of it."""
    game = Game(source, target, state, options, rng)
    with np.errstate(over="ignore", invalid="ignore"):  # divergence is an error of its own
        for _ in range(max(1, options.epoch_size // options.batch)):
            for step in range(options.dis_steps):
                joint = options.updates == "joint" and step == options.dis_steps - 1
                game.update_discriminator(joint=joint)
            if options.updates == "alternate":
                game.update_mapping()
    facts = {
        "discriminator_loss": game.losses / game.steps,
        "discriminator_accuracy": game.right / game.steps / (2 * options.batch),
        "orthogonality": orthogonality(state.matrix),
        "lr": state.lr,
    }
    check_finite(facts["orthogonality"], state, options)
    return facts


def check_finite(value: float, state: AdversarialState, options: AdversarialOptions) -> None:
    """SentProbeError if a number that should be finite is not."""
    if not math.isfinite(value):
        raise SentProbeError(
            f"adversarial: the training diverged in epoch {state.epoch} at lr={options.lr:g} and "
            f"scale={options.scale:g}. Lower lr or dis_lambda, or check the vectors for outliers."
        )


class Game:
    """The updates of an epoch, and their buffers."""

    def __init__(
        self,
        source: Matrix,
        target: Matrix,
        state: AdversarialState,
        options: AdversarialOptions,
        rng: np.random.Generator,
    ) -> None:
        self._source, self._target, self._state, self._options, self._rng = source, target, state, options, rng
        n, dim = options.batch, source.shape[1]
        self._words, self._rows = np.empty((n, dim), np.float32), np.empty((2 * n, dim), np.float32)
        self._labels = np.repeat(np.array([1 - options.smoothing, options.smoothing], np.float32), n)
        self._scratch = np.empty((2, dim, dim), np.float32)
        self.losses, self.right, self.steps = 0.0, 0, 0

    def _sample(self) -> None:
        """Source words, and mapped ones in the first half of the rows."""
        n = len(self._words)
        np.take(self._source, self._rng.integers(len(self._source), size=n), axis=0, out=self._words)
        np.matmul(self._words, self._state.matrix, out=self._rows[:n])

    def update_discriminator(self, *, joint: bool) -> None:
        """A step of SGD; if it is joint, of the mapping as well."""
        n, discriminator, options = len(self._words), self._state.discriminator, self._options
        self._sample()
        np.take(self._target, self._rng.integers(len(self._target), size=n), axis=0, out=self._rows[n:])
        logits = discriminator.logits(self._rows, self._rng)
        loss, errors = cross_entropy(logits, self._labels)
        check_finite(loss, self._state, options)
        self.losses, self.steps = self.losses + loss, self.steps + 1
        self.right += int(np.count_nonzero((logits > 0) == (self._labels > 0.5)))
        discriminator.differentiate(2 * n)
        if joint:
            _, misled = cross_entropy(logits[:n], 1 - self._labels[:n])
            gradient = discriminator.by_input(n) * (HALF * misled[:, None])
        discriminator.descend(errors, self._state.lr)
        if options.clip:
            discriminator.clip(options.clip)
        if joint:
            self._update_mapping_by(gradient)

    def update_mapping(self) -> None:
        """A step of SGD that makes the discriminator take source words for target words."""
        n, discriminator = len(self._words), self._state.discriminator
        self._sample()
        _, errors = cross_entropy(discriminator.logits(self._rows[:n]), 1 - self._labels[:n])
        discriminator.differentiate(n)
        self._update_mapping_by(discriminator.by_input(n) * (HALF * errors[:, None]))

    def _update_mapping_by(self, gradient: Matrix) -> None:
        square, cube = self._scratch
        matrix, options = self._state.matrix, self._options
        np.matmul(self._words.T, gradient, out=square)
        square *= np.float32(self._state.lr * options.dis_lambda)
        matrix -= square
        if options.beta:  # M ← (1 + β) M − β M MᵀM, as MUSE's orthogonalize
            np.matmul(matrix.T, matrix, out=square)
            np.matmul(matrix, square, out=cube)
            cube *= np.float32(options.beta)
            matrix *= np.float32(1 + options.beta)
            matrix -= cube


def orthogonality(matrix: Matrix) -> float:
    """‖M Mᵀ − I‖: 0 if a matrix is orthogonal."""
    doubles = matrix.astype(np.float64)
    return float(np.linalg.norm(doubles @ doubles.T - np.eye(len(doubles))))


def keep_best(state: AdversarialState, criterion: float, options: AdversarialOptions) -> None:
    """Keep the best matrix, and set the learning rate of the next epoch."""
    state.lr *= options.decay
    if not criterion <= state.criterion:
        state.criterion, state.best = criterion, state.matrix.copy()
    elif criterion < state.criterion:
        state.falls += 1  # MUSE's update_lr lets the first one pass, too
        if state.falls >= options.shrink_from:
            state.lr *= options.shrink


alignment_method = Method(
    "adversarial",
    "an orthogonal matrix with which a discriminator cannot tell the words of both sides apart",
    solve,
    dictionary="unused",
    settings=SETTINGS,
    presets={"paper": PAPER, "muse": MUSE},
    refine=5,
    seeded=True,
    order=40,
)
