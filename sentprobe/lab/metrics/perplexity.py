"""Perplexity, which encoders that were trained as language models or translators are chosen by."""

from __future__ import annotations

import math

from sentprobe.core.formatting import PLAIN
from sentprobe.results.metric import Metric

metric = Metric(
    name="perplexity",
    title="perplexity",
    doc="The perplexity of held-out text; lower is better.",
    predicts="none",
    number=PLAIN,
    unit="",
    higher_is_better=False,
    range=(1.0, math.inf),
    interval_note="",
    tested=False,
    order=120,
)
