"""Comparisons of two or more encoders on the same test rows: which differences are significant?

There are two questions. *Is one encoder better than the other, with probes like these?* Other training rows would have
given other probes; if probes were retrained (`--resample`), intervals and p-values account for that, together with test
rows and seeds. *Is one of these two trained probes better than the other?* is answered by McNemar's test, or, if rows
share target forms, by a permutation test over forms. The second answer is always given, and replaces the first if no
probe was retrained.

p-values are adjusted by Holm's method over the sets. More than two encoders get letters: those that share one do not
differ significantly, which does not mean that they are equal. An equivalence test tells how close two are: two
one-sided tests reject for every margin of at least ``equivalence_margin``.
"""

from sentprobe.compare.encoders import compare, tie_letters, ties
from sentprobe.compare.inference import detectable_by, difference_p, row_clusters
from sentprobe.compare.sides import Side, best_layer, non_baseline_encoders, select_side, shown_names, untested_sets
from sentprobe.compare.types import EQUIVALENCE_MARGIN, Comparison, InferenceTarget, TieGroups

__all__ = [
    "EQUIVALENCE_MARGIN",
    "Comparison",
    "InferenceTarget",
    "Side",
    "TieGroups",
    "best_layer",
    "compare",
    "detectable_by",
    "difference_p",
    "non_baseline_encoders",
    "row_clusters",
    "select_side",
    "shown_names",
    "tie_letters",
    "ties",
    "untested_sets",
]
