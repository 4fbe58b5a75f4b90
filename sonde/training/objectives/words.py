"""Word vectors: skip-gram with hierarchical softmax, by gensim; with ``bow-mean`` it is the CBOW of Adi et al. (2017).

A step of the loop is an epoch of gensim. All that the next one depends on is in the model: the vectors, the weights of
the hierarchical softmax, the state of gensim's random numbers, and the number of epochs, which sets the learning rate.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from gensim.models import Word2Vec
from numpy.typing import NDArray
from torch import Tensor, nn

from sonde.core.settings import Setting
from sonde.errors import DataError, UsageError
from sonde.networks.encoder import SentenceEncoder
from sonde.training.examples import Sequences
from sonde.training.objective import Loss, Objective, Prepared
from sonde.training.plan import Plan
from sonde.training.streams import Stream

FIELDS = ("text",)
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


class WordVectors(nn.Module):
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
class Texts:
    """Sentences as gensim reads them: lists of words, as often as it likes."""

    ids: Sequences
    words: NDArray[np.object_]
    """By number; the first one is none."""

    def __iter__(self) -> Iterator[list[str]]:
        for i in range(len(self.ids)):
            yield self.words[self.ids[i]].tolist()


def prepare(plan: Plan) -> Prepared:
    """Read the texts and build gensim's model."""
    request, settings, options = plan.request, plan.settings, plan.request.options
    if request.vectors:
        raise UsageError(f"words learns word vectors: leave --vectors {request.vectors} out.")
    if request.dev or request.held_out:
        raise UsageError("words has no score on dev data: leave --dev and --held-out out.")
    inputs = plan.inputs(lambda: (row.values[0] for row in plan.rows("train", FIELDS)), bag=True)
    encoder = inputs.encoder()
    if others := sum(weight.numel() for name, weight in encoder.named_parameters() if name != "inputs.learned.weight"):
        raise UsageError(
            f"words learns word vectors, and {request.encoder} has {others:,} other weights, which would stay random. "
            "Expected a bag of words, such as --encoder bow-mean, without --projection."
        )
    out = plan.writer("train", FIELDS)
    for row in plan.rows("train", FIELDS):
        if known := [number for number in inputs.vocabulary.ids(row.values[0]) if number]:
            out.add((known,))
    ids = out.finish().sequences["text"]
    counts = np.bincount(ids.values, minlength=len(inputs.vocabulary) + 1)[1:]
    if len(counts) < 2:
        raise DataError(f"{', '.join(request.train)}: expected two different words at least.")
    learner = SkipGram(
        sg=1, hs=1, negative=0, vector_size=request.width, window=int(settings["window"]), min_count=1,
        sample=float(settings["sample"]), alpha=options.lr, seed=options.seed, workers=int(settings["workers"]),
        # the vocabulary is sorted already, and gensim's number of a word is ours minus 1
        sorted_vocab=0,
    )  # fmt: skip
    # a word that only occurs in other cases has no count of its own, and gensim refuses 0
    learner.build_vocab_from_freq(dict(zip(inputs.vocabulary.words, np.maximum(counts, 1).tolist(), strict=True)))
    model = WordVectors(encoder, learner)
    texts = Texts(ids, np.array(["", *inputs.vocabulary.words], object))
    end = float(settings["final_lr"])

    def update(_: object, lr: float) -> Loss:
        model.give(learner)
        begin, total = int(model.epochs), max(options.epochs, int(model.epochs) + 1)
        learner.loss = 0.0
        trained, read = learner.train(
            texts,
            total_examples=len(ids),
            epochs=1,
            start_alpha=lr - (lr - end) * begin / total,
            end_alpha=lr - (lr - end) * (begin + 1) / total,
            compute_loss=True,
        )
        model.take(learner)
        model.epochs += 1
        return Loss(torch.tensor(learner.loss), trained, read)

    stream = Stream("train", np.zeros(1, np.int64), lambda rows: rows)
    return Prepared(model, (stream,), dict, "", inputs, update=update)


objective = Objective(
    "words",
    "the words around a word: skip-gram with hierarchical softmax",
    "sentences: text",
    prepare,
    {
        "window": Setting(5, "words on either side that are predicted"),
        "sample": Setting(1e-3, "frequency above which words are left out at random; 0: never", low=0, high=1),
        "final_lr": Setting(1e-4, "the learning rate at the end, to which it falls linearly", low=1e-12),
        "workers": Setting(1, "threads; with more than one, results differ from run to run"),
    },
    {"sgd": {"lr": 0.025, "epochs": 5, "batch": 1}},
    needs_dev=False,
    order=80,
)
