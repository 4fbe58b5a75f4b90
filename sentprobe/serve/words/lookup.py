"""A word → its translations and its neighbours, as plain data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sentprobe.alignment.retrieval import Means
from sentprobe.alignment.space import Rows, Space
from sentprobe.report.page.sanitise import readable
from sentprobe.serve.words.spelling import Spellings
from sentprobe.serve.words.view import OTHER, SideName, Vector, View, best_rows

TRANSLATIONS = 10
"""How many are shown of each."""
SUGGESTIONS = 5
"""How many are shown of each language."""
SIDES: tuple[SideName, SideName] = ("source", "target")


def look_up(view: View, means: Means | None, word: str, k: int = TRANSLATIONS) -> list[dict[str, Any]]:
    """What is known about a word, by the language it is a word of: none, one or two items.

    Each has ``nn``, ``csls`` (None without the means) and ``neighbours`` in its own language.
    """
    found = []
    for name in SIDES:
        side, other = view.side(name), view.side(OTHER[name])
        row = side.space.index.get(word)
        if row is None:
            continue
        vector = side.vector(row)
        cosines, own = other.cosines(vector), side.cosines(vector)
        own[row] = -2  # a word is not its own neighbour
        found.append({
            "side": name,
            **shown(side.space, row),
            "rank": row + 1,
            "nn": _scored(other.space, best_rows(cosines, k), cosines),
            "csls": None if means is None else _csls(other.space, cosines, means, name, row, k),
            "neighbours": _scored(side.space, best_rows(own, min(k, len(own) - 1)), own),
        })  # fmt: skip
    return found


def _csls(space: Space, cosines: Vector, means: Means, side: SideName, row: int, k: int) -> list[dict[str, Any]]:
    own, others = (means.source, means.target) if side == "source" else (means.target, means.source)
    scores = 2 * cosines - others - own[row]
    return _scored(space, best_rows(scores, k), scores)


def _scored(space: Space, rows: Rows, scores: Vector) -> list[dict[str, Any]]:
    return [{**shown(space, int(row)), "rank": int(row) + 1, "score": round(float(scores[row]), 6)} for row in rows]


def shown(space: Space, row: int) -> dict[str, str]:
    """A word, and how it is written on the page if it has characters that cannot be seen."""
    word = space.words[row].encode(errors="backslashreplace").decode()  # a lone surrogate cannot be sent
    visible = readable(word)
    return {"word": word} if visible == word else {"word": word, "shown": visible}


def same_but_case(spaces: Sequence[Space], spellings: Sequence[Spellings], word: str) -> str | None:
    """A word of either space that differs from an unknown one in case, coding or ``_`` for a space only."""
    rows = [own.other_case(word) for own in spellings]
    return next((space.words[row] for space, row in zip(spaces, rows, strict=True) if row is not None), None)


def suggestions(spaces: Sequence[Space], spellings: Sequence[Spellings], word: str) -> list[dict[str, Any]]:
    """Known words that are spelled like an unknown one, for each language."""
    return [
        {"side": name, **shown(space, row)}
        for name, space, own in zip(SIDES, spaces, spellings, strict=True)
        for row in own.similar(word, SUGGESTIONS)
    ]
