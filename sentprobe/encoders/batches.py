"""Texts in batches: cut by their cost, and encoded here, in worker processes, or on the workers of a cluster.

On a cluster an encoder is loaded once per process, and its vectors take their way through the store.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import repeat
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sentprobe.core.cluster import current_cluster
from sentprobe.core.folders import scratch_folder
from sentprobe.core.third_party import third_party_code
from sentprobe.core.workers import map_in_workers
from sentprobe.encoders.call import call_encoder, partial_vectors, preview, round_to_half
from sentprobe.encoders.encoder import EncoderInfo, encoder_info
from sentprobe.encoders.identity import Identity
from sentprobe.encoders.scheme import load
from sentprobe.encoders.store import Store
from sentprobe.errors import EncoderError, SentProbeError, describe_error

COST_CHUNK = 4096
"""Texts whose cost is computed at a time."""
MIN_COST_RATIO = 0.75
"""A batch ends at a text that costs less than this share of the first: it would be padded to its length."""
MIN_WORKER_TEXTS = 1 << 16
"""Fewer texts are encoded sooner than worker processes start."""
CALL_TEXTS, CALL_BYTES = 1 << 16, 1 << 26
"""What a worker encodes at a time, at most: texts, and bytes of vectors. The encoder is copied to it with each call."""
MAX_DELAY_SECONDS = 60.0
"""How long network storage may take to show a file that another machine has written: NFS caches folders."""
POLL_SECONDS = 0.2

Array = npt.NDArray[Any]
Encoder = Callable[[Sequence[str]], Any]


@dataclass(frozen=True)
class NamedEncoder:
    """An encoder that is loaded by its name where it is called."""

    name: str
    identity: Identity | None
    """What it must be: model files may differ between machines."""

    def __call__(self, texts: Sequence[str]) -> Any:
        """Vectors of the texts."""
        return _loaded(self.name, self.identity)(texts)


@lru_cache(maxsize=1)
def _loaded(name: str, identity: Identity | None) -> Any:
    encoder = load(name)
    if identity is not None and (got := encoder_info(encoder).identity) != identity:
        raise EncoderError(
            f"A worker of the cluster has another {name}: expected {identity}, got {got}. Let all nodes load the same "
            "files, from shared storage."
        )
    return encoder


@dataclass(frozen=True)
class SharedStore:
    """A store that all machines see, and what vectors are stored as: an identity for each layer."""

    root: Path
    identities: tuple[Identity, ...]

    def write(self, texts: Sequence[str], vectors: Array) -> bool:
        """Write the vectors (layers, n, d) of texts, a shard per layer; False if that is not possible."""
        store = Store(self.root)
        return all(
            store.write(name, texts, layer_vectors)
            for name, layer_vectors in zip(self.identities, vectors, strict=True)
        )


def poll_attempts() -> Iterator[None]:
    """Attempts to read what another machine has just written, a moment apart."""
    until = time.monotonic() + MAX_DELAY_SECONDS
    while time.monotonic() < until:
        yield
        time.sleep(POLL_SECONDS)


def cut_batches(
    info: EncoderInfo, texts: Sequence[str], missing: npt.NDArray[np.int64], size: int
) -> Iterator[list[int]]:
    """Indices of texts of similar cost, longest first, so that running out of memory happens early."""
    costs: list[int] = []
    for a in range(0, len(missing), COST_CHUNK):
        chunk = [texts[i] for i in missing[a : a + COST_CHUNK].tolist()]
        try:
            with third_party_code:
                costs += info.cost(chunk) if info.cost is not None else map(len, chunk)
        except (SentProbeError, KeyboardInterrupt):
            raise
        except BaseException as e:
            raise EncoderError(
                f"The encoder's cost() failed on texts that begin with {preview(chunk[0])}: {describe_error(e)}"
            ) from e
    batch: list[int] = []
    most = 0
    for cost, i in _most_expensive_first(costs, missing):
        # an encoder without costs may not pad at all, and may be billed per call
        unlike = info.cost is not None and most - cost > (1 - MIN_COST_RATIO) * abs(most)
        if batch and (unlike or len(batch) == size):
            yield batch
            batch = []
        if not batch:
            most = cost
        batch.append(i)
    if batch:
        yield batch


def _most_expensive_first(costs: Sequence[int], indices: npt.NDArray[np.int64]) -> Iterator[tuple[int, int]]:
    """Costs and indices, in descending order of the costs; indices of equal cost stay in order."""
    if len(costs) != len(indices):
        raise EncoderError(
            f"The encoder's cost() gave {len(costs)} numbers for {len(indices)} texts; expected as many."
        )
    # backwards, so that a stable sort leaves equal ones in order once it is turned round
    order = len(costs) - 1 - np.argsort(np.array(costs)[::-1], kind="stable")[::-1]
    for a in range(0, len(order), COST_CHUNK):
        chunk = order[a : a + COST_CHUNK]
        yield from ((costs[j], i) for j, i in zip(chunk.tolist(), indices[chunk].tolist(), strict=True))


def encode_batches(
    encoder: Encoder,
    texts: Sequence[str],
    batches: Iterable[list[int]],
    layers: Sequence[str],
    *,
    half: bool,
    jobs: int,
    store: SharedStore | None = None,
) -> Iterator[tuple[list[int], Array | None, float]]:
    """Indices of texts and their vectors (layers, n, d), with the seconds that were spent on them or waited for them.

    With a store, worker processes write vectors to it, a call at a time, and there is None in their place.
    """
    if jobs == 1:
        for batch in batches:
            started = time.perf_counter()
            try:
                vectors = _encode(encoder, [texts[i] for i in batch], layers, half)
            except BaseException as error:  # Ctrl-C, too: what a server has answered is paid for
                numbers, vectors_of_some = partial_vectors(error)
                answered = [batch[i] for i in numbers]
                if vectors_of_some is not None:
                    if half:
                        vectors_of_some = round_to_half(vectors_of_some, [texts[i] for i in answered])
                    yield answered, vectors_of_some, time.perf_counter() - started
                raise
            yield batch, vectors, time.perf_counter() - started
        return
    started = time.perf_counter()
    calls = list(_calls(list(batches), jobs, call_encoder(encoder, texts[:1], layers).nbytes))
    with scratch_folder() as folder:
        files = [Path(folder, str(i)) if current_cluster() is None else None for i in range(len(calls))]
        arguments = (
            (encoder, [[texts[i] for i in batch] for batch in call], layers, half, store, file)
            for call, file in zip(calls, files, strict=True)
        )
        received_calls = map_in_workers(_encode_all, arguments, jobs)
        for call, file, sent in zip(calls, files, received_calls, strict=True):
            for batch, received in zip(call, _received(sent, file, len(call)), strict=True):
                yield batch, received, time.perf_counter() - started
                started = time.perf_counter()


def _calls(batches: Sequence[list[int]], jobs: int, text_bytes: int) -> Iterator[list[list[int]]]:
    """Batches that one call encodes: few calls, since the encoder is copied to each, but some for every worker."""
    most = min(CALL_TEXTS, CALL_BYTES // text_bytes, sum(map(len, batches)) // (4 * jobs))
    call: list[list[int]] = []
    for batch in batches:
        if call and sum(map(len, call)) + len(batch) > most:
            yield call
            call = []
        call.append(batch)
    if call:
        yield call


def _encode_all(
    encoder: Encoder,
    batches: Sequence[list[str]],
    layers: Sequence[str],
    half: bool,
    store: SharedStore | None,
    file: Path | None,
) -> list[Array] | None:
    """The vectors (layers, m, d) of several batches, by a worker; None if they are in the store, or in the file.

    A file costs less than sending them, and is usually read and deleted before it reaches the disk.
    """
    encoded = [_encode(encoder, texts, layers, half) for texts in batches]
    if store is not None and store.write(
        [text for texts in batches for text in texts], np.concatenate(encoded, axis=1)
    ):
        return None
    if file is not None:
        with suppress(OSError), file.open("wb") as out:  # unless the disk is full
            for vectors in encoded:
                np.save(out, vectors, allow_pickle=False)
            return None
    return encoded


def _received(sent: list[Array] | None, file: Path | None, n: int) -> Iterator[Array | None]:
    """The vectors of n batches that a worker has encoded, one after the other; None if they are in the store."""
    if sent is not None or file is None:
        yield from sent or repeat(None, n)
        return
    with file.open("rb") as saved:
        for _ in range(n):
            yield np.load(saved, allow_pickle=False)
    file.unlink()


def _encode(encoder: Encoder, texts: list[str], layers: Sequence[str], half: bool) -> Array:
    vectors = call_encoder(encoder, texts, layers)
    return round_to_half(vectors, texts) if half else vectors.astype(np.float32, copy=False)
