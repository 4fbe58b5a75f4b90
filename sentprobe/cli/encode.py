"""`sentprobe encode`: the vectors of the texts of sets."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sentprobe.cli._options import ClusterName, Jobs

if TYPE_CHECKING:
    from sentprobe.core.arguments import Progress
    from sentprobe.encoders import Encoder
    from sentprobe.encoders.embed import Embeddings
    from sentprobe.encoders.store import Store

order = 50
group = "Probe"


LONGEST_NAME = 200
"""Bytes of the name of a folder; file systems allow 255."""


def encode(
    *paths: str,
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = ("static:",),
    out: Annotated[Path | None, Parameter(("--out", "-o"))] = None,
    half: bool = False,
    batch_size: int | None = None,
    jobs: Jobs = 0,
    cluster: ClusterName = None,
    no_store: bool = False,
    store_limit: float | None = None,
    dry_run: bool = False,
) -> int:
    """Encode the distinct texts of probing sets, and keep the vectors in the store.

    Parameters
    ----------
    paths: str
        Sets, or folders of sets, as for `sentprobe audit`.
    encoder: tuple[str, ...]
        scheme:name, with a scheme that `sentprobe ls encoders` lists; may be repeated. Default: static:.
    out: Path
        A folder to write vectors.npy and texts.txt to, one folder per encoder, as `npy:` reads them.
    half: bool
        Round to float16.
    batch_size: int
        Texts per batch. Default: the encoder's own.
    jobs: int
        Worker processes that read sets, and encode with static:, vec: and baseline:; 0 means one per core. Default: 0.
    no_store: bool
        Neither read nor write the store.
    store_limit: float
        The largest size of the store in gigabytes; the oldest contents are removed. Default: no limit.
    dry_run: bool
        Encode and send nothing; print how many texts and tokens would be encoded, and what a server with price= costs.
    """
    from sentprobe.cli._options import open_store, workers_of
    from sentprobe.core.arguments import check_options
    from sentprobe.data.sources import find_sets
    from sentprobe.errors import UsageError
    from sentprobe.make.request import check_writable

    if not paths:
        raise UsageError("Name the sets whose texts to encode.")
    check_options(1, batch_size=batch_size)
    if out is not None:
        check_writable(out)
    store = open_store(no_store, store_limit)
    reads = [path for source in find_sets(paths, guess=lambda _: None) for path in source.paths]
    with workers_of(jobs, cluster, reads=reads, store=store) as workers:
        if dry_run:
            return _plan(paths, encoder, half, workers, store)
        return _encode(paths, encoder, out, half, batch_size, workers, store)


def _encode(
    paths: Sequence[str],
    encoder: Sequence[str],
    out: Path | None,
    half: bool,
    batch_size: int | None,
    jobs: int,
    store: Store | None,
) -> int:
    from sentprobe.cli._sets import map_sets
    from sentprobe.console import announce, print_symptoms, say, warn
    from sentprobe.console import out as console
    from sentprobe.core.formatting import count_of, printable
    from sentprobe.core.table import Table
    from sentprobe.encoders import expand_names
    from sentprobe.encoders.diagnosis import diagnose
    from sentprobe.encoders.embed import texts_of_set
    from sentprobe.encoders.schemes.npy import write_vectors
    from sentprobe.errors import SentProbeError

    unread: list[str] = []
    texts_by_set = list(map_sets(paths, unread, texts_of_set, jobs))
    rows = list(dict.fromkeys(text for row_texts, _ in texts_by_set for text in row_texts))
    texts = list(dict.fromkeys(text for _, all_texts in texts_by_set for text in all_texts))
    if unread and not texts:
        return 1
    encoded: list[tuple[str, ...]] = []
    failed: list[str] = []
    names = expand_names(encoder)
    where = [*(["the store"] if store is not None else []), *([f"{out}/"] if out is not None else [])]
    announce(
        f"Encoding {count_of(len(texts), 'distinct text')} of {count_of(len(texts_by_set), 'set')} with "
        f"{count_of(len(names), 'encoder')}; {count_of(jobs, 'job')}; "
        + (f"writing to {' and '.join(where)}" if where else "keeping nothing")
    )
    with_encoder = partial(_encode_with, texts=texts, store=store, batch_size=batch_size, half=half, jobs=jobs)
    for name in names:
        try:
            loaded, embeddings = with_encoder(name)
        except SentProbeError as e:  # the others are still to be encoded
            failed.append(name)
            warn(f"not encoded: {name}: {e}")
            continue
        rate = f"{embeddings.encoded / embeddings.seconds:,.0f}" if embeddings.seconds else ""
        shape = (str(max(1, len(embeddings.layers))), str(embeddings.vectors.shape[-1]))
        print_symptoms(name, [(s.code, s.message) for s in diagnose(loaded, embeddings, rows, half=half)])
        for note in _notes(loaded, stores=store is not None):
            say(printable(f"note: {name} {note}."))
        encoded.append((name, f"{len(texts):,}", f"{embeddings.encoded:,}", *shape, rate))
        if out is not None:
            write_vectors(out / folder_name(name), texts, embeddings.vectors)
    if len(failed) == len(names):
        return 1
    Table.of_rows(("encoder", "texts", "encoded", "layers", "dimension", "texts/s"), encoded).print(console())
    return 2 if failed or unread else 0


def _plan(paths: Sequence[str], encoder: Sequence[str], half: bool, jobs: int, store: Store | None) -> int:
    """Print what encoding would take."""
    from sentprobe.cli._printing import print_plans
    from sentprobe.cli._sets import map_sets
    from sentprobe.encoders import expand_names
    from sentprobe.encoders.embed import texts_of_set

    unread: list[str] = []
    texts = [text for _, all_texts in map_sets(paths, unread, texts_of_set, jobs) for text in all_texts]
    if unread and not texts:
        return 1
    code = print_plans(expand_names(encoder), texts, store, half=half)
    return code or (2 if unread else 0)


def _encode_with(
    name: str, texts: Sequence[str], store: Store | None, batch_size: int | None, half: bool, jobs: int
) -> tuple[Encoder, Embeddings]:
    """Load an encoder, fit it on the texts if it needs that, and encode them."""
    from sentprobe.console import progress_bar
    from sentprobe.encoders import load
    from sentprobe.encoders.embed import embed

    loaded = load(name)
    needs_fit = getattr(loaded, "needs_fit", False)
    if needs_fit:
        loaded = loaded.fit(texts)  # type: ignore[attr-defined]
    with progress_bar() as progress:
        embeddings = embed(
            loaded,
            texts,
            store=store,
            batch_size=batch_size,
            half=half,
            jobs=jobs,
            progress=partial(_named, progress, name),
            name=None if needs_fit else name,
        )
    return loaded, embeddings


def _notes(encoder: Encoder, *, stores: bool) -> Iterator[str]:
    """What is to be said of an encoder after it has encoded: that nothing was stored, and what was sent."""
    from sentprobe.encoders import encoder_info
    from sentprobe.encoders.server import Server

    info = encoder_info(encoder)
    if stores and info.identity is None and info.stored_as is None:
        yield "has no identity, so its vectors were not stored: nothing would say when they change"
    if isinstance(encoder, Server) and (sent := encoder.usage.sentence(encoder.price)):
        yield sent


def folder_name(encoder: str) -> str:
    """The name of an encoder as that of a folder; a long one is cut, and ends in a hash of all of it."""
    from sentprobe.core.hashing import hash_64
    from sentprobe.core.words import JOINERS, mark_class

    name = re.sub(rf"[^\w.{mark_class()}{JOINERS}-]+", "-", encoder).strip("-")
    if len(os.fsencode(name)) <= LONGEST_NAME:
        return name
    return f"{name[: LONGEST_NAME // 5]}-{hash_64(encoder):016x}"  # a character takes up to four bytes


def _named(progress: Progress, name: str, stage: str, done: int, of: int | None) -> None:
    """Progress that names the encoder."""
    progress(f"{stage}: encoding with {name}", done, of)
