"""Both languages under one map, as plain data: translations and neighbours of a word, and words in two dimensions.

The cosines of a word with all words are from one product of a matrix and a vector.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.lab.alignment.maps import BLOCK, MappedRows, SideMap, WordMap
from sentprobe.lab.alignment.projection import components, content_pairs, mutual_pairs
from sentprobe.lab.alignment.retrieval import Means
from sentprobe.lab.alignment.space import Matrix, Rows, Space
from sentprobe.lab.word_page.spelling import Spellings
from sentprobe.report.page.templates import readable

SideName = Literal["source", "target"]
OTHER: Mapping[SideName, SideName] = {"source": "target", "target": "source"}
TRANSLATIONS = 10
"""How many are shown of each."""
SUGGESTIONS = 5
"""How many are shown of each language."""
PAIRS = 1000
"""More than are shown: the page leaves out pairs whose labels would overlap with others."""
Vector = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class ViewSide:
    """The words of one language under a map.

    The steps of a map scale rows and subtract means, so that the unit vector of row x in the common space is
    (scale · x − shifts · means) matrix; for a dot product with it, no row needs to be mapped.
    """

    space: Space
    map: SideMap
    scales: Vector
    """(n,)."""
    shifts: Matrix
    """(n, means)."""

    def vector(self, row: int) -> Vector:
        """A word in the common space, (k,), of length one."""
        return np.asarray(self.rows()[np.array([row])][0])

    def cosines(self, vector: Vector) -> Vector:
        """The cosines (n,) of all words with a vector (k,) of length one."""
        back = vector if self.map.matrix is None else self.map.matrix @ vector
        cosines = self.scales * (self.space.vectors @ back)
        for j, mean in enumerate(self.map.means):
            cosines -= self.shifts[:, j] * (mean @ back)
        return np.asarray(cosines)

    def rows(self) -> MappedRows:
        """All words in the common space, mapped as they are read."""
        return MappedRows(self.space.vectors, self.map)


class View(NamedTuple):
    """Both sides under a map."""

    source: ViewSide
    target: ViewSide

    def side(self, name: SideName) -> ViewSide:
        """One of them."""
        return self.source if name == "source" else self.target


def view_of(spaces: tuple[Space, Space], word_map: WordMap) -> View:
    """Two spaces under a map."""
    return View(_side(spaces[0], word_map.source), _side(spaces[1], word_map.target))


def best_rows(scores: Vector, k: int) -> Rows:
    """The rows of the k highest scores, the best first; of equal scores, the lower row first."""
    k = min(k, len(scores))
    enough = np.flatnonzero(scores >= np.partition(scores, -k)[-k])
    return enough[np.argsort(-scores[enough], kind="stable")][:k]


def _side(space: Space, side: SideMap) -> ViewSide:
    scales, shifts = np.ones(len(space), np.float32), np.zeros((len(space), len(side.means)), np.float32)
    for at in range(0, len(space), BLOCK):
        rows, means = np.array(space.vectors[at : at + BLOCK], np.float32), iter(enumerate(side.means))
        scale, shift = scales[at : at + BLOCK], shifts[at : at + BLOCK]
        for step in (*side.steps, "matrix"):
            if step == "center":
                j, mean = next(means)
                rows -= mean
                shift[:, j] += 1
                continue
            if step == "matrix" and side.matrix is not None:
                rows = rows @ side.matrix
            lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64)).astype(np.float32)
            lengths[lengths == 0] = 1  # zero rows stay zero
            for array in (rows, shift):
                array /= lengths[:, None]
            scale /= lengths
    return ViewSide(space, side, scales, shifts)


# Translations and neighbours


def look_up(view: View, means: Means | None, word: str, k: int = TRANSLATIONS) -> list[dict[str, Any]]:
    """What is known about a word, by the language it is a word of: none, one or two items.

    Each has ``nn``, ``csls`` (None without the means) and ``neighbours`` in its own language.
    """
    sides = []
    for name in OTHER:
        side, other_side = view.side(name), view.side(OTHER[name])
        row = side.space.index.get(word)
        if row is None:
            continue
        vector = side.vector(row)
        cosines, same_side_cosines = other_side.cosines(vector), side.cosines(vector)
        same_side_cosines[row] = -2  # a word is not its own neighbour
        sides.append(
            {
                "side": name,
                **page_word(side.space, row),
                "rank": row + 1,
                "nn": _ranked_words(other_side.space, best_rows(cosines, k), cosines),
                "csls": None if means is None else _csls_words(other_side.space, cosines, means, name, row, k),
                "neighbours": _ranked_words(
                    side.space, best_rows(same_side_cosines, min(k, len(same_side_cosines) - 1)), same_side_cosines
                ),
            }
        )
    return sides


def _csls_words(space: Space, cosines: Vector, means: Means, side: SideName, row: int, k: int) -> list[dict[str, Any]]:
    query_means, candidate_means = (means.source, means.target) if side == "source" else (means.target, means.source)
    scores = 2 * cosines - candidate_means - query_means[row]
    return _ranked_words(space, best_rows(scores, k), scores)


def _ranked_words(space: Space, rows: Rows, scores: Vector) -> list[dict[str, Any]]:
    return [{**page_word(space, int(row)), "rank": int(row) + 1, "score": round(float(scores[row]), 6)} for row in rows]


def page_word(space: Space, row: int) -> dict[str, str]:
    """A word, and how it is written on the page if it has characters that cannot be seen."""
    word = space.words[row].encode(errors="backslashreplace").decode()  # a lone surrogate cannot be sent
    visible = readable(word)
    return {"word": word} if visible == word else {"word": word, "shown": visible}


def same_but_case(spaces: Sequence[Space], spellings: Sequence[Spellings], word: str) -> str | None:
    """A word of either space that differs from an unknown one in case, coding or ``_`` for a space only."""
    rows = [spelling.other_case(word) for spelling in spellings]
    return next((space.words[row] for space, row in zip(spaces, rows, strict=True) if row is not None), None)


def suggestions(spaces: Sequence[Space], spellings: Sequence[Spellings], word: str) -> list[dict[str, Any]]:
    """Known words that are spelled like an unknown one, for each language."""
    return [
        {"side": name, **page_word(space, row)}
        for name, space, spelling in zip(OTHER, spaces, spellings, strict=True)
        for row in spelling.similar(word, SUGGESTIONS)
    ]


# Two dimensions


def choose_pairs(source: Space, target: Space, word_map: WordMap) -> Rows:
    """Rows (p, 2) of translation pairs under a map, the most telling first."""
    return content_pairs(source, target, mutual_pairs(source.vectors, target.vectors, word_map))[:PAIRS]


def points(view: View, rows: Rows) -> list[list[float]]:
    """x and y of all source words of some pairs, then of their target words."""
    source, target = view.source.rows(), view.target.rows()
    plane = components(np.concatenate([source[rows[:, 0]], target[rows[:, 1]]]))
    return [[round(float(x), 5), round(float(y), 5)] for x, y in plane]


def words_of(source: Space, target: Space, rows: Rows) -> list[dict[str, str]]:
    """The words, in the same order."""
    return [page_word(space, int(row)) for space, side in ((source, rows[:, 0]), (target, rows[:, 1])) for row in side]
