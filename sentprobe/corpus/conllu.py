"""CoNLL-U files: a fast streaming reader with errors that name file and line, and a writer.

A block of lines is turned into columns at once and checked by a few whole-column comparisons. Only a block that fails
one of them is examined line by line, to say what is wrong and where.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from sys import intern
from typing import TextIO

from sentprobe.core.files import encoding_error, open_bytes
from sentprobe.corpus.faults import FEATS, find_fault
from sentprobe.corpus.files import stem
from sentprobe.corpus.multiword import NO_SPACE, Mwt, read_ranges, surface
from sentprobe.errors import CorpusError, DataError
from sentprobe.sentence import Sentence

SHARD_BLOCK = 256
"""Sentences are assigned to shards in runs of this many."""

_MAX_BLOCK_BYTES = 1 << 23
"""No sentence takes 8 MiB; a block that does is another kind of file, which must not be read into memory."""

_COMMENT = re.compile(r"^#[ \t]*(sent_id|text|newdoc(?:[ \t]+id)?)[ \t]*(?:= ?(.*))?$", re.M)
_HEADER = re.compile(rb"(?:#[^\n]*(?:\n|$))*")


def read_conllu(
    path: str, *, shard: int = 0, of: int = 1, on_error: Callable[[CorpusError], None] | None = None
) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file, or every ``of``-th run of 256 of them beginning with run ``shard``.

    A malformed sentence raises CorpusError, or is passed to ``on_error`` and skipped. Multi-word tokens become
    ``mwts``, empty nodes (``8.1``) are skipped. ``lemmas`` and ``feats`` are always present, ``_`` where the file has
    nothing; ``upos`` and ``xpos`` are None in a sentence that has none, ``heads`` and ``deprels`` where every HEAD is
    ``_``.
    """
    name = stem(path)
    known = {"_": "_"}
    doc: str | None = None
    docs = count = 0
    for line, raw in _blocks(path, open_bytes(path), on_error):
        mine = count // SHARD_BLOCK % of == shard
        words_at = _HEADER.match(raw).end()  # type: ignore[union-attr]  # it matches the empty string
        has_words = words_at < len(raw)
        count += has_words
        if not mine and b"newdoc" not in raw:
            continue
        try:
            header = raw[:words_at]
            notes = _notes(path, line, header, strict=mine)
            if "newdoc" in notes:
                docs += 1
                doc = notes["newdoc"] or f"{name}-doc{docs}"
            if not mine:
                continue
            if not has_words:
                if "sent_id" in notes or "text" in notes:
                    raise CorpusError(path, line, "comments without words", "the words of the sentence right below")
                continue
            first = line + header.count(b"\n")
            try:
                text = raw[words_at:].decode()
            except UnicodeDecodeError as error:
                raise encoding_error(path, first, error) from None
            sentence = _sentence(path, first, text, notes, doc, name, known)
        except CorpusError as error:
            if on_error is None:
                raise
            on_error(error)
        else:
            yield sentence


def parse_conllu(content: bytes, source: str) -> Iterator[tuple[int, Sentence]]:
    """Yield the sentences of CoNLL-U that is in memory, with their lines; whether heads are trees is not checked.

    ``source`` stands for the file in a CorpusError.
    """
    content = content.removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
    for line, raw in _blocks(source, iter([content]), None):
        words_at = _HEADER.match(raw).end()  # type: ignore[union-attr]  # it matches the empty string
        if words_at == len(raw):  # comments of a server
            continue
        notes = _notes(source, line, raw[:words_at], strict=True)
        first = line + raw[:words_at].count(b"\n")
        try:
            text = raw[words_at:].decode()
        except UnicodeDecodeError as error:
            raise encoding_error(source, first, error) from None
        yield first, _sentence(source, first, text, notes, None, source, {"_": "_"}, trees=False)


def _blocks(
    path: str, pieces: Iterator[bytes], on_error: Callable[[CorpusError], None] | None
) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, block) for every run of lines between empty lines."""
    line = 1
    rest = b""
    try:
        for piece in pieces:
            blocks = (rest + piece if rest else piece).split(b"\n\n")
            rest = blocks.pop()
            for block in blocks:
                if block[:1] == b"\n":  # an empty line too many, before the block
                    lead = len(block) - len(block.lstrip(b"\n"))
                    line += lead
                    block = block[lead:]
                if block:
                    yield line, block
                line += block.count(b"\n") + 2
            if len(rest) > _MAX_BLOCK_BYTES:
                got = f"{len(rest) >> 20} MiB without an empty line"
                raise CorpusError(path, line, got, "CoNLL-U sentences", ends_file=True)
    except CorpusError as error:  # nothing can be read after this point; what was read so far is kept
        if on_error is None:
            raise
        on_error(error)
        return
    stripped = rest.strip(b"\n")
    if stripped:
        yield line + len(rest) - len(rest.lstrip(b"\n")), stripped


def _notes(path: str, line: int, header: bytes, strict: bool) -> dict[str, str]:
    """The comments that matter: sent_id, text, and newdoc (empty when the document has no name)."""
    try:
        found = _COMMENT.findall(header.decode())
    except UnicodeDecodeError as error:
        if strict:
            raise encoding_error(path, line, error) from None
        found = _COMMENT.findall(header.decode(errors="replace"))
    return {"newdoc" if k[0] == "n" else k: v if k == "text" else v.strip() for k, v in found}


@lru_cache(maxsize=256)
def _ids(n: int) -> str:
    """The ids 1..n as written, one per line."""
    return "\n".join(map(str, range(1, n + 1)))


@lru_cache(maxsize=8)
def _positions(size: int) -> dict[str, int]:
    """0-based head positions by HEAD as written."""
    return {str(i): i - 1 for i in range(size + 1)}


def _sentence(
    path: str,
    line: int,
    text: str,
    notes: dict[str, str],
    doc: str | None,
    name: str,
    known: dict[str, str],
    trees: bool = True,
) -> Sentence:
    """Turn the word lines of one block into a Sentence; ``known`` are the FEATS that have been checked."""
    mwts: tuple[Mwt, ...] = ()
    glued: dict[int, bool] = {}
    n = text.count("\n") + 1
    cells = tuple(text.replace("\n", "\t\n").split("\t"))  # an ID that is not the first begins with the line break
    try:
        ids = "".join(cells[::10])
        if len(cells) != 10 * n or ids.count("\n") != n - 1:
            raise ValueError
        columns = [cells[i::10] for i in range(1, 10)]
        if ids != _ids(n):
            written = ids.split("\n")
            keep = [i for i, one in enumerate(written) if "-" not in one and "." not in one]
            if len(keep) == n or "\n".join([written[i] for i in keep]) != _ids(len(keep)):
                raise ValueError
            mwts, glued = read_ranges(written, columns[0], columns[8])
            columns = [tuple([column[i] for i in keep]) for column in columns]
        forms, lemmas, upos, xpos, feats, head, deprels, _, misc = columns
        if "\t\t" in text and not (all(forms) and all(lemmas) and all(upos) and all(xpos) and all(deprels)):
            raise ValueError
        try:
            feats = tuple(map(known.__getitem__, feats))
        except KeyError:
            known |= {one: one for one in feats if FEATS.fullmatch(one)}
            feats = tuple(map(known.__getitem__, feats))
        heads: tuple[int, ...] | None = None
        if head[0] != "_":
            heads = tuple(map(_positions(256 if n <= 256 else 1 << n.bit_length()).__getitem__, head))
            if trees and not _is_tree(heads):
                raise ValueError
        elif set(head) != {"_"}:
            raise ValueError
    except (ValueError, KeyError, IndexError):
        raise find_fault(path, line, text.split("\n")) from None
    space = (True,) * len(forms)
    if glued or NO_SPACE in text:
        spaces = [NO_SPACE not in m or NO_SPACE not in m.split("|") for m in misc]
        for i, after in glued.items():
            spaces[i] = after
        spaces[-1] = True
        space = tuple(spaces)
    return Sentence(
        notes.get("sent_id") or f"{name}:{line}",
        notes.get("text") or surface(forms, space, mwts),
        forms,
        lemmas,
        None if upos[0] == "_" and set(upos) == {"_"} else tuple(map(intern, upos)),
        None if xpos[0] == "_" and set(xpos) == {"_"} else tuple(map(intern, xpos)),
        feats,
        heads,
        None if heads is None else tuple(map(intern, deprels)),
        space,
        mwts,
        doc,
    )


def _is_tree(heads: tuple[int, ...]) -> bool:
    """Whether every word leads up to one root; each word is visited once."""
    n = len(heads)
    if heads.count(-1) != 1 or max(heads) >= n:
        return False
    walk_of = [0] * n
    for walk, at in enumerate(heads, 1):
        if walk_of[walk - 1]:
            continue
        walk_of[walk - 1] = walk
        while at >= 0 and not walk_of[at]:
            walk_of[at] = walk
            at = heads[at]
        if at >= 0 and walk_of[at] == walk:
            return False
    return True


def write_conllu(sentences: Iterable[Sentence], out: TextIO) -> None:
    """Write sentences as CoNLL-U; what was written reads back equal, but for ``tree`` and for columns that are None.

    A missing column is written as ``_``. A ``newdoc`` comment is written where the document changes.
    """
    doc: str | None = None
    for s in sentences:
        if s.doc is not None and s.doc != doc:
            out.write(f"# newdoc id = {one_line(s.doc)}\n")
        doc = s.doc
        out.write(f"# sent_id = {one_line(s.id)}\n# text = {one_line(s.text)}\n")
        out.write(conllu_rows(s))


def one_line(text: str) -> str:
    """A text as it is written in a comment."""
    return re.sub(r"[\r\n]+", " ", text)


def conllu_rows(s: Sentence) -> str:
    """The lines of a sentence below its comments, and an empty one."""
    n = len(s)
    blank = ("_",) * n
    heads = blank if s.heads is None else tuple(str(h + 1) for h in s.heads)
    space = [True] * n if s.space_after is None else list(s.space_after)
    above: dict[int, str] = {}
    for first, end, form in s.mwts:
        glued = "_" if space[end - 1] or end == n else NO_SPACE
        above[first] = "\t".join((f"{first + 1}-{end}", form, *("_",) * 7, glued)) + "\n"
        space[first:end] = [True] * (end - first)  # recorded once, on the line of the range
    space[-1:] = [True]
    columns = (
        s.forms,
        s.lemmas or blank,
        s.upos or blank,
        s.xpos or blank,
        s.feats or blank,
        heads,
        s.deprels or blank,
    )
    numbers = map(str, range(1, n + 1))
    misc = ["_" if after else NO_SPACE for after in space]
    rows = list(map("\t".join, zip(numbers, *columns, blank, misc, strict=True)))
    text = "\n".join(rows)
    if text.count("\t") != 9 * n or text.count("\n") != n - 1 or "\r" in text or "\t\t" in text:
        raise _unwritable(s, list(zip(*columns, strict=True)))
    if not above:
        return f"{text}\n\n"
    if any(line.count("\t") != 9 or line.count("\n") != 1 or "\r" in line or "\t\t" in line for line in above.values()):
        raise _unwritable(s, [(form,) for _, _, form in s.mwts])
    return "".join((*(f"{above.get(i, '')}{row}\n" for i, row in enumerate(rows)), "\n"))


def _unwritable(s: Sentence, words: Sequence[Sequence[str]]) -> DataError:
    """The error for a value that cannot be written."""
    for i, cells in enumerate(words, 1):
        if not all(cells) or any(c in cell for cell in cells for c in "\r\n"):
            return DataError(f"sentence {s.id!r}, word {i}: CoNLL-U cannot represent an empty value or a line break")
        if any("\t" in cell for cell in cells):
            return DataError(f"sentence {s.id!r}, word {i}: CoNLL-U cannot represent a value with a tab")
    raise AssertionError("a sentence failed a check, but no error was found in it")
