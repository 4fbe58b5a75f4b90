"""The folder of an alignment: how it is written and read.

    alignment.json           what was requested, the digests of both spaces, and what came out
    map.safetensors          the map that was chosen
    history.jsonl            a line per epoch or round: seed, stage, number, criterion, …
    maps/seed-0/epoch-003.safetensors
                             the map after an epoch or a round
    maps/seed-0/result.safetensors
                             the map that a seed ended with, and what is known of it
    source.vec, target.vec   both spaces mapped, on request; or source.bin, target.bin
    candidates/NAME/         the alignments that were compared, if the best method was requested
    card.md                  what it is, in words

All files are complete or absent: each is written under another name first, synced, and renamed. All have checksums, the
history one per line, so that nothing that was changed since becomes a number.
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

from sentprobe.alignment.maps import STEPS, SideMap, WordMap
from sentprobe.alignment.space import Space, read_space
from sentprobe.core.checksum import CHECKSUM, digest, is_intact, is_sealed, other_format, read_document, seal_document
from sentprobe.core.files import make_folder, write_atomically
from sentprobe.errors import DataError, UsageError

FORMAT = 2
CONFIG = "alignment.json"
MAP = "map.safetensors"
MAPS = "maps"
HISTORY = "history.jsonl"
CANDIDATES = "candidates"
ABOUT = "about"
"""The one entry of a map's metadata, as JSON: several entries are written in any order, and the bytes would differ."""
_CHECKPOINT = re.compile(r"seed-(\d+)/([a-z]+)-(\d+)")


@dataclass(frozen=True, order=True)
class MapCheckpoint:
    """A map along the way."""

    seed: int
    stage: str
    """``epoch``, ``round`` or ``refine``."""
    number: int

    @property
    def name(self) -> str:
        """As in ``maps/``."""
        return f"seed-{self.seed}/{self.stage}-{self.number:03d}"


@dataclass(frozen=True, eq=False)
class AlignmentFolder:
    """A folder that `sentprobe align` wrote."""

    path: Path

    @cached_property
    def config(self) -> dict[str, Any]:
        """All of ``alignment.json``: source and target (path, words, digest), steps, method, settings, …"""
        file = self.path / CONFIG
        try:
            found = read_document(file.read_bytes())
        except OSError as e:
            raise DataError(f"{file} cannot be read: {e.strerror}.") from None
        except ValueError as e:
            raise DataError(f"{file} is damaged: {e}. Restore it, or align the spaces in another folder.") from None
        if "format" not in found:
            raise DataError(f"{file} is not of an alignment; expected a folder of `sentprobe align`.")
        if found["format"] != FORMAT:
            raise DataError(f"{other_format(file, found['format'], FORMAT)} Align the spaces in another folder.")
        if not is_intact(found):
            raise DataError(
                f"{file} has been changed: its checksum does not match. Restore it, or align the spaces in another "
                "folder."
            )
        return {name: value for name, value in found.items() if name != CHECKSUM}

    def map(self, checkpoint: MapCheckpoint | None = None) -> WordMap:
        """The chosen map, or that of a checkpoint."""
        if checkpoint is None and not (self.path / MAP).is_file():
            raise DataError(_no_map(self.path, self.config))
        return read_map(self.path / MAP if checkpoint is None else self.path / MAPS / f"{checkpoint.name}.safetensors")

    def checkpoints(self) -> list[MapCheckpoint]:
        """All maps along the way, by seed; epochs and rounds before refinements."""
        files = (self.path / MAPS).glob("seed-*/*.safetensors")
        parsed = (_CHECKPOINT.fullmatch(f"{file.parent.name}/{file.stem}") for file in files)
        found = [MapCheckpoint(int(p[1]), p[2], int(p[3])) for p in parsed if p]
        return sorted(found, key=lambda c: (c.seed, c.stage == "refine", c.stage, c.number))

    def history(self) -> list[dict[str, Any]]:
        """The lines of ``history.jsonl``; a torn last line is left out."""
        file = self.path / HISTORY
        lines = file.read_bytes().split(b"\n")[:-1] if file.exists() else []
        for number, line in enumerate(lines, 1):
            if not is_sealed(line):
                raise DataError(
                    f"{file}:{number} has been changed: its checksum does not match. Restore the file, or align the "
                    "spaces in another folder."
                )
        found = [msgspec.json.decode(line, type=dict[str, Any]) for line in lines]
        return [{name: value for name, value in line.items() if name != CHECKSUM} for line in found]

    def spaces(self) -> tuple[Space, Space]:
        """Both spaces as they were read for the alignment; DataError if a file has changed since."""
        found = []
        for side in ("source", "target"):
            about = self.config[side]
            space = read_space(str(self.place(side)), about["limit"])
            if space.digest != about["digest"]:
                raise DataError(
                    f"{about['path']} has changed since {self.path} was made: digest {space.digest}, expected "
                    f"{about['digest']}. Align the spaces again."
                )
            found.append(space)
        return found[0], found[1]

    def place(self, side: str) -> Path:
        """Where a space is: where it was relative to this folder, or as it was typed."""
        about = self.config[side]
        beside = self.path / about["beside"] if about.get("beside") else None
        return beside if beside is not None and beside.exists() else Path(about["path"])


def write_config(folder: Path, config: Mapping[str, Any]) -> None:
    """Write ``alignment.json``."""
    write_atomically(folder / CONFIG, seal_document(config))


def write_map(file: Path, found: WordMap, about: Mapping[str, Any] | None = None) -> None:
    """Write a map, complete or not at all; the same map has the same bytes."""
    arrays, facts = {}, dict(about or {})
    for name, side in (("source", found.source), ("target", found.target)):
        facts[f"{name}.steps"] = list(side.steps)
        if side.means:
            arrays[f"{name}.means"] = np.stack(side.means)
        if side.matrix is not None:
            arrays[f"{name}.matrix"] = np.ascontiguousarray(side.matrix, np.float32)
    make_folder(file.parent)
    write_arrays(file, arrays, facts)


def read_map(file: Path) -> WordMap:
    """Read a map; DataError if it is damaged."""
    arrays, facts = read_arrays(file)
    return WordMap(*(_side(file, name, arrays, facts) for name in ("source", "target")))


def write_arrays(file: Path, arrays: Mapping[str, NDArray[Any]], about: Mapping[str, Any]) -> None:
    """Write arrays and facts about them, complete or not at all."""
    plain = {name: np.array(array, order="C") for name, array in arrays.items()}
    facts = json.dumps(about, sort_keys=True)
    sealed = json.dumps({"facts": facts, CHECKSUM: _checksum(plain, facts)}, sort_keys=True)
    write_atomically(file, save(plain, {ABOUT: sealed}))


def _checksum(arrays: Mapping[str, NDArray[Any]], facts: str) -> str:
    """Of all names, types, shapes and numbers, and of the facts."""
    parts = [
        f"{name} {arrays[name].dtype.str} {arrays[name].shape} {digest(arrays[name].data)}" for name in sorted(arrays)
    ]
    return digest("\n".join([facts, *parts]).encode())


def read_arrays(file: Path) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """Arrays and facts about them; DataError if the file is damaged."""
    try:
        content = file.read_bytes()
        arrays = load(content)
        size = int.from_bytes(content[:8], "little")
        about = json.loads(json.loads(content[8 : 8 + size])["__metadata__"][ABOUT])
        if about[CHECKSUM] != _checksum(arrays, about["facts"]):
            raise ValueError("its checksum does not match")
        facts = json.loads(about["facts"])
    except OSError as e:
        raise DataError(f"{file} cannot be read: {e.strerror}.") from None
    except (SafetensorError, ValueError, KeyError, TypeError) as e:
        raise DataError(f"{file} is damaged: {e}. Delete it, and repeat the command that wrote it.") from None
    if not isinstance(facts, dict):
        raise DataError(f"{file} is not a file that `sentprobe align` wrote.")
    return arrays, facts


def _side(file: Path, name: str, arrays: Mapping[str, Any], facts: Mapping[str, Any]) -> SideMap:
    steps = facts.get(f"{name}.steps")
    if not isinstance(steps, list) or not set(steps) <= set(STEPS):
        raise DataError(f"{file} is not a map that `sentprobe align` wrote.")
    means, matrix = arrays.get(f"{name}.means", ()), arrays.get(f"{name}.matrix")
    if len(means) != steps.count("center") or (matrix is not None and matrix.ndim != 2):
        raise DataError(f"{file} is not a map that `sentprobe align` wrote.")
    return SideMap(tuple(steps), tuple(means), matrix)


def _no_map(path: Path, config: Mapping[str, Any]) -> str:
    if config.get("failed"):
        return f"{path} has no map, since the alignment failed: {config['failed']}"
    return f"{path} has no map yet: repeat the command with which it was begun."


def open_alignment(path: str | Path) -> AlignmentFolder:
    """The alignment in a folder; UsageError if there is none."""
    folder = AlignmentFolder(Path(path))
    if not (folder.path / CONFIG).is_file():
        raise UsageError(f"{path} is not an alignment; expected a folder that `sentprobe align` wrote.")
    return folder
