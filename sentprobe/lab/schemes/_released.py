"""Models that others have released: which files are missing and where they are published, how they are read, and what
recurrent ones compute from the vectors of tokens.

Nothing is downloaded, and no pickled code is run: weights in torch's files are read by torch's own reader of plain
tensors, which knows no other objects.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import as_texts
from sentprobe.core.files import make_folder, reject_special_file, write_atomically
from sentprobe.core.folders import cache_folder
from sentprobe.core.third_party import summarise_error
from sentprobe.encoders.checksums import hash_file
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.hub import import_optional
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.wordvectors.vectors import fingerprint
from sentprobe.errors import DataError, EncoderError, SentProbeError, UsageError
from sentprobe.lab.networks.inference import Floats, Ints, batches_by_length

EXTRA = "released"
"""The extra of sentprobe with what released models need."""
Tokens = Callable[[str], list[str]]
Lookup = Callable[[Sequence[str]], Floats]
"""From distinct tokens to their vectors (n, width)."""


class PublishedFile(NamedTuple):
    """A file that authors have published."""

    name: str
    address: str
    what: str


def path_of(spec: Spec, files: Sequence[PublishedFile]) -> Path:
    """The file or folder that a spec names. UsageError if it names none, EncoderError if there is no such place."""
    if not spec.path:
        raise UsageError(f"{spec} names no file or folder; expected {spec.scheme}:PATH. {list_files(files)}")
    path = Path(spec.path).expanduser()
    if not path.exists():
        raise EncoderError(f"{spec}: there is no file or folder {spec.path!r}. {list_files(files)}")
    return path


def require_files(spec: Spec, paths: Iterable[Path], files: Sequence[PublishedFile]) -> None:
    """EncoderError if some files are not there, with where they are published."""
    missing = [path for path in paths if not path.is_file()]
    if missing:
        names = ", ".join(map(str, missing))
        raise EncoderError(f"{spec}: there is no file {names}. {list_files(files)}")


def list_files(files: Sequence[PublishedFile]) -> str:
    """Which files are needed, and where they are published."""
    listed = "; ".join(f"{file.name} ({file.what}), {file.address}" for file in files)
    return f"Files are not downloaded; they are published as: {listed}."


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
        cache_file = cache_folder() / "hashes" / fingerprint(path)
        try:
            cached = cache_file.read_text("ascii")
        except (OSError, UnicodeDecodeError):
            cached = ""
        if len(cached) == 32:
            return cached
        content = hash_file(path)
    except OSError as why:
        raise DataError(f"{path} cannot be read: {why.strerror}.") from None
    with suppress(OSError, SentProbeError):  # it can be computed again
        make_folder(cache_file.parent)
        write_atomically(cache_file, content.encode())
    return content


# Recurrent networks


@dataclass(frozen=True, eq=False, repr=False)
class MaxOverStates:
    """The maximum over the states of a network that has read the tokens of a text; zeros for a text without any."""

    identity: Identity
    network: Any
    """A ``ReleasedLstm``, whose module imports torch."""
    tokens: Tokens
    lookup: Lookup
    begin: tuple[str, ...] = ()
    end: tuple[str, ...] = ()
    """What stands before and after the tokens of every text."""
    batch_size: int = 1024
    languages: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return short_repr(self, f"{self.identity.scheme}:{self.identity.name}", f"{self.network.size} dimensions")

    def __call__(self, texts: Sequence[str], /) -> Floats:
        """Vectors (n, size)."""
        return encode_tokens(self._rows(texts), self.lookup, self.network.vectors, self.network.size)

    def words(self, words: Sequence[str], /) -> Floats:
        """The mean of the input vectors of each word's tokens (n, width); zeros for a word without any."""
        return mean_inputs([self.tokens(word) for word in as_texts(words)], self.lookup, self.network.width)

    def selection(self, texts: Sequence[str], /) -> list[list[tuple[str, float]]]:
        """The tokens of each text, and the share of dimensions whose maximum each of them gives."""
        rows = self._rows(texts)
        selections: list[list[tuple[str, float]]] = [[] for _ in rows]
        for indices, inputs, lengths in batched_inputs(rows, self.lookup):
            for i, shares in zip(indices, self.network.shares(inputs, lengths).tolist(), strict=True):
                selections[i] = list(zip(rows[i], shares[: len(rows[i])], strict=True))
        return selections

    def _rows(self, texts: Sequence[str]) -> list[list[str]]:
        return [[*self.begin, *self.tokens(text), *self.end] for text in as_texts(texts)]


def encode_tokens(
    rows: Sequence[Sequence[str]], lookup: Lookup, network: Callable[[Floats, Ints], Floats], size: int
) -> Floats:
    """Vectors (n, size) of lists of tokens; zeros for an empty one."""
    vectors = np.zeros((len(rows), size), np.float32)
    for indices, inputs, lengths in batched_inputs(rows, lookup):
        vectors[indices] = network(inputs, lengths)
    return vectors


def batched_inputs(rows: Sequence[Sequence[str]], lookup: Lookup) -> Iterator[tuple[list[int], Floats, Ints]]:
    """Places, inputs (sentences, time, width) and lengths of the lists that are not empty, in batches."""
    table, ids = _numbered(rows, lookup)
    filled = [i for i, row in enumerate(rows) if row]
    for batch in batches_by_length([len(rows[i]) for i in filled]):
        indices = [filled[i] for i in batch]
        lengths = np.array([len(rows[i]) for i in indices], np.int64)
        inputs = np.zeros((len(indices), int(lengths[-1]), table.shape[1]), np.float32)
        for line, i in zip(inputs, indices, strict=True):
            line[: len(rows[i])] = table[ids[i]]
        yield indices, inputs, lengths


def mean_inputs(rows: Sequence[Sequence[str]], lookup: Lookup, width: int) -> Floats:
    """The means (n, width) of the vectors of lists of tokens; zeros for an empty one."""
    table, ids = _numbered(rows, lookup)
    means = np.zeros((len(rows), width), np.float32)
    for mean, tokens in zip(means, ids, strict=True):
        if len(tokens):
            mean[:] = table[tokens].mean(0, dtype=np.float64)
    return means


def _numbered(rows: Sequence[Sequence[str]], lookup: Lookup) -> tuple[Floats, list[NDArray[np.int64]]]:
    """The vectors of the distinct tokens, and the tokens of each list as numbers of these."""
    numbers: dict[str, int] = {}
    ids = [np.array([numbers.setdefault(token, len(numbers)) for token in row], np.int64) for row in rows]
    return lookup(list(numbers)), ids
