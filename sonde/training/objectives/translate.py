"""Translation: the target sentence from the vector of the source sentence."""

from __future__ import annotations

from functools import partial

from sonde.training.bleu import SETTING
from sonde.training.objective import Objective
from sonde.training.seq2seq import (
    CODES,
    DECODED,
    OPTIMISERS,
    SETTINGS,
    Seq2Seq,
    bleu_facts,
    bleu_score,
    prepare,
)

KIND = Seq2Seq(
    ("source", "target"),
    lambda row: (row.values[0], row.values[1]),
    "BLEU",
    scores=bleu_score,
    facts=bleu_facts,
)

objective = Objective(
    "translate",
    "a sentence in another language",
    "pairs of sentences: source, target; or two files A,B with one sentence per line",
    partial(prepare, kind=KIND),
    {**SETTINGS, **CODES, **DECODED, "bleu": SETTING},
    OPTIMISERS,
    order=30,
)
