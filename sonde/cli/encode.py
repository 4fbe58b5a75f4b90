"""`sonde encode` and `sonde sentences`: the texts of sets, with and without their vectors."""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from sonde.data.dataset import Dataset


def sentences(*paths: str, sources: bool = False) -> int:
    """Print the texts of probing sets, each different one once, to be encoded elsewhere for `npy:`.

    One a line; line breaks, tabs and backslashes are written \\n, \\t and \\\\.

    Parameters
    ----------
    paths: str
        Sets, or folders of sets, as for `sonde audit`.
    sources: bool
        Print the sentences that rows were made of, too, where words were exchanged or replaced: none of them should be
        in the text that an encoder is trained on. Exit code 2 if a set does not tell them all.
    """
    from sonde.console import err
    from sonde.data.origins import origins
    from sonde.encoders.embed import collect_texts
    from sonde.encoders.schemes.npy import to_line
    from sonde.errors import UsageError

    if not paths:
        raise UsageError("Name the sets whose texts are wanted.")
    unread: list[str] = []
    datasets = list(_readable(paths, unread))
    if not datasets:
        return 1
    texts = dict.fromkeys(collect_texts(datasets))
    silent: Counter[str] = Counter()
    for dataset in datasets if sources else ():
        for _, text in origins(dataset):
            if text is None:
                silent[dataset.name] += 1
            else:
                texts[text] = None
    for text in texts:
        sys.stdout.buffer.write(f"{to_line(text)}\n".encode())
    sys.stdout.flush()
    for name, rows in silent.items():
        err().print(
            f"{name}: {rows:,} rows are changed sentences and do not tell which; only sets that `sonde make` wrote do.",
            style="yellow", markup=False, soft_wrap=True,
        )  # fmt: skip
    return 2 if silent or unread else 0


def _readable(paths: Sequence[str], unread: list[str]) -> Iterator[Dataset]:
    """The sets that can be read; the names of the others are told, and put into ``unread``."""
    from sonde.console import err, printable
    from sonde.data.sources import find_sets
    from sonde.errors import SondeError

    for source in find_sets(paths):
        try:
            dataset = source.load()
        except SondeError as e:  # the others are still to be read
            unread.append(source.name)
            said = printable(f"not read: {source.name}: {e}")
            err().print(said, style="yellow", markup=False, soft_wrap=True)
            continue
        yield dataset


def encode(
    *paths: str,
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = ("static:",),
    out: Annotated[Path | None, Parameter(("--out", "-o"))] = None,
    half: bool = False,
    batch_size: int | None = None,
    no_store: bool = False,
    store_limit: float | None = None,
) -> int:
    """Encode the texts of probing sets, each different one once, and keep the vectors in the store.

    Parameters
    ----------
    paths: str
        Sets, or folders of sets, as for `sonde audit`.
    encoder: tuple[str, ...]
        scheme:name, as `sonde ls encoders` lists them; may be repeated. Default: static:.
    out: Path
        A folder to write vectors.npy and texts.txt to, one folder per encoder, as `npy:` reads them.
    half: bool
        Round to float16.
    batch: int
        Texts at a time. Default: what the encoder likes.
    no_store: bool
        Neither look into the store nor keep anything.
    store_limit: float
        Gigabytes that the store may take; the oldest vectors give way. Default: no limit.
    """
    from rich.table import Table

    from sonde.cli.shared import open_store
    from sonde.console import err, print_symptoms, progress_bar
    from sonde.console import out as console
    from sonde.encoders import load
    from sonde.encoders.diagnosis import diagnose
    from sonde.encoders.embed import collect_texts, embed
    from sonde.encoders.schemes.npy import write_vectors
    from sonde.errors import SondeError, UsageError
    from sonde.make.request import check_writable

    if not paths:
        raise UsageError("Name the sets whose texts are to be encoded.")
    if batch_size is not None and batch_size < 1:
        raise UsageError(f"--batch {batch_size}: expected 1 or more.")
    if out is not None:
        check_writable(out)
    store = open_store(no_store, store_limit)
    rows: dict[str, None] = {}  # texts of rows; the others are words that probes are given besides

    unread: list[str] = []

    def sets() -> Iterator[Dataset]:
        for dataset in _readable(paths, unread):
            rows.update(dict.fromkeys(row.text for _, row in dataset))
            yield dataset

    texts = collect_texts(sets())
    if unread and not texts:
        return 1
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("encoder", "texts", "encoded", "layers", "dimension", "texts/s"):
        table.add_column(column, justify="left" if column == "encoder" else "right")
    failed: list[str] = []
    for name in encoder:
        try:
            loaded = load(name)
            if getattr(loaded, "needs_fit", False):
                loaded = loaded.fit(texts)  # type: ignore[attr-defined]
            with progress_bar() as progress:
                found = embed(loaded, texts, store=store, batch_size=batch_size, half=half, progress=progress)
        except SondeError as e:  # the others are still to be asked
            failed.append(name)
            err().print(f"not encoded: {name}: {e}", style="yellow", markup=False, soft_wrap=True)
            continue
        rate = f"{found.encoded / found.seconds:,.0f}" if found.seconds else ""
        shape = (str(max(1, len(found.layers))), str(found.vectors.shape[-1]))
        print_symptoms(name, [(s.code, s.message) for s in diagnose(loaded, found, list(rows), half=half)])
        table.add_row(name, f"{len(texts):,}", f"{found.encoded:,}", *shape, rate)
        if out is not None:
            write_vectors(out / re.sub(r"[^\w.-]+", "-", name).strip("-"), texts, found.vectors)
    if len(failed) == len(encoder):
        return 1
    console().print(table)
    return 2 if failed or unread else 0
