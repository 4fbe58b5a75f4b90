"""Word vectors: skip-gram or CBOW with hierarchical softmax, by gensim; with ``bow-mean``, skip-gram is what Adi et al.
(2017) call CBOW.

A step of the loop is an epoch of gensim. All that the next one depends on is in the model: the vectors, the weights of
the hierarchical softmax, the state of gensim's random numbers, and the number of epochs, which sets the learning rate.
"""

from __future__ import annotations

import numpy as np
import torch

from sentprobe.core.arguments import Setting
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.networks.encoder import SentenceEncoder
from sentprobe.lab.training.examples import Stream
from sentprobe.lab.training.objective import Loss, Objective, Prepared
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.request import TrainingRequest

FIELDS = ("text",)


def prepare(plan: TrainingPlan) -> Prepared:
    """Read the texts and build gensim's model."""
    request, settings, options = plan.request, plan.settings, plan.request.options
    _check_request(request)
    inputs = plan.inputs(lambda: (row.values[0] for row in plan.rows("train", FIELDS)), bag=True)
    encoder = inputs.encoder()
    _check_encoder(encoder, request.encoder)
    with plan.writer("train", FIELDS) as out:
        for row in plan.rows("train", FIELDS):
            if numbers := [number for number in inputs.vocabulary.ids(row.values[0]) if number]:
                out.add((numbers,))
        ids = out.finish().sequences["text"]
    counts = np.bincount(ids.values, minlength=len(inputs.vocabulary) + 1)[1:]
    if len(counts) < 2:
        raise DataError(f"{', '.join(request.train)}: expected two different words at least.")
    # gensim takes a second to import
    from sentprobe.lab.training.objectives._skipgram import SkipGram, SkipGramEncoder, WordLists

    learner = SkipGram(
        sg=int(settings["method"] == "skipgram"),
        hs=1,
        negative=0,
        vector_size=request.width,
        window=int(settings["window"]),
        min_count=1,
        sample=float(settings["sample"]),
        alpha=options.lr,
        seed=options.seed,
        workers=int(settings["workers"]),
        # the vocabulary is sorted already, and gensim's number of a word is ours minus 1
        sorted_vocab=0,
    )
    # a word that only occurs in other cases has no count of its own, and gensim refuses 0
    learner.build_vocab_from_freq(dict(zip(inputs.vocabulary.words, np.maximum(counts, 1).tolist(), strict=True)))
    model = SkipGramEncoder(encoder, learner)
    texts = WordLists(ids, np.array(["", *inputs.vocabulary.words], object))
    end = float(settings["final_lr"])

    def update(_: object, lr: float) -> Loss:
        model.give(learner)
        begin, total = int(model.epochs), options.epochs
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
        return Loss(torch.tensor(learner.loss, dtype=torch.float64), trained, read)

    stream = Stream("train", np.zeros(1, np.int64), lambda rows: rows)
    return Prepared(model, (stream,), dict, "", inputs, update=update)


def _check_request(request: TrainingRequest) -> None:
    """Refuse what has no meaning for word vectors."""
    if request.vectors:
        raise UsageError(f"words learns word vectors: leave --vectors {request.vectors} out.")
    if request.dev or request.held_out:
        raise UsageError("words has no score on dev data: leave --dev and --held-out out.")
    if request.options.optimiser != "sgd":
        raise UsageError(f"words is trained by gensim, with SGD: leave --optimiser {request.options.optimiser} out.")


def _check_encoder(encoder: SentenceEncoder, name: str) -> None:
    """Refuse an encoder that has more than word vectors to learn."""
    weights = {name: weight.numel() for name, weight in encoder.named_parameters()}
    if untrained := sum(weights.values()) - weights.get("inputs.learned.weight", 0):
        raise UsageError(
            f"words learns word vectors, and {name} has {untrained:,} other weights, which would stay random. Expected "
            "a bag of words, such as --architecture bow-mean, without --projection."
        )


objective = Objective(
    "words",
    "the words around a word, or a word from those around it: skip-gram or CBOW, with hierarchical softmax",
    "sentences: text",
    prepare,
    {
        "method": Setting("skipgram", "predict the words around a word, or the word from these", ("skipgram", "cbow")),
        "window": Setting(5, "words on either side that are predicted"),
        "sample": Setting(1e-3, "frequency above which words are left out at random; 0: never", low=0, high=1),
        "final_lr": Setting(1e-4, "the learning rate at the end, to which it falls linearly", low=1e-12),
        "workers": Setting(1, "threads; with more than one, results differ from run to run"),
    },
    {"sgd": {"lr": 0.025, "epochs": 5, "batch": 1}},
    needs_dev=False,
    plans_epochs=True,
    order=80,
)
