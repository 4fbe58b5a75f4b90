"""What encoder and decoder begin with: random weights, those of a trained folder, or cross-lingual word vectors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from sentprobe.core.arguments import Setting, Settings, Value
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.alignment.space import read_space
from sentprobe.lab.networks.folder import WEIGHTS
from sentprobe.lab.networks.vocabulary import word_of
from sentprobe.lab.networks.xlm import XLM
from sentprobe.lab.training.lm.pretrained import PretrainedModel, open_start
from sentprobe.lab.training.lm.tokens import Tokens
from sentprobe.lab.training.mt.model import TranslationModel
from sentprobe.lab.training.plan import TrainingPlan
from sentprobe.lab.training.sources import describe_sources

RANDOM, VECTORS = "random", "vec:"
SETTINGS = {
    "from": Setting("", "what encoder and decoder begin with: FOLDER of clm, mlm, tlm or mt, or vec:A.vec,B.vec"),
    "encoder_from": Setting("", "the same for the encoder; random for random weights"),
    "decoder_from": Setting("", "the same for the decoder; random for random weights"),
}
SAME = ("hidden", "layers", "heads", "positions")
"""Settings that are those of the folder."""
ENCODER, DECODER, BIAS = "transformer.", "decoder.", "pred_layer.proj.bias"
CROSS = ("encoder_attn.", "layer_norm15.")
"""What a decoder has and a language model has not."""


@dataclass(frozen=True)
class InitialWeights:
    """Of both parts, as they were named; ``random`` if they were not."""

    encoder: str
    decoder: str

    @classmethod
    def of(cls, settings: Mapping[str, Value]) -> InitialWeights:
        """From settings, or those of them that were typed."""
        both = settings.get("from") or RANDOM
        return cls(str(settings.get("encoder_from") or both), str(settings.get("decoder_from") or both))

    @property
    def folders(self) -> list[PretrainedModel]:
        """Those that are named, each once; UsageError if one is no folder with a Transformer."""
        names = dict.fromkeys((self.encoder, self.decoder))
        return [open_start(name) for name in names if name != RANDOM and not name.startswith(VECTORS)]


def implied_settings(settings: Mapping[str, Value]) -> dict[str, Value]:
    """The sizes of the folder that is to be started from."""
    folders = InitialWeights.of(settings).folders
    return dict(folders[0].settings) if folders else {}


def start_tokens(
    starts: InitialWeights, needed: Sequence[str], settings: Settings
) -> tuple[Tokens, tuple[str, ...]] | None:
    """The tokens and languages of the folders that are started from, which have to agree; None if there are none."""
    folders = starts.folders
    if not folders:
        return None
    first, *further = folders
    languages, path, tokens = first.languages, first.folder.path, first.tokens()
    for folder in further:
        if folder.tokens().strings() != tokens.strings():
            raise DataError(
                f"{path} and {folder.folder.path} have different vocabularies; expected two models of the same texts "
                "and codes."
            )
        if folder.languages != languages:
            raise DataError(
                f"{path} has the languages {', '.join(languages)}, and {folder.folder.path} "
                f"{', '.join(folder.languages)}; expected the same, in the same order."
            )
    for folder in folders:
        if different := [name for name in SAME if settings[name] != folder.settings[name]]:
            name = different[0]
            has = f"{folder.folder.path} has {name}={folder.settings[name]}"
            raise UsageError(f"{name}={settings[name]}: {has}; leave it out.")
    if unknown := [language for language in needed if language not in languages]:
        raise DataError(
            f"{path} does not know {unknown[0]}: it was trained on {', '.join(languages)}. Train it with a text in "
            f"{unknown[0]}, too."
        )
    return tokens, languages


def load_starts(model: TranslationModel, starts: InitialWeights, tokens: Tokens) -> dict[str, Any]:
    """Give a model the weights it begins with; returns what the card says about them.

    A decoder that begins as a language model has random weights where it reads the encoder.
    """
    facts: dict[str, Any] = {}
    for part, name in (("encoder", starts.encoder), ("decoder", starts.decoder)):
        if name == RANDOM:
            facts[f"start of the {part}"] = RANDOM
        elif name.startswith(VECTORS):
            facts[f"start of the {part}"] = _load_vectors(getattr(model, part), name, tokens)
        else:
            pretrained = open_start(name)
            folder, checkpoint = pretrained.folder, pretrained.checkpoint.name
            facts[f"start of the {part}"] = f"{folder.config['request']['objective']} ({name}, {checkpoint})"
            _load(model, part, pretrained.weights(), folder.path / checkpoint / WEIGHTS)
    return facts


def note_starts(plan: TrainingPlan, starts: InitialWeights) -> None:
    """Note what both parts begin with, so that training is not resumed with something else."""
    for part, name in (("encoder", starts.encoder), ("decoder", starts.decoder)):
        if name.startswith(VECTORS):
            plan.further_data[f"start of the {part}"] = describe_sources(_vector_files(name))
        elif name != RANDOM:
            open_start(name).note(plan, f"start of the {part}")


def _load(model: TranslationModel, part: str, weights: Mapping[str, Tensor], file: Path) -> None:
    module: XLM = getattr(model, part)
    prefix = DECODER if part == "decoder" and any(name.startswith(DECODER) for name in weights) else ENCODER
    part_weights = {name.removeprefix(prefix): value for name, value in weights.items() if name.startswith(prefix)}
    if part == "decoder" and BIAS not in weights:
        raise DataError(f"{file} has no output layer, so that no decoder can begin with it; set another decoder_from.")
    try:
        mismatch = module.load_state_dict(part_weights, strict=False)
        if part == "decoder":
            with torch.no_grad():
                model.bias.copy_(weights[BIAS])
    except RuntimeError as e:
        raise DataError(f"{file} does not fit: {e}.") from None
    missing = [name for name in mismatch.missing_keys if prefix == DECODER or not name.startswith(CROSS)]
    if missing or mismatch.unexpected_keys:
        raise DataError(f"{file} does not fit: {(missing or mismatch.unexpected_keys)[0]}.")


def _load_vectors(module: XLM, name: str, tokens: Tokens) -> str:
    """Set the vectors of all tokens that are words with a vector; they have the mean length of random ones."""
    spaces = [read_space(file) for file in _vector_files(name)]
    width, hidden = spaces[0].dim, module.size
    if any(space.dim != width for space in spaces):
        raise DataError(
            f"{name}: vectors of {' and '.join(str(space.dim) for space in spaces)} dimensions; expected "
            "two files in one space, as `sentprobe align --export` writes them."
        )
    if width < hidden:
        raise UsageError(f"hidden={hidden}: {name} has {width} dimensions; expected hidden={width} or fewer.")
    numbers, vectors = [], []
    for number, token in enumerate(tokens.strings()):
        word = word_of(token, tokens.tokenise)
        rows = [row for space in spaces if (row := _vector(space.index, space.vectors, word)) is not None]
        if rows:
            numbers.append(number)
            vectors.append(np.mean(rows, 0))
    if not vectors:
        raise DataError(f"{name} has no vector of a word that is a token: is it of these languages?")
    matrix = np.stack(vectors)
    if width > hidden:
        matrix = _reduce(matrix, hidden)
    # random vectors have a standard deviation of width ** -0.5, that is, a length of about 1
    matrix *= 1 / np.linalg.norm(matrix, axis=1).mean()
    with torch.no_grad():
        module.embeddings.weight[torch.tensor(numbers)] = torch.from_numpy(matrix.astype(np.float32))
    return f"{name} (vectors of {len(numbers):,} of {len(tokens):,} tokens)"


def _vector(index: Mapping[str, int], vectors: NDArray[np.float32], word: str) -> NDArray[np.float32] | None:
    for form in (word, word.lower()):
        if form and form in index:
            unit: NDArray[np.float32] = vectors[index[form]] / max(float(np.linalg.norm(vectors[index[form]])), 1e-12)
            return unit
    return None


def _reduce(matrix: NDArray[Any], width: int) -> NDArray[Any]:
    """The first principal components, without centring: what keeps inner products best."""
    _, directions = np.linalg.eigh(matrix.T.astype(np.float64) @ matrix)
    reduced: NDArray[Any] = matrix @ directions[:, ::-1][:, :width]
    return reduced


def _vector_files(name: str) -> list[str]:
    files = name.removeprefix(VECTORS).split(",")
    if len(files) != 2 or not all(files):
        raise UsageError(f"{name}: expected two files of word vectors in one space: vec:A.vec,B.vec.")
    return files
