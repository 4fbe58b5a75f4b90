"""How often the interval of balanced accuracy covers the true one: simulated test sets with classes of uneven size.

    python benchmarks/class_share_coverage.py [DRAWS]

Each row of the table is a kind of test set: the number of rows of each class, and the recall of each. Rows are drawn
independently, or in clusters of four that are right or wrong together.
"""

from __future__ import annotations

import sys

import numpy as np

from sentprobe.stats.class_shares import ClassShares
from sentprobe.stats.means import ScoredRows

SHORT = "200"
SETS = {
    "2 classes, 400 and 100": ((400, 100), (0.9, 0.7)),
    "2 classes, 500 and 40": ((500, 40), (0.95, 0.6)),
    "2 classes, 100 each": ((100, 100), (0.8, 0.8)),
    "6 classes, 300 to 30": ((300, 200, 120, 80, 50, 30), (0.95, 0.9, 0.85, 0.7, 0.6, 0.5)),
    "20 classes, 40 each": ((40,) * 20, tuple(np.linspace(0.4, 0.95, 20))),
    "100 classes, 10 each": ((10,) * 100, (0.75,) * 100),
}
CLUSTER = 4


def covered(sizes: tuple[int, ...], recalls: tuple[float, ...], clustered: bool, rng: np.random.Generator) -> bool:
    """Whether the interval of one simulated test set holds the true balanced accuracy."""
    truth, chance = np.repeat(np.arange(len(sizes)), sizes), np.repeat(recalls, sizes)
    number = np.arange(len(truth)) // CLUSTER if clustered else np.arange(len(truth))
    drawn = rng.random(number[-1] + 1)[number]
    correct = (drawn < chance).astype(np.float64)
    clusters = number if clustered else None
    rows, classes = ScoredRows.of(len(truth), clusters), ClassShares.of(truth, clusters)
    low, high = classes.interval(correct, rows.mean(classes.linearised(correct)), rows)
    return bool(low <= float(np.mean(recalls)) <= high)


def main() -> None:
    """Print the coverage of each kind of test set."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rng = np.random.default_rng(1)
    shares = {}
    for name, (sizes, recalls) in SETS.items():
        for clustered in (False, True):
            label = f"{name}{', clusters of 4' if clustered else ''}"
            shares[label] = float(np.mean([covered(sizes, recalls, clustered, rng) for _ in range(draws)]))
            print(f"{label:<45}{100 * shares[label]:6.1f} %")
    print(f"= class_share_coverage/lowest {100 * min(shares.values()):.1f}")
    print(f"= class_share_coverage/highest {100 * max(shares.values()):.1f}")


if __name__ == "__main__":
    main()
