"""Sentences → what every probe predicts from their vectors, as plain data."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from sentprobe.corpus.plain import tokenise
from sentprobe.encoders.embed import Embeddings
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.probes import Features
from sentprobe.report.result_grid import SetKey
from sentprobe.report.set_summary import label_names_of
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.serve.choices import Choice, ProbeCatalogue
from sentprobe.serve.encoders import Encoders, find_selections
from sentprobe.serve.gold import GoldRule, length_bins

MAX_SENTENCES, MAX_SENTENCE_LENGTH = 20, 2000
"""Sentences in one request, and characters in a sentence: more than a person types."""
MAX_CLASSES_SHOWN = 3
"""Classes that are shown of many."""


class PredictionRequest(msgspec.Struct, forbid_unknown_fields=True):
    """Sentences, the encoders to use, and their layers."""

    sentences: list[str]
    encoders: list[str] | None = None
    """Names of ``Choice``; by default all but baselines and remote encoders."""
    layers: dict[str, str] = {}
    """By encoder; by default, the best layer on dev for each set."""
    compare: bool = False
    """Whether there are two sentences, to be compared."""


class Predictor:
    """Applies the probes of a run, which may grow between two requests, to sentences."""

    def __init__(self, encoders: Encoders) -> None:
        self.encoders = encoders
        self._bins: dict[tuple[str, int | None], dict[str, tuple[int, int]]] = {}
        self._reading = Lock()
        """Held while probes are loaded and applied: two requests would change each other's number of threads."""

    def predict(self, run: Run, catalogue: ProbeCatalogue, request: PredictionRequest) -> dict[str, Any]:
        """The answer to a request: ``encoders``, ``sentences``, ``cosines``, ``problems`` and ``excluded``.

        A sentence has ``selection``: for encoders that take the maximum over words, what each word gives.
        """
        sentences = check_sentences(request)
        selected = catalogue.selected(request.encoders, request.layers)
        if not selected:
            raise UsageError("No encoder was selected; select at least one.")
        problems: list[dict[str, str]] = []
        vectors = self._vectors(selected, sentences, problems)
        with self._reading:
            tables = [
                (catalogue.sets[set_key], rule, self._predicted(run, set_key, rule, selected, vectors, problems))
                for set_key in catalogue.sets
                if (rule := self._gold_rule(run, set_key, selected))
            ]
        selections = find_selections(self.encoders, selected, vectors, sentences, problems)
        tokens = [tokenise(text)[0] for text in sentences]
        return {
            "encoders": [{"name": choice.name, "short": choice.short, "layer": choice.layer} for choice in selected],
            "sentences": [
                {
                    "text": text,
                    "tokens": len(tokens[i]),
                    "sets": [
                        _row(about, rule, tokens[i], [answers[i] if answers else None for answers in by_choice])
                        for about, rule, by_choice in tables
                    ],
                    "selection": [{**about, "words": words[i]} for about, words in selections],
                }
                for i, text in enumerate(sentences)
            ],
            "cosines": [_cosines(choice, vectors[choice.name]) for choice in selected] if request.compare else None,
            "problems": problems,
            "excluded": list(catalogue.excluded),
        }

    def _vectors(
        self, selected: Sequence[Choice], sentences: Sequence[str], problems: list[dict[str, str]]
    ) -> dict[str, Embeddings | None]:
        """Vectors by choice, with each encoder called once; None where it fails, which is a problem."""
        encoded: dict[tuple[str, str | None], Embeddings | SentProbeError] = {}
        vectors: dict[str, Embeddings | None] = {}
        for choice in selected:
            key = choice.column.encoder, choice.column.identity
            if key not in encoded:
                try:
                    encoded[key] = self.encoders.vectors(*key, sentences)
                except SentProbeError as e:
                    encoded[key] = e
            outcome = encoded[key]
            if isinstance(outcome, SentProbeError):
                problems.append({"encoder": choice.name, "error": str(outcome)})
            vectors[choice.name] = None if isinstance(outcome, SentProbeError) else outcome
        return vectors

    def _predicted(
        self,
        run: Run,
        set_key: SetKey,
        rule: GoldRule,
        selected: Sequence[Choice],
        vectors: Mapping[str, Embeddings | None],
        problems: list[dict[str, str]],
    ) -> list[list[dict[str, Any]] | None]:
        """By choice, the prediction of its probe for each sentence; None where there is none."""
        readings: list[list[dict[str, Any]] | None] = []
        for choice in selected:
            result, choice_vectors = choice.result_for(set_key), vectors[choice.name]
            try:
                readings.append(
                    None
                    if result is None or choice_vectors is None
                    else _predictions(run, result, choice_vectors, rule)
                )
            except SentProbeError as e:
                readings.append(None)
                problems.append({"encoder": choice.name, "error": str(e)})
        return readings

    def _gold_rule(self, run: Run, set_key: SetKey, selected: Sequence[Choice]) -> GoldRule | None:
        """How to get gold labels; None if no selected encoder has a probe for this set."""
        result = next((result for choice in selected if (result := choice.result_for(set_key))), None)
        if result is None:
            return None
        cell, labels = result.cell, run.dataset(result).get("labels", result.labels)
        if cell.task != "sentence_length":
            return GoldRule(cell.task, labels, names=label_names_of(cell.task, labels))
        bins_key = cell.data, cell.limit
        if bins_key not in self._bins:
            try:
                self._bins[bins_key] = length_bins(run.rows(result))
            except SentProbeError:  # without its rows, the bins of a set are unknown
                return GoldRule(cell.task, labels)
        return GoldRule(cell.task, labels, self._bins[bins_key])


def check_sentences(request: PredictionRequest) -> list[str]:
    """The sentences, with whitespace normalised. UsageError if they are invalid."""
    sentences = [" ".join(text.split()) for text in request.sentences]
    if not sentences or not all(sentences):
        raise UsageError("Type a sentence: there is none, or one of them is empty.")
    if len(sentences) > MAX_SENTENCES:
        raise UsageError(f"There are {len(sentences)} sentences; at most {MAX_SENTENCES} are allowed.")
    if (longest := max(map(len, request.sentences))) > MAX_SENTENCE_LENGTH:
        raise UsageError(f"A sentence has {longest:,} characters; at most {MAX_SENTENCE_LENGTH:,} are allowed.")
    if any(text.encode(errors="replace").decode() != text for text in sentences):
        raise UsageError("A sentence contains a lone surrogate; expected text.")
    if request.compare and len(sentences) != 2:
        raise UsageError(f"Expected two sentences to compare, got {len(sentences)}.")
    return sentences


def _of_layer(vectors: Embeddings, layer: str | None) -> npt.NDArray[Any]:
    """The vectors (n, d) of one layer, or of an encoder that has none."""
    return vectors.vectors if layer is None else vectors.layer(layer)


def _predictions(run: Run, result: Result, vectors: Embeddings, rule: GoldRule) -> list[dict[str, Any]]:
    """What one probe predicts for each sentence."""
    model, table = run.model(result), _of_layer(vectors, result.cell.layer)
    if table.shape[1] != result.dimension:
        raise UsageError(
            f"{result.cell.encoder} returns {table.shape[1]} dimensions; the probe of {result.cell.dataset} "
            f"expects {result.dimension}. Run again in a new folder."
        )
    with np.errstate(over="ignore", invalid="ignore"):
        shares = np.exp(model.scores(Features.of(table)).astype(np.float64))
    if not np.isfinite(shares).all():
        raise UsageError(
            f"The probe of {result.cell.dataset} gives no probabilities: its training diverged. Try another one."
        )
    class_count = len(result.labels) if len(result.labels) <= MAX_CLASSES_SHOWN else MAX_CLASSES_SHOWN
    predictions = []
    for row in shares:
        best = np.argsort(-row, kind="stable")[:class_count]
        classes = [
            {
                "label": result.labels[i],
                "shown": rule.label_text(result.labels[i]),
                "probability": round(float(row[i]), 6),
            }
            for i in best
        ]
        predictions.append(
            {
                **classes[0],
                "layer": result.cell.layer,
                "classes": classes,
                "others": len(result.labels) - class_count,
                "rest": round(max(0.0, 1 - float(row[best].sum())), 6),
            }
        )
    return predictions


def _row(
    about: Mapping[str, str | None], rule: GoldRule, tokens: Sequence[str], cells: Sequence[Mapping[str, Any] | None]
) -> dict[str, Any]:
    """One set in the table of a sentence."""
    truth = rule.of(tokens)
    labels = [cell["label"] for cell in cells if cell is not None]
    label, n = Counter(labels).most_common(1)[0] if labels else (None, 0)
    return {
        **about,
        "task": rule.task,
        "truth": {"labels": list(truth.labels), "text": truth.text},
        "agreement": {"label": label, "n": n, "of": len(labels)} if len(labels) > 1 else None,
        "cells": [
            None if cell is None else {**cell, "correct": cell["label"] in truth.labels if truth.labels else None}
            for cell in cells
        ],
    }


def _cosines(choice: Choice, vectors: Embeddings | None) -> list[dict[str, Any]]:
    """The cosine similarity of the two vectors, at each layer that is used."""
    if vectors is None:
        return []
    cosines: list[dict[str, Any]] = []
    for layer in dict.fromkeys(result.cell.layer for set_key in choice.cells if (result := choice.result_for(set_key))):
        first, second = _of_layer(vectors, layer).astype(np.float64)
        norms = float(np.linalg.norm(first) * np.linalg.norm(second))
        # a zero vector has no direction
        cosines.append({"layer": layer, "value": round(float(first @ second) / norms, 6) if norms else None})
    return cosines
