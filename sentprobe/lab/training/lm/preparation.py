"""From texts in several languages to a language model and its scores: what ``mlm``, ``clm`` and ``tlm`` share."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.core.arguments import Setting
from sentprobe.errors import SentProbeWarning, UsageError
from sentprobe.lab.networks.architecture import NetworkConfig
from sentprobe.lab.networks.vocabulary import Vocabulary
from sentprobe.lab.training.examples import Stream, batches_by_length
from sentprobe.lab.training.inputs import EncoderInputs
from sentprobe.lab.training.lm.batches import (
    LanguageModelBatch,
    Mask,
    TranslationPairs,
    Windows,
    choice_weights,
    masker,
)
from sentprobe.lab.training.lm.corpora import (
    LanguageExamples,
    LanguageTexts,
    all_languages,
    find_texts,
    learn_codes,
    longest_sentence,
    note_counts,
    read_examples,
    text_keys,
    token_counts,
)
from sentprobe.lab.training.lm.model import ARCHITECTURE, LanguageModel, build_model, model_sizes, transformers_config
from sentprobe.lab.training.lm.tokens import SPECIAL, Tokens, smoothed
from sentprobe.lab.training.objective import Chance, Objective, Prepared, perplexity_of
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.request import TrainingRequest
from sentprobe.lab.training.sources import DEV
from sentprobe.lab.training.step import to_device

SETTINGS = {
    "codes": Setting(8000, "codes (merges) of the byte-pair encoding that all languages share", low=0),
    "code_alpha": Setting(0.5, "exponent with which sentences are sampled for these codes", low=0, high=1),
    "alpha": Setting(0.7, "exponent with which languages, and pairs of them, are sampled for batches", low=0, high=1),
    "length": Setting(256, "tokens of a stream of text; longer sentences of pairs are left out", low=2),
    "tokens": Setting(4096, "the most tokens of a batch"),
    "steps": Setting(0, "steps of an epoch; 0: as many as one pass over the texts, or pairs, has", low=0),
    "language_vectors": Setting(True, "whether there are learned vectors of languages"),
}
"""Those of all language models."""
MASKING = {
    "masked": Setting(0.15, "share of the tokens that are predicted", low=1e-6, high=1),
    "mask_alpha": Setting(0.5, "exponent with which frequent tokens are chosen less often; 0: all alike", low=0),
}
OPTIMISERS = {"adam": {"lr": 5e-4, "warmup": 1000, "batch": 64, "epochs": 100, "patience": 10}}
PERPLEXITY = "perplexity"
WINDOWS, PAIRS = 16, 64
"""In a batch."""


@dataclass(frozen=True)
class LanguageModelKind:
    """What differs between language models."""

    windows: bool = False
    """Whether it learns from texts in one language."""
    pairs: bool = False
    """Whether it learns from pairs of sentences in two."""
    causal: bool = False
    """Whether tokens are predicted from those before them only."""


def lm_objective(name: str, summary: str, data: str, kind: LanguageModelKind, order: int) -> Objective:
    """A language model of a kind."""
    return Objective(
        name,
        summary,
        data,
        partial(prepare, kind=kind),
        {**SETTINGS, **({} if kind.causal else MASKING)},
        OPTIMISERS,
        needs_dev=False,
        order=order,
        encoder=ARCHITECTURE,
    )


def prepare(plan: TrainingPlan, kind: LanguageModelKind) -> Prepared:
    """Read the texts, learn the codes, and build the model."""
    request, settings = plan.request, plan.settings
    _check(plan)
    texts = find_texts(plan)
    _check_kinds(texts, kind, request.objective)
    languages = all_languages(texts)
    dev_keys = text_keys((text, DEV) for text in texts if text.has_dev)
    tokens = learn_codes(plan, texts, dev_keys)
    parts = [read_examples(plan, text, tokens, dev_keys, languages) for text in texts]
    note_counts(plan, texts)
    counts = {part.name: token_counts(part, len(tokens)) for part in parts}
    _check_overlap(counts)
    mask, dev_mask = (None, None) if kind.causal else _masks(np.sum([*counts.values()], 0), plan)
    with_vectors = len(languages) if settings["language_vectors"] else 0
    sizes = model_sizes(request.encoder_settings, len(tokens), with_vectors)
    longest = max(int(settings["length"]), max(longest_sentence(part) for part in parts))
    if longest > sizes.positions:
        raise UsageError(f"length={longest}: there are {sizes.positions} positions; set positions={longest}.")
    model = build_model(sizes, request.options.seed)

    def evaluate() -> dict[str, float]:
        return scores(model, [part for part in parts if part.dev is not None], dev_mask, request.options.seed)

    facts = {
        "languages": list(languages),
        "tokens": len(tokens),
        **{f"tokens of {name}": int(count.sum()) for name, count in counts.items()},
    }
    return Prepared(
        model,
        tuple(_streams(parts, kind, plan, mask)),
        evaluate,
        PERPLEXITY,
        token_inputs(tokens, request, facts),
        maximise=False,
        chance={PERPLEXITY: Chance(len(tokens), maximise=False)},
        files=tokens.files(sizes.positions),
        transformers=transformers_config(sizes, languages, kind.causal),
    )


def token_inputs(tokens: Tokens, request: TrainingRequest, facts: Mapping[str, Any]) -> EncoderInputs:
    """The tokens of a Transformer as the words of an encoder, whose vectors are learned."""
    settings, names = dict(request.encoder_settings), tokens.strings()
    config = NetworkConfig(
        architecture=ARCHITECTURE,
        settings=settings,
        words=len(names),
        width=int(settings["hidden"]),
        frozen=False,
        tokenise=tokens.tokenise,
        case="as-is",
        unknown="keep",
        seed=request.options.seed,
    )
    return EncoderInputs(Vocabulary(names, tokens.tokenise, config.case, config.unknown), config, None, facts)


def _masks(counts: NDArray[np.int64], plan: TrainingPlan) -> tuple[Mask, Mask]:
    """How tokens are masked in training; and on dev, where the choice does not depend on how frequent they are."""
    share = float(plan.settings["masked"])
    return (
        masker(choice_weights(counts, float(plan.settings["mask_alpha"])), share),
        masker(choice_weights(counts, 0.0), share, always=True),
    )


def _check(plan: TrainingPlan) -> None:
    """Refuse what language models do not have."""
    request = plan.request
    if request.encoder != ARCHITECTURE:
        raise UsageError(f"{request.objective} trains a Transformer: leave --architecture {request.encoder} out.")
    if request.vectors:
        raise UsageError(f"{request.objective} learns the vectors of tokens: leave --vectors {request.vectors} out.")
    if not request.train:
        data = "--text en=FILE, or --pairs en-fr=FILE,FILE"
        raise UsageError(f"Name texts with their languages: {data}.")


def _check_kinds(texts: list[LanguageTexts], kind: LanguageModelKind, objective: str) -> None:
    """Refuse texts that would not be used, and pairs of a language without a text, if there are texts."""
    monolingual = {text.languages[0] for text in texts if len(text.languages) == 1}
    for text in texts:
        if len(text.languages) == 1 and not kind.windows:
            raise UsageError(f"{objective} learns from pairs only: leave --text {text.name}=… out, or train mlm+tlm.")
        if len(text.languages) == 2 and not kind.pairs:
            raise UsageError(f"{objective} learns from texts only: leave --pairs {text.name}=… out, or train mlm+tlm.")
        if kind.windows and (missing := [language for language in text.languages if language not in monolingual]):
            raise UsageError(
                f"--pairs {text.name}: there is no text of {missing[0]}; add --text {missing[0]}=FILE, or train tlm."
            )
    if kind.pairs and all(len(text.languages) == 1 for text in texts):
        raise UsageError(f"{objective} needs pairs of sentences: add --pairs en-fr=FILE,FILE.")


def _check_overlap(counts: Mapping[str, NDArray[np.int64]]) -> None:
    """Warn of a language that shares no token with the others."""
    if len(counts) < 2 or any("-" in name for name in counts):
        return
    for name, count in counts.items():
        elsewhere = sum(counts[language] for language in counts if language != name)
        if not ((count > 0) & (elsewhere > 0))[len(SPECIAL) :].any():
            warnings.warn(
                f"{name} shares no token with the other languages, so that nothing brings them together: add pairs "
                "(mlm+tlm), or a language with the same script.",
                SentProbeWarning,
                stacklevel=3,
            )


def _streams(
    parts: list[LanguageExamples], kind: LanguageModelKind, plan: TrainingPlan, mask: Mask | None
) -> Iterator[Stream]:
    """Batches of one language each, of two for pairs; texts and pairs alternate, half of the batches each."""
    settings, batch = plan.settings, plan.request.options.batch
    groups = [[part for part in parts if isinstance(part.train, of)] for of in (Windows, TranslationPairs)]
    streams = {
        part.name: Stream(part.name, part.train.lengths, _collate(part, mask), tokens=int(settings["tokens"]))
        for part in parts
    }
    passes = [sum(streams[part.name].count(batch) for part in group) for group in groups]
    steps = int(settings["steps"]) / (sum(map(bool, groups))) or passes[0] or passes[1]
    for group in groups:
        chances = smoothed({part.name: part.sentences for part in group}, float(settings["alpha"]))
        for part in group:
            stream = streams[part.name]
            weight = chances[part.name] * steps / stream.count(batch)
            yield Stream(stream.name, stream.lengths, stream.collate, weight, stream.tokens)


def _collate(part: LanguageExamples, mask: Mask | None) -> Callable[[NDArray[np.int64]], Any]:
    train = part.train
    if isinstance(train, Windows) and mask is None:
        return train.causal
    assert mask is not None
    return lambda rows: train.masked(rows, mask)


def scores(model: LanguageModel, parts: Sequence[LanguageExamples], mask: Mask | None, seed: int) -> dict[str, float]:
    """The mean of the perplexities on dev, and each of them; of a causal model also per word of the text as it is.

    A perplexity per token is of the tokens that are predicted, and one per word of words and ends of sentences, all of
    which a causal model predicts.
    """
    device = next(model.parameters()).device
    perplexities: dict[str, float] = {}
    per_word: dict[str, float] = {}
    for part in parts:
        total, units = 0.0, 0
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)  # the same tokens are masked each time
            for batch in _dev_batches(part, mask):
                loss = model(to_device(batch, device))
                total, units = total + float(loss.total), units + loss.units
        perplexities[part.name] = perplexity_of(total, units)
        if mask is None:
            per_word[part.name] = perplexity_of(total, part.dev_words)
    mean = sum(perplexities.values()) / len(perplexities)
    part_scores = (
        {f"{PERPLEXITY} {name}": value for name, value in perplexities.items()} if len(perplexities) > 1 else {}
    )
    word_scores = {f"{PERPLEXITY} per word {name}": value for name, value in per_word.items()}
    return {PERPLEXITY: mean, **part_scores, **word_scores}


def _dev_batches(part: LanguageExamples, mask: Mask | None) -> Iterator[LanguageModelBatch]:
    dev = part.dev
    if isinstance(dev, Windows):
        for starts, length in dev.all(WINDOWS):
            yield dev.masked_at(starts, length, mask) if mask else dev.causal_at(starts, length)
    elif dev is not None and mask is not None:
        yield from (dev.masked(rows, mask) for rows in batches_by_length(dev.lengths, PAIRS))
