"""The folder of an alignment: how it is written and read.

    alignment.json           what was requested, the digests of both spaces, and what came out
    map.safetensors          the map that was chosen
    maps/seed-0/             the work on a seed:
        epoch-003.safetensors, round-002.safetensors, refine-001.safetensors
                             the map after an epoch or a round
        result.safetensors   the map that the seed ended with
        history.jsonl        a line per epoch or round: seed, stage, number, criterion, …
        state.safetensors    where an unfinished seed goes on
    source.vec, target.vec   both spaces mapped, on request; or source.bin, target.bin
    candidates/NAME/         the alignments that were compared, if the best method was requested
    card.md                  what it is, in words

The folder and that of each seed, on which a process of its own may work, are sealed (``core/job_folder.py``): each has
a ``checksums.json``, so that nothing that was changed since becomes a number.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load, save

from sentprobe.core.job_folder import JobFolder
from sentprobe.errors import DataError, UsageError
from sentprobe.lab.alignment.maps import STEPS, SideMap, WordMap
from sentprobe.lab.alignment.request import AlignmentRequest
from sentprobe.lab.alignment.space import Space, read_space

FORMAT = 4
COMMAND = "sentprobe align"
CONFIG = "alignment.json"
MAP, RESULT, STATE = "map.safetensors", "result.safetensors", "state.safetensors"
MAPS = "maps"
HISTORY = "history.jsonl"
CANDIDATES = "candidates"
ABOUT = "about"
"""The one entry of a map's metadata, as JSON: several entries are written in any order, and the bytes would differ."""
MAY_CHANGE = ("export", "why")
"""What may differ when a command is repeated."""
DATA = ("source", "target", "dictionary", "dev")
_CHECKPOINT = re.compile(r"([a-z]+)-(\d+)\.safetensors")
_SEED = re.compile(r"seed-(\d+)")


@dataclass(frozen=True, order=True)
class MapCheckpoint:
    """A map along the way."""

    seed: int
    stage: str
    """``epoch``, ``round`` or ``refine``."""
    number: int

    @property
    def file(self) -> str:
        """In the folder of its seed."""
        return f"{self.stage}-{self.number:03d}.safetensors"

    @property
    def name(self) -> str:
        """As in ``maps/``."""
        return f"seed-{self.seed}/{self.file.removesuffix('.safetensors')}"


@dataclass(frozen=True, eq=False)
class AlignmentFolder:
    """A folder that `sentprobe align` wrote."""

    path: Path

    @cached_property
    def job(self) -> JobFolder:
        """Its files, each compared with what was written when it is read."""
        return JobFolder(self.path, COMMAND, _remedy)

    def seed_job(self, seed: int) -> JobFolder:
        """The same of a seed; what another process has written since is seen."""
        return JobFolder(self.path / MAPS / f"seed-{seed}", COMMAND, _remedy)

    @cached_property
    def config(self) -> dict[str, Any]:
        """All of ``alignment.json``: source and target (path, words, digest), steps, method, settings, …"""
        advice = "Align the spaces in another folder."
        return self.job.read_config(CONFIG, FORMAT, "an alignment", advice, lambda config: "format" in config)

    def write_config(self, config: Mapping[str, Any]) -> None:
        """Write ``alignment.json``; numbers that are not finite are null."""
        encoded = msgspec.json.encode(config, order="deterministic")
        self.job.write({CONFIG: msgspec.json.format(encoded, indent=2)})

    def map(self, checkpoint: MapCheckpoint | None = None) -> WordMap:
        """The chosen map, or that of a checkpoint."""
        if checkpoint is not None:
            return read_map(self.seed_job(checkpoint.seed), checkpoint.file)
        if not self.job.is_there(MAP) and not self.config.get("finished"):
            raise DataError(_no_map(self.path, self.config))
        return read_map(self.job, MAP)

    def has_result(self, seed: int) -> bool:
        """Whether a seed has ended with a map."""
        job = self.seed_job(seed)
        return job.is_begun and job.is_there(RESULT)

    def result(self, seed: int) -> WordMap:
        """The map that a seed ended with."""
        return read_map(self.seed_job(seed), RESULT)

    def seeds(self) -> list[int]:
        """The seeds that have been begun, in the order they were requested."""
        folders = (path for path in (self.path / MAPS).glob("seed-*") if any(path.iterdir()))
        begun = sorted(int(match[1]) for path in folders if (match := _SEED.fullmatch(path.name)))
        order = [facts["seed"] for facts in self.config.get("seeds", ())]
        return sorted(begun, key=lambda seed: order.index(seed) if seed in order else len(order))

    def checkpoints(self) -> list[MapCheckpoint]:
        """All maps along the way, by seed; epochs and rounds before refinements."""
        names = ((seed, name) for seed in self.seeds() for name in self.seed_job(seed).names())
        parsed = ((seed, _CHECKPOINT.fullmatch(name)) for seed, name in names)
        checkpoints = [MapCheckpoint(seed, match[1], int(match[2])) for seed, match in parsed if match]
        return sorted(checkpoints, key=lambda c: (c.seed, c.stage == "refine", c.stage, c.number))

    def history(self) -> list[dict[str, Any]]:
        """The lines of all seeds; a torn last line is left out."""
        return [line for seed in self.seeds() for line in self.seed_job(seed).log(HISTORY)]

    def check_same(self, request: AlignmentRequest) -> None:
        """Refuse a folder with something else in it, or of another request."""
        if not (self.path / CONFIG).is_file():
            self.job.check_own((CANDIDATES, MAPS) if (self.path / CANDIDATES).is_dir() else ())
            return
        before = self.config.get("request", {})
        now = msgspec.json.decode(msgspec.json.encode(request))
        self.job.check_same("an alignment", before, now, {*before, *now} - {*MAY_CHANGE})

    def check_unchanged(self, about: Mapping[str, Any]) -> None:
        """Refuse to go on with spaces or dictionaries that are not those with which the alignment began."""
        if not (self.path / CONFIG).is_file():
            return
        for key in DATA:
            if self.config.get(key, {}).get("digest") != about.get(key, {}).get("digest"):
                name = about[key].get("path") or ", ".join(about[key]["files"])
                raise self.job.changed_input(f"{name} ({key})", "alignment")

    def spaces(self) -> tuple[Space, Space]:
        """Both spaces as they were read for the alignment; DataError if a file has changed since."""
        spaces = []
        for side in ("source", "target"):
            about = self.config[side]
            space = read_space(str(self.path_of(side)), about["limit"])
            if space.digest != about["digest"]:
                raise DataError(
                    f"{about['path']} has changed since {self.path} was made: digest {space.digest}, expected "
                    f"{about['digest']}. Align the spaces again."
                )
            spaces.append(space)
        return spaces[0], spaces[1]

    def path_of(self, side: str) -> Path:
        """Where a space is: where it was relative to this folder, or as it was typed."""
        about = self.config[side]
        relative = self.path / about["beside"] if about.get("beside") else None
        return relative if relative is not None and relative.exists() else Path(about["path"])


def _remedy(name: str) -> str:
    """What to do about a file that has changed, or is missing."""
    if name == MAP:
        return "Delete it, and repeat the command that wrote it."
    return "Restore it, or align the spaces in another folder."


def encode_map(word_map: WordMap) -> bytes:
    """A map as the content of a file; the same map has the same bytes."""
    arrays: dict[str, NDArray[Any]] = {}
    steps: dict[str, Any] = {}
    for name, side in (("source", word_map.source), ("target", word_map.target)):
        steps[f"{name}.steps"] = list(side.steps)
        if side.means:
            arrays[f"{name}.means"] = np.stack(side.means)
        if side.matrix is not None:
            arrays[f"{name}.matrix"] = np.ascontiguousarray(side.matrix, np.float32)
    return encode_arrays(arrays, steps)


def read_map(job: JobFolder, name: str) -> WordMap:
    """Read a map; DataError if it has changed."""
    content, file = job.read(name), job.path / name
    arrays = decode_arrays(content, file)
    try:
        size = int.from_bytes(content[:8], "little")
        facts = json.loads(json.loads(content[8 : 8 + size])["__metadata__"][ABOUT])
        return WordMap(*(_side(side, arrays, facts) for side in ("source", "target")))
    except (ValueError, KeyError, TypeError):
        raise DataError(f"{file} was not written by `sentprobe align`.") from None


def encode_arrays(arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any] | None = None) -> bytes:
    """Arrays and facts about them as the content of a file."""
    plain = {name: np.array(array, order="C") for name, array in arrays.items()}
    return save(plain, None if about is None else {ABOUT: json.dumps(about, sort_keys=True)})


def decode_arrays(content: bytes, file: Path) -> dict[str, NDArray[Any]]:
    """The arrays in a file; DataError if there are none."""
    try:
        return load(content)
    except SafetensorError as e:
        raise DataError(f"{file} cannot be read: {e}.") from None


def _side(name: str, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> SideMap:
    steps = facts[f"{name}.steps"]
    means, matrix = arrays.get(f"{name}.means", ()), arrays.get(f"{name}.matrix")
    if not set(steps) <= set(STEPS) or len(means) != steps.count("center") or (matrix is not None and matrix.ndim != 2):
        raise ValueError
    return SideMap(tuple(steps), tuple(means), matrix)


def _no_map(path: Path, config: Mapping[str, Any]) -> str:
    if config.get("failed"):
        return f"{path} has no map, since the alignment failed: {config['failed']}"
    return f"{path} has no map yet: repeat the command with which it was begun."


def open_alignment(path: str | Path) -> AlignmentFolder:
    """The alignment in a folder; UsageError if there is none."""
    folder = AlignmentFolder(Path(path))
    if not (folder.path / CONFIG).is_file():
        raise UsageError(f"{path} was not written by `sentprobe align`; expected the folder of an alignment.")
    return folder
