"""Spaces whose alignment is known: a rotation of one is the other, with noise and in another order."""

import numpy as np


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
