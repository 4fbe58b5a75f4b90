"""Which point of a grid dev chooses."""

from __future__ import annotations

import math
from collections.abc import Sequence

from sonde.probes.probe import Probe


def select_best(probe: Probe, accuracies: Sequence[float], losses: Sequence[float]) -> int:
    """The place of the best point, by accuracy and mean loss on dev of every point of the grid.

    Of linear probes that are as accurate the one with the lowest loss, then the strongest penalty; of networks, whose
    accuracies are rounded as in SentEval, the first.
    """
    places = range(len(accuracies))
    match probe.kind:
        case "convex":
            strong_first = sorted(places, key=lambda i: -probe.l2[i])
            return max(strong_first, key=lambda i: (accuracies[i] if probe.watch == "accuracy" else 0.0, -losses[i]))
        case "network":
            by_accuracy = probe.watch == "accuracy"
            scores = [round(100 * a, 2) for a in accuracies] if by_accuracy else [-loss for loss in losses]
            return max(places, key=lambda i: (-math.inf if math.isnan(scores[i]) else scores[i], -i))
