"""Refinement: a dictionary of mutual neighbours of the most frequent words, Procrustes on it, and again.

MUSE's released code, with ``--dico_build "S2T&T2S" --dico_max_rank 15000``, makes the same dictionary. Its default for
unsupervised training, S2T, keeps pairs that are not mutual, which the paper does not; for supervised training, only
10,000 words. It refines a fixed number of times and keeps the best, with a dictionary by P@1 on the one for testing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sentprobe.errors import DataError
from sentprobe.lab.alignment.map_scores import WORDS, mapped, mean_cosine
from sentprobe.lab.alignment.maps import MappedRows, SideMap
from sentprobe.lab.alignment.method import Matrices
from sentprobe.lab.alignment.retrieval import NEIGHBOURS, CslsIndex
from sentprobe.lab.alignment.space import Matrix, Rows

MOST_FREQUENT = 15_000
"""Words of either side that may be in the dictionary."""
ROUNDS = 5
FEWEST = 10
"""Pairs below which a dictionary is no basis for a map, unless a side has fewer words."""


class Round(NamedTuple):
    """One round of refinement."""

    matrices: Matrices
    pairs: Rows
    """(p, 2): rows of source and target to which they were fitted."""
    criterion: float


def mutual_neighbours(
    source: Matrix, target: Matrix, matrices: Matrices, words: int = MOST_FREQUENT, k: int = NEIGHBOURS
) -> Rows:
    """Pairs (p, 2) of the most frequent words that are each other's nearest under CSLS among all words."""
    source_rows, target_rows = mapped(source, matrices.source), mapped(target, matrices.target)
    return mutual_rows(source_rows, target_rows, words, k)


def mutual_rows(source: MappedRows, target: MappedRows, words: int = MOST_FREQUENT, k: int = NEIGHBOURS) -> Rows:
    """The same of rows in the common space."""
    return _mutual(source, target, CslsIndex(source, target, k).nearest(source[:words]).rows, words, k)


def refine(
    source: Matrix,
    target: Matrix,
    matrices: Matrices,
    rounds: int = ROUNDS,
    *,
    words: int = MOST_FREQUENT,
    k: int = NEIGHBOURS,
    above: float = -np.inf,
) -> Iterator[Round]:
    """Refine matrices of prepared vectors (n, d), (m, d), and yield what each round finds.

    The source is mapped anew onto the target, as its matrix maps it. The criterion of a round is that of
    ``map_scores.criterion``, from the same neighbours as the next dictionary. The last round is the first one whose
    criterion is lower than that of an earlier one, of the given matrices or than ``above``, which tells an interrupted
    run what it had reached; the best is for the caller to keep. DataError if too few words are mutual neighbours to
    begin with.
    """
    from sentprobe.lab.alignment.methods.procrustes import orthogonal

    target_map = SideMap(matrix=matrices.target)
    target_rows = MappedRows(target, target_map)
    best, pairs = above, np.empty((0, 2), np.int64)
    for number in range(rounds + 1):
        source_rows, is_last = mapped(source, matrices.source), number == rounds
        query_count = WORDS if is_last else max(WORDS, words)
        translations = CslsIndex(source_rows, target_rows, k).nearest(source_rows[:query_count]).rows
        value = mean_cosine(source_rows, target_rows, translations[:WORDS])
        if number:
            yield Round(matrices, pairs, value)
        if is_last or value < best:
            return
        best = value
        pairs = _mutual(source_rows, target_rows, translations[:words], words, k)
        if len(pairs) < min(FEWEST, len(source_rows), len(target_rows)):
            if number or above > -np.inf:  # an interrupted run has begun before
                return
            raise DataError(
                f"Only {len(pairs)} of the {min(words, len(source_rows)):,} most frequent source words are mutual "
                f"neighbours of a target word, expected {FEWEST} or more: the map to be refined is not much better "
                "than chance. Leave out refinement, or begin with a dictionary, another method or another seed."
            )
        matrices = Matrices(orthogonal(source[pairs[:, 0]], target_map.apply(target[pairs[:, 1]])), matrices.target)


def _mutual(source: MappedRows, target: MappedRows, translations: Rows, words: int, k: int) -> Rows:
    """Pairs (p, 2) of the first source rows and their translations (words, 1) whose translation is that source row."""
    targets = translations[:, 0] if translations.size else np.empty(0, np.int64)
    queries = np.unique(targets[targets < words])
    back_translations = np.full(len(target), -1)
    if len(queries):
        back_translations[queries] = CslsIndex(target, source, k).nearest(target[queries]).rows[:, 0]
    mutual = np.flatnonzero(back_translations[targets] == np.arange(len(targets)))
    return np.stack([mutual, targets[mutual]], axis=1)
