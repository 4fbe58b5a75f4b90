"""The auto-encoder (ED) of Adi et al. (2017): the words of the sentence from its vector, over the encoder's vocabulary.

The decoder is one LSTM layer, as wide as the sentence vector, which is its first state, and as its own embeddings. With
``--architecture lstm-reversed``, and word vectors as wide as sentence vectors, all is as in the paper. BLEU is that of
words as the encoder reads them.
"""

from __future__ import annotations

from functools import partial

from sentprobe.core.arguments import Setting
from sentprobe.lab.training.objective import Objective
from sentprobe.lab.training.seq2seq import DECODED, SETTINGS, Seq2Seq, bleu_facts, bleu_score, prepare
from sentprobe.lab.training.targets import SETTING

KIND = Seq2Seq(
    ("text",),
    lambda row: (row.values[0], row.values[0]),
    "perplexity",
    words=True,
    scores=bleu_score,
    facts=bleu_facts,
)
CHANGED = {
    "decoder": Setting(0, "units per layer of the decoder; 0: as many as the sentence vector has dimensions", low=0),
    "decoder_layers": Setting(1, "layers of the decoder"),
    "decoder_dropout": Setting(0.1, SETTINGS["decoder_dropout"].doc, low=0, high=0.99),
    "target_width": Setting(0, "dimensions of the decoder's embeddings; 0: those of the sentence vector", low=0),
    "vector": Setting("start", SETTINGS["vector"].doc, SETTINGS["vector"].choices),
    "bleu": Setting("none", SETTING.doc, SETTING.choices),
}
"""Settings of all objectives with a decoder that have another default here."""

objective = Objective(
    "reconstruct",
    "the words of the sentence itself",
    "sentences: text",
    partial(prepare, kind=KIND),
    {**SETTINGS, **DECODED, **CHANGED},
    {"adagrad": {"lr": 0.01, "batch": 32, "clip": 5.0, "patience": 5, "epochs": 100}},
    order=34,
)
