"""Each word of a sentence from the mean of the other words and bigrams, by negative sampling, as in sent2vec.

The target and the bigrams that contain it are left out of the mean; sent2vec puts ``</s>`` in its place. Frequent words
are targets less often (threshold t), and always in the mean. Negatives are drawn by the square root of frequency.
The bigrams of some words of each sentence are left out at random; sent2vec draws them for each target.

Vectors are changed by the sum of the gradients of a batch. Only the rows that occur in it are read and written, which
is what makes it fast: an optimiser would go through all vectors at every step.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor, nn

from sentprobe.core.arguments import Setting, Settings
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.networks.architectures.ngrams import BagOfNgrams, hash_bigrams
from sentprobe.lab.networks.encoder import SentenceEncoder
from sentprobe.lab.networks.sequences import padding_mask
from sentprobe.lab.training.examples import Examples, Stream
from sentprobe.lab.training.objective import Chance, Loss, Objective, Prepared
from sentprobe.lab.training.plan import TrainingPlan

FIELDS = ("text",)
EVALUATION_BATCH = 64


class NgramVectors(NamedTuple):
    """The vectors that occur in a batch: words (sentences, time, width), bigrams (sentences, time - 1, width)."""

    words: Tensor
    bigrams: Tensor


class NgramModel(nn.Module):
    """An encoder, and the vectors of words as targets."""

    keep: Tensor
    steps: Tensor

    def __init__(self, encoder: SentenceEncoder, counts: Tensor, settings: Settings, seed: int) -> None:
        """``counts`` (words + 1,) of the training data, by number."""
        super().__init__()
        self.encoder = encoder
        self.targets = nn.Parameter(torch.zeros(self.words.shape))
        self.negatives, self.dropped = int(settings["negatives"]), int(settings["drop_bigrams"])
        width = encoder.size
        random = torch.Generator().manual_seed(seed)
        for table in (self.words, self.bigrams):
            nn.init.uniform_(table, -1 / width, 1 / width, generator=random)
        with torch.no_grad():
            # the vector of a text without any known word
            self.words[0] = 0
        shares = counts.double() / counts.sum()
        t = float(settings["t"])
        keep = (t / shares).sqrt() + t / shares if t else torch.ones_like(shares)
        self.register_buffer("keep", torch.where(counts > 0, keep.clamp(max=1), 0.0).float(), persistent=False)
        # no buffer: points are drawn on the CPU, and some devices have no double precision
        self.probabilities = counts.double().sqrt().cumsum(0)
        self.register_buffer("steps", torch.zeros(1, dtype=torch.int64))

    @property
    def words(self) -> Tensor:
        """(words + 1, width)."""
        return self.encoder.inputs.learned.weight

    @property
    def bigrams(self) -> Tensor:
        """(buckets, width)."""
        vectors: Tensor = self.encoder.body.bigrams.weight
        return vectors

    def lookup(self, ids: Tensor) -> NgramVectors:
        """The vectors of a batch (sentences, time)."""
        return NgramVectors(self.words[ids], self.bigrams[hash_bigrams(ids, len(self.bigrams))])

    def draw_negatives(self, count: int, random: torch.Generator | None = None) -> Tensor:
        """Numbers of words (count, negatives)."""
        points = torch.rand((count, self.negatives), dtype=torch.float64, generator=random) * self.probabilities[-1]
        numbers = torch.searchsorted(self.probabilities, points, right=True).clamp(max=len(self.probabilities) - 1)
        return numbers.to(self.targets.device)

    def draw_bigrams(self, lengths: Tensor, time: int) -> Tensor:
        """(sentences, time - 1): which bigrams are used; the others contain one of the words that are drawn."""
        order = torch.rand((len(lengths), time), device=lengths.device)
        order = order.masked_fill(padding_mask(lengths, time), 2).argsort(1).argsort(1)
        used = order >= (lengths - 2).clamp(0, self.dropped)[:, None]
        return used[:, :-1] & used[:, 1:]


def contexts(rows: NgramVectors, lengths: Tensor, used: Tensor) -> Tensor:
    """The mean (sentences, time, width) of what is predicted from: the other words, and the bigrams of other words.

    ``used`` (sentences, time - 1) are the bigrams that are not left out. Zero if there is nothing.
    """
    time = rows.words.shape[1]
    words = rows.words.masked_fill(padding_mask(lengths, time)[:, :, None], 0)
    used = used & ~padding_mask(lengths - 1, time - 1)
    bigrams = rows.bigrams * used[:, :, None]
    pad = nn.functional.pad
    target_sum = words + pad(bigrams, (0, 0, 0, 1)) + pad(bigrams, (0, 0, 1, 0))
    count = used.int()
    context_sizes = lengths[:, None] - 1 + count.sum(1, keepdim=True) - pad(count, (0, 1)) - pad(count, (1, 0))
    whole = words.sum(1, keepdim=True) + bigrams.sum(1, keepdim=True)
    return (whole - target_sum) / context_sizes.clamp(min=1)[:, :, None]


def sampling_loss(contexts: Tensor, target: Tensor, negatives: Tensor, wrong: Tensor) -> Tensor:
    """The logistic loss, summed, of contexts and target (n, width) and negatives (n, k, width).

    ``wrong`` (n, k) are negatives that are the target itself, and do not count.
    """
    positive_log_likelihood = nn.functional.logsigmoid((contexts * target).sum(1)).sum()
    negative_log_likelihoods = nn.functional.logsigmoid(-(negatives @ contexts[:, :, None])[:, :, 0])
    return -positive_log_likelihood - negative_log_likelihoods.masked_fill(wrong, 0).sum()


def prepare(plan: TrainingPlan) -> Prepared:
    """Read the texts and build the model."""
    request, options = plan.request, plan.request.options
    if request.vectors or request.projection:
        raise UsageError("ngrams learns the vectors of words: leave --vectors and --projection out.")
    if options.optimiser != "sgd":
        raise UsageError(f"ngrams is trained with SGD: leave --optimiser {options.optimiser} out.")
    inputs = plan.inputs(lambda: (row.values[0] for row in plan.rows("train", FIELDS)), bag=True)
    encoder = inputs.encoder()
    if not isinstance(encoder.body, BagOfNgrams):
        raise UsageError(
            f"ngrams trains the encoder of the same name: expected --architecture ngrams, got {request.encoder}."
        )

    def read(role: str) -> Examples:
        with plan.writer(role, FIELDS) as out:
            for row in plan.rows(role, FIELDS):
                # a word alone cannot be predicted
                if len(ids := inputs.vocabulary.ids(row.values[0])) > 1:
                    out.add((ids,))
            counts = plan.counts[role]
            counts["fewer than two known words"], counts["used"] = counts["used"] - out.count, out.count
            if not out.count:
                raise DataError(f"No text of {role} has two known words or more.")
            return out.finish()

    train = read("train")
    dev = read("dev") if request.dev or request.held_out else None
    text = train.sequences["text"]
    counts = torch.from_numpy(np.bincount(text.values, minlength=len(inputs.vocabulary) + 1))
    model = NgramModel(encoder, counts, plan.settings, options.seed)
    total = options.epochs * -(-len(train) // options.batch)

    def update(batch: tuple[Tensor, Tensor], lr: float) -> Loss:
        return _update(model, *batch, lr * max(0.0, 1 - int(model.steps) / total))

    def evaluate() -> dict[str, float]:
        return {} if dev is None else {"loss": _dev_loss(model, dev, options.seed)}

    stream = Stream("train", text.lengths, text.padded)
    selection = "" if dev is None else "loss"
    # of vectors that are 0: every word, and every wrong one, is as likely as not
    chance = {"loss": Chance((1 + int(plan.settings["negatives"])) * math.log(2), maximise=False)}
    return Prepared(model, (stream,), evaluate, selection, inputs, maximise=False, chance=chance, update=update)


@torch.no_grad()
def _update(model: NgramModel, ids: Tensor, lengths: Tensor, lr: float) -> Loss:
    """A step of SGD on a batch, with the gradients of the rows that occur in it."""
    model.steps += 1
    time = ids.shape[1]
    chosen = (torch.rand(ids.shape, device=ids.device) < model.keep[ids]) & ~padding_mask(lengths, time)
    target = ids[chosen]
    negatives = model.draw_negatives(len(target))
    rows = NgramVectors(*(part.requires_grad_() for part in model.lookup(ids)))
    target_vectors, negative_vectors = (
        model.targets[ids_of_rows].requires_grad_() for ids_of_rows in (target, negatives)
    )
    with torch.enable_grad():
        means = contexts(rows, lengths, model.draw_bigrams(lengths, time))[chosen]
        loss = sampling_loss(means, target_vectors, negative_vectors, negatives == target[:, None])
        gradients = torch.autograd.grad(loss, (*rows, target_vectors, negative_vectors))
    tables = (model.words, model.bigrams, model.targets, model.targets)
    ids_of_rows = (ids, hash_bigrams(ids, len(model.bigrams)), target, negatives)
    for table, row_ids, gradient in zip(tables, ids_of_rows, gradients, strict=True):
        table.index_add_(0, row_ids.flatten(), gradient.flatten(0, -2), alpha=-lr)
    return Loss(loss.detach(), max(1, len(target)), int(lengths.sum()))


def _dev_loss(model: NgramModel, dev: Examples, seed: int) -> float:
    """The mean loss of all words of dev, with the same negatives each time."""
    random = torch.Generator().manual_seed(seed)
    text, device = dev.sequences["text"], model.targets.device
    total, words = 0.0, 0
    for at in range(0, len(dev), EVALUATION_BATCH):
        ids, lengths = (part.to(device) for part in text.padded(np.arange(at, min(at + EVALUATION_BATCH, len(dev)))))
        chosen = ~padding_mask(lengths, ids.shape[1])
        target = ids[chosen]
        negatives = model.draw_negatives(len(target), random)
        means = contexts(model.lookup(ids), lengths, torch.ones_like(ids[:, 1:], dtype=torch.bool))[chosen]
        loss = sampling_loss(means, model.targets[target], model.targets[negatives], negatives == target[:, None])
        total, words = total + float(loss), words + len(target)
    return total / max(1, words)


SETTINGS = {
    "negatives": Setting(10, "words that are drawn as wrong ones for each target"),
    "t": Setting(1e-4, "frequency above which a word is a target less often; 0: always", low=0, high=1),
    "drop_bigrams": Setting(2, "words of each sentence whose bigrams are left out, at random", low=0),
}

objective = Objective(
    "ngrams",
    "each word from the other words and bigrams of its sentence",
    "sentences: text",
    prepare,
    SETTINGS,
    # sent2vec's learning rate; it falls linearly to 0
    {"sgd": {"lr": 0.2, "epochs": 5, "batch": 32}},
    needs_dev=False,
    plans_epochs=True,
    order=81,
)
