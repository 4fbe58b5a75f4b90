"""How good a map is: the unsupervised criterion, and P@1 on a dictionary.

The criterion is the mean cosine of the CSLS translations of the most frequent words. MUSE's released code calls it
``mean_cosine-csls_knn_10-S2T-10000`` (``dist_mean_cosine`` in ``src/evaluation/evaluator.py``). It leaves out
translations that are not among the 10,001 most frequent target words themselves (``targets=MUSE_TARGETS`` does the
same); the paper leaves out nothing, and that is the default here. MUSE sorts the pairs by confidence first, which
changes nothing in the mean, and also computes translations from target to source, which it does not use.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentprobe.lab.alignment.maps import MappedRows, SideMap
from sentprobe.lab.alignment.method import Matrices
from sentprobe.lab.alignment.retrieval import NEIGHBOURS, CslsIndex, UnitRows, nearest
from sentprobe.lab.alignment.space import Matrix, Rows

WORDS = 10_000
"""Source words whose translations count for the criterion."""
MUSE_TARGETS = 10_001
"""Target words whose cosines count in MUSE's code."""


class TranslationPrecision(NamedTuple):
    """Shares of the source words whose nearest target word is one of their translations, from 0 to 1."""

    nn: float
    """By cosine."""
    csls: float


def mapped(vectors: Matrix, matrix: Matrix | None) -> MappedRows:
    """Prepared rows in the common space."""
    return MappedRows(vectors, SideMap(matrix=matrix))


def criterion(
    source: Matrix,
    target: Matrix,
    matrices: Matrices,
    words: int = WORDS,
    k: int = NEIGHBOURS,
    targets: int | None = None,
) -> float:
    """Of prepared vectors (n, d), (m, d), the mean cosine of the first source words and their translations.

    With ``targets``, of those whose translation is among the first target words; −1, the lowest cosine, if none is.
    """
    source_rows, target_rows = mapped(source, matrices.source), mapped(target, matrices.target)
    translations = CslsIndex(source_rows, target_rows, k).nearest(source_rows[:words]).rows
    return mean_cosine(source_rows, target_rows, translations, targets)


def mean_cosine(source: UnitRows, target: UnitRows, translations: Rows, targets: int | None = None) -> float:
    """The mean cosine of the first source rows and their translations, the first column of (words, 1)."""
    rows = np.arange(len(translations))
    if targets is not None:
        rows = rows[translations[:, 0] < targets]
    if not translations.size or not len(rows):
        return -1.0
    return float(np.einsum("ij,ij->i", source[rows], target[translations[rows, 0]]).mean(dtype=np.float64))


def precision_at_1(source: Matrix, target: Matrix, matrices: Matrices, pairs: Rows) -> TranslationPrecision:
    """Of prepared vectors; a source word of several ``pairs`` (p, 2) counts once; any of its translations is right."""
    source_rows, target_rows = mapped(source, matrices.source), mapped(target, matrices.target)
    words = np.unique(pairs[:, 0])
    gold = {(int(s), int(t)) for s, t in pairs}
    queries = source_rows[words]

    def share(translations: Rows) -> float:
        hits = [pair in gold for pair in zip(words.tolist(), translations[:, 0].tolist(), strict=True)]
        return sum(hits) / len(words)

    by_csls = CslsIndex(source_rows, target_rows).nearest(queries).rows
    return TranslationPrecision(share(nearest(queries, target_rows).rows), share(by_csls))
