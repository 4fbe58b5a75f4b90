"""Two encoders, or more, on the same test rows: which differences are there, and which could have been found?

Two questions are kept apart. *Is one encoder better than the other, with probes like these?* Other training rows would
have given other probes; where runs have trained them again (`--resample`), intervals and p-values count that, together
with test rows and seeds. *Is one of these two trained probes better than the other?* is what McNemar's test answers,
or, where rows share target forms and stand and fall together, the exchange of whole forms. That one is given beside the
first, and stands in for it where no probe was trained again.

The p-values are adjusted by Holm over the sets. More than two encoders get letters: those that share one do not differ
significantly, which is not to say that they are equal. How nearly equal two are, an equivalence test says: two
one-sided tests at 5 % hold for every margin that is at least ``within``.
"""

from sonde.compare.encoders import compare, tie_letters, ties
from sonde.compare.inference import detectable_by, difference_p, row_clusters
from sonde.compare.sides import Side, best_layer, non_baseline_encoders, select_side
from sonde.compare.types import EQUIVALENCE_MARGIN, SIGNIFICANCE_LEVEL, Comparison, InferenceTarget, TieGroups

__all__ = [
    "EQUIVALENCE_MARGIN",
    "SIGNIFICANCE_LEVEL",
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
    "tie_letters",
    "ties",
]
