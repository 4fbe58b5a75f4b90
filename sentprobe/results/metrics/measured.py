"""What measures are scored by, which are no scores of predictions: bits, ratios, ranks, and differences of scores."""

from __future__ import annotations

import math

from sentprobe.core.formatting import PLAIN, POINTS, NumberFormat
from sentprobe.results.metric import Metric


def _measured(name: str, title: str, doc: str, number: NumberFormat, unit: str, low: float, high: float) -> Metric:
    return Metric(
        name=name, title=title, doc=doc, predicts="none", number=number, unit=unit, range=(low, high), tested=False,
        interval_note="", order=200,
    )  # fmt: skip


metrics = (
    _measured("bits", "bits", "Usable information about the label, in bits.", PLAIN, "bits", -math.inf, math.inf),
    _measured("compression", "compression", "How much shorter labels are with the encoder.", PLAIN, "", 0.0, math.inf),
    _measured("rank", "rank", "The rank of a linear map that is enough for the probe.", PLAIN, "", 0.0, math.inf),
    _measured("gain", "gain", "What more training rows add to the accuracy.", POINTS, "points", -1.0, 1.0),
    _measured("gap", "gap", "The accuracy of a network minus that of the linear probe.", POINTS, "points", -1.0, 1.0),
)
