"""Auto-encoding: the sentence itself from its vector."""

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
    ("text",),
    lambda row: (row.values[0], row.values[0]),
    "BLEU",
    scores=bleu_score,
    facts=bleu_facts,
)

objective = Objective(
    "autoencode",
    "the sentence itself",
    "sentences: text",
    partial(prepare, kind=KIND),
    {**SETTINGS, **CODES, **DECODED, "bleu": SETTING},
    OPTIMISERS,
    order=31,
)
