"""Files of models that others have released: which are missing and where they are published, and how they are read.

Nothing is downloaded, and no pickled code is run: weights in torch's files are read by torch's own reader of plain
tensors, which knows no other objects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from sentprobe.core.cache import cache_folder
from sentprobe.core.files import make_folder, reject_special_file, write_atomically
from sentprobe.core.third_party import summarise_error
from sentprobe.encoders.checksums import hash_file
from sentprobe.encoders.hub import import_optional
from sentprobe.encoders.identity import Spec
from sentprobe.encoders.wordvectors.vectors import fingerprint
from sentprobe.errors import DataError, EncoderError, SentProbeError, UsageError

EXTRA = "released"
"""The extra of sentprobe with what released models need."""


class PublishedFile(NamedTuple):
    """A file that authors have published."""

    name: str
    address: str
    what: str


def place_of(spec: Spec, files: Sequence[PublishedFile]) -> Path:
    """The file or folder that a spec names. UsageError if it names none, EncoderError if there is no such place."""
    if not spec.path:
        raise UsageError(f"{spec} names no file or folder; expected {spec.scheme}:PATH. {list_files(files)}")
    place = Path(spec.path).expanduser()
    if not place.exists():
        raise EncoderError(f"{spec}: there is no file or folder {spec.path!r}. {list_files(files)}")
    return place


def require_files(spec: Spec, found: Iterable[Path], files: Sequence[PublishedFile]) -> None:
    """EncoderError if some files are not there, with where they are published."""
    missing = [path for path in found if not path.is_file()]
    if missing:
        names = ", ".join(map(str, missing))
        raise EncoderError(f"{spec}: there is no file {names}. {list_files(files)}")


def list_files(files: Sequence[PublishedFile]) -> str:
    """Which files are needed, and where they are published."""
    each = "; ".join(f"{file.name} ({file.what}), {file.address}" for file in files)
    return f"Files are not downloaded; they are published as: {each}."


def read_tensors(spec: Spec, path: Path) -> Any:
    """What a torch file holds: tensors, numbers, strings and containers; anything else is refused unread."""
    torch = import_optional("torch", f"{spec.scheme}: needs", EXTRA)
    try:
        reject_special_file(path)
        return torch.load(path, map_location="cpu", weights_only=True)
    except Exception as why:  # a damaged file may raise anything
        raise EncoderError(
            f"{spec}: {path} is not a file of plain weights, or it is damaged: {summarise_error(why)}. Pickled models, "
            "which could run any code when they are loaded, are not read."
        ) from why


def content_of(*paths: Path) -> str:
    """The hash of the contents of files."""
    state = hashlib.blake2b(digest_size=16)
    for path in paths:
        state.update(_hash(path).encode())
    return state.hexdigest()


def _hash(path: Path) -> str:
    """The hash of a file, which is remembered in the cache for as long as the file is not touched."""
    try:
        place = cache_folder() / "hashes" / fingerprint(path)
        try:
            known = place.read_text("ascii")
        except (OSError, UnicodeDecodeError):
            known = ""
        if len(known) == 32:
            return known
        found = hash_file(path)
    except OSError as why:
        raise DataError(f"{path} cannot be read: {why.strerror}.") from None
    with suppress(OSError, SentProbeError):  # it can be computed again
        make_folder(place.parent)
        write_atomically(place, found.encode())
    return found
