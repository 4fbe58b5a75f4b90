"""Translation: the target sentence from the vector of the source sentence."""

from __future__ import annotations

from sentprobe.lab.training.seq2seq import text_objective

objective = text_objective(
    "translate",
    "a sentence in another language",
    "pairs of sentences: source, target; or two files A,B with one sentence per line",
    ("source", "target"),
    lambda row: (row.values[0], row.values[1]),
    order=30,
)
