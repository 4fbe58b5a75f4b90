"""Auto-encoding: the sentence itself from its vector."""

from __future__ import annotations

from sentprobe.lab.training.seq2seq import text_objective

objective = text_objective(
    "autoencode",
    "the sentence itself",
    "sentences: text",
    ("text",),
    lambda row: (row.values[0], row.values[0]),
    order=31,
)
