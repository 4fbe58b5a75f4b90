"""Labels independent of length the way SentEval drew them: two independent normal distributions."""

from __future__ import annotations

import math
from collections.abc import Mapping

from sentprobe.make.candidates import Cell


def gaussian(cells: Mapping[Cell, int], most: int) -> dict[Cell, int]:
    """Rows per (depth, length) cell under independent normals of depth and length, as SentEval drew them.

    Means and deviations are the pool's own; the length deviation is narrowed until the cells can be filled, and the
    scale is the largest that leaves less than 1 % of the rows short.
    """
    table = {(int(d), int(s.rpartition("/")[2])): n for (d, s), n in cells.items()}
    depths, lengths = sorted({d for d, _ in table}), sorted({n for _, n in table})
    mean_d, dev_d = _moments({d: sum(n for (e, _), n in table.items() if e == d) for d in depths})
    mean_l, dev_l = _moments({k: sum(n for (_, m), n in table.items() if m == k) for k in lengths})
    best: dict[tuple[int, int], int] = {}
    for narrow in (1.0, 0.8, 0.65, 0.5, 0.4, 0.3):
        weight = {
            (d, k): math.exp(-0.5 * ((d - mean_d) / dev_d) ** 2 - 0.5 * ((k - mean_l) / (dev_l * narrow)) ** 2)
            for d in depths
            for k in lengths
        }
        low, high = 0.0, most / sum(weight.values())
        for _ in range(40):
            scale = (low + high) / 2
            target = {cell: scale * w for cell, w in weight.items()}
            short = sum(max(0.0, math.floor(n) - table.get(cell, 0)) for cell, n in target.items())
            low, high = (scale, high) if short <= 0.01 * sum(target.values()) else (low, scale)
        drawn = {cell: min(table.get(cell, 0), math.floor(low * w)) for cell, w in weight.items()}
        if sum(drawn.values()) > sum(best.values()):
            best = drawn
    return {cell: best.get((int(cell[0]), int(cell[1].rpartition("/")[2])), 0) for cell in cells}


def _moments(counts: Mapping[int, int]) -> tuple[float, float]:
    total = sum(counts.values())
    mean = sum(x * n for x, n in counts.items()) / total
    return mean, max(0.5, math.sqrt(sum(n * (x - mean) ** 2 for x, n in counts.items()) / total))
