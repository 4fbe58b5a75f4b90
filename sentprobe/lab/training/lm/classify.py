"""Pairs of sentences classified by a language model that was fine-tuned, the folder of `sentprobe train xnli`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import torch

from sentprobe.encoders.identity import Spec
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.networks.folder import WEIGHTS, open_folder
from sentprobe.lab.schemes.trained import checkpoint_of
from sentprobe.lab.training.examples import Sequences
from sentprobe.lab.training.lm.classifier import PairClassifier, collate
from sentprobe.lab.training.lm.start import PretrainedModel

BATCH = 64
OBJECTIVE = "xnli"

Classify = Callable[[Sequence[tuple[str, str]], str], list[int]]
"""From pairs of sentences, and their language, to the numbers of labels."""


def load_pair_classifier(name: str) -> Classify | None:
    """The classifier of ``trained:FOLDER``; None if that is no fine-tuned language model."""
    spec = Spec.parse(name)
    if spec.scheme != "trained":
        return None
    folder = open_folder(Path(spec.path).expanduser())
    if folder.config.get("request", {}).get("objective") != OBJECTIVE:
        return None
    spec.check_options(("epoch", "step"))
    start = PretrainedModel(folder, checkpoint_of(spec, folder))
    tokens, sizes = start.tokens(), start.sizes()
    model = PairClassifier(sizes, len(folder.config["id2label"])).eval()
    try:
        model.load_state_dict(start.weights())
    except RuntimeError as e:
        raise DataError(f"{folder.path / start.checkpoint.name / WEIGHTS} is not of this network: {e}.") from None
    max_tokens = min(int(folder.config["request"]["objective_settings"]["length"]), sizes.positions // 2 - 2)

    def classify(pairs: Sequence[tuple[str, str]], language: str) -> list[int]:
        if language not in start.languages:
            raise UsageError(
                f"{name} knows {', '.join(start.languages)}, and these pairs are in {language or 'no language'}: name "
                "their file as test-fr.tsv, or add a column language."
            )
        first, second = (
            _sequences([ids[:max_tokens] for ids in tokens.encode([pair[side] for pair in pairs])]) for side in (0, 1)
        )
        labels = np.zeros(len(pairs), np.int64)
        order = np.argsort(first.lengths + second.lengths, kind="stable")
        with torch.inference_mode():
            for at in range(0, len(order), BATCH):
                rows = order[at : at + BATCH]
                batch = collate(first, second, labels, start.languages.index(language), rows.tolist())
                labels[rows] = model.logits(batch).argmax(1).numpy()
        return [int(label) for label in labels]

    return classify


def _sequences(rows: Sequence[Sequence[int]]) -> Sequences:
    ends = np.cumsum([len(row) for row in rows])
    return Sequences(np.array([token for row in rows for token in row], np.int32), ends)
