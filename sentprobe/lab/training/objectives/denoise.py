"""The sequential denoising auto-encoder of Hill et al. (2016): a sentence from the vector of a noisy copy of it.

The noise N(S | p, q) leaves out each word with probability p, then exchanges the two words of each pair with
probability q; pairs do not overlap. Both are 0.1 in the paper, whose noise is new whenever a sentence is read, as here.
Dev sentences are read as they are, so that scores compare with those of ``autoencode``.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.core.arguments import Setting
from sentprobe.lab.networks.vocabulary import BEGIN, END
from sentprobe.lab.training.decoder import DecoderBatch
from sentprobe.lab.training.examples import Sequences
from sentprobe.lab.training.objective import Objective, Prepared
from sentprobe.lab.training.objectives.autoencode import objective as autoencode
from sentprobe.lab.training.plan import TrainingPlan

SETTINGS = {
    "drop_words": Setting(0.1, "the share of the words of a sentence that are left out", low=0, high=1),
    "swap_words": Setting(0.1, "the share of the pairs of neighbours that change places", low=0, high=1),
}
Words = NDArray[np.int32]
Draws = NDArray[np.float64]


def add_noise(words: Words, drop_draws: Draws, swap_draws: Draws, drop: float, swap: float) -> Words:
    """The words (n,) that are left, in a new order, by draws (n,) and (n // 2,) between 0 and 1; at least one is left.

    A word is left out, and a pair changes places, where its draw is below the probability.
    """
    remains = drop_draws >= drop
    if len(words):
        remains[drop_draws.argmax()] = True
    noisy = words[remains]
    for pair, first in enumerate(range(0, len(noisy) - 1, 2)):
        if swap_draws[pair] < swap:
            noisy[first : first + 2] = noisy[first : first + 2][::-1].copy()
    return noisy


def prepare(plan: TrainingPlan) -> Prepared:
    """What ``autoencode`` prepares, with noise in the sentences that are read."""
    prepared = autoencode.prepare(plan)
    (stream,) = prepared.streams
    drop, swap = float(plan.settings["drop_words"]), float(plan.settings["swap_words"])
    index = prepared.inputs.vocabulary.index
    begin, end = int(BEGIN in index), int(END in index)  # what marks the ends of a sentence stays where it is

    def noisy(ids: Words) -> Words:
        words = ids[begin : len(ids) - end]
        draws = torch.rand(len(words) + len(words) // 2, dtype=torch.float64).numpy()
        changed = add_noise(words, draws[: len(words)], draws[len(words) :], drop, swap)
        return np.concatenate((ids[:begin], changed, ids[len(ids) - end :]))

    def collate(rows: NDArray[np.int64]) -> DecoderBatch:
        batch = stream.collate(rows)
        sources = [
            noisy(ids[:length].numpy().astype(np.int32))
            for ids, length in zip(batch.source, batch.source_lengths.tolist(), strict=True)
        ]
        columns = Sequences(np.concatenate(sources), np.cumsum([len(source) for source in sources]))
        return DecoderBatch(*columns.padded(np.arange(len(sources))), batch.target, batch.target_lengths)

    return replace(prepared, streams=(replace(stream, collate=collate),))


objective = Objective(
    "denoise",
    "a sentence from a copy without some of its words, and with others exchanged",
    autoencode.data,
    prepare,
    {**autoencode.settings, **SETTINGS},
    autoencode.optimisers,
    order=31,
)
