"""Lists of what is not a part: treebanks, published results, and the vectors kept on this machine."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe.cli.listings import Listing, Row

if TYPE_CHECKING:
    from sentprobe.corpus.treebanks.catalogue import Treebank

RUNS = "show, report"
SHOWN_BY = {
    "words": "show, report of `sentprobe words`",
    "training": "show of a trained encoder",
    "xnli": "data xnli",
    "other": "replicate",
}
"""Which verbs show published results of a suite beside ours, where it is not that of probing sets and transfer."""
UNSHOWN = (
    "mean accuracy",
    "accuracy deviation",
    "target redundancy",
    "dev accuracy",
    "lowest accuracy",
    "highest accuracy",
    "p-value",
    *(f"{of} {what}" for of in ("image", "caption") for what in ("recall@1", "recall@5", "recall@10", "median rank")),
)
"""Metrics that no table shows; they are there for Python."""


def _treebanks() -> Iterator[Row]:
    from sentprobe.corpus.treebanks.catalogue import treebanks

    yield from treebank_rows(treebanks().values())


def treebank_rows(treebanks: Iterable[Treebank]) -> Iterator[Row]:
    """A list of treebanks; what the table does not have is unknown."""
    from sentprobe.corpus.treebanks.catalogue import UNKNOWN
    from sentprobe.corpus.treebanks.fetch import describe_licence

    yield "treebank", "release", "code", "sentences", "words", "genres", "licence"
    for treebank in treebanks:
        sizes = (UNKNOWN if n is None else f"{n:,}" for n in (treebank.sentences, treebank.words))
        licence = describe_licence(treebank.licence) if treebank.licence else UNKNOWN
        without = "; without its text, not usable" if treebank.text == "no" else ""
        yield treebank.name, treebank.release, treebank.code, *sizes, treebank.genres or UNKNOWN, licence + without


def list_treebanks(languages: Mapping[str, Sequence[Treebank]], out: Path) -> int:
    """Print the treebanks of languages, by what was typed; nothing is downloaded."""
    from sentprobe.cli.ls import print_table
    from sentprobe.console import announce

    by_name = {treebank.name: treebank for treebanks in languages.values() for treebank in treebanks}
    print_table(treebank_rows(by_name.values()))
    usable = next((treebank for treebank in by_name.values() if treebank.text != "no"), None)
    example = f": sentprobe make ud:{usable.name} -o {shlex.quote(str(out))}" if usable else ""
    announce(f"Nothing was downloaded. To make sets, name a treebank{example}")
    return 0


def _published() -> Iterator[Row]:
    from sentprobe.published import papers, rows_of

    yield "paper", "table", "numbers", "shown by", "topic, or why nothing was taken"
    for key, paper in papers().items():
        for table, topic in paper.tables.items():
            rows = rows_of(key, table)
            by = dict.fromkeys(SHOWN_BY.get(row.suite, RUNS) for row in rows if row.metric not in UNSHOWN)
            yield key, table, f"{len(rows):,}", "; ".join(by) or "sentprobe.published", topic
        for table, reason in paper.left_out.items():
            yield key, table, "0", "", reason


def _store() -> Iterator[Row]:
    from sentprobe.encoders.store import Store, default_root

    yield "encoder", "vectors", "dimension", "MB", "last written"
    for entry in Store(default_root()).ls():
        size, written = f"{entry.bytes / 1e6:,.1f}", f"{entry.written:%Y-%m-%d %H:%M}"
        yield entry.identity, f"{entry.vectors:,}", str(entry.dimension), size, written


listings = (
    Listing(
        name="treebanks",
        summary="what `sentprobe make ud:…` downloads, with size and licence",
        order=30,
        rows=_treebanks,
    ),
    Listing(name="published", summary="numbers of papers, shown beside yours", order=200, rows=_published),
    Listing(name="store", summary="the vectors kept on this machine", order=230, rows=_store),
)
