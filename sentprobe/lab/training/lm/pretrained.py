"""Trained language models: one from which another training begins, and one that was fine-tuned to classify pairs.

The first is named by ``--from FOLDER``, or ``FOLDER?epoch=3``; the second is the folder of ``sentprobe train xnli``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from sentprobe.core.arguments import Value
from sentprobe.encoders.identity import Spec
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.networks.folder import WEIGHTS, Checkpoint, TrainedFolder, is_language_model, open_folder
from sentprobe.lab.networks.xlm import Sizes
from sentprobe.lab.schemes.trained import checkpoint_of
from sentprobe.lab.training.examples import Sequences, batches_by_length
from sentprobe.lab.training.lm.model import PairClassifier, collate_pairs, model_sizes
from sentprobe.lab.training.lm.tokens import Tokens, read_tokens
from sentprobe.lab.training.plan import TrainingPlan

BATCH = 64
OBJECTIVE = "xnli"
Classify = Callable[[Sequence[tuple[str, str]], str], list[int]]
"""From pairs of sentences, and their language, to the numbers of labels."""


@dataclass(frozen=True, eq=False)
class PretrainedModel:
    """A language model at one checkpoint."""

    folder: TrainedFolder
    checkpoint: Checkpoint

    @property
    def settings(self) -> Mapping[str, Value]:
        """The sizes of its Transformer."""
        return self.folder.network.settings

    @property
    def languages(self) -> tuple[str, ...]:
        """Those it knows, by their numbers."""
        numbers = self.folder.config.get("lang2id")
        if not isinstance(numbers, dict):
            raise DataError(f"{self.folder.path / 'config.json'} is damaged: it has no languages (lang2id).")
        return tuple(numbers)

    @property
    def has_language_vectors(self) -> bool:
        """Whether languages have learned vectors."""
        return bool(self.folder.config.get("use_lang_emb"))

    def tokens(self) -> Tokens:
        """Its vocabulary."""
        return read_tokens(self.folder.job)

    def sizes(self) -> Sizes:
        """What its Transformer is."""
        languages = len(self.languages) if self.has_language_vectors else 0
        return model_sizes(self.settings, self.folder.network.words, languages)

    def weights(self) -> dict[str, Tensor]:
        """Of the Transformer and the output layer, by the names that they have in a ``LanguageModel``."""
        return self.folder.weights(self.checkpoint)

    def number(self, language: str, option: str) -> int:
        """The number of a language; UsageError if the model does not know it."""
        if language not in self.languages:
            raise UsageError(
                f"{option} {language}=…: {self.folder.path} knows {', '.join(self.languages)}; expected one of these."
            )
        return self.languages.index(language)

    def note(self, plan: TrainingPlan, role: str = "from") -> None:
        """Note what it is, so that training is not resumed with another one."""
        name = f"{self.folder.path.resolve().name}/{self.checkpoint.name}"
        plan.further_data[role] = [{"name": name, "blake2b": self.folder.digest(self.checkpoint)}]


def open_start(name: str, option: str = "--from") -> PretrainedModel:
    """The language model of this name."""
    if not name:
        raise UsageError(f"Name a language model to begin with: {option} FOLDER, of `sentprobe train mlm … -o FOLDER`.")
    spec = Spec.parse(f"trained:{name}")
    spec.check_options(("epoch", "step"))
    folder = open_folder(Path(spec.path).expanduser())
    if not is_language_model(folder.config):
        objective = folder.config.get("request", {}).get("objective")
        raise UsageError(f"{option} {name} was trained with {objective}; expected a language model: mlm, clm, tlm, ….")
    return PretrainedModel(folder, checkpoint_of(spec, folder))


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
        with torch.inference_mode():
            for rows in batches_by_length(first.lengths + second.lengths, BATCH):
                batch = collate_pairs(first, second, labels, start.languages.index(language), rows.tolist())
                labels[rows] = model.logits(batch).argmax(1).numpy()
        return [int(label) for label in labels]

    return classify


def _sequences(rows: Sequence[Sequence[int]]) -> Sequences:
    ends = np.cumsum([len(row) for row in rows])
    return Sequences(np.array([token for row in rows for token in row], np.int32), ends)
