"""Spaces of which one is the other: rotated, with noise, and with its words in another order."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.alignment.folder import FORMAT, HISTORY, MAP, AlignmentFolder, encode_map
from sentprobe.lab.alignment.space import Matrix


class Planted(NamedTuple):
    source: Matrix
    target: Matrix
    rotation: Matrix
    gold: NDArray[np.int64]
    """(n,): the target row of each source row."""

    def precision(self, matrix: Matrix) -> float:
        """P@1 by cosine."""
        mapped, target = (
            rows / np.linalg.norm(rows, axis=1, keepdims=True) for rows in (self.source @ matrix, self.target)
        )
        return float(np.mean(np.argmax(mapped @ target.T, axis=1) == self.gold))


def plant(words: int, dim: int, noise: float = 0.05, seed: int = 0) -> Planted:
    """Word-like vectors: skewed clusters, a spectrum that falls, heavy tails."""
    rng = np.random.default_rng(seed)
    spectrum = np.arange(1, dim + 1) ** -0.5
    centres = rng.standard_gamma(1.0, (20, dim)) - 1
    source = (centres[rng.integers(20, size=words)] + 0.7 * rng.standard_t(5, (words, dim))) * spectrum
    turn, rotation = (np.linalg.qr(rng.standard_normal((dim, dim)))[0] for _ in range(2))
    source = source @ turn
    gold = rng.permutation(words)
    target = np.empty_like(source)
    target[gold] = (source + noise * source.std() * rng.standard_normal(source.shape)) @ rotation
    return Planted(source.astype(np.float32), target.astype(np.float32), rotation.astype(np.float32), gold)


def rotation(dim, seed=0):
    found, _ = np.linalg.qr(np.random.default_rng([seed, 1]).standard_normal((dim, dim)))
    return found.astype(np.float32)


def clustered(n, dim, seed=0):
    """Vectors (n, dim) that are no ball: directions differ in spread, so that a rotation can be told from another."""
    rng = np.random.default_rng([seed, 2])
    spread = np.linspace(1.5, 0.3, dim)
    centres = rng.standard_normal((max(2, n // 20), dim)) * spread
    return (centres[rng.integers(0, len(centres), n)] + 0.4 * rng.standard_normal((n, dim)) * spread).astype(np.float32)


def planted(n=200, dim=10, noise=0.0, seed=0):
    """Source, target (n, dim), the rotation and the order: row order[i] of the target is the translation of row i."""
    rng = np.random.default_rng([seed, 3])
    source, turn = clustered(n, dim, seed), rotation(dim, seed)
    order = np.argsort(np.arange(n) + 3 * rng.random(n))  # frequencies are similar, not equal
    target = np.empty_like(source)
    target[order] = source @ turn + noise * rng.standard_normal((n, dim)).astype(np.float32)
    return source, target, turn, order


def write_vectors(path, words, vectors):
    """Write word2vec's text format."""
    lines = [f"{len(words)} {vectors.shape[1]}"]
    lines += [f"{word} {' '.join(map(repr, map(float, row)))}" for word, row in zip(words, vectors, strict=True)]
    path.write_text("\n".join(lines) + "\n", "utf-8")


def write_planted(folder, n=200, dim=10, noise=0.0, seed=0):
    """``a.vec``, ``b.vec`` and the dictionary ``ab.txt`` of all words: s0 is t0, and so on."""
    source, target, turn, order = planted(n, dim, noise, seed)
    names = np.empty(n, object)
    names[order] = [f"t{i}" for i in range(n)]
    write_vectors(folder / "a.vec", [f"s{i}" for i in range(n)], source)
    write_vectors(folder / "b.vec", list(names), target)
    (folder / "ab.txt").write_text("".join(f"s{i} t{i}\n" for i in range(n)), "utf-8")
    return turn


def write_alignment(path, config=None, chosen=None, maps=(), lines=None):
    """Files of an alignment, sealed as `sentprobe align` leaves them: maps of seed 0 by name, lines of its history."""
    folder = AlignmentFolder(path)
    with folder.job.writing():
        if config is not None:
            folder.write_config({"format": FORMAT, **config})
        if chosen is not None:
            folder.job.write({MAP: encode_map(chosen)})
    job = folder.seed_job(0)
    if maps or lines is not None:
        with job.writing():
            if job.log(HISTORY):
                job.cut(HISTORY, 0)
            for name, word_map in dict(maps).items():
                job.write({f"{name}.safetensors": encode_map(word_map)})
            for line in lines or ():
                job.append(HISTORY, line)
    return path
