"""Retrieval of captions by image and of images by caption, as in SentEval's ranking of images and sentences.

Images and captions are projected to one space by a linear layer each and normalised to length 1. A caption and its
image should be closer, by a margin, than the image is to random captions, and the caption to random images.

Weights are initialised as by torch. One ``numpy.random.RandomState(seed)`` draws, for each epoch, the order of the
captions and, for each batch, the negative images and then the negative captions, with replacement from all that are not
in the batch, as ``np.random.choice`` does in SentEval. The gradients are the same, but computed with less work: an
image of a batch is projected once and not for each of its negatives, and a negative without loss has no gradient.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sentprobe.core.resources import single_threaded
from sentprobe.errors import DataError, ShapeError, TooFewError, UsageError
from sentprobe.probes.features import Features, Floats
from sentprobe.probes.network.group import SEEDS, initial_layers
from sentprobe.transfer.adam import Adam, views

Ints = npt.NDArray[np.int64]

LEARNING_RATE = 1e-3
"""Adam's learning rate: torch's default, which SentEval uses."""


@dataclass(frozen=True)
class Gallery:
    """Images (n, d) and their captions (n * c, d'): those of image i are the rows c * i … c * i + c - 1."""

    images: Features
    captions: Features

    def __post_init__(self) -> None:
        """Reject captions that do not match the images."""
        if not len(self.images) or not len(self.captions) or len(self.captions) % len(self.images):
            raise ShapeError(
                f"There are {len(self.images)} images and {len(self.captions)} captions; expected the same "
                "number of captions for each image."
            )

    @property
    def captions_per_image(self) -> int:
        """How many captions each image has."""
        return len(self.captions) // len(self.images)


class Recalls(NamedTuple):
    """How often the target is among the first 1, 5 and 10, in per cent, and its median rank, from 1."""

    r1: float
    r5: float
    r10: float
    median: float


@dataclass(frozen=True, eq=False)
class RankingResult:
    """Results on test, with the weights that were best on dev."""

    dev: float
    """The sum of the six recalls: 0 … 600."""
    captions: Recalls
    """Given an image, one of its captions is retrieved; means over folds."""
    images: Recalls
    """Given a caption, its image is retrieved; means over folds."""
    folds: tuple[tuple[Recalls, Recalls], ...]
    """Captions and images, in each fold."""
    caption_ranks: Ints
    """The rank, from 0, of the first of its captions for each image, (n,)."""
    image_ranks: Ints
    """The rank, from 0, of its image for each caption, (n * c,)."""
    passes: int


def rank(
    train: Gallery,
    dev: Gallery,
    test: Gallery,
    *,
    seed: int,
    dim: int = 1000,
    batch: int = 128,
    negatives: int = 30,
    margin: float = 0.2,
    passes: int = 21,
    patience: int = 3,
    fold: int = 1000,
) -> RankingResult:
    """Train, keep the weights that are best on dev, and rank test in folds of ``fold`` images.

    Training ends after ``passes`` epochs, or when more than ``patience`` evaluations on dev in all were no better.
    """
    if min(dim, batch, negatives, passes, fold) < 1:
        raise UsageError("dim, batch, negatives, passes and fold must each be 1 or more.")
    _check(train, dev, test, seed, batch, fold)
    # one thread, so that results do not depend on the number of threads; what overflows ranks last
    with single_threaded(), np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        initial = _initial_weights(seed, train.images.shape[1], train.captions.shape[1], dim)
        adam, shapes = Adam.of(initial), [array.shape for array in initial]
        weights, gradients = views(adam.weights, shapes), views(adam.gradient, shapes)
        rng, step = np.random.RandomState(seed), 0
        best, best_weights, done, stale_evaluations = -1.0, initial, 0, 0
        while stale_evaluations <= patience and done < passes:
            order = rng.permutation(len(train.captions))
            for first in range(0, len(order), batch):
                rows = order[first : first + batch]
                # images before captions: the order of the draws is SentEval's
                image_negatives, caption_negatives = (
                    _negatives(rng, order, first, len(rows), negatives) for _ in range(2)
                )
                images = train.images.take(np.concatenate([rows, image_negatives]) // train.captions_per_image)
                captions = train.captions.take(np.concatenate([rows, caption_negatives]))
                loss_and_gradient(weights, images, captions, negatives, margin, gradients)
                step += 1
                adam.step(step, LEARNING_RATE)
            done += 1
            score = _score(_ranks_by_fold(weights, dev, fold))
            if score > best:
                best, best_weights = score, [array.copy() for array in weights]
            else:
                stale_evaluations += 1
        test_ranks = _ranks_by_fold(best_weights, test, fold)
    recalls = tuple((_recalls(of_captions), _recalls(of_images)) for of_captions, of_images in test_ranks)
    of_captions, of_images = (Recalls(*np.mean(side, axis=0).tolist()) for side in zip(*recalls, strict=True))
    caption_ranks, image_ranks = (np.concatenate(side) for side in zip(*test_ranks, strict=True))
    return RankingResult(best, of_captions, of_images, recalls, caption_ranks, image_ranks, done)


def loss_and_gradient(
    weights: Sequence[Floats],
    images: Floats,
    captions: Floats,
    negatives: int,
    margin: float,
    gradients: Sequence[Floats],
) -> float:
    """The loss of a batch; its gradient is written to ``gradients``.

    ``weights`` and ``gradients`` are weight and bias for images, then for captions. ``images`` (m + m * negatives, d)
    are those of the batch and then the negatives of its first caption, of its second, …; captions alike.
    """
    m = len(images) // (1 + negatives)
    (a, a_norms), (b, b_norms) = _project(weights[:2], images), _project(weights[2:], captions)
    u, v = a[:m], b[:m]
    negative_u, negative_v = (side[m:].reshape(m, negatives, -1) for side in (a, b))
    shortfall = np.float32(margin) - np.einsum("ij,ij->i", u, v)[:, None]
    image_costs, caption_costs = shortfall + _cosines(v, negative_u), shortfall + _cosines(u, negative_v)
    violating_images, violating_captions = image_costs >= 0, caption_costs >= 0
    violations = (violating_images.sum(axis=1) + violating_captions.sum(axis=1)).astype(np.float32)[:, None]
    pull_u = _sum_violating(violating_captions, negative_v) - violations * v
    pull_v = _sum_violating(violating_images, negative_u) - violations * u
    _write_gradient(gradients[:2], images, a, a_norms, pull_u, violating_images, v)
    _write_gradient(gradients[2:], captions, b, b_norms, pull_v, violating_captions, u)
    return float(image_costs[violating_images].sum() + caption_costs[violating_captions].sum())


def _cosines(rows: Floats, negatives: Floats) -> Floats:
    """The cosines (m, k) of rows (m, d) with k negatives each, (m, k, d); all have length 1."""
    cosines: Floats = np.matmul(negatives, rows[:, :, None])[:, :, 0]
    return cosines


def _sum_violating(violating: npt.NDArray[np.bool_], negatives: Floats) -> Floats:
    """The sum (m, d) of those of k negatives (m, k, d) that violate the margin (m, k)."""
    sums: Floats = np.matmul(violating[:, None].astype(np.float32), negatives)[:, 0]
    return sums


def _write_gradient(
    gradients: Sequence[Floats],
    x: Floats,
    projected: Floats,
    norms: Floats,
    pull: Floats,
    violating: npt.NDArray[np.bool_],
    opposite: Floats,
) -> None:
    """The gradient of one side, from that of its projections of the batch, ``pull``, and of the violating negatives.

    ``x`` (m + m * negatives, d) are projected to ``projected`` (…, dim), which had the lengths ``norms``; ``pull`` and
    ``opposite``, the batch on the opposite side, are (m, dim).
    """
    used = np.concatenate([np.arange(len(pull)), len(pull) + np.flatnonzero(violating)])
    gradient, projected = np.concatenate([pull, opposite[np.nonzero(violating)[0]]]), projected[used]
    # vectors of length 1 can only be rotated: what points along them has no effect
    gradient -= projected * np.einsum("ij,ij->i", projected, gradient)[:, None]
    gradient /= norms[used, None]
    np.matmul(gradient.T, x[used], out=gradients[0])
    gradient.sum(axis=0, out=gradients[1])


def _project(layer: Sequence[Floats], x: Floats) -> tuple[Floats, Floats]:
    """Rows (n, d) in the common space, (n, dim), at length 1, and their lengths (n,) before."""
    projected = x @ layer[0].T
    projected += layer[1]
    norms = np.sqrt(np.einsum("ij,ij->i", projected, projected))
    projected /= norms[:, None]
    return projected, norms


def _initial_weights(seed: int, image_width: int, caption_width: int, dim: int) -> list[Floats]:
    """The initial weights: layers as torch would make them one after the other, from one generator."""
    bits: Any = np.random.MT19937()  # instead of a seed, this continues where the layer before it ended
    bits.state = np.random.RandomState(seed).get_state(legacy=False)
    return [*initial_layers(bits, [image_width, dim]), *initial_layers(bits, [caption_width, dim])]


def _negatives(rng: np.random.RandomState, order: Ints, first: int, m: int, negatives: int) -> Ints:
    """For each of the m rows of the batch at ``first``, ``negatives`` rows from outside it, (m * negatives,)."""
    outside = rng.randint(0, len(order) - m, size=m * negatives)
    return order[outside + m * (outside >= first)]


def _ranks_by_fold(weights: Sequence[Floats], gallery: Gallery, fold: int) -> list[tuple[Ints, Ints]]:
    """The ranks of captions (fold,) and of images (fold * c,), fold by fold."""
    ranks_by_fold = []
    for first in range(0, len(gallery.images), fold):
        images = gallery.images.take(slice(first, first + fold))
        captions = gallery.captions.take(
            slice(first * gallery.captions_per_image, (first + fold) * gallery.captions_per_image)
        )
        ranks_by_fold.append(ranks(_project(weights[:2], images)[0], _project(weights[2:], captions)[0]))
    return ranks_by_fold


def ranks(images: Floats, captions: Floats) -> tuple[Ints, Ints]:
    """The rank, from 0, of the first of its captions for each image (n,), and of its image for each caption (n * c,).

    Ties are broken in favour of the later row, so that constant vectors are at chance. What has no cosine comes last.
    """
    n, c = len(images), len(captions) // len(images)
    cosines = images @ captions.T
    cosines[np.isnan(cosines)] = -np.inf
    image, caption = np.arange(n), np.arange(n * c)
    target = cosines[caption // c, caption]
    ties = (cosines == target) & (image[:, None] > caption // c)
    image_ranks = (cosines > target).sum(axis=0) + ties.sum(axis=0)
    # the nearest of an image's captions, the last if several are
    from_last = target.reshape(n, c)[:, ::-1].argmax(axis=1)
    nearest = c * image + c - 1 - from_last
    highest = target[nearest][:, None]
    ties = (cosines == highest) & (caption > nearest[:, None])
    caption_ranks = (cosines > highest).sum(axis=1) + ties.sum(axis=1)
    return caption_ranks, image_ranks


def _recalls(ranks: Ints) -> Recalls:
    """Recalls and median of ranks (n,), which count from 0."""
    r1, r5, r10 = (100.0 * int((ranks < k).sum()) / len(ranks) for k in (1, 5, 10))
    return Recalls(r1, r5, r10, float(np.floor(np.median(ranks)) + 1))


def _score(ranks_by_fold: Sequence[tuple[Ints, Ints]]) -> float:
    """The sum of the six recalls in SentEval's order, since the next evaluation must be greater."""
    n = len(ranks_by_fold)
    return sum(sum(_recalls(captions)[:3] + _recalls(images)[:3]) / n for captions, images in ranks_by_fold)


def _check(train: Gallery, dev: Gallery, test: Gallery, seed: int, batch: int, fold: int) -> None:
    for name, gallery in (("dev", dev), ("test", test)):
        widths = [[side.shape[1] for side in (split.images, split.captions)] for split in (train, gallery)]
        if widths[0] != widths[1]:
            raise ShapeError(
                f"Training images and captions have {widths[0]} dimensions and those of {name} {widths[1]}."
            )
        if len(gallery.images) % fold:
            raise DataError(
                f"There are {len(gallery.images)} {name} images; expected a multiple of the fold size, {fold}."
            )
    if len(train.captions) <= batch:
        raise TooFewError(f"There are {len(train.captions)} training captions; expected more than a batch of {batch}.")
    if not 0 <= seed < SEEDS:
        raise UsageError(f"A seed must be 0 … {SEEDS - 1}, got {seed}.")
