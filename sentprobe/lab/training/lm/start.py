"""A trained language model from which another training begins: ``--from FOLDER``, or ``FOLDER?epoch=3``."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe.core.arguments import Value
from sentprobe.encoders.identity import Spec
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.networks.folder import Checkpoint, TrainedFolder, is_language_model, open_folder
from sentprobe.lab.schemes.trained import checkpoint_of

if TYPE_CHECKING:
    from torch import Tensor

    from sentprobe.lab.networks.xlm import Sizes
    from sentprobe.lab.training.lm.tokens import Tokens
    from sentprobe.lab.training.plan import TrainingPlan


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
        from sentprobe.lab.training.lm.tokens import read_tokens

        return read_tokens(self.folder.job)

    def sizes(self) -> Sizes:
        """What its Transformer is."""
        from sentprobe.lab.training.lm.model import model_sizes

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
        plan.others[role] = [{"name": name, "blake2b": self.folder.digest(self.checkpoint)}]


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
