"""How well dev pairs are translated: BLEU of a sample, and the perplexity of all."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
import torch
from numpy.typing import NDArray

from sentprobe.core.arguments import Settings
from sentprobe.lab.training.bleu import bleu
from sentprobe.lab.training.lm.tokens import Tokens
from sentprobe.lab.training.mt.decode import translate
from sentprobe.lab.training.mt.examples import Direction
from sentprobe.lab.training.mt.model import TranslationModel
from sentprobe.lab.training.step import to_device

BLEU, PERPLEXITY = "BLEU", "perplexity"
BATCH = 128
"""Sentences that are scored together."""


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
    for batch in _batches(pairs.source.lengths, rows):
        ids, lengths = (part.to(device) for part in pairs.source.padded(batch))
        outputs = translate(model, ids, lengths, pairs.source.language, pairs.target.language, beam)
        translations.update(zip(batch.tolist(), tokens.decode([output.tokens for output in outputs]), strict=True))
    return [translations[row] for row in rows.tolist()]


@torch.no_grad()
def perplexity(model: TranslationModel, pairs: Direction) -> float:
    """Of the target tokens, END included, each given those before it."""
    device = next(model.parameters()).device
    total, units = 0.0, 0
    for rows in _batches(pairs.lengths, np.arange(len(pairs.lengths))):
        loss = model(to_device(pairs.batch(rows), device))
        total, units = total + float(loss.total), units + loss.units
    mean = total / max(1, units)
    return math.exp(mean) if mean < math.log(1e300) else math.inf


def _batches(lengths: NDArray[np.int64], rows: NDArray[np.int64]) -> Iterator[NDArray[np.int64]]:
    """Sentences of similar length together."""
    order = rows[np.argsort(lengths[rows], kind="stable")]
    for at in range(0, len(order), BATCH):
        yield order[at : at + BATCH]
