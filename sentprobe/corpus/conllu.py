"""CoNLL-U files: a fast streaming reader with errors that name file and line, and a writer.

A block of lines is turned into columns at once and checked by a few whole-column comparisons. Only a block that fails
one of them is examined line by line, to say what is wrong and where.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from sys import intern
from typing import TextIO

from sentprobe.core.files import encoding_error, open_bytes
from sentprobe.corpus.files import SHARD_BLOCK, OnError, stem
from sentprobe.errors import CorpusError, DataError
from sentprobe.sentence import Sentence

Mwt = tuple[int, int, str]
"""A multi-word token, French *du* over *de le*: first word, one past the last word, and the form in the text."""
Column = tuple[str, ...]

FEATS = re.compile(r"_|[^\s=|]+=[^\s=|]+(?:\|[^\s=|]+=[^\s=|]+)*")

_MAX_BLOCK_BYTES = 1 << 23
"""No sentence takes 8 MiB; a block that does is another kind of file, which must not be read into memory."""
_MAX_DIGITS = 19
"""Characters of an ID or HEAD; anything longer is not a word number and not worth converting."""
_NO_SPACE = "SpaceAfter=No"
_COLUMN_NAMES = ("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL")
_COMMENT = re.compile(r"^#[ \t]*(sent_id|text|newdoc(?:[ \t]+id)?)[ \t]*(?:= ?(.*))?$", re.M)
_HEADER = re.compile(rb"(?:#[^\n]*(?:\n|$))*")
_WORD = re.compile(r"[1-9][0-9]*")
_RANGE = re.compile(r"([1-9][0-9]*)-([1-9][0-9]*)")
_EMPTY_NODE = re.compile(r"[0-9]+\.[1-9][0-9]*")


def read_conllu(path: str, *, shard: int = 0, of: int = 1, on_error: OnError | None = None) -> Iterator[Sentence]:
    """Yield the sentences of a CoNLL-U file, or every ``of``-th run of 256 of them beginning with run ``shard``.

    A malformed sentence raises CorpusError, or is passed to ``on_error`` and skipped. Multi-word tokens become
    ``mwts``, empty nodes (``8.1``) are skipped. ``lemmas`` and ``feats`` are always present, ``_`` where the file has
    nothing; ``upos`` and ``xpos`` are None in a sentence that has none, ``heads`` and ``deprels`` where every HEAD is
    ``_``.
    """
    parser = _BlockParser(path, stem(path))
    doc: str | None = None
    docs = count = 0
    for line, block in _blocks(path, open_bytes(path), on_error):
        in_shard = count // SHARD_BLOCK % of == shard
        header = _header(block)
        has_words = len(header) < len(block)
        count += has_words
        if not in_shard and b"newdoc" not in block:
            continue
        try:
            # the documents of other shards are counted, too, because those without a name are numbered
            comments = _comments(path, line, header, strict=in_shard)
            if "newdoc" in comments:
                docs += 1
                doc = comments["newdoc"] or f"{parser.source_name}-doc{docs}"
            if not in_shard:
                continue
            if not has_words:
                if "sent_id" in comments or "text" in comments:
                    raise CorpusError(path, line, "comments without words", "the words of the sentence right below")
                continue
            sentence = parser.parse(line + header.count(b"\n"), block[len(header) :], comments, doc)
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
    for line, block in _blocks(source, iter([content]), None):
        header = _header(block)
        if len(header) == len(block):  # comments of a server
            continue
        comments = _comments(source, line, header, strict=True)
        first = line + header.count(b"\n")
        parser = _BlockParser(source, source, check_trees=False)
        yield first, parser.parse(first, block[len(header) :], comments, None)


def _blocks(path: str, pieces: Iterator[bytes], on_error: OnError | None) -> Iterator[tuple[int, bytes]]:
    """Yield (line number, block) for every run of lines between empty lines."""
    line = 1
    tail = b""
    try:
        for piece in pieces:
            blocks = (tail + piece if tail else piece).split(b"\n\n")
            tail = blocks.pop()
            for block in blocks:
                if block[:1] == b"\n":  # an empty line too many, before the block
                    lead = len(block) - len(block.lstrip(b"\n"))
                    line += lead
                    block = block[lead:]
                if block:
                    yield line, block
                line += block.count(b"\n") + 2
            if len(tail) > _MAX_BLOCK_BYTES:
                got = f"{len(tail) >> 20} MiB without an empty line"
                raise CorpusError(path, line, got, "CoNLL-U sentences", ends_file=True)
    except CorpusError as error:  # nothing can be read after this point; what was read so far is used
        if on_error is None:
            raise
        on_error(error)
        return
    stripped = tail.strip(b"\n")
    if stripped:
        yield line + len(tail) - len(tail.lstrip(b"\n")), stripped


def _header(block: bytes) -> bytes:
    """The lines of comments at the beginning of a block."""
    return _HEADER.match(block)[0]  # type: ignore[index]  # it matches the empty string


def _comments(path: str, line: int, header: bytes, strict: bool) -> dict[str, str]:
    """The comments that matter: sent_id, text, and newdoc (empty when the document has no name)."""
    try:
        pairs = _COMMENT.findall(header.decode())
    except UnicodeDecodeError as error:
        if strict:
            raise encoding_error(path, line, error) from None
        pairs = _COMMENT.findall(header.decode(errors="replace"))
    return {"newdoc" if k[0] == "n" else k: v if k == "text" else v.strip() for k, v in pairs}


@dataclass(frozen=True, slots=True)
class _BlockParser:
    """Turns the word lines of blocks into sentences."""

    path: str
    source_name: str
    """What generated sentence ids begin with."""
    check_trees: bool = True
    valid_feats: dict[str, str] = field(default_factory=lambda: {"_": "_"})
    """The FEATS that have been checked, each as one string however often it occurs."""

    def parse(self, line: int, block: bytes, comments: dict[str, str], doc: str | None) -> Sentence:
        """The sentence of the words that begin in this line; CorpusError if they are malformed."""
        try:
            text = block.decode()
        except UnicodeDecodeError as error:
            raise encoding_error(self.path, line, error) from None
        try:
            columns, mwts, space_in_mwts = _columns(text)
            forms, lemmas, upos, xpos, feats, head, deprels, _, misc = columns
            if "\t\t" in text and not (all(forms) and all(lemmas) and all(upos) and all(xpos) and all(deprels)):
                raise ValueError
            feats = self._checked_feats(feats)
            heads = _heads(head)
            if heads is not None and self.check_trees and not _is_tree(heads):
                raise ValueError
        except (ValueError, KeyError, IndexError):
            raise _find_fault(self.path, line, text.split("\n")) from None
        space = (True,) * len(forms)
        if space_in_mwts or _NO_SPACE in text:
            space = _space_after(misc, space_in_mwts)
        return Sentence(
            comments.get("sent_id") or f"{self.source_name}:{line}",
            comments.get("text") or _surface(forms, space, mwts),
            forms,
            lemmas,
            _interned(upos),
            _interned(xpos),
            feats,
            heads,
            None if heads is None else tuple(map(intern, deprels)),
            space,
            mwts,
            doc,
        )

    def _checked_feats(self, feats: Column) -> Column:
        """The same column; KeyError if some of it is not FEATS."""
        valid = self.valid_feats
        try:
            return tuple(map(valid.__getitem__, feats))
        except KeyError:
            valid.update({value: value for value in feats if FEATS.fullmatch(value)})
            return tuple(map(valid.__getitem__, feats))


def _columns(text: str) -> tuple[list[Column], tuple[Mwt, ...], dict[int, bool]]:
    """FORM to MISC of the words, the multi-word tokens, and the spaces inside them; ValueError unless IDs count up."""
    n = text.count("\n") + 1
    cells = tuple(text.replace("\n", "\t\n").split("\t"))  # an ID that is not the first begins with the line break
    ids = "".join(cells[::10])
    if len(cells) != 10 * n or ids.count("\n") != n - 1:
        raise ValueError
    columns = [cells[i::10] for i in range(1, 10)]
    if ids == _ids(n):
        return columns, (), {}
    id_column = ids.split("\n")
    words = [i for i, id in enumerate(id_column) if "-" not in id and "." not in id]
    if len(words) == n or "\n".join([id_column[i] for i in words]) != _ids(len(words)):
        raise ValueError
    mwts, space_in_mwts = _read_mwts(id_column, columns[0], columns[8])
    return [tuple([column[i] for i in words]) for column in columns], mwts, space_in_mwts


@lru_cache(maxsize=256)
def _ids(n: int) -> str:
    """The ids 1..n as written, one per line."""
    return "\n".join(map(str, range(1, n + 1)))


def _read_mwts(ids: Sequence[str], forms: Column, misc: Column) -> tuple[tuple[Mwt, ...], dict[int, bool]]:
    """The multi-word tokens, and for every word inside one whether white space follows it."""
    mwts: list[Mwt] = []
    space_in_mwts: dict[int, bool] = {}
    words = end = 0
    for id, form, notes in zip(ids, forms, misc, strict=True):
        if "-" not in id and "." not in id:
            words += 1
        elif m := _RANGE.fullmatch(id):
            first, last = int(m[1]) - 1, int(m[2])
            if first != words or last <= first + 1 or last > len(ids) or first < end or not form:
                raise ValueError
            mwts.append((first, last, form))
            space_in_mwts |= dict.fromkeys(range(first, last - 1), False)
            space_in_mwts[last - 1] = _NO_SPACE not in notes.split("|")
            end = last
        elif not _EMPTY_NODE.fullmatch(id):
            raise ValueError
    if end > words:
        raise ValueError
    return tuple(mwts), space_in_mwts


def _heads(head: Column) -> tuple[int, ...] | None:
    """HEAD as positions; None where every HEAD is ``_``; KeyError or ValueError if some are not numbers."""
    if head[0] != "_":
        n = len(head)
        return tuple(map(_positions(256 if n <= 256 else 1 << n.bit_length()).__getitem__, head))
    if set(head) != {"_"}:
        raise ValueError
    return None


@lru_cache(maxsize=8)
def _positions(size: int) -> dict[str, int]:
    """0-based head positions by HEAD as written."""
    return {str(i): i - 1 for i in range(size + 1)}


def _is_tree(heads: tuple[int, ...]) -> bool:
    """Whether every word leads up to one root; each word is visited once."""
    n = len(heads)
    if heads.count(-1) != 1 or max(heads) >= n:
        return False
    walk_of = [0] * n
    for walk, head in enumerate(heads, 1):
        if walk_of[walk - 1]:
            continue
        walk_of[walk - 1] = walk
        while head >= 0 and not walk_of[head]:
            walk_of[head] = walk
            head = heads[head]
        if head >= 0 and walk_of[head] == walk:
            return False
    return True


def _space_after(misc: Column, space_in_mwts: dict[int, bool]) -> tuple[bool, ...]:
    # two tests, because most cells are told apart by the first and need not be split
    space = [_NO_SPACE not in notes or _NO_SPACE not in notes.split("|") for notes in misc]
    for i, after in space_in_mwts.items():
        space[i] = after
    space[-1] = True
    return tuple(space)


def _interned(tags: Column) -> Column | None:
    """The tags, each as one string however often it occurs; None where all are ``_``."""
    return None if tags[0] == "_" and set(tags) == {"_"} else tuple(map(intern, tags))


def _surface(forms: Sequence[str], space: Sequence[bool], mwts: Sequence[Mwt]) -> str:
    """The text, reconstructed from the tokens."""
    out: list[str] = []
    at = 0
    for first, end, form in (*mwts, (len(forms), len(forms), "")):
        out += [forms[i] + " " if space[i] else forms[i] for i in range(at, first)]
        if form:
            out.append(form + " " if space[end - 1] else form)
        at = end
    return "".join(out).strip()


# What is wrong with a malformed block


def _find_fault(path: str, line: int, rows: list[str]) -> CorpusError:
    """Find out what is wrong with a block that failed a check: the first malformed line, otherwise IDs or heads."""
    for number, row in enumerate(rows, line):
        if problem := _row_fault(row):
            return CorpusError(path, number, *problem)
    cells = [row.split("\t") for row in rows]
    at, got, expected = _id_fault([row[0] for row in cells]) or _head_fault(cells)
    return CorpusError(path, line + at, got, expected)


def _row_fault(row: str) -> tuple[str, str] | None:
    """What is wrong with a single line, and what was expected."""
    cells = row.split("\t")
    if row.startswith("#"):
        return "a comment between words", "comments above the first word of the sentence"
    if not row.strip():
        return "a line of white space", "an empty line between sentences"
    if len(cells) != 10:
        if len(cells) == 1 and len(row.split()) == 10:
            return "10 columns separated by spaces", "10 columns separated by tabs"
        return f"{len(cells)} column{'s' * (len(cells) != 1)}", "10 columns separated by tabs"
    id, feats, head = cells[0], cells[5], cells[6]
    if not (_WORD.fullmatch(id) or _RANGE.fullmatch(id) or _EMPTY_NODE.fullmatch(id)) or len(id) > _MAX_DIGITS:
        return f"the ID {_short(id)}", "a word number (8), a range (8-9) or an empty node (8.1)"
    for name, cell in zip(_COLUMN_NAMES, cells, strict=False):
        if not cell:
            return f"an empty {name}", "a value, or _ where there is none"
    if not _WORD.fullmatch(id):
        return None
    if not FEATS.fullmatch(feats):
        return f"the FEATS {_short(feats)}", "_ or Name=Value pairs joined by |"
    if head not in ("0", "_") and (not _WORD.fullmatch(head) or len(head) > _MAX_DIGITS):
        return f"the HEAD {_short(head)}", "the number of a word, 0 for the root, or _ throughout"
    return None


def _short(cell: str) -> str:
    return repr(cell if len(cell) <= 40 else cell[:39] + "…")


def _id_fault(ids: Sequence[str]) -> tuple[int, str, str] | None:
    """Which ID is out of order, counted from 0, what it is, and what was expected."""
    n = sum(id.isdigit() for id in ids)
    if not n:
        return 0, "a sentence without words", "at least one line with an integer ID"
    expected, end = 1, 0
    for at, id in enumerate(ids):
        if m := _RANGE.fullmatch(id):
            first, last = int(m[1]), int(m[2])
            if first != expected:
                return at, f"the range {id}", f"one that begins with the next word, {expected}"
            if first <= end:
                return at, f"the range {id} inside another", f"one that begins after {end}"
            if last <= first or last > n:
                return at, f"the range {id}", f"an end after {first} and up to {n}, the last"
            end = last
        elif id.isdigit():
            if id != str(expected):
                return at, f"the ID {id}", f"{expected}; words are numbered 1, 2, 3, …"
            expected += 1
    return None


def _head_fault(cells: Sequence[Sequence[str]]) -> tuple[int, str, str]:
    """In which row the heads are not a tree, counted from 0, what is wrong, and what was expected."""
    words = [at for at, row in enumerate(cells) if row[0].isdigit()]
    heads = [cells[at][6] for at in words]
    n = len(words)
    if (unset := heads.count("_")) not in (0, n):
        return words[heads.index("_")], f"the HEAD _ ({unset} of {n} words)", "a HEAD for every word or for none"
    for at, head in zip(words, heads, strict=True):
        if head != "_" and int(head) > n:
            return at, f"the HEAD {head}", f"an integer from 0 to {n}, the last word"
        if head == cells[at][0]:
            return at, f"the HEAD {head}, the word itself", "another word, or 0 for the root"
    roots = [at for at, head in zip(words, heads, strict=True) if head == "0"]
    if len(roots) != 1:
        numbers = ", ".join(cells[at][0] for at in roots)
        got = f"{len(roots)} roots (words {numbers})" if roots else "no root"
        return roots[1] if roots else 0, got, "exactly one word with the HEAD 0"
    cycle = _cycle([int(head) - 1 for head in heads])
    round_trip = " → ".join(str(i + 1) for i in (*cycle, cycle[0]))
    return words[min(cycle)], f"a cycle of heads: {round_trip}", "heads that lead to the root"


def _cycle(heads: Sequence[int]) -> list[int]:
    """The words of one cycle, in the order of their heads."""
    visited: set[int] = set()
    for start in range(len(heads)):
        path: dict[int, None] = {}
        at = start
        while at >= 0 and at not in visited and at not in path:
            path[at] = None
            at = heads[at]
        if at in path:
            return list(path)[list(path).index(at) :]
        visited |= path.keys()
    raise AssertionError("a block failed a check, but no error was found in it")


# Writing


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
    ranges: dict[int, str] = {}
    for first, end, form in s.mwts:
        notes = "_" if space[end - 1] or end == n else _NO_SPACE
        ranges[first] = "\t".join((f"{first + 1}-{end}", form, *("_",) * 7, notes)) + "\n"
        space[first:end] = [True] * (end - first)  # recorded once, on the line of the range
    space[-1:] = [True]
    columns = (s.forms, *(column or blank for column in (s.lemmas, s.upos, s.xpos, s.feats, heads, s.deprels)))
    numbers = map(str, range(1, n + 1))
    misc = ["_" if after else _NO_SPACE for after in space]
    rows = list(map("\t".join, zip(numbers, *columns, blank, misc, strict=True)))
    text = "\n".join(rows)
    if text.count("\t") != 9 * n or text.count("\n") != n - 1 or "\r" in text or "\t\t" in text:
        raise _unwritable(s, list(zip(*columns, strict=True)))
    if not ranges:
        return f"{text}\n\n"
    for row in ranges.values():
        if row.count("\t") != 9 or row.count("\n") != 1 or "\r" in row or "\t\t" in row:
            raise _unwritable(s, [(form,) for _, _, form in s.mwts])
    return "".join((*(f"{ranges.get(i, '')}{row}\n" for i, row in enumerate(rows)), "\n"))


def _unwritable(s: Sentence, words: Sequence[Sequence[str]]) -> DataError:
    """The error for a value that cannot be written."""
    for i, cells in enumerate(words, 1):
        if not all(cells) or any(c in cell for cell in cells for c in "\r\n"):
            return DataError(f"sentence {s.id!r}, word {i}: CoNLL-U cannot represent an empty value or a line break")
        if any("\t" in cell for cell in cells):
            return DataError(f"sentence {s.id!r}, word {i}: CoNLL-U cannot represent a value with a tab")
    raise AssertionError("a sentence failed a check, but no error was found in it")
