"""Texts + encoder → embeddings: each text once, long ones first, kept as they come, and never a vector that is none."""

from __future__ import annotations

import math
import mmap
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import IO, Any

import numpy as np
import numpy.typing as npt

from sonde.core.arguments import as_texts
from sonde.core.cache import cache_folder
from sonde.core.third_party import third_party_code
from sonde.data.dataset import Dataset
from sonde.data.expected import expectations_for
from sonde.encoders import Identity
from sonde.encoders.store import Store
from sonde.errors import EncoderError, ShapeError, SondeError, UsageError, describe_error

BATCH = 64
"""Texts at a time, for encoders that say nothing."""
SHARD_ROWS, SHARD_SECONDS = 8192, 20.0
"""Vectors are written to the store when there are so many, or so much time has passed."""

COST_CHUNK = 4096
"""Texts whose cost is asked for at a time."""
MIN_COST_RATIO = 0.75
"""A batch ends where a text costs less than this share of the first: else it would be padded to its length."""

READ_BYTES = 1 << 24
"""Bytes of vectors that are read from the store at a time, at the least."""

Array = npt.NDArray[Any]
Progress = Callable[[str, int, int | None], None]


@dataclass(frozen=True)
class Embeddings:
    """One vector per text, in the order of the texts: (n, d), or (layers, n, d) where an encoder has layers."""

    texts: tuple[str, ...]
    vectors: Array
    identity: Identity | None
    layers: tuple[str, ...] = ()
    encoded: int = 0
    """How many different texts the encoder was asked for; the others were in the store."""
    seconds: float = 0.0
    """Time spent in the encoder."""

    def layer(self, name: str) -> Array:
        """The vectors of one layer."""
        if name not in self.layers:
            raise UsageError(f"There is no layer {name!r}; the layers are {', '.join(self.layers) or 'none'}.")
        found: Array = self.vectors[self.layers.index(name)]
        return found


def embed(
    encoder: Callable[[Sequence[str]], Any],
    texts: str | Iterable[str],
    *,
    store: Store | None = None,
    batch_size: int | None = None,
    half: bool = False,
    spill: int | None = None,
    progress: Progress | None = None,
) -> Embeddings:
    """Encode texts, each different one once, or take them from the store. A single string is one text.

    Texts go to the encoder in batches of like length, longest first. Vectors are written to the store as they come, so
    that a crash or Ctrl-C loses little; an encoder without identity has no place in a store. ``half`` rounds them to
    float16, which takes half the space and is part of the identity. Vectors of more than ``spill`` bytes (a quarter of
    the machine's memory) lie in a file in the cache folder, which is gone when they are; to read they are like others.
    """
    texts = as_texts(texts)
    if getattr(encoder, "needs_fit", False) and texts:
        # idf weights, a common component: from these texts, and so in the identity
        with third_party_code:
            encoder = encoder.fit(texts)  # type: ignore[attr-defined]
    about = facts(encoder)
    identity, layers = about.identity, about.layers
    if half and identity is not None:
        identity = identity.with_facts(kept="float16")
    place: dict[str, int] = {}
    for i, text in enumerate(texts):
        place.setdefault(text, i)
    spill = _quarter() if spill is None else spill
    if spill < 0:
        raise UsageError(f"spill is {spill} bytes; expected 0 or more.")
    table = _Table(max(1, len(layers)), len(texts), spill)
    kept = None
    if store is not None and identity is not None and about.cacheable:
        kept = _StoredVectors(store, identity, layers, texts, table)
        kept.read(list(place.values()))
    missing = [i for i in place.values() if not table.there[i]]
    restrict, tokens = getattr(encoder, "restrict", None), getattr(encoder, "tokens", None)
    if missing and callable(restrict) and callable(tokens):  # word vectors: only those of these texts in memory
        encoder = restrict(tokens([texts[i] for i in missing]))
    spent, done = 0.0, len(place) - len(missing)
    if progress:
        progress("encode", done, len(place))
    try:
        for places in _batches(about, texts, missing, batch_size or about.batch_size):
            some = [texts[i] for i in places]
            started = time.perf_counter()
            vectors = call_encoder(encoder, some, layers)
            spent += time.perf_counter() - started
            if not layers and vectors.shape[0] > 1 and not table.there.any() and kept is None:
                layers = tuple(map(str, range(vectors.shape[0])))
                table = _Table(len(layers), len(texts), spill)
            table.put(places, _rounded(vectors, some) if half else vectors.astype(np.float32, copy=False), some)
            if kept is not None:
                kept.add(places)
            done += len(places)
            if progress:
                progress("encode", done, len(place))
    finally:
        if kept is not None:
            kept.flush()
    table.repeat([place[text] for text in texts])
    vectors = table.vectors if layers else table.vectors[0]
    return Embeddings(tuple(texts), vectors, identity, layers, len(missing), spent)


@dataclass(frozen=True, slots=True)
class EncoderInfo:
    """What an encoder says about itself; attributes of another kind are somebody else's, and not looked at."""

    identity: Identity | None
    layers: tuple[str, ...]
    batch_size: int
    cost: Callable[[Sequence[str]], Sequence[int]] | None
    cacheable: bool


def collect_texts(datasets: Dataset | Iterable[Dataset]) -> list[str]:
    """The different texts of sets, further inputs that are given to the encoder included, in order."""
    found: dict[str, None] = {}
    for dataset in (datasets,) if isinstance(datasets, Dataset) else datasets:
        inputs = expectations_for(dataset).inputs
        for _, row in dataset:
            found[row.text] = None
            found |= dict.fromkeys(value for name, value in row.extra if name in inputs)
    return list(found)


def facts(encoder: Any) -> EncoderInfo:
    """The attributes of an encoder that are what they should be."""
    identity, layers = getattr(encoder, "identity", None), getattr(encoder, "layers", None)
    size, cost = getattr(encoder, "batch", None), getattr(encoder, "cost", None)
    named = isinstance(layers, list | tuple) and all(isinstance(name, str) for name in layers)
    return EncoderInfo(
        identity if isinstance(identity, Identity) else None,
        tuple(layers) if named and layers is not None else (),
        size if isinstance(size, int) and not isinstance(size, bool) and size > 0 else BATCH,
        cost if callable(cost) else None,
        getattr(encoder, "keep", True) is not False,
    )


def call_encoder(encoder: Callable[[Sequence[str]], Any], texts: Sequence[str], layers: Sequence[str] = ()) -> Array:
    """Call the encoder and make sure that what comes back are vectors of these texts: (layers or 1, n, d), float32."""
    texts = as_texts(texts)
    try:
        with third_party_code:
            answer = encoder(list(texts))
    except (SondeError, KeyboardInterrupt):
        raise
    except BaseException as e:  # sys.exit, too, is a failure of the encoder and no end of the program
        raise EncoderError(
            f"The encoder failed on a batch of {len(texts)} texts that begins with {preview(texts[0])}: "
            f"{describe_error(e)}"
        ) from e
    return check_vectors(answer, texts, layers)


def check_vectors(answer: Any, texts: Sequence[str], layers: Sequence[str] = ()) -> Array:
    """An encoder's answer as an array (layers or 1, n, d) of finite numbers, or an error that names the first text."""
    try:
        with np.errstate(over="ignore"):  # what single precision cannot hold becomes infinite, which is told below
            array = _as_array(answer, texts)
    except SondeError:
        raise
    except Exception as e:
        raise ShapeError(
            f"The encoder gave {type(answer).__name__} for a batch that begins with {preview(texts[0])}, which "
            f"cannot be "
            f"read as vectors: {type(e).__name__}: {e}"
        ) from e
    if array.ndim == 2 and not layers:
        array = array[None]
    if array.ndim != 3:
        raise ShapeError(
            f"The encoder gave an array of shape {array.shape} for {len(texts)} texts; "
            f"expected {'(layers, texts, dimension)' if layers else '(texts, dimension)'}."
        )
    if layers and array.shape[0] != len(layers):
        raise ShapeError(f"The encoder gave {array.shape[0]} layers; expected {len(layers)}: {', '.join(layers)}.")
    if array.shape[1] != len(texts):
        raise ShapeError(
            f"The encoder gave {array.shape[1]} vectors for {len(texts)} texts, the first of which is "
            f"{preview(texts[0])}; expected one each."
        )
    if not array.shape[2]:
        raise ShapeError(f"The encoder gave vectors without numbers, for {preview(texts[0])} first.")
    bad = ~np.isfinite(array).all(axis=(0, 2))
    if bad.any():
        first = texts[int(np.argmax(bad))]
        raise EncoderError(
            f"The encoder gave NaN or infinite numbers for {int(bad.sum())} of {len(texts)} texts, for "
            f"{preview(first)} first; expected finite ones."
        )
    return array


def _rounded(vectors: Array, texts: Sequence[str]) -> Array:
    with np.errstate(over="ignore"):
        out = vectors.astype(np.float16)
    if not np.isfinite(out).all():
        first = texts[int(np.argmax(~np.isfinite(out).all(axis=(0, 2))))]
        raise EncoderError(f"The vector of {preview(first)} has numbers above 65,504, which float16 cannot hold.")
    return out


def _as_array(answer: Any, texts: Sequence[str]) -> Array:
    """Numpy arrays, torch tensors on any device, and lists of these."""
    if hasattr(answer, "detach"):
        answer = answer.detach().to("cpu")
        answer = answer.float().numpy() if str(answer.dtype) == "torch.bfloat16" else answer.numpy()
    elif isinstance(answer, list | tuple) and answer and hasattr(answer[0], "detach"):
        return _stacked([_as_array(a, texts) for a in answer], texts)
    if isinstance(answer, np.ma.MaskedArray) and answer.dtype.kind in "fiu":
        answer = np.ma.filled(answer.astype(np.float32), np.nan)  # where there is none
    if isinstance(answer, np.ndarray) and answer.dtype == object:
        answer = list(answer)
    if not isinstance(answer, np.ndarray):
        if not isinstance(answer, list | tuple):
            raise ShapeError(
                f"The encoder gave {type(answer).__name__} for a batch that begins with {preview(texts[0])}; "
                "expected an array, a tensor or a list of vectors."
            )
        return _stacked([_row(row, texts, i) for i, row in enumerate(answer)], texts)
    if answer.dtype.kind not in "fiu":
        raise ShapeError(f"The encoder gave an array of {answer.dtype}; expected numbers.")
    return answer if answer.dtype in (np.float32, np.float16) else answer.astype(np.float32)


def _row(row: Any, texts: Sequence[str], i: int) -> Array:
    try:
        return np.asarray(row)
    except (ValueError, TypeError) as e:
        text = preview(texts[i]) if i < len(texts) else f"vector {i + 1}"
        raise ShapeError(f"The encoder gave no vector for {text}: {e}") from e


def _stacked(rows: Sequence[Array], texts: Sequence[str]) -> Array:
    for i, row in enumerate(rows):
        if row.dtype.kind not in "fiu" or row.shape != rows[0].shape:
            text = preview(texts[i]) if i < len(texts) else f"vector {i + 1}"
            what = f"shape {row.shape}" if row.dtype.kind in "fiu" else f"{row.dtype}"
            raise ShapeError(
                f"The encoder gave {what} for {text}, and {rows[0].shape} for {preview(texts[0])}; "
                "expected vectors of one length."
            )
    return np.stack(rows).astype(np.float32) if rows else np.zeros((0, 0), np.float32)


def preview(text: str) -> str:
    """The beginning of a text, in quotes."""
    return repr(text if len(text) <= 60 else text[:60] + "…")


def _batches(about: EncoderInfo, texts: Sequence[str], missing: Sequence[int], size: int) -> Iterator[list[int]]:
    """Places of texts of like cost, longest first, so that what does not fit in memory shows among the first."""
    costs: list[int] = []
    for a in range(0, len(missing), COST_CHUNK):
        some = [texts[i] for i in missing[a : a + COST_CHUNK]]
        try:
            with third_party_code:
                costs += about.cost(some) if about.cost is not None else map(len, some)
        except (SondeError, KeyboardInterrupt):
            raise
        except BaseException as e:
            raise EncoderError(
                f"The encoder cannot say what texts cost, the first of which is {preview(some[0])}: {describe_error(e)}"
            ) from e
    places: list[int] = []
    most = 0
    # a stable sort, and places go up
    for cost, i in sorted(zip(costs, missing, strict=True), key=itemgetter(0), reverse=True):
        # an encoder without costs does not pad, for all we know, and may be paid by the call
        unlike = about.cost is not None and most - cost > (1 - MIN_COST_RATIO) * abs(most)
        if places and (unlike or len(places) == size):
            yield places
            places = []
        if not places:
            most = cost
        places.append(i)
    if places:
        yield places


class _Table:
    """Vectors on their way to their places; the first tell the dimension."""

    def __init__(self, layers: int, n: int, spill: int) -> None:
        self.layers, self.there, self.spill = layers, np.zeros(n, bool), spill
        self.vectors: Array = np.zeros((layers, n, 0), np.float32)

    def put(self, places: Sequence[int] | Array, vectors: Array, texts: Sequence[str]) -> None:
        """Copy the rows of a batch: the encoder may use its own array again."""
        if vectors.shape[0] != self.layers:
            raise ShapeError(
                f"The encoder gave {vectors.shape[0]} layers; expected {self.layers}. One that gives several, and "
                "whose vectors are kept, names them in its attribute `layers`."
            )
        if not self.there.any():
            self.vectors = _room((self.layers, len(self.there), vectors.shape[2]), vectors.dtype, self.spill)
        if vectors.shape[2] != self.vectors.shape[2]:
            raise ShapeError(
                f"The encoder gave vectors of {vectors.shape[2]} numbers for {preview(texts[0])} and of "
                f"{self.vectors.shape[2]} before; expected one dimension."
            )
        self.vectors[:, places] = vectors
        self.there[places] = True

    def repeat(self, places: Sequence[int]) -> None:
        """Give each row the vectors of the row whose text it repeats, few at a time: a copy of all may have no room."""
        again = [i for i, place in enumerate(places) if i != place]
        for a in range(0, len(again), COST_CHUNK):
            some = again[a : a + COST_CHUNK]
            self.vectors[:, some] = self.vectors[:, [places[i] for i in some]]


class _StoredVectors:
    """The store for one encoder: every layer has an identity of its own."""

    def __init__(
        self, store: Store, identity: Identity, layers: Sequence[str], texts: Sequence[str], table: _Table
    ) -> None:
        self.store, self.texts, self.table = store, texts, table
        self.names = [identity.with_facts(layer=name) for name in layers] or [identity]
        self.waiting: list[int] = []
        self.since = time.monotonic()

    def read(self, places: Sequence[int]) -> None:
        """Put into the table what is there in all layers."""
        kinds = {(vectors.shape[1], vectors.dtype) for _, vectors in (self.store.read(name, ()) for name in self.names)}
        (dimension, dtype), *others = kinds
        if others or not dimension:
            return
        table, width = self.table, len(self.names) * dimension * dtype.itemsize
        if len(self.names) == 1 and len(places) == len(self.texts) and len(places) * width <= table.spill:
            table.there, vectors = self.store.read(self.names[0], self.texts)
            table.vectors = vectors[None]  # which needs no copy
            return
        # as they were written, more or less, so that those read at a time lie together
        places = sorted(places, key=lambda i: -len(self.texts[i]))
        rows = max(1, max(READ_BYTES, table.spill // 4) // width)
        for a in range(0, len(places), rows):
            some = places[a : a + rows]
            texts = [self.texts[i] for i in some]
            found = [self.store.read(name, texts) for name in self.names]
            there = np.logical_and.reduce([mask for mask, _ in found])
            if there.any() and all(vectors.shape[1] == dimension for _, vectors in found):
                table.put(np.array(some)[there], np.stack([vectors[there] for _, vectors in found]), texts)

    def add(self, places: Sequence[int]) -> None:
        """Rows of the table that are to be written, now or soon."""
        self.waiting += places
        if len(self.waiting) >= SHARD_ROWS or time.monotonic() - self.since > SHARD_SECONDS:
            self.flush()

    def flush(self) -> None:
        """Write what is waiting."""
        if self.waiting:
            texts = [self.texts[i] for i in self.waiting]
            for name, vectors in zip(self.names, self.table.vectors, strict=True):
                self.store.write(name, texts, vectors[self.waiting])
            self.waiting = []
        self.since = time.monotonic()


def _quarter() -> int:
    """A quarter of the machine's memory in bytes; where the system does not say how much that is, any number."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4
    except (AttributeError, ValueError, OSError):
        return sys.maxsize


def _room(shape: tuple[int, ...], dtype: np.dtype[Any], spill: int) -> Array:
    """Zeros in memory, or, if they take more than ``spill`` bytes, in a file that has no name and is gone with them."""
    size = math.prod(shape) * dtype.itemsize
    if size <= spill:
        return np.zeros(shape, dtype)
    folder = cache_folder()
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder) as file:
            _reserve(file, size)
            # no np.memmap: joblib would look for its file by name
            return np.ndarray(shape, dtype, mmap.mmap(file.fileno(), size))
    except OSError as e:
        raise EncoderError(
            f"The vectors take {size:,} bytes, which is more than the {spill:,} that may lie in memory, and {folder} "
            f"has no room for them: {e.strerror or e}. Make room there, set SONDE_CACHE to a folder of another disk, "
            "or encode fewer texts at a time, fewer layers, or in half precision."
        ) from e


def _reserve(file: IO[bytes], size: int) -> None:
    """Take the space on the disk now: a mapped file that meets a full disk later ends the process."""
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file.fileno(), 0, size)
        return
    zeros = bytes(READ_BYTES)
    for a in range(0, size, READ_BYTES):
        file.write(zeros[: size - a])
    file.flush()
