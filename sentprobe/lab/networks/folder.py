"""The folder of a trained encoder: how it is written and read.

    config.json              what was requested, and what the network is
    vocabulary.json          its words
    vectors.npy              frozen word vectors, if there are any; row 0 is the unknown word
    epoch-003/model.safetensors, step-000500/model.safetensors
                             the weights after an epoch, or a number of steps
    best.json                which of them is best, by the score on dev
    training.jsonl           loss, speed and scores along training
    resume.safetensors       the state of training
    checksums.json           all of these with their digests
    card.md                  the model card, which is yours to edit

All but the card is sealed (``core/job_folder.py``), and compared whenever it is read. The folder of a checkpoint may be
deleted; so may ``best.json``, which says no more than the scores, and ``resume.safetensors``.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import shorten
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from numpy.typing import NDArray

from sentprobe.core.files import map_array
from sentprobe.core.job_folder import JobFolder
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.networks.architecture import NetworkConfig
from sentprobe.lab.networks.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from sentprobe.lab.networks.encoder import SentenceEncoder

COMMAND = "sentprobe train"
CONFIG, VOCABULARY, VECTORS = "config.json", "vocabulary.json", "vectors.npy"
WEIGHTS = "model.safetensors"
"""In the folder of each checkpoint; and that of a language model itself, for `transformers`: those of the best one."""
BEST, LOG, RESUME = "best.json", "training.jsonl", "resume.safetensors"
FORMAT = 3
"""The number in ``config.json``; older versions of sentprobe refuse newer folders."""
CHECKPOINT = re.compile(r"(epoch|step)-(\d+)")
ABOUT = "about"
"""The entry of a checkpoint that says when it was written, for those who have nothing else of the folder."""
MODEL_TYPE = "xlm"
"""What ``config.json`` says of a language model, which `transformers` loads."""
TABLE = "transformer.embeddings.weight"
"""The vectors of tokens among the weights of a language model."""
ENCODER = "encoder."
"""What the names of the encoder's weights begin with; the others are those of heads and decoders."""


def may_be_deleted(folder: Path, name: str) -> bool:
    """Whether a file may be missing: the scores tell as much, training begins again, or all of a checkpoint is gone."""
    checkpoint = Path(name).parent.name
    return name in (BEST, RESUME) or (bool(checkpoint) and not (folder / checkpoint).is_dir())


def remedy(name: str) -> str:
    """What to do about a file that has changed, or is missing."""
    checkpoint, repeat = Path(name).parent.name, "repeat the command with which it was trained"
    if checkpoint:
        return f"Restore it, or delete the folder {checkpoint}: the other checkpoints can be used."
    if name == BEST:
        return f"Restore it, or delete it: {LOG} has the scores, too."
    if name == RESUME:
        return f"Restore it, or delete it and {repeat}: training begins again; checkpoints are kept meanwhile."
    if name == WEIGHTS:
        return "Restore it: it is a copy of that of the best checkpoint."
    return f"Restore it, or {repeat}, in a new folder."


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
    def job(self) -> JobFolder:
        """Its files, each compared with what was written when it is read."""
        return JobFolder(self.path, COMMAND, remedy)

    @cached_property
    def config(self) -> dict[str, Any]:
        """All of ``config.json``."""
        advice = "Train it again, in a new folder."
        return self.job.read_config(
            CONFIG, FORMAT, "a trained encoder", advice, lambda c: isinstance(c["network"], dict)
        )

    @cached_property
    def network(self) -> NetworkConfig:
        """What the network is."""
        try:
            return msgspec.convert(self.config["network"], NetworkConfig)
        except msgspec.ValidationError as e:
            raise DataError(f"{self.path / CONFIG}: invalid network: {e}.") from None

    @cached_property
    def vocabulary(self) -> Vocabulary:
        """The words it knows."""
        net = self.network
        words = self.job.read_json(VOCABULARY)
        if not isinstance(words, list) or len(words) != net.words or not all(isinstance(w, str) for w in words):
            raise DataError(f"{self.path / VOCABULARY}: expected a list of {net.words:,} words.")
        return Vocabulary(words, net.tokenise, net.case, net.unknown)

    def vectors(self) -> NDArray[np.float32] | None:
        """The frozen word vectors (words + 1, width), memory-mapped, or None if they are learned."""
        if not self.network.frozen:
            return None
        file = self.path / VECTORS
        self.job.verify(VECTORS)
        try:
            # copy on write: torch wants arrays that could be written to
            vectors: NDArray[np.float32] = map_array(file, "c")
        except ValueError as e:
            raise DataError(f"{file} cannot be read: {e}.") from None
        expected = (self.network.words + 1, self.network.width)
        if vectors.shape != expected or vectors.dtype != np.float32:
            raise DataError(f"{file} has shape {vectors.shape}, expected {expected} of float32.")
        return vectors

    def checkpoints(self) -> list[Checkpoint]:
        """All checkpoints, in the order of training, without those that were deleted."""
        checkpoints = []
        for name in (p.name for p in self.path.glob("*-*") if CHECKPOINT.fullmatch(p.name) and p.is_dir()):
            weights = f"{name}/{WEIGHTS}"
            about, is_there = self.job.about(weights), (self.path / weights).is_file()
            if about is None and not is_there:  # it is being written
                continue
            if about is None or not is_there:  # it is of another folder, or missing
                about = self.job.verify(weights).about
            checkpoints.append(Checkpoint(int(about["step"]), int(about["epoch"]), name))
        return sorted(checkpoints, key=lambda c: (c.step, c.epoch, c.name))

    def best(self) -> Checkpoint:
        """The checkpoint with the best score on dev, or the last one if there are no scores."""
        checkpoints = self.checkpoints()
        if not checkpoints:
            raise DataError(f"{self.path} has no checkpoint yet: train it with the same command again.")
        name, last = self.best_name(), checkpoints[-1]
        if name:
            if matches := [c for c in checkpoints if c.name == name]:
                return matches[0]
            raise DataError(
                f"{self.path} has no {name}, the best checkpoint (best.json): restore it, or choose another one, "
                f"such as ?{last.kind}={getattr(last, last.kind)}."
            )
        if not last.step and self._is_to_be_trained():
            raise DataError(
                f"{self.path} has no checkpoint after training yet: repeat the command with which it was begun, or "
                "probe the network before training, ?epoch=0."
            )
        return last

    def best_name(self) -> str:
        """The name of the checkpoint with the best score on dev; empty if there are no scores."""
        if self.job.is_there(BEST):
            return str(self.job.read_json(BEST)["checkpoint"])
        every = self.every_score().items()
        scores = {name: scores[self.selection] for name, scores in every if self.selection in scores}
        sign = 1 if self.config.get("maximise", True) else -1
        return max(scores, key=lambda name: sign * scores[name], default="")  # the first of the best

    @property
    def selection(self) -> str:
        """The name of the score that selects the best checkpoint; empty if none does."""
        return str(self.config.get("selection", ""))

    def find(self, kind: str, number: int) -> Checkpoint:
        """The checkpoint after this epoch or step; UsageError with those that there are."""
        by_number = {c.epoch if kind == "epoch" else c.step: c for c in self.checkpoints() if c.kind == kind}
        if number in by_number:
            return by_number[number]
        have = ", ".join(map(str, by_number)) or "none"
        raise UsageError(f"{self.path} has no checkpoint of {kind} {number}; it has {have}.")

    def encoder(self, checkpoint: Checkpoint | None, seed: int | None = None) -> SentenceEncoder:
        """The network with the weights of a checkpoint; or, with a seed and no checkpoint, random ones.

        Word vectors that were given are not random, even if training changed them.
        """
        import torch

        from sentprobe.lab.networks.encoder import build_encoder

        vectors = self.vectors()
        table = None if vectors is None else torch.from_numpy(vectors)
        try:
            encoder = build_encoder(self.network, table, self.network.seed if seed is None else seed)
        except (KeyError, TypeError, ValueError, RuntimeError) as e:
            raise DataError(f"{self.path / CONFIG}: the network cannot be built: {e!r}.") from None
        if checkpoint is not None:
            weights = {
                name.removeprefix(ENCODER): value
                for name, value in self.weights(checkpoint).items()
                if name.startswith(ENCODER)
            }
            try:
                encoder.load_state_dict(weights)
            except RuntimeError as e:
                raise self._other_network(checkpoint, shorten(str(e), 300, placeholder=" …")) from None
        elif (start := self.start_of_given_words()) is not None:
            words = self.weights(start).get(f"{ENCODER}inputs.learned.weight")
            if words is None or words.shape != encoder.inputs.learned.weight.shape:
                raise self._other_network(start, "it has no word vectors.")
            with torch.no_grad():
                encoder.inputs.learned.weight.copy_(words)
        return encoder.eval()

    def _other_network(self, checkpoint: Checkpoint, why: str) -> DataError:
        return DataError(f"{self.path / checkpoint.name / WEIGHTS} is not of this network: {why}")

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
        self.job.verify(f"{checkpoint.name}/{WEIGHTS}")
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
        names = [VOCABULARY, *([VECTORS] if self.network.frozen else [])]
        read = checkpoint or self.start_of_given_words()
        for name in [*names, *([f"{read.name}/{WEIGHTS}"] if read else [])]:
            state.update(bytes.fromhex(self.job.verify(name).blake2b))
        return state.hexdigest()

    def scores(self, checkpoint: Checkpoint) -> dict[str, float]:
        """The scores on dev at a checkpoint; none if they were not computed then."""
        return self.every_score().get(checkpoint.name, {})

    def every_score(self) -> dict[str, dict[str, float]]:
        """The scores on dev by the names of checkpoints, from ``training.jsonl``."""
        by_checkpoint: dict[str, dict[str, float]] = {}
        for line in self.job.log(LOG):
            if name := line.get("checkpoint"):
                scores = line.get("scores", {}).items()
                finite = {key: float(v) for key, v in scores if v is not None and math.isfinite(v)}
                by_checkpoint[name] = finite
        return by_checkpoint

    def verify(self) -> None:
        """Compare every file with what was written; DataError if one has changed."""
        self.job.verify_all(lambda name: may_be_deleted(self.path, name))
        self.checkpoints()  # one may be of another folder

    def write_checkpoint(
        self, name: str, weights: Mapping[str, Tensor], epoch: int, step: int, beside: Mapping[str, bytes] | None = None
    ) -> Checkpoint:
        """Write the weights at one time of training, and before them what other libraries need to load them."""
        from safetensors.torch import save

        # clones: tied weights share memory, which the format refuses
        tensors = {key: value.detach().cpu().clone().contiguous() for key, value in weights.items()}
        at = {"epoch": epoch, "step": step}
        # one entry: several are written in any order, and the same weights would have another identity
        contents = {**(beside or {}), WEIGHTS: save(tensors, {ABOUT: json.dumps(at)})}
        self.job.write({f"{name}/{file}": content for file, content in contents.items()}, at)
        return Checkpoint(step, epoch, name)


def is_language_model(config: Mapping[str, Any]) -> bool:
    """Whether a ``config.json`` of `sentprobe train` is that of a language model."""
    return config.get("model_type") == MODEL_TYPE


def open_folder(path: Path) -> TrainedFolder:
    """The folder of a trained encoder; UsageError if it is none."""
    if not (path / CONFIG).is_file():
        raise UsageError(f"{path} has no trained encoder; expected a folder that `sentprobe train` has written.")
    return TrainedFolder(path)
