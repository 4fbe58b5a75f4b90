"""Where sets can be downloaded: remote_sets.toml, and the sets that a user names."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

import msgspec

from sentprobe.core.arguments import StringsOrPaths, as_strings, did_you_mean
from sentprobe.errors import UsageError


@dataclass(frozen=True, slots=True)
class File:
    """One file to download; the fields are explained at the top of remote_sets.toml."""

    urls: tuple[str, ...]
    limit: int
    sha256: str = ""
    checksum_source: str = ""
    to: str = ""
    step: str = ""
    unpacked: int = 0
    members: Mapping[str, str] = field(default_factory=dict)
    git_blob: str = ""

    @property
    def has_checksum(self) -> bool:
        """Whether it is known what the file must be."""
        return bool(self.sha256 or self.git_blob)

    @property
    def targets(self) -> tuple[str, ...]:
        """The files that are made from it, under our names."""
        return (self.to,) if self.to else tuple(self.members.values())


@dataclass(frozen=True, slots=True)
class RemoteSet:
    """Where one set can be downloaded, or several that share their files."""

    key: str
    sets: tuple[str, ...]
    home: str
    licence: str
    page: str
    files: tuple[File, ...] = ()
    manual_steps: str = ""
    then: str = ""
    """What to know after the download."""

    def folder(self, data: Path) -> Path:
        """Where it goes, below the folder of all data."""
        return data / self.home


def remote_sets() -> dict[str, RemoteSet]:
    """All sets that can be downloaded, by key."""
    found = tomllib.loads(files(__package__).joinpath("remote_sets.toml").read_text("utf-8"))
    return msgspec.convert({key: {"key": key, **fields} for key, fields in found.items()}, dict[str, RemoteSet])


def select_remote_sets(names: StringsOrPaths, known: Mapping[str, RemoteSet]) -> list[RemoteSet]:
    """The sets of these names, each once; a name may be a key or the name of a set."""
    keys = {name: place.key for place in known.values() for name in (place.key, *place.sets)}
    folded = {name.lower(): key for name, key in keys.items()}
    found: dict[str, RemoteSet] = {}
    for name in as_strings(names, "the name of a set"):
        key = keys.get(name) or folded.get(name.lower())
        if key is None:
            hint = did_you_mean(name, keys, n=1)
            raise UsageError(f"There is no set {name!r} to download.{hint} Expected one of {', '.join(known)}.")
        found[key] = known[key]
    return list(found.values())
