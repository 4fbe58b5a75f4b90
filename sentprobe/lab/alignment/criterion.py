"""The unsupervised criterion: the mean cosine of the CSLS translations of the most frequent words.

MUSE's released code calls it ``mean_cosine-csls_knn_10-S2T-10000``. It leaves out translations that are not among the
10,001 most frequent target words themselves (``targets=MUSE_TARGETS`` does the same); the paper leaves out nothing, and
that is the default here. MUSE sorts the pairs by confidence first, which changes nothing in the mean, and also computes
translations from target to source, which it does not use.
"""

from __future__ import annotations

import numpy as np

from sentprobe.lab.alignment.csls import Translator
from sentprobe.lab.alignment.maps import MappedRows, SideMap
from sentprobe.lab.alignment.method import Matrices
from sentprobe.lab.alignment.retrieval import NEIGHBOURS, Unit
from sentprobe.lab.alignment.space import Matrix, Rows

WORDS = 10_000
"""Source words whose translations count."""
MUSE_TARGETS = 10_001
"""Target words whose cosines count in MUSE's code."""


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
    """Of prepared vectors, the mean cosine of the first source words and their translations.

    With ``targets``, of those whose translation is among the first target words; −1, the lowest cosine, if none is.
    """
    one, two = mapped(source, matrices.source), mapped(target, matrices.target)
    found = Translator(one, two, k).nearest(one[:words]).rows
    return mean_cosine(one, two, found, targets)


def mean_cosine(source: Unit, target: Unit, found: Rows, targets: int | None = None) -> float:
    """The mean cosine of the first source rows and the first column of what was found for them, (words, 1)."""
    rows = np.arange(len(found))
    if targets is not None:
        rows = rows[found[:, 0] < targets]
    if not found.size or not len(rows):
        return -1.0
    return float(np.einsum("ij,ij->i", source[rows], target[found[rows, 0]]).mean(dtype=np.float64))
