"""Logistic regression brought to its optimum, and what else is computed from such optima."""

from sentprobe.probes.convex.data import MAX_CACHED_BYTES, TrainingStatistics
from sentprobe.probes.convex.linear import Linear, log_probabilities, logits
from sentprobe.probes.convex.optimum import TOLERANCE, fit, optima

__all__ = [
    "MAX_CACHED_BYTES",
    "TOLERANCE",
    "Linear",
    "TrainingStatistics",
    "fit",
    "log_probabilities",
    "logits",
    "optima",
]
