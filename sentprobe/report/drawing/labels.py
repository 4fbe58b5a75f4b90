"""Labels next to dots such that none hides another: each is on one side of its dot, or its thing is left out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

SIDES = ("right", "left", "above", "below")
"""Where a label may be, in the order in which they are tried."""

Numbers = npt.NDArray[np.float64]


def place_labels(
    panels: Sequence[Numbers], sizes: Numbers, bounds: tuple[float, float], *, dot: float, most: int
) -> dict[int, list[list[str]]]:
    """Things that can be labelled in every panel, the first ones first, at most so many: the sides of their labels.

    Parameters
    ----------
    panels
        For each panel, where the dots of each thing are: (things, dots, 2), in points of the page.
    sizes
        The width and height of each label: (things, dots, 2).
    bounds
        The width and height of a panel; labels stay inside.
    dot
        The diameter of a dot.
    most
        How many things to label.
    """
    taken = [np.empty((0, 4)) for _ in panels]
    found: dict[int, list[list[str]]] = {}
    for i in range(len(sizes)):
        if len(found) == most:
            break
        sides, boxes = [], []
        for places, there in zip(panels, taken, strict=True):
            own = _place(places[i], sizes[i], there, bounds, dot)
            if own is None:
                break
            sides.append(own[0])
            boxes.append(own[1])
        else:
            found[i] = sides
            taken = [np.concatenate([there, own]) for there, own in zip(taken, boxes, strict=True)]
    return found


def _place(
    dots: Numbers, sizes: Numbers, taken: Numbers, bounds: tuple[float, float], dot: float
) -> tuple[list[str], Numbers] | None:
    """The sides of the labels of some dots (dots, 2), and all their rectangles; None if there is no room."""
    boxes = np.concatenate([dots - dot / 2, dots + dot / 2], axis=1)  # left, bottom, right, top
    if any(_hits(box, taken) for box in boxes):
        return None
    sides = []
    for (x, y), (wide, high) in zip(dots, sizes, strict=True):
        for side in SIDES:
            away = 0.8 * dot
            left = {"right": x + away, "left": x - away - wide}.get(side, x - wide / 2)
            bottom = {"above": y + away, "below": y - away - high}.get(side, y - high / 2)
            box = np.array([left, bottom, left + wide, bottom + high])
            inside = left >= 0 and bottom >= 0 and left + wide <= bounds[0] and bottom + high <= bounds[1]
            if inside and not _hits(box, taken) and not _hits(box, boxes):
                sides.append(side)
                boxes = np.concatenate([boxes, box[None]])
                break
        else:
            return None
    return sides, boxes


def _hits(box: Numbers, others: Numbers) -> bool:
    apart = (box[2] <= others[:, 0]) | (others[:, 2] <= box[0]) | (box[3] <= others[:, 1]) | (others[:, 3] <= box[1])
    return bool((~apart).any())
