"""P@1 of word translation: how often the nearest target word of a source word is one of its translations."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sentprobe.lab.alignment.criterion import mapped
from sentprobe.lab.alignment.csls import Translator
from sentprobe.lab.alignment.method import Matrices
from sentprobe.lab.alignment.retrieval import nearest
from sentprobe.lab.alignment.space import Matrix, Rows


class Precision(NamedTuple):
    """Shares of the source words whose nearest word is right, from 0 to 1."""

    nn: float
    """By cosine."""
    csls: float


def precision_at_1(source: Matrix, target: Matrix, matrices: Matrices, pairs: Rows) -> Precision:
    """Of prepared vectors; a source word of several ``pairs`` (p, 2) counts once; any of its translations is right."""
    one, two = mapped(source, matrices.source), mapped(target, matrices.target)
    words = np.unique(pairs[:, 0])
    right = {(int(s), int(t)) for s, t in pairs}
    queries = one[words]
    found = nearest(queries, two).rows[:, 0], Translator(one, two).nearest(queries).rows[:, 0]
    hits = [[(s, t) in right for s, t in zip(words.tolist(), own.tolist(), strict=True)] for own in found]
    return Precision(*(sum(own) / len(words) for own in hits))
