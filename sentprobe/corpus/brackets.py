"""Bracketed constituency trees, as in the Penn Treebank: a streaming reader and a writer.

A tree may span one line or many, alone or after ``document<TAB>``, with or without an outer ``ROOT``, ``TOP``,
``S1``, ``VROOT`` or empty label; it always comes out under one ``ROOT``. Traces (``-NONE-``) are removed, with the
nodes they leave empty. Words are unescaped: ``-LRB-`` is ``(``, ``\\/`` is ``/``, and both quote marks of the Penn
Treebank, two backticks and two apostrophes, are ``"`` in the forms, in the leaves and in the text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import accumulate
from typing import TextIO

from sentprobe.core.files import encoding_error, open_bytes
from sentprobe.corpus.conllu import SHARD_BLOCK
from sentprobe.corpus.files import stem
from sentprobe.errors import CorpusError, DataError
from sentprobe.sentence import Sentence, Tree

DEEPEST = 1000
"""A tree nested deeper than this is treated as an error."""

_MAX_TREE_CHARACTERS = 1 << 22
"""Bytes after which an open tree is given up, so that a missing bracket does not pull the file into memory."""

_ROOTS = frozenset({"", "ROOT", "TOP", "S1", "VROOT"})
_TOKEN = re.compile(
    r"\([ \t\n]*([^ \t\n()]+)[ \t\n]+([^ \t\n()]+)[ \t\n]*\)"  # a pre-terminal, which is most of a tree
    r"|\([ \t\n]*([^ \t\n()]*)|(\))|([^ \t\n()]+)"
)
_ESCAPED = re.compile(r"-(LRB|RRB|LSB|RSB|LCB|RCB)-", re.I)
_BRACKETS = {"LRB": "(", "RRB": ")", "LSB": "[", "RSB": "]", "LCB": "{", "RCB": "}"}
_QUOTES = frozenset({'"', "``", "''"})
_CLITICS = frozenset(["'", "'s", "'m", "'d", "'re", "'ve", "'ll", "n't"])
_CLOSING = frozenset([")", "]", "}", "%", "”", "’", "»", "™", "®"])
_OPENING = frozenset(["(", "[", "{", "$", "£", "€", "“", "‘", "`", "«"])
_STRAIGHT = frozenset({'"', "'"})
_STOPS = ",.;:?!…"
_HALVES = frozenset({("gon", "na"), ("wan", "na"), ("got", "ta"), ("can", "not")})
_SECOND_HALVES = frozenset({"na", "ta", "not"})

OnError = Callable[[CorpusError], None]
Parsed = tuple[Tree, tuple[str, ...], tuple[str, ...], list[str]]
"""A tree, its tags, its words, and its words as they were written."""


class _ParseFault(Exception):
    """Something wrong at the n-th token of a text; n = -1 for its end."""

    def __init__(self, token: int, got: str, expected: str) -> None:
        super().__init__(got)
        self.token, self.got, self.expected = token, got, expected


def read_brackets(path: str, *, shard: int = 0, of: int = 1, on_error: OnError | None = None) -> Iterator[Sentence]:
    """Yield the trees of a file as sentences, or every ``of``-th run of 256 of them beginning with run ``shard``.

    ``xpos`` are the labels of the pre-terminals; the other columns are None. The text is put together by simple rules
    for spacing. The id is the document, or the name of the file, with the number of the tree within it. A malformed
    tree raises CorpusError, or is passed to ``on_error`` and skipped.
    """
    name = stem(path)
    counts: dict[str | None, int] = {}
    for number, (line, doc, raw, fault) in enumerate(_units(path, on_error)):
        before = counts.get(doc, 0)
        if number // SHARD_BLOCK % of != shard:
            counts[doc] = before + _trees_in(raw)
            continue
        try:
            if fault:
                raise fault
            made = [
                _sentence(f"{doc or name}-{n}", doc, one) for n, one in enumerate(_read(path, line, raw), before + 1)
            ]
        except CorpusError as error:
            counts[doc] = before + _trees_in(raw)
            if on_error is None:
                raise
            on_error(error)
        else:
            counts[doc] = before + len(made)
            yield from made


def parse_tree(text: str) -> Tree:
    """Read one bracketed tree from a string."""
    try:
        trees = _parse(text)
    except _ParseFault as fault:
        raise DataError(f"got {fault.got} in {text[:60]!r}; expected {fault.expected}") from None
    if len(trees) != 1:
        raise DataError(f"expected one tree in {text[:60]!r}, got {len(trees)}")
    return trees[0][0]


def write_brackets(sentences: Iterable[Sentence], out: TextIO) -> None:
    """Write the trees of sentences, one per line, after ``document<TAB>`` where the document is known.

    Round brackets inside words are escaped, inner white space becomes a no-break space.
    """
    for s in sentences:
        if s.tree is None:
            raise DataError(f"sentence {s.id!r} has no tree; leave it out or join trees to the corpus first")
        doc = "" if s.doc is None else re.sub(r"\s+", " ", s.doc) + "\t"
        out.write(f"{doc}{s.tree.bracketed(escape)}\n")


def _units(path: str, on_error: OnError | None) -> Iterator[tuple[int, str | None, bytes, CorpusError | None]]:
    """Yield (line, document, lines up to the closing bracket, fault) for every tree, or trees that share a line.

    Round brackets are escaped inside words, so that counting them is enough.
    """
    open_lines: list[tuple[int, bytes]] = []  # of the tree that is open
    again: list[tuple[int, bytes]] = []  # lines to be read a second time, the next one last
    depth = size = 0
    wary = (
        False  # after the first error, a bracket in column 0 begins a tree; else every error would read on to the end
    )
    doc: str | None = None
    source = _lines(path, on_error)

    def unit(fault: CorpusError | None = None) -> tuple[int, str | None, bytes, CorpusError | None]:
        return open_lines[0][0], doc, b"\n".join([text for _, text in open_lines]), fault

    while True:
        number, line = again.pop() if again else next(source, (0, b""))
        names, tab, rest = line.partition(b"\t")
        starts = bool(tab) and b"(" not in names and bool(names.strip()) and rest.lstrip()[:1] == b"("
        starts_again = starts or (wary and line[:1] == b"(")
        if depth and (not number or starts_again or size > _MAX_TREE_CHARACTERS or not line.strip()):
            wary = True
            first = open_lines[0][0]
            # reading resumes where another tree seems to begin
            restart = next((i for i, (_, t) in enumerate(open_lines) if i and t[:1] == b"("), len(open_lines))
            again += [(number, line), *reversed(open_lines[restart:])] if number else reversed(open_lines[restart:])
            del open_lines[restart:]
            left = sum(text.count(b"(") - text.count(b")") for _, text in open_lines)
            got = f"a tree with {left} bracket{'s' * (left != 1)} left open"
            yield unit(CorpusError(path, first, got, "a closing bracket for every opening one"))
            open_lines, depth, size = [], 0, 0
            continue
        if not number:
            return
        if not depth:
            if not line.strip():
                continue
            doc = names.decode(errors="replace").strip() if starts else None
            line = rest if starts else line
        open_lines.append((number, line))
        size += len(line)
        depth += line.count(b"(") - line.count(b")")
        if depth < 0:
            got = f"{-depth} closing bracket{'s' * (depth != -1)} too many"
            yield unit(CorpusError(path, number, got, "an opening bracket for every closing one"))
        elif depth == 0:
            yield unit()
        if depth <= 0:
            open_lines, depth, size = [], 0, 0


def _lines(path: str, on_error: OnError | None) -> Iterator[tuple[int, bytes]]:
    number = 0
    try:
        for piece in open_bytes(path):
            for line in piece.removesuffix(b"\n").split(b"\n"):
                number += 1
                yield number, line
    except CorpusError as error:  # nothing can be read after this point; what was read so far is kept
        if on_error is None:
            raise
        on_error(error)


def _trees_in(raw: bytes) -> int:
    """How many trees a unit holds, without parsing it."""
    depths = accumulate(1 if bracket == b"(" else -1 for bracket in re.findall(rb"[()]", raw))
    return max(1, list(depths).count(0))


def _read(path: str, line: int, raw: bytes) -> list[Parsed]:
    try:
        text = raw.decode()
    except UnicodeDecodeError as error:
        raise encoding_error(path, line, error) from None
    try:
        return _parse(text)
    except _ParseFault as fault:
        places = [m.start() for m in _TOKEN.finditer(text)] or [0]
        raise CorpusError(path, line + text.count("\n", 0, places[fault.token]), fault.got, fault.expected) from None


def _parse(text: str) -> list[Parsed]:
    """Parse the trees in a text with an explicit stack, so that nesting is not limited by Python's recursion."""
    trees: list[Parsed] = []
    labels: list[str] = []
    stack: list[list[Tree | None]] = []
    here: list[Tree | None] = []  # the children of the open node; None marks what was removed
    tags: list[str] = []
    forms: list[str] = []
    written: list[str] = []
    for n, (tag, word, label, close, stray) in enumerate(_TOKEN.findall(text)):
        if tag:
            if tag == "-NONE-":
                here.append(None)
            else:
                form = word if word.isalnum() else _plain(word)
                here.append(Tree(tag, (form,)))
                tags.append(tag)
                forms.append(form)
                written.append(word)
        elif close:
            if not labels:
                raise _ParseFault(n, "a closing bracket too many", "an opening bracket for every closing one")
            if not here:
                raise _ParseFault(n, f"the empty node ({labels[-1]})", "a word or nodes inside every node")
            kept = tuple([child for child in here if child is not None])
            here = stack.pop()
            name = labels.pop()
            here.append(Tree(name, kept) if kept else None)
        elif stray:
            if labels:
                raise _ParseFault(
                    n, f"the word {stray[:40]!r} next to other parts of a node", "(tag word) for every word"
                )
            raise _ParseFault(n, f"the word {stray[:40]!r} outside a tree", "a tree: (label …)")
        else:
            if labels and not label:
                raise _ParseFault(n, "a node without a label", "(label …); only the outermost label may be missing")
            if len(labels) == DEEPEST:
                raise _ParseFault(n, f"a tree more than {DEEPEST} levels deep", "a tree of a sentence")
            labels.append(label)
            stack.append(here)
            here = []
            continue
        if not labels:
            tree = here.pop()
            if tree is None:
                raise _ParseFault(n, "a tree without words", "at least one word that is not a trace")
            trees.append((rooted(tree), tuple(tags), tuple(forms), written))
            tags, forms, written = [], [], []
    if labels:
        raise _ParseFault(-1, f"the end, {len(labels)} brackets still open", "a closing bracket for every opening one")
    return trees


def rooted(tree: Tree) -> Tree:
    """Put a tree under exactly one ROOT."""
    while tree.label in _ROOTS and len(tree.nodes) == 1 and tree.nodes[0].label in _ROOTS and tree.nodes[0].nodes:
        tree = tree.nodes[0]
    return Tree("ROOT", tree.children if tree.label in _ROOTS and tree.nodes else (tree,))


def _plain(word: str) -> str:
    """The word without Penn Treebank escapes."""
    if word in _QUOTES:
        return '"'
    if "-" in word:
        word = _ESCAPED.sub(lambda m: _BRACKETS[m[1].upper()], word)
    return word.replace("\\/", "/").replace("\\*", "*") if "\\" in word else word


def escape(word: str) -> str:
    """The word as it is written in a bracketed tree."""
    return re.sub(r"\s+", "\u00a0", word).replace("(", "-LRB-").replace(")", "-RRB-")


def _sentence(id: str, doc: str | None, parsed: Parsed) -> Sentence:
    tree, tags, forms, written = parsed
    space = _spaces(tags, forms, written)
    text = "".join([form + " " if after else form for form, after in zip(forms, space, strict=True)]).rstrip()
    return Sentence(id, text, forms, xpos=tags, space_after=space, doc=doc, tree=tree)


def _spaces(tags: Sequence[str], forms: Sequence[str], written: Sequence[str]) -> tuple[bool, ...]:
    """Whether a space follows each word, by the rules of English typography and Penn Treebank tokens."""
    space = [True] * len(forms)
    inside = False  # inside straight quotes, whose tags need not say whether they open or close
    for i, form in enumerate(forms):
        if form.isalnum():
            if form in _SECOND_HALVES and i and (forms[i - 1].lower(), form) in _HALVES:
                space[i - 1] = False
            continue
        opens = form in _OPENING
        closes = form in _CLOSING or (form[0] in _STOPS and not form.strip(_STOPS))
        if form in _STRAIGHT and (tags[i] in _QUOTES or form == '"'):
            quote = written[i] if form == '"' and written[i] != form else tags[i]
            opens = quote == "``" or (quote != "''" and not inside)
            closes, inside = not opens, opens
        elif form[0] in "'’nN" and form.lower().replace("’", "'") in _CLITICS:
            closes = True
        elif tags[i] == "HYPH":
            opens = closes = True
        if opens:
            space[i] = False
        if closes and i:
            space[i - 1] = False
    space[-1] = True
    return tuple(space)
