"""Words of both languages in two dimensions, before mapping and under any map, as plain data."""

from __future__ import annotations

import numpy as np

from sentprobe.alignment.maps import WordMap
from sentprobe.alignment.picture import components, content_pairs, mutual_pairs
from sentprobe.alignment.space import Rows, Space
from sentprobe.serve.words.lookup import shown
from sentprobe.serve.words.view import View

PAIRS = 1000
"""More than are shown: the page leaves out pairs whose labels would overlap with others."""


def choose_pairs(source: Space, target: Space, found: WordMap) -> Rows:
    """Rows (p, 2) of translation pairs under a map, the most telling first."""
    return content_pairs(source, target, mutual_pairs(source.vectors, target.vectors, found))[:PAIRS]


def points(view: View, rows: Rows) -> list[list[float]]:
    """x and y of all source words of some pairs, then of their target words."""
    one, two = view.source.rows(), view.target.rows()
    found = components(np.concatenate([one[rows[:, 0]], two[rows[:, 1]]]))
    return [[round(float(x), 5), round(float(y), 5)] for x, y in found]


def words_of(source: Space, target: Space, rows: Rows) -> list[dict[str, str]]:
    """The words, in the same order."""
    return [shown(space, int(row)) for space, own in ((source, rows[:, 0]), (target, rows[:, 1])) for row in own]
