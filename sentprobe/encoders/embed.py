"""Texts + encoder → embeddings: each text once, long ones first, stored as they come, and every vector checked."""

from __future__ import annotations

import html
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.core.arguments import Progress, as_texts, check_integer
from sentprobe.core.cluster import current_cluster
from sentprobe.core.third_party import third_party_code
from sentprobe.data.dataset import Dataset
from sentprobe.data.expectations import expectations_for
from sentprobe.encoders.batches import MIN_WORKER_TEXTS, NamedEncoder, SharedStore, cut_batches, encode_batches
from sentprobe.encoders.call import call_encoder, round_to_half
from sentprobe.encoders.compressed import Compressed
from sentprobe.encoders.encoder import EncoderInfo, encoder_info
from sentprobe.encoders.identity import Identity
from sentprobe.encoders.objects import as_encoder
from sentprobe.encoders.scheme import sends_texts
from sentprobe.encoders.store import Store
from sentprobe.encoders.table import VectorTable, default_spill
from sentprobe.errors import SentProbeWarning, UsageError

Array = npt.NDArray[Any]
VERIFIED_TEXTS = 3
MAX_DRIFT = 0.02
"""By which a vector may differ from the stored one, relative to its length: servers compute in half precision, and in
batches of any size."""
SPARSE_BATCH_SIZE = 1 << 13
"""Texts per call of an encoder with sparse vectors."""


@dataclass(frozen=True, repr=False)
class Embeddings:
    """The vectors of texts, in the order of the texts, as ``embed_texts`` returns them.

    Parameters
    ----------
    texts : tuple of str
        The n texts.
    vectors : array
        (n, d), or (layers, n, d) for an encoder with layers.
    identity : Identity or None
        Everything that can change a vector, if the encoder says so.
    layers : tuple of str
        The names of the layers.
    encoded : int
        How many distinct texts were encoded; the others were in the store.
    seconds : float
        Time spent in the encoder, or waiting for those of worker processes.

    Examples
    --------
    >>> from sentprobe import embed_texts, load_encoder
    >>> found = embed_texts(load_encoder("static:"), ["A short text.", "Another one."])
    >>> found
    <Embeddings 2 texts, 256 dimensions, float32, static:minilm>
    >>> found.vectors.shape
    (2, 256)
    """

    texts: tuple[str, ...]
    vectors: Array
    identity: Identity | None
    layers: tuple[str, ...] = ()
    encoded: int = 0
    seconds: float = 0.0

    def layer(self, name: str) -> Array:
        """The vectors (n, d) of one layer.

        Parameters
        ----------
        name : str
            One of ``layers``.

        Examples
        --------
        >>> import numpy as np
        >>> from sentprobe import embed_texts
        >>> found = embed_texts(lambda texts: np.ones((3, len(texts), 5)), ["A short text."])
        >>> found.layers
        ('0', '1', '2')
        >>> found.layer("2").shape
        (1, 5)
        """
        if name not in self.layers:
            raise UsageError(f"There is no layer {name!r}; the layers are {', '.join(self.layers) or 'unnamed'}.")
        vectors: Array = self.vectors[self.layers.index(name)]
        return vectors

    def __repr__(self) -> str:
        layers = f"{len(self.layers)} layers, " if self.layers else ""
        name = f", {self._name}" if self._name else ""
        n, d = len(self.texts), self.vectors.shape[-1]
        return f"<Embeddings {n:,} text{'s' * (n != 1)}, {layers}{d:,} dimensions, {self.vectors.dtype}{name}>"

    def _repr_html_(self) -> str:
        cells = {
            "encoder": self._name or "a function",
            "texts": f"{len(self.texts):,}",
            "layers": ", ".join(self.layers) or "1",
            "dimensions": f"{self.vectors.shape[-1]:,}",
            "dtype": str(self.vectors.dtype),
            "encoded now": f"{self.encoded:,}",
            "seconds": f"{self.seconds:.1f}",
        }
        rows = "".join(f"<tr><th>{key}</th><td>{html.escape(value)}</td></tr>" for key, value in cells.items())
        return f"<table>{rows}</table>"

    @property
    def _name(self) -> str:
        return f"{self.identity.scheme}:{self.identity.name}" if self.identity else ""


def embed(
    encoder: Callable[[Sequence[str]], Any],
    texts: str | Iterable[str],
    *,
    store: Store | None = None,
    batch_size: int | None = None,
    half: bool = False,
    spill: int | None = None,
    jobs: int = 1,
    sparse: bool = False,
    progress: Progress | None = None,
    name: str | None = None,
) -> Embeddings:
    """Encode texts, each distinct one once, or take their vectors from the store.

    Texts are passed to the encoder in batches of similar length, longest first. Vectors are written to the store as
    they come, so that a crash or Ctrl-C loses little.

    Parameters
    ----------
    encoder : callable
        A function from a list of texts to an array (n, d) or (layers, n, d), or what ``load_encoder`` returns.
    texts : str or iterable of str
        The texts; a single string is one text.
    store : Store, optional
        Where vectors are kept. Those of an encoder without an identity are not.
    batch_size : int, optional
        Texts per call. Default: what the encoder prefers, or 64.
    half : bool
        Round vectors to float16, which takes half the space and is part of the identity.
    spill : int, optional
        Vectors of more bytes than this are kept in a file in the cache folder, which disappears with them; they are
        read like others. Default: 1 GiB, or a quarter of the machine's memory if that is less.
    jobs : int
        Worker processes in which to encode many texts, for an encoder whose attribute ``parallel`` allows it, as those
        of ``static:``, ``vec:`` and ``baseline:`` do; the vectors do not depend on it.
    sparse : bool
        Accept a sparse array of scipy from an encoder with a method ``sparse_vectors``, as baseline:hash has.
    progress : callable, optional
        Called with ``"encode"``, the number of texts that are done, and the number of all.
    name : str, optional
        What ``load_encoder`` loads this encoder by, so that workers of a cluster can do so themselves.

    Returns
    -------
    Embeddings
        One vector per text, in the order of the texts.

    Raises
    ------
    EncoderError
        If the encoder fails, or returns anything but one vector of finite numbers per text (ShapeError).

    Examples
    --------
    >>> import numpy as np
    >>> from sentprobe import embed_texts
    >>> def encode(texts):
    ...     return np.array([[len(text), text.count(" ")] for text in texts])
    >>> found = embed_texts(encode, ["one text", "another", "one text"])
    >>> found.vectors.tolist()
    [[8.0, 1.0], [7.0, 0.0], [8.0, 1.0]]
    >>> found.encoded  # each distinct text once
    2
    """
    texts, jobs = as_texts(texts), check_integer(jobs, "a number of jobs", 1)
    encoder = as_encoder(encoder)
    if sparse and texts and callable(getattr(encoder, "sparse_vectors", None)):
        return _embed_sparse(encoder, texts, half=half, progress=progress)
    if getattr(encoder, "needs_fit", False) and texts:
        # idf weights, a common component: computed from these texts, and so in the identity
        with third_party_code:
            encoder = encoder.fit(texts)  # type: ignore[attr-defined]
    info = encoder_info(encoder)
    if isinstance(encoder, Compressed) and texts:
        source = embed(
            encoder.source, texts, store=store, batch_size=batch_size, spill=spill, jobs=jobs, progress=progress
        )
        vectors = encoder.of(source.vectors)
        vectors = (
            round_to_half(vectors.reshape(-1, *vectors.shape[-2:]), texts).reshape(vectors.shape) if half else vectors
        )
        return replace(source, vectors=vectors, identity=_identity(info, half))
    spill = default_spill() if spill is None else spill
    if spill < 0:
        raise UsageError(f"spill is {spill} bytes; expected 0 or more.")
    identity = _identity(info, half)
    first = first_indices(texts)
    distinct = np.flatnonzero(first == np.arange(len(texts)))
    stored_as = _identity(replace(info, identity=info.identity or info.stored_as), half)
    if store is not None and stored_as is not None and info.cacheable:
        identities = [stored_as.with_facts(layer=name) for name in info.layers] or [stored_as]
        table = VectorTable(texts, max(1, len(info.layers)), spill, store, identities)
        table.read_stored(distinct.tolist())
        if identity is None and not _still_the_same(encoder, table, name or repr(encoder)):
            for outdated in identities:
                store.forget(outdated)
            table = VectorTable(texts, max(1, len(info.layers)), spill, store, identities)
    else:
        table = VectorTable(texts, max(1, len(info.layers)), spill)
    missing = distinct[~table.filled[distinct]]
    if progress:
        progress("encode", len(distinct) - len(missing), len(distinct))
    workers = _Workers.of(_restricted(encoder, texts, missing), info, name, jobs, table, len(missing))
    batches = cut_batches(info, texts, missing, batch_size or info.batch_size)
    table, layers, seconds = _encode_missing(workers, table, info.layers, batches, half, progress, len(distinct))
    table.copy_duplicates(first)
    vectors = table.vectors if layers else table.vectors[0]
    return Embeddings(tuple(texts), vectors, identity, layers, len(missing), seconds)


def _encode_missing(
    workers: _Workers,
    table: VectorTable,
    layers: tuple[str, ...],
    batches: Iterator[list[int]],
    half: bool,
    progress: Progress | None,
    total: int,
) -> tuple[VectorTable, tuple[str, ...], float]:
    """Encode batches of indices and fill the table; the table, the layers, and the seconds spent in the encoder.

    An encoder that has not named its layers may still return several: they are numbered, and the table is another one.
    """
    texts, seconds, done = table.texts, 0.0, int(table.filled.sum())
    stored_by_workers: list[int] = []
    try:
        for indices, vectors, spent in encode_batches(
            workers.encoder, texts, batches, layers, half=half, jobs=workers.jobs, store=workers.store
        ):
            seconds += spent
            done += len(indices)
            if progress:
                progress("encode", done, total)
            if vectors is None:
                stored_by_workers += indices
                continue
            if not layers and vectors.shape[0] > 1 and not table.filled.any() and table.store is None:
                layers = tuple(map(str, range(vectors.shape[0])))
                table = VectorTable(texts, len(layers), table.spill)
            table.put(indices, vectors)
    finally:
        table.flush()
    table.read_new(stored_by_workers)
    return table, layers, seconds


def stored_texts(
    encoder: Any, texts: Sequence[str], store: Store | None, *, half: bool = False
) -> npt.NDArray[np.bool_]:
    """Which texts (n,) have a stored vector."""
    if isinstance(encoder, Compressed):
        return stored_texts(encoder.source, texts, store)
    info, none = encoder_info(encoder), np.zeros(len(texts), bool)
    identity = _identity(replace(info, identity=info.identity or info.stored_as), half)
    if store is None or identity is None or not info.cacheable or getattr(encoder, "needs_fit", False):
        return none
    identities = [identity.with_facts(layer=name) for name in info.layers] or [identity]
    stored: npt.NDArray[np.bool_] = np.logical_and.reduce([store.read(layer, texts)[0] for layer in identities])
    return stored


def _still_the_same(encoder: Any, table: VectorTable, name: str) -> bool:
    """Whether an encoder gives for a few texts the vectors that are stored, though nothing else vouches for them."""
    at = np.flatnonzero(table.filled)[:VERIFIED_TEXTS]
    if not len(at):
        return True
    now = call_encoder(encoder, [table.texts[i] for i in at.tolist()])
    stored = table.vectors[:, at].astype(np.float32)
    if now.shape == stored.shape:
        distance = np.linalg.norm(now - stored, axis=-1)
        if (distance <= MAX_DRIFT * np.maximum(np.linalg.norm(stored, axis=-1), 1e-12)).all():
            return True
    text = f"{name} gives other vectors than those that are stored: it has changed. All texts are encoded again."
    warnings.warn(SentProbeWarning(text), stacklevel=3)
    return False


def first_indices(texts: Sequence[str]) -> npt.NDArray[np.int64]:
    """Where each text occurs first (n,)."""
    first: dict[str, int] = {}
    return np.fromiter(map(first.setdefault, texts, range(len(texts))), np.int64, len(texts))


def _identity(info: EncoderInfo, half: bool) -> Identity | None:
    """The identity of the vectors, which are rounded if ``half``."""
    return info.identity.with_facts(kept="float16") if half and info.identity is not None else info.identity


def _restricted(encoder: Any, texts: Sequence[str], missing: npt.NDArray[np.int64]) -> Any:
    """An encoder of word vectors with only those of the missing texts in memory; others as they are."""
    restrict, tokens = getattr(encoder, "restrict", None), getattr(encoder, "tokens", None)
    if len(missing) and callable(restrict) and callable(tokens):
        return restrict(tokens([texts[i] for i in missing.tolist()]))
    return encoder


@dataclass(frozen=True)
class _Workers:
    """The encoder as it is sent to worker processes, how many these are, and the store that they write to."""

    encoder: Any
    jobs: int
    store: SharedStore | None = None

    @classmethod
    def of(
        cls, encoder: Any, info: EncoderInfo, name: str | None, jobs: int, table: VectorTable, missing: int
    ) -> _Workers:
        """Who encodes so many missing texts; one job if the encoder has to stay here.

        On a cluster, an encoder that is slow on a processor is loaded there. One that calls a server is not: its key
        may be here only.
        """
        if current_cluster() is None:
            return cls(encoder, jobs if info.parallel and missing >= MIN_WORKER_TEXTS else 1)
        shared = None
        if table.store is not None and table.store.limit is None:
            shared = SharedStore(table.store.root, tuple(table.identities))
        if info.parallel:
            return cls(encoder, jobs, shared)
        if name and not sends_texts(name):
            return cls(NamedEncoder(name, info.identity), jobs, shared)
        return cls(encoder, 1, shared)


def _embed_sparse(encoder: Any, texts: Sequence[str], *, half: bool, progress: Progress | None) -> Embeddings:
    """The sparse vectors of texts, which are not stored: bags of words take less time to count than to read."""
    from scipy.sparse import vstack

    identity = _identity(encoder_info(encoder), half)
    started = time.perf_counter()
    parts = []
    for start in range(0, len(texts), SPARSE_BATCH_SIZE):
        if progress:
            progress("encode", start, len(texts))
        with third_party_code:
            parts.append(encoder.sparse_vectors(texts[start : start + SPARSE_BATCH_SIZE]))
    vectors = vstack(parts, format="csr") if len(parts) > 1 else parts[0]
    if half:  # scipy computes with float32
        vectors.data = vectors.data.astype(np.float16).astype(np.float32)
    if progress:
        progress("encode", len(texts), len(texts))
    return Embeddings(tuple(texts), vectors, identity, (), len(set(texts)), time.perf_counter() - started)


def collect_texts(datasets: Dataset | Iterable[Dataset], split: str | None = None) -> list[str]:
    """The distinct texts of sets, or of one split of them, with any further inputs that are given to the encoder."""
    texts: dict[str, None] = {}
    for dataset in (datasets,) if isinstance(datasets, Dataset) else datasets:
        texts |= dict.fromkeys(texts_of_set(dataset, split)[1])
    return list(texts)


def texts_of_set(dataset: Dataset, split: str | None = None) -> tuple[list[str], list[str]]:
    """The distinct texts of the rows of a set, and the same with any further inputs that are given to the encoder."""
    inputs = expectations_for(dataset).inputs
    row_texts: dict[str, None] = {}
    all_texts: dict[str, None] = {}
    for part, row in dataset:
        if split not in (None, part):
            continue
        row_texts[row.text] = all_texts[row.text] = None
        if inputs:
            all_texts |= dict.fromkeys(value for name, value in row.extra if name in inputs)
    return list(row_texts), list(all_texts)
