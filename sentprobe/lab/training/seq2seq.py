"""What objectives with a decoder share: reading pairs of texts, batches, and scores on dev."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import Setting, Settings
from sentprobe.errors import DataError
from sentprobe.lab.training.decoder import SETTINGS as DECODER_SETTINGS
from sentprobe.lab.training.decoder import DecoderBatch, EncoderDecoder, build_model, decode
from sentprobe.lab.training.examples import Examples, Stream, batches_by_length
from sentprobe.lab.training.objective import Chance, Objective, Prepared, perplexity_of
from sentprobe.lab.training.plan import Arrangement, TrainingPlan
from sentprobe.lab.training.rows import DataRow
from sentprobe.lab.training.search import DecodedText
from sentprobe.lab.training.targets import FILE, Targets, WordTargets, bleu, learn_bpe
from sentprobe.lab.training.targets import SETTING as BLEU_SETTING

EVALUATION_BATCH = 128
ENCODE = 2048
"""Targets that are split into tokens together."""

SETTINGS: dict[str, Setting] = {
    **DECODER_SETTINGS,
    "max_target": Setting(250, "tokens of a target; longer ones are left out"),
}
"""Those of all objectives with a decoder."""
CODES = {"codes": Setting(8000, "codes (merges) of the byte-pair encoding of targets", low=0)}
"""Those with texts as targets; the paper has 40,000."""
DECODED = {
    "decoded": Setting(1000, "dev sentences that are decoded after each epoch, a random sample that stays the same"),
    "beam": Setting(1, "width of the beam when dev sentences are decoded; 1 is greedy"),
}
"""Those with scores on what is decoded."""

OPTIMISERS: Mapping[str, Mapping[str, Any]] = {
    "adam": {"lr": 1e-3},
    "sgd": {"lr": 0.1, "momentum": 0.9, "shrink": 5.0, "min_lr": 1e-5},
}
"""For all objectives with a decoder: Adam for recurrent networks, SGD with momentum for convolutions."""


@dataclass(frozen=True)
class DecodedDev:
    """Dev sentences that were decoded."""

    outputs: list[list[int]]
    references: list[list[int]]
    """Both with END last."""
    targets: Targets
    settings: Settings


@dataclass(frozen=True)
class Seq2Seq:
    """What differs between objectives with a decoder."""

    fields: tuple[str, ...]
    """Of the rows that are read."""
    pair: Callable[[DataRow], tuple[str, str]]
    """The source and the target of a row."""
    selection: str
    """The score that selects checkpoints."""
    arrangement: Callable[[TrainingPlan], Arrangement | None] = lambda _: None
    """Makes the rows of pairs from those that are read."""
    learn: Callable[[Iterable[str], Settings], Targets] = lambda texts, settings: learn_bpe(
        texts, int(settings["codes"])
    )
    """The vocabulary of the targets."""
    words: bool = False
    """Whether targets are words of the encoder instead, and no vocabulary is learned."""
    scores: Callable[[DecodedDev], Mapping[str, float]] | None = None
    """Scores of what is decoded; if None, nothing is."""
    facts: Callable[[Settings], Mapping[str, Any]] = lambda _: {}


def prepare(plan: TrainingPlan, kind: Seq2Seq) -> Prepared:
    """Read pairs, learn the vocabulary of targets, and build the model."""
    arrangement = kind.arrangement(plan)

    def pairs(role: str) -> Iterator[tuple[str, str]]:
        return map(kind.pair, plan.rows(role, kind.fields, arrangement))

    inputs = plan.inputs(lambda: (source for source, _ in pairs("train")))
    targets = (
        WordTargets.of(inputs.vocabulary)
        if kind.words
        else kind.learn((target for _, target in pairs("train")), plan.settings)
    )
    ids, max_target = inputs.vocabulary.ids, int(plan.settings["max_target"])

    def read(role: str) -> Examples:
        out = plan.writer(role, ("source", "target"))
        long = 0
        rows = pairs(role)
        while batch := list(islice(rows, ENCODE)):
            for (source, _), target in zip(batch, targets.encode([target for _, target in batch]), strict=True):
                if len(target) > max_target:
                    long += 1
                else:
                    out.add((ids(source), target))
        examples = out.finish()
        counts = plan.counts[role]
        counts["target too long"], counts["used"] = long, counts["used"] - long
        if not counts["used"]:
            raise DataError(f"All {long:,} targets of {role} have more than {max_target} tokens: set max_target.")
        return examples

    train, dev = read("train"), read("dev")
    # targets first: the softmax over their vocabulary costs more than reading the source
    lengths = np.stack((train.sequences["target"].lengths, train.sequences["source"].lengths))
    longest = int(lengths[0].max())
    seed = plan.request.options.seed
    model = build_model(inputs.encoder(), len(targets), plan.settings, seed + 1)

    def evaluate() -> dict[str, float]:
        scores = {"perplexity": perplexity(model, dev)}
        if kind.scores is not None:
            scores |= kind.scores(decode_sample(model, dev, targets, longest, plan.settings, seed))
        return scores

    facts = {"target vocabulary": len(targets), "longest target": longest, **kind.facts(plan.settings)}
    return Prepared(
        model,
        (Stream("train", lengths, lambda rows: collate(train, rows)),),
        evaluate,
        kind.selection,
        inputs,
        maximise=kind.selection != "perplexity",
        chance={"perplexity": Chance(len(targets), maximise=False)},
        facts=facts,
        files={FILE: targets.to_bytes()},
    )


def collate(examples: Examples, rows: NDArray[np.int64]) -> DecoderBatch:
    """A batch of some examples."""
    columns = examples.sequences
    return DecoderBatch(*columns["source"].padded(rows), *columns["target"].padded(rows))


def perplexity(model: EncoderDecoder, examples: Examples) -> float:
    """Of the target tokens, END included, each given those before it."""
    device = next(model.parameters()).device
    total, tokens = 0.0, 0
    for rows in batches_by_length(examples.sequences["target"].lengths, EVALUATION_BATCH):
        loss = model(DecoderBatch(*(part.to(device) for part in collate(examples, rows))))
        total, tokens = total + float(loss.total), tokens + loss.units
    return perplexity_of(total, tokens)


def decode_sample(
    model: EncoderDecoder, examples: Examples, targets: Targets, longest: int, settings: Settings, seed: int
) -> DecodedDev:
    """Decode a random sample of examples, the same one for the same seed."""
    sample = np.sort(np.random.default_rng([seed, 1]).permutation(len(examples))[: int(settings["decoded"])])
    decoded: dict[int, DecodedText] = {}
    for rows in batches_by_length(examples.sequences["source"].lengths, EVALUATION_BATCH, sample):
        outputs = decode(model, *examples.sequences["source"].padded(rows), longest, int(settings["beam"]))
        decoded.update(zip(rows.tolist(), outputs, strict=True))
    references = [examples.sequences["target"][i].tolist() for i in sample.tolist()]
    return DecodedDev([decoded[i].tokens for i in sample.tolist()], references, targets, settings)


def bleu_score(dev: DecodedDev) -> dict[str, float]:
    """BLEU of what was decoded."""
    outputs, references = dev.targets.decode(dev.outputs), dev.targets.decode(dev.references)
    return {"BLEU": bleu(outputs, references, str(dev.settings["bleu"]))[0]}


def text_objective(
    name: str, summary: str, data: str, fields: tuple[str, ...], pair: Callable[[DataRow], tuple[str, str]], order: int
) -> Objective:
    """An objective whose targets are texts, split by byte-pair encoding and scored by BLEU."""
    kind = Seq2Seq(fields, pair, "BLEU", scores=bleu_score, facts=bleu_facts)
    settings = {**SETTINGS, **CODES, **DECODED, "bleu": BLEU_SETTING}
    return Objective(name, summary, data, partial(prepare, kind=kind), settings, OPTIMISERS, order=order)


def bleu_facts(settings: Settings) -> dict[str, str]:
    """The signature of BLEU, and how dev is decoded."""
    beam = int(settings["beam"])
    return {
        "BLEU signature": bleu(["a"], ["a"], str(settings["bleu"]))[1],
        "decoding": "greedy" if beam == 1 else f"beam of {beam}",
    }
