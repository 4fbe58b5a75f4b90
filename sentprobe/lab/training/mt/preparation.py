"""From texts and pairs in several languages to a translation model, and how well it translates dev."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.core.arguments import Setting, Settings
from sentprobe.errors import UsageError
from sentprobe.lab.networks.xlm import Sizes
from sentprobe.lab.training.examples import Stream, batches_by_length
from sentprobe.lab.training.lm.corpora import LanguageTexts, learn_codes
from sentprobe.lab.training.lm.model import ARCHITECTURE, model_sizes, transformers_config
from sentprobe.lab.training.lm.preparation import OPTIMISERS as LM_OPTIMISERS
from sentprobe.lab.training.lm.preparation import SETTINGS as LM_SETTINGS
from sentprobe.lab.training.lm.preparation import token_inputs
from sentprobe.lab.training.lm.tokens import Tokens
from sentprobe.lab.training.mt.corpora import (
    Direction,
    Noise,
    Sentences,
    TranslationData,
    back_batch,
    dev_text_keys,
    find_translation_data,
    noisy_batch,
    note_translation_data,
    read_sentences,
)
from sentprobe.lab.training.mt.initial_weights import SETTINGS as INITIAL_SETTINGS
from sentprobe.lab.training.mt.initial_weights import InitialWeights, load_starts, note_starts, start_tokens
from sentprobe.lab.training.mt.model import TranslationModel, translate
from sentprobe.lab.training.objective import Chance, Prepared, perplexity_of
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.seq2seq import DECODED, bleu_facts
from sentprobe.lab.training.sources import DEV, TRAIN
from sentprobe.lab.training.step import to_device
from sentprobe.lab.training.targets import SETTING as BLEU_SETTING
from sentprobe.lab.training.targets import bleu

BLEU, PERPLEXITY = "BLEU", "perplexity"
BATCH = 128
"""Sentences that are scored together."""
SETTINGS = {
    **INITIAL_SETTINGS,
    "directions": Setting("both", "both, or those to be trained, comma-separated: en-fr"),
    "codes": LM_SETTINGS["codes"],
    "code_alpha": LM_SETTINGS["code_alpha"],
    "length": Setting(100, "tokens of a sentence of training; longer ones are left out"),
    "tokens": Setting(2048, "the most tokens of a batch, on each side"),
    "steps": Setting(0, "steps of an epoch; 0: as many as one pass over the pairs, or texts, has", low=0),
    "denoising": Setting(
        "", "its weight after numbers of steps; by default 0:1,100000:0.1,300000:0 without pairs, and 0:0 with pairs"
    ),
    "moves": Setting(Noise.moves, "places that a word moves at most in noise", low=0),
    "drop": Setting(Noise.drop, "share of words that noise leaves out", low=0, high=1),
    "blank": Setting(Noise.blank, "share of words that noise blanks", low=0, high=1),
    "select": Setting(BLEU, "what selects the best checkpoint on dev", (BLEU, PERPLEXITY)),
    **DECODED,
    "bleu": BLEU_SETTING,
}
OPTIMISERS = {"adam": {**LM_OPTIMISERS["adam"], "batch": 256}}
FALLING = "0:1,100000:0.1,300000:0"
"""The weight of denoising in XLM: its ``--lambda_ae`` for unsupervised translation."""


def prepare(plan: TrainingPlan) -> Prepared:
    """Read the texts, learn the codes or take those of the start, and build the model."""
    request, settings = plan.request, plan.settings
    _check(plan)
    data = find_translation_data(plan)
    schedule = denoising_schedule(str(settings["denoising"]) or ("0:0" if data.pairs else FALLING))
    starts = InitialWeights.of(settings)
    pretrained = start_tokens(starts, data.languages, request.encoder_settings)
    dev_keys = dev_text_keys(data)
    tokens, languages = pretrained or (learn_codes(plan, list(data.trained), dev_keys), data.languages)
    train, dev = _read(plan, data, tokens, languages, dev_keys)
    note_translation_data(plan, data)
    sizes = _sizes(plan, starts, data, len(tokens), len(languages))
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(request.options.seed)
        model = TranslationModel(sizes, schedule)
    start_facts = load_starts(model, starts, tokens)
    note_starts(plan, starts)
    noise = Noise(int(settings["moves"]), float(settings["drop"]), float(settings["blank"]))
    facts = {
        "languages": list(languages),
        "directions": ["-".join(way) for way in data.directions],
        "tokens": len(tokens),
        **start_facts,
        **bleu_facts(settings),
    }
    return Prepared(
        model,
        tuple(_streams(plan, data, train, tokens, noise, denoises=any(weight for _, weight in schedule))),
        lambda: score(model, dev, tokens, settings, request.options.seed),
        str(settings["select"]),
        token_inputs(tokens, request, facts),
        maximise=settings["select"] == BLEU,
        chance={PERPLEXITY: Chance(len(tokens), maximise=False)},
        files=tokens.files(sizes.positions),
        transformers={**transformers_config(sizes, languages, causal=False), "architectures": ["XLMModel"]},
    )


def denoising_schedule(text: str) -> tuple[tuple[int, float], ...]:
    """Steps and weights: ``0:1,1000:0.1`` begins with 1, and falls to 0.1 until step 1000."""
    try:
        schedule = tuple((int(step), float(weight)) for step, weight in (point.split(":") for point in text.split(",")))
    except ValueError:
        schedule = ()
    steps = [step for step, _ in schedule]
    if (
        not schedule
        or steps[0] < 0
        or steps != sorted(set(steps))
        or not all(0 <= weight < 1e9 for _, weight in schedule)
    ):
        raise UsageError(f"denoising={text}: expected rising steps and their weights, such as {FALLING}.")
    return schedule


def _check(plan: TrainingPlan) -> None:
    """Refuse what translation does not have."""
    request = plan.request
    if request.encoder != ARCHITECTURE:
        raise UsageError(
            f"mt trains a Transformer: leave --architecture {request.encoder} out. `sentprobe train translate` trains "
            "sentence encoders of all kinds by translation."
        )
    if request.vectors:
        raise UsageError(
            f"--vectors {request.vectors}: cross-lingual word vectors are named by --from vec:A.vec,B.vec."
        )
    if not request.train:
        raise UsageError("Name pairs with their languages: --pairs en-fr=FILE,FILE; or texts: --text en=FILE.")


def _read(
    plan: TrainingPlan, data: TranslationData, tokens: Tokens, languages: tuple[str, ...], dev_keys: frozenset[int]
) -> tuple[dict[str, list[Sentences]], dict[str, Direction]]:
    """The sentences of each text and pair to train on, and the directions to score on, by their names."""
    # to leave long sentences out of dev would flatter the scores: they are as long as the network can read
    longest, readable = int(plan.settings["length"]), int(plan.request.encoder_settings["positions"]) - 2

    def sentences(
        texts: LanguageTexts, role: str, max_tokens: int, excluded: frozenset[int] = frozenset()
    ) -> list[Sentences]:
        return read_sentences(
            texts, role, tokens, [languages.index(name) for name in texts.languages], max_tokens, excluded
        )

    train = {texts.name: sentences(texts, TRAIN, longest, dev_keys) for texts in data.trained}
    scored = [(texts, DEV) for texts in data.pairs if texts.has_dev] + [(texts, TRAIN) for texts in data.scored]
    dev = {}
    for texts, role in scored:
        first, second = sentences(texts, role, readable)
        a, b = texts.languages
        by_direction = {(a, b): Direction(first, second), (b, a): Direction(second, first)}
        dev.update(
            {"-".join(direction): pairs for direction, pairs in by_direction.items() if direction in data.directions}
        )
    return train, dev


def _sizes(plan: TrainingPlan, starts: InitialWeights, data: TranslationData, tokens: int, languages: int) -> Sizes:
    sizes = model_sizes(plan.request.encoder_settings, tokens, languages)
    folders = starts.folders
    if folders and not folders[0].has_language_vectors:
        sizes = replace(sizes, languages=0)
        if len({target for _, target in data.directions}) > 1:
            raise UsageError(
                f"{folders[0].folder.path} has no vectors of languages, so that it cannot tell which to write: set "
                "one of the directions."
            )
    longest = int(plan.settings["length"]) + 2
    if longest > sizes.positions:
        raise UsageError(f"length={longest - 2}: there are {sizes.positions} positions; set positions={longest}.")
    return sizes


def _streams(
    plan: TrainingPlan,
    data: TranslationData,
    train: dict[str, list[Sentences]],
    tokens: Tokens,
    noise: Noise,
    *,
    denoises: bool,
) -> Iterator[Stream]:
    """Batches of one direction each: of pairs, of back-translation, and of denoising, equally many of each."""
    max_tokens, marks = int(plan.settings["tokens"]), tokens.word_marks()
    streams: list[Stream] = []

    def add(name: str, examples: Direction | Sentences, batch: Callable[..., object]) -> None:
        streams.append(Stream(name, examples.lengths, batch, tokens=max_tokens))

    for texts in data.pairs:
        a, b = texts.languages
        first, second = train[texts.name]
        for direction, pair in (((a, b), Direction(first, second)), ((b, a), Direction(second, first))):
            if direction in data.directions:
                add("-".join(direction), pair, pair.batch)
    monolingual = {texts.name: train[texts.name][0] for texts in data.texts}
    numbers = {name: number.language for name, number in monolingual.items()}
    numbers |= {a: s.language for texts in data.pairs for a, s in zip(texts.languages, train[texts.name], strict=True)}
    for name, sentences in monolingual.items():
        sources = [a for a, b in data.directions if b == name]
        for source in sources:
            add(f"back {source}-{name}", sentences, partial(back_batch, sentences, numbers[source]))
        if denoises:
            add(f"denoise {name}", sentences, partial(noisy_batch, sentences, numbers[sources[0]], marks, noise))
    batch, steps = plan.request.options.batch, int(plan.settings["steps"])
    of_pairs = streams[: sum(not stream.name.startswith(("back ", "denoise ")) for stream in streams)]
    batches = steps / len(streams) or max(stream.count(batch) for stream in of_pairs or streams)
    for stream in streams:
        yield replace(stream, weight=batches / stream.count(batch))


def score(
    model: TranslationModel, dev: Mapping[str, Direction], tokens: Tokens, settings: Settings, seed: int
) -> dict[str, float]:
    """The means over directions, and, if there are several, each of them."""
    scores: dict[str, dict[str, float]] = {BLEU: {}, PERPLEXITY: {}}
    for name, pairs in dev.items():
        chosen = np.random.default_rng([seed, 1]).permutation(len(pairs.lengths))[: int(settings["decoded"])]
        outputs = translate_rows(model, pairs, np.sort(chosen), tokens, int(settings["beam"]))
        references = tokens.decode([pairs.target.tokens[row].tolist() for row in np.sort(chosen).tolist()])
        scores[BLEU][name] = bleu(outputs, references, str(settings["bleu"]))[0]
        scores[PERPLEXITY][name] = perplexity(model, pairs)
    means = {kind: sum(values.values()) / len(values) for kind, values in scores.items()}
    by_direction = {f"{kind} {name}": value for kind, values in scores.items() for name, value in values.items()}
    return {**means, **(by_direction if len(dev) > 1 else {})}


def translate_rows(
    model: TranslationModel, pairs: Direction, rows: NDArray[np.int64], tokens: Tokens, beam: int
) -> list[str]:
    """Translations of some rows."""
    device = next(model.parameters()).device
    translations: dict[int, str] = {}
    for batch in batches_by_length(pairs.source.lengths, BATCH, rows):
        ids, lengths = (part.to(device) for part in pairs.source.padded(batch))
        outputs = translate(model, ids, lengths, pairs.source.language, pairs.target.language, beam)
        translations.update(zip(batch.tolist(), tokens.decode([output.tokens for output in outputs]), strict=True))
    return [translations[row] for row in rows.tolist()]


@torch.no_grad()
def perplexity(model: TranslationModel, pairs: Direction) -> float:
    """Of the target tokens, END included, each given those before it."""
    device = next(model.parameters()).device
    total, units = 0.0, 0
    for rows in batches_by_length(pairs.lengths, BATCH):
        loss = model(to_device(pairs.batch(rows), device))
        total, units = total + float(loss.total), units + loss.units
    return perplexity_of(total, units)
