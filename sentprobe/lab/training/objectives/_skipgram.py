"""gensim's skip-gram with hierarchical softmax, as a model whose whole state is in tensors."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from gensim.models import Word2Vec
from numpy.typing import NDArray
from torch import Tensor, nn

from sentprobe.lab.networks.encoder import SentenceEncoder
from sentprobe.lab.training.examples import Sequences

STATE = 624
"""Numbers in the state of a Mersenne twister; its position follows them."""


class SkipGram(Word2Vec):  # type: ignore[misc]  # gensim is not typed
    """gensim's model, with a sum of losses that does not stop growing.

    Its own is in single precision, in which the sum over a large corpus soon is too large to be changed by a summand.
    """

    loss = 0.0

    @property
    def running_training_loss(self) -> float:
        """What gensim adds to, anew for each part of the data."""
        return 0.0

    @running_training_loss.setter
    def running_training_loss(self, value: float) -> None:
        self.loss += float(value)


class SkipGramEncoder(nn.Module):
    """An encoder whose word vectors are learned, and what gensim has to remember."""

    weights: Tensor
    random: Tensor
    epochs: Tensor

    def __init__(self, encoder: SentenceEncoder, learner: SkipGram) -> None:
        super().__init__()
        self.encoder = encoder
        self.register_buffer("weights", torch.zeros(learner.syn1.shape))
        """Of the hierarchical softmax (words, width)."""
        self.register_buffer("random", torch.zeros(STATE + 1, dtype=torch.int64))
        self.register_buffer("epochs", torch.zeros(1, dtype=torch.int64))
        with torch.no_grad():
            # the vector of a text without any known word
            encoder.inputs.learned.weight[0] = 0
        self.take(learner)

    def take(self, learner: SkipGram) -> None:
        """Copy everything from gensim."""
        with torch.no_grad():
            self.encoder.inputs.learned.weight[1:] = torch.from_numpy(learner.wv.vectors)
            self.weights.copy_(torch.from_numpy(learner.syn1))
            _, numbers, position, *_ = learner.random.get_state()
            self.random.copy_(torch.from_numpy(np.append(numbers.astype(np.int64), position)))

    def give(self, learner: SkipGram) -> None:
        """Copy everything to gensim."""
        learner.wv.vectors[:] = self.encoder.inputs.learned.weight[1:].detach().cpu().numpy()
        learner.syn1[:] = self.weights.cpu().numpy()
        *numbers, position = self.random.tolist()
        learner.random.set_state(("MT19937", np.array(numbers, np.uint32), position))


@dataclass(frozen=True, eq=False)
class WordLists:
    """Sentences as gensim reads them: lists of words, as often as it likes."""

    ids: Sequences
    words: NDArray[np.object_]
    """By number; the first one is none."""

    def __iter__(self) -> Iterator[list[str]]:
        for i in range(len(self.ids)):
            yield self.words[self.ids[i]].tolist()
