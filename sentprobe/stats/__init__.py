"""Uncertainty of scores: intervals, paired tests, multiple tests, ties, seeds, correlations; functions of arrays."""

from sentprobe.stats.classification import accuracy, bits, confusion, correct, log2_loss, macro_f1
from sentprobe.stats.correlation import Correlation, correlate
from sentprobe.stats.groups import letters, tie_groups
from sentprobe.stats.intervals import bootstrap, cluster_bootstrap, wilson
from sentprobe.stats.multiple import benjamini_hochberg, holm
from sentprobe.stats.paired import (
    McNemar,
    PairedBootstrap,
    Permutation,
    clustered_p,
    detectable,
    mcnemar,
    newcombe,
    paired_bootstrap,
    permutation,
)
from sentprobe.stats.planning import Variation, design_effect, detectable_difference, expected_discordance
from sentprobe.stats.seeds import CorrectedT, Spread, corrected_t, hierarchical_bootstrap, spread

__all__ = [
    "CorrectedT",
    "Correlation",
    "McNemar",
    "PairedBootstrap",
    "Permutation",
    "Spread",
    "Variation",
    "accuracy",
    "benjamini_hochberg",
    "bits",
    "bootstrap",
    "cluster_bootstrap",
    "clustered_p",
    "confusion",
    "correct",
    "corrected_t",
    "correlate",
    "design_effect",
    "detectable",
    "detectable_difference",
    "expected_discordance",
    "hierarchical_bootstrap",
    "holm",
    "letters",
    "log2_loss",
    "macro_f1",
    "mcnemar",
    "newcombe",
    "paired_bootstrap",
    "permutation",
    "spread",
    "tie_groups",
    "wilson",
]
