"""The folder of a trained encoder: how it is written and read.

    config.json              what was requested, and what the network is
    vocabulary.json          its words
    vectors.npy              frozen word vectors, if there are any; row 0 is the unknown word
    epoch-003/model.safetensors, step-000500/model.safetensors
                             the weights after an epoch, or a number of steps
    best.json                which of them is best, by the score on dev
    training.jsonl           loss, speed and scores along training
    card.md                  the model card

Checkpoints are complete or absent: each file is written under another name first, synced, and renamed.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arrays import map_array
from sentprobe.core.checksum import other_format
from sentprobe.core.files import make_folder, write_atomically
from sentprobe.core.json_files import read_json
from sentprobe.errors import DataError, UsageError
from sentprobe.networks.config import NetworkConfig
from sentprobe.networks.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from sentprobe.networks.encoder import SentenceEncoder

FORMAT = 2
"""The number in ``config.json``; older versions of sentprobe refuse newer folders."""
CHECKPOINT = re.compile(r"(epoch|step)-(\d+)")
WEIGHTS = "model.safetensors"
VECTORS = "vectors.npy"
ABOUT = "about"
"""The entry of a checkpoint that says when it was written."""
ENCODER = "encoder."
"""What the names of the encoder's weights begin with; the others are those of heads and decoders."""


@dataclass(frozen=True, order=True)
class Checkpoint:
    """The weights at one time of training."""

    step: int
    epoch: int
    name: str

    @property
    def kind(self) -> str:
        """``epoch`` or ``step``."""
        return self.name.partition("-")[0]


@dataclass(frozen=True, eq=False)
class TrainedFolder:
    """A folder with a network and its checkpoints."""

    path: Path

    @cached_property
    def config(self) -> dict[str, Any]:
        """All of ``config.json``."""
        found = read_json(self.path / "config.json")
        if not isinstance(found, dict) or not isinstance(found.get("network"), dict):
            raise DataError(
                f"{self.path / 'config.json'} is not of a trained encoder; expected a folder of `sentprobe train`."
            )
        if found.get("format") != FORMAT:
            raise DataError(f"{other_format(self.path, found.get('format'), FORMAT)} Train it again, in a new folder.")
        return found

    @cached_property
    def network(self) -> NetworkConfig:
        """What the network is."""
        try:
            return msgspec.convert(self.config["network"], NetworkConfig)
        except msgspec.ValidationError as e:
            raise DataError(f"{self.path / 'config.json'}: invalid network: {e}.") from None

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words it knows."""
        net = self.network
        words = read_json(self.path / "vocabulary.json")
        if not isinstance(words, list) or len(words) != net.words or not all(isinstance(w, str) for w in words):
            raise DataError(f"{self.path / 'vocabulary.json'}: expected a list of {net.words:,} words.")
        return Vocabulary(words, net.tokenise, net.case, net.unknown)

    def vectors(self) -> NDArray[np.float32] | None:
        """The frozen word vectors (words + 1, width), memory-mapped, or None if they are learned."""
        if not self.network.frozen:
            return None
        file = self.path / VECTORS
        try:
            # copy on write: torch wants arrays that could be written to
            found = map_array(file, "c")
        except ValueError as e:
            raise DataError(f"{file} cannot be read: {e}.") from None
        if found.shape != (self.network.words + 1, self.network.width) or found.dtype != np.float32:
            raise DataError(
                f"{file} has shape {found.shape}, expected {(self.network.words + 1, self.network.width)} of float32."
            )
        return found  # type: ignore[no-any-return]

    def checkpoints(self) -> list[Checkpoint]:
        """All complete checkpoints, in the order of training."""
        places = self.path.iterdir() if self.path.is_dir() else ()
        known = [p for p in places if CHECKPOINT.fullmatch(p.name) and (p / WEIGHTS).is_file()]
        found = [Checkpoint(**self._about(place), name=place.name) for place in known]
        return sorted(found, key=lambda c: (c.step, c.epoch, c.name))

    def best(self) -> Checkpoint:
        """The checkpoint with the best score on dev, or the last one if none is marked."""
        every = self.checkpoints()
        if not every:
            raise DataError(f"{self.path} has no checkpoint yet: train it with the same command again.")
        file = self.path / "best.json"
        marked = read_json(file) if file.is_file() else {}
        name = marked.get("checkpoint") if isinstance(marked, dict) else None
        last = every[-1]
        if name is not None:
            if found := [c for c in every if c.name == name]:
                return found[0]
            raise DataError(
                f"{self.path} has no {name}, the best checkpoint (best.json): restore it, or choose another one, "
                f"such as ?{last.kind}={getattr(last, last.kind)}."
            )
        if scored := self._best_scored(every):  # best.json is lost
            return scored
        if not last.step and self._is_to_be_trained():
            raise DataError(
                f"{self.path} has no checkpoint after training yet: repeat the command with which it was begun, or "
                "probe the network before training, ?epoch=0."
            )
        return last

    def find(self, kind: str, number: int) -> Checkpoint:
        """The checkpoint after this epoch or step; UsageError with those that there are."""
        every = [c for c in self.checkpoints() if c.kind == kind]
        for checkpoint in every:
            if (checkpoint.epoch if kind == "epoch" else checkpoint.step) == number:
                return checkpoint
        have = ", ".join(str(c.epoch if kind == "epoch" else c.step) for c in every) or "none"
        raise UsageError(f"{self.path} has no checkpoint of {kind} {number}; it has {have}.")

    def encoder(self, checkpoint: Checkpoint | None, seed: int | None = None) -> SentenceEncoder:
        """The network with the weights of a checkpoint; or, with a seed and no checkpoint, random ones.

        Word vectors that were given are not random, even if training changed them.
        """
        import torch

        from sentprobe.networks.encoder import build_encoder

        vectors = self.vectors()
        table = None if vectors is None else torch.from_numpy(vectors)
        try:
            found = build_encoder(self.network, table, self.network.seed if seed is None else seed)
        except (KeyError, TypeError, ValueError, RuntimeError) as e:
            raise DataError(f"{self.path / 'config.json'}: the network cannot be built: {e!r}.") from None
        if checkpoint is not None:
            weights = {
                name.removeprefix(ENCODER): value
                for name, value in self.weights(checkpoint).items()
                if name.startswith(ENCODER)
            }
            try:
                found.load_state_dict(weights)
            except RuntimeError as e:
                why = shorten(str(e), 300, placeholder=" …")
                raise DataError(f"{self.path / checkpoint.name / WEIGHTS} is not of this network: {why}") from None
        elif (start := self.start_of_given_words()) is not None:
            words = self.weights(start).get(f"{ENCODER}inputs.learned.weight")
            if words is None or words.shape != found.inputs.learned.weight.shape:
                raise DataError(f"{self.path / start.name / WEIGHTS} is not of this network: it has no word vectors.")
            with torch.no_grad():
                found.inputs.learned.weight.copy_(words)
        return found.eval()

    def _is_to_be_trained(self) -> bool:
        """Whether an epoch of training was requested."""
        request = self.config.get("request")
        options = request.get("options", {}) if isinstance(request, dict) else {}
        return self.config.get("trains") is True and options.get("epochs") != 0

    def start_of_given_words(self) -> Checkpoint | None:
        """The checkpoint with the word vectors before training, if they were given and then trained."""
        request = self.config.get("request")
        if self.network.frozen or not isinstance(request, dict) or not request.get("vectors"):
            return None
        return next((c for c in self.checkpoints() if c.kind == "epoch" and c.epoch == 0), None)

    def arrays(self, checkpoint: Checkpoint) -> dict[str, NDArray[Any]]:
        """All weights of a checkpoint, with those of heads and decoders."""
        from safetensors import SafetensorError
        from safetensors.numpy import load_file

        file = self.path / checkpoint.name / WEIGHTS
        try:
            return load_file(file)
        except (OSError, SafetensorError) as e:
            raise DataError(f"{file} is damaged: {e}. Delete its folder; the other checkpoints can be used.") from None

    def weights(self, checkpoint: Checkpoint) -> dict[str, Tensor]:
        """The same as tensors."""
        import torch

        return {name: torch.from_numpy(value) for name, value in self.arrays(checkpoint).items()}

    def digest(self, checkpoint: Checkpoint | None) -> str:
        """A hash of everything that can change a vector: network, words, vectors, weights."""
        state = hashlib.blake2b(digest_size=16)
        state.update(json.dumps(msgspec.to_builtins(self.network), sort_keys=True).encode())
        files = ["vocabulary.json", *([VECTORS] if self.network.frozen else [])]
        read = checkpoint or self.start_of_given_words()
        for name in [*files, *([f"{read.name}/{WEIGHTS}"] if read else [])]:
            try:
                with (self.path / name).open("rb") as file:
                    state.update(hashlib.file_digest(file, "blake2b").digest())
            except OSError as e:
                raise DataError(f"{self.path / name} cannot be read: {e.strerror}.") from None
        return state.hexdigest()

    def _best_scored(self, every: Sequence[Checkpoint]) -> Checkpoint | None:
        """The first checkpoint with the best score, if there are scores."""
        selection, sign = self.config.get("selection"), 1 if self.config.get("maximise", True) else -1
        found = [(c, scores[selection]) for c in every if selection in (scores := self.scores(c))]
        return max(found, key=lambda one: (sign * one[1], -one[0].step))[0] if found else None

    def scores(self, checkpoint: Checkpoint) -> dict[str, float]:
        """The scores on dev at a checkpoint, from ``training.jsonl``; none if they were not computed then."""
        file = self.path / "training.jsonl"
        try:
            lines = file.read_bytes().splitlines() if file.is_file() else []
        except OSError as e:
            raise DataError(f"{file} cannot be read: {e.strerror}.") from None
        for line in reversed(lines):
            try:
                found = json.loads(line)
            except ValueError:  # cut off when training was killed
                continue
            if isinstance(found, dict) and found.get("checkpoint") == checkpoint.name:
                scores = found.get("scores")
                return {
                    key: float(value)
                    for key, value in (scores.items() if isinstance(scores, dict) else ())
                    if isinstance(value, int | float) and math.isfinite(value)
                }
        return {}

    def write_checkpoint(self, name: str, weights: Mapping[str, Tensor], epoch: int, step: int) -> Checkpoint:
        """Write the weights at one time of training."""
        from safetensors.torch import save

        make_folder(self.path / name)
        # clones: tied weights share memory, which the format refuses
        tensors = {key: value.detach().cpu().clone().contiguous() for key, value in weights.items()}
        # one entry: several are written in any order, and the same weights would have another identity
        content = save(tensors, {ABOUT: json.dumps({"epoch": epoch, "step": step})})
        write_atomically(self.path / name / WEIGHTS, content)
        return Checkpoint(step, epoch, name)

    def _about(self, place: Path) -> dict[str, int]:
        from safetensors import SafetensorError, safe_open

        try:
            with safe_open(place / WEIGHTS, "numpy") as file:
                facts = file.metadata() or {}
            found = json.loads(facts[ABOUT])
            return {key: int(found[key]) for key in ("epoch", "step")}
        except (OSError, SafetensorError, KeyError, ValueError, TypeError) as e:
            raise DataError(
                f"{place / WEIGHTS} is damaged: {e}. Delete its folder; the other checkpoints can be used."
            ) from None


def open_folder(path: Path) -> TrainedFolder:
    """The folder of a trained encoder; UsageError if it is none."""
    if not (path / "config.json").is_file():
        raise UsageError(
            f"{path} has no trained encoder; expected a folder that `sentprobe train … -o {path}` has written."
        )
    return TrainedFolder(path)
