"""The sentences of the built-in corpus, spooled to files: reading one back costs a quarter of generating it again."""

from __future__ import annotations

import os
import secrets
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from operator import attrgetter
from pathlib import Path
from typing import BinaryIO

import msgspec

from sentprobe.corpus.files import SHARD_BLOCK
from sentprobe.grammar import sentence, toy
from sentprobe.grammar.words import word
from sentprobe.sentence import Sentence, Tree

BLOCK_SENTENCES = 256
"""Sentences that are compressed together, about 85 kB of them."""

_Words = tuple[str, ...]
_Mwts = tuple[tuple[int, int, str], ...]
_Columns = tuple[
    str, str, _Words, _Words, _Words, _Words, _Words, tuple[int, ...], _Words, tuple[bool, ...], _Mwts, str, Tree
]
"""The fields of a sentence, none of which the built-in corpus lacks."""
_fields = attrgetter(*Sentence.__dataclass_fields__)


def generated(n: int, seed: int, shard: int, of: int, folder: str = "", language: str = "en") -> Iterator[Sentence]:
    """Yield one shard of the built-in corpus of n sentences, in English or translated.

    With a folder, they are written to a file in it the first time, and read from that file every other time.
    """
    if language == toy.CODE:
        yield from map(toy.translated, generated(n, seed, shard, of, folder))
        return
    starts = range(shard * SHARD_BLOCK, n, of * SHARD_BLOCK)
    sentences = (sentence(i, seed) for start in starts for i in range(start, min(start + SHARD_BLOCK, n)))
    path = Path(folder, f"{n}-{seed}-{shard}-{of}")
    if not folder:
        yield from sentences
    elif path.exists():
        with path.open("rb") as file:
            yield from _read(file)
    else:
        yield from _written(path, sentences)


def _written(path: Path, sentences: Iterable[Sentence]) -> Iterator[Sentence]:
    """Yield the sentences, and write them to a file; on a full disk there is none, and they are generated again."""
    part = path.with_name(
        f"{path.name}-{os.getpid():x}-{secrets.token_hex(4)}.part"
    )  # another process may write the same
    remaining = iter(sentences)
    try:
        with part.open("wb") as file:
            while block := [*islice(remaining, BLOCK_SENTENCES)]:
                yield from block
                file.write(_packed(block))
        part.rename(path)
    except OSError:
        yield from remaining
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def _packed(block: list[Sentence]) -> bytes:
    content = zlib.compress(msgspec.msgpack.encode([_fields(s) for s in block]), 1)
    return len(content).to_bytes(4, "big") + content


def _read(file: BinaryIO) -> Iterator[Sentence]:
    decoder = msgspec.msgpack.Decoder(list[_Columns])
    while size := file.read(4):
        for id, text, *columns, heads, deprels, space, mwts, doc, tree in decoder.decode(_unpacked(file, size)):
            forms, lemmas, upos, xpos, feats, leaves, _ = zip(*map(word, *columns), strict=True)
            tree = _with_leaves(tree, iter(leaves))
            yield Sentence(id, text, forms, lemmas, upos, xpos, feats, heads, deprels, space, mwts, doc, tree)


def _unpacked(file: BinaryIO, size: bytes) -> bytes:
    return zlib.decompress(file.read(int.from_bytes(size, "big")))


def _with_leaves(tree: Tree, leaves: Iterator[Tree]) -> Tree:
    """The tree with the grammar's own pre-terminals, of which there is one for each word, however often it occurs."""
    if nodes := tree.nodes:
        return Tree(tree.label, tuple([_with_leaves(node, leaves) for node in nodes]))
    return next(leaves)
