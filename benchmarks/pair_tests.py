"""Pairs and triplets: how often a paired test finds a difference where there is none, and how often intervals cover.

    python benchmarks/pair_tests.py [DRAWS]

Two systems see the similarity of pairs that people scored, each with its own noise, and with noise that they share;
the similarities of one are on another scale. Of triplets, a share of rows is tied, and rows come in groups of three
that are right or wrong together.
"""

from __future__ import annotations

import sys

import numpy as np

from sentprobe.results.metric import metric_named
from sentprobe.stats.intervals import proportion_interval, wilson
from sentprobe.stats.means import ScoredRows
from sentprobe.stats.paired import clustered_p

SHORT = "200"
ALPHA = 0.05
GROUP = 3


def rejected(metric: str, n: int, shared: float, grouped: bool, rng: np.random.Generator) -> bool:
    """Whether two equally good systems are found to differ."""
    number = np.arange(n) // GROUP if grouped else np.arange(n)
    gold = rng.normal(size=number[-1] + 1)[number]
    common = shared * rng.normal(size=number[-1] + 1)[number]
    first, second = (gold + common + rng.normal(size=number[-1] + 1)[number] for _ in range(2))
    truth = (gold > 0).astype(np.float64) if metric == "roc_auc" else gold
    row_parts = metric_named(metric).row_parts
    assert row_parts is not None
    parts = [row_parts({"predicted": side, "truth": truth}) for side in (first, np.exp(second))]
    return clustered_p(parts[0], parts[1], number if grouped else None) <= ALPHA


def covered(share: float, ties: float, n: int, grouped: bool, rng: np.random.Generator) -> bool:
    """Whether the interval of the share of triplets holds the true one; a tie counts one half."""
    number = np.arange(n) // GROUP if grouped else np.arange(n)
    draws = rng.random(number[-1] + 1)
    values = np.select([draws < ties, draws < ties + (1 - ties) * share], [0.5, 1.0], 0.0)[number]
    if grouped:
        rows = ScoredRows.of(n, number)
        low, high = proportion_interval(rows.mean(values), rows)
    else:
        low, high = wilson(float(values.sum()), n)
    return bool(low <= ties / 2 + (1 - ties) * share <= high)


def main() -> None:
    """Print the rates of each kind of set."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    rng = np.random.default_rng(1)
    false_findings, coverage = [], []
    for metric in ("spearman", "roc_auc"):
        for n in (60, 300):
            for shared in (0.0, 0.8):
                for grouped in (False, True):
                    rate = float(np.mean([rejected(metric, n, shared, grouped, rng) for _ in range(draws)]))
                    false_findings.append(rate)
                    label = f"{metric}, {n} pairs, shared noise {shared}{', groups of 3' * grouped}"
                    print(f"{label:<55}{100 * rate:6.1f} % found to differ")
    for share, ties in ((0.5, 0.0), (0.9, 0.0), (0.16, 0.0), (0.7, 0.3)):
        for grouped in (False, True):
            rate = float(np.mean([covered(share, ties, 150, grouped, rng) for _ in range(draws)]))
            coverage.append(rate)
            label = f"150 triplets, {share:.0%} right, {ties:.0%} tied{', groups of 3' * grouped}"
            print(f"{label:<55}{100 * rate:6.1f} % covered")
    print(f"= pair_tests/found {100 * max(false_findings):.1f}")
    print(f"= pair_tests/covered {100 * min(coverage):.1f}")


if __name__ == "__main__":
    main()
