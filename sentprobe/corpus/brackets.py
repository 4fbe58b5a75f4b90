"""Bracketed constituency trees, as in the Penn Treebank: a streaming reader, a writer, and a join with a treebank.

A tree may span one line or many, alone or after ``document<TAB>``, with or without an outer ``ROOT``, ``TOP``,
``S1``, ``VROOT`` or empty label; it always comes out under one ``ROOT``. Traces (``-NONE-``) are removed, with the
nodes they leave empty. Words are unescaped: ``-LRB-`` is ``(``, ``\\/`` is ``/``, and both quote marks of the Penn
Treebank, two backticks and two apostrophes, are ``"`` in the forms, in the leaves and in the text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from pathlib import Path
from typing import TextIO

from sentprobe.core.files import encoding_error
from sentprobe.corpus.files import SHARD_BLOCK, OnError, byte_lines, stem
from sentprobe.errors import CorpusError, DataError
from sentprobe.sentence import Sentence, Tree

MAX_DEPTH = 1000
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
_CONTRACTIONS = frozenset({("gon", "na"), ("wan", "na"), ("got", "ta"), ("can", "not")})
_CONTRACTION_ENDS = frozenset({"na", "ta", "not"})
_PENN_ESCAPES = {f"-{name}-": bracket for name, bracket in _BRACKETS.items()} | {"``": '"', "''": '"'}
_TYPOGRAPHY = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "`": "'", "–": "-", "—": "-", "\u00a0": ""}
)

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
            trees = _read(path, line, raw)
            sentences = [_sentence(f"{doc or name}-{n}", doc, tree) for n, tree in enumerate(trees, before + 1)]
        except CorpusError as error:
            counts[doc] = before + _trees_in(raw)
            if on_error is None:
                raise
            on_error(error)
        else:
            counts[doc] = before + len(sentences)
            yield from sentences


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
    pushed_back: list[tuple[int, bytes]] = []  # lines to be read a second time, the next one last
    depth = size = 0
    # after the first error, a bracket in column 0 begins a tree; else every error would read on to the end
    after_error = False
    doc: str | None = None
    source = byte_lines(path, on_error)

    def unit(fault: CorpusError | None = None) -> tuple[int, str | None, bytes, CorpusError | None]:
        return open_lines[0][0], doc, b"\n".join([text for _, text in open_lines]), fault

    while True:
        number, line = pushed_back.pop() if pushed_back else next(source, (0, b""))
        doc_cell, tab, tree_cell = line.partition(b"\t")
        names_doc = bool(tab) and b"(" not in doc_cell and bool(doc_cell.strip()) and tree_cell.lstrip()[:1] == b"("
        begins_tree = names_doc or (after_error and line[:1] == b"(")
        if depth and (not number or begins_tree or size > _MAX_TREE_CHARACTERS or not line.strip()):
            after_error = True
            first = open_lines[0][0]
            # reading resumes where another tree seems to begin
            restart = next((i for i, (_, t) in enumerate(open_lines) if i and t[:1] == b"("), len(open_lines))
            pushed_back += [(number, line)] if number else []
            pushed_back += reversed(open_lines[restart:])
            del open_lines[restart:]
            unclosed = sum(text.count(b"(") - text.count(b")") for _, text in open_lines)
            got = f"a tree with {unclosed} bracket{'s' * (unclosed != 1)} left open"
            yield unit(CorpusError(path, first, got, "a closing bracket for every opening one"))
            open_lines, depth, size = [], 0, 0
            continue
        if not number:
            return
        if not depth:
            if not line.strip():
                continue
            doc = doc_cell.decode(errors="replace").strip() if names_doc else None
            line = tree_cell if names_doc else line
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
        offsets = [m.start() for m in _TOKEN.finditer(text)] or [0]
        raise CorpusError(path, line + text.count("\n", 0, offsets[fault.token]), fault.got, fault.expected) from None


def _parse(text: str) -> list[Parsed]:
    """Parse the trees in a text with an explicit stack, so that nesting is not limited by Python's recursion."""
    trees: list[Parsed] = []
    labels: list[str] = []
    stack: list[list[Tree | None]] = []
    children: list[Tree | None] = []  # of the open node; None marks what was removed
    tags: list[str] = []
    forms: list[str] = []
    written: list[str] = []
    for n, (tag, word, label, close, stray) in enumerate(_TOKEN.findall(text)):
        if tag:
            if tag == "-NONE-":
                children.append(None)
            else:
                form = word if word.isalnum() else _plain(word)
                children.append(Tree(tag, (form,)))
                tags.append(tag)
                forms.append(form)
                written.append(word)
        elif close:
            if not labels:
                raise _ParseFault(n, "a closing bracket too many", "an opening bracket for every closing one")
            if not children:
                raise _ParseFault(n, f"the empty node ({labels[-1]})", "a word or nodes inside every node")
            nodes = tuple([child for child in children if child is not None])
            children = stack.pop()
            name = labels.pop()
            children.append(Tree(name, nodes) if nodes else None)
        elif stray:
            if labels:
                raise _ParseFault(
                    n, f"the word {stray[:40]!r} next to other parts of a node", "(tag word) for every word"
                )
            raise _ParseFault(n, f"the word {stray[:40]!r} outside a tree", "a tree: (label …)")
        else:
            if labels and not label:
                raise _ParseFault(n, "a node without a label", "(label …); only the outermost label may be missing")
            if len(labels) == MAX_DEPTH:
                raise _ParseFault(n, f"a tree more than {MAX_DEPTH} levels deep", "a tree of a sentence")
            labels.append(label)
            stack.append(children)
            children = []
            continue
        if not labels:
            tree = children.pop()
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
            if form in _CONTRACTION_ENDS and i and (forms[i - 1].lower(), form) in _CONTRACTIONS:
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


# Joining trees to the sentences of a treebank


@dataclass(frozen=True)
class TreeIndex:
    """Sentences with trees by their words, and by document and words."""

    by_words: dict[str, Sentence]
    by_doc: dict[tuple[str, str], Sentence]
    docs: frozenset[str]
    first: Sentence | None
    errors: tuple[CorpusError, ...]
    """The trees that could not be read."""

    def find(self, sentence: Sentence) -> Sentence | None:
        """The tree's sentence with the same words; from the same document, if both sides know that document."""
        words = _key(sentence.forms)
        if sentence.doc is not None and sentence.doc in self.docs:
            return self.by_doc.get((sentence.doc, words))
        return self.by_words.get(words)


def index_trees(files: tuple[str, ...], on_error: OnError | None = None) -> TreeIndex:
    """Index the trees of bracket files; the index is cached until a file changes.

    A malformed tree raises CorpusError, or is passed to ``on_error`` and left out.
    """
    index = _index(files, tuple(map(_stamp, files)))
    for error in index.errors:
        if on_error is None:
            raise error
        on_error(error)
    return index


@lru_cache(maxsize=2)
def _index(files: tuple[str, ...], stamps: tuple[tuple[int, int], ...]) -> TreeIndex:
    by_words: dict[str, Sentence] = {}
    by_doc: dict[tuple[str, str], Sentence] = {}
    docs: set[str] = set()
    first = None
    errors: list[CorpusError] = []
    for file in files:
        for s in read_brackets(file, on_error=errors.append):
            first = first or s
            words = _key(s.forms)
            by_words.setdefault(words, s)  # the first of several trees, whichever shard reads it
            if s.doc is not None:
                docs.add(s.doc)
                by_doc.setdefault((s.doc, words), s)
    return TreeIndex(by_words, by_doc, frozenset(docs), first, tuple(errors))


def _stamp(file: str) -> tuple[int, int]:
    try:
        stat = Path(file).stat()
    except OSError:
        return 0, 0  # reading it raises the error
    return stat.st_mtime_ns, stat.st_size


def _key(forms: Sequence[str]) -> str:
    """Words in a spelling that does not depend on how quotes, dashes and brackets are written."""
    plain = "\t".join([_PENN_ESCAPES.get(form, form) for form in forms]).translate(_TYPOGRAPHY)
    return (
        unicodedata.normalize("NFC", plain).replace("''", '"').replace("--", "-").replace("...", "…").replace(" ", "")
    )


def with_tree(s: Sentence, match: Sentence) -> Sentence:
    """The sentence with the tree of another one, whose leaves get its own forms."""
    tree = match.tree
    if tree is not None and s.forms != match.forms:
        tree = _with_words(tree, s.forms)
    xpos = s.xpos or match.xpos
    # ``dataclasses.replace`` takes several times as long
    return Sentence(
        s.id, s.text, s.forms, s.lemmas, s.upos, xpos, s.feats, s.heads, s.deprels, s.space_after, s.mwts, s.doc, tree
    )


def _with_words(tree: Tree, forms: Sequence[str]) -> Tree:
    """The same tree over other words; built with a stack, so that depth does not matter."""
    words = iter(forms)
    done: list[Tree] = []
    stack: list[tuple[Tree, bool]] = [(tree, False)]
    while stack:
        node, closing = stack.pop()
        if closing:
            count = len(node.children)
            children = tuple(done[-count:])
            del done[-count:]
            done.append(Tree(node.label, children))
        elif nodes := node.nodes:
            stack.append((node, True))
            stack.extend((child, False) for child in reversed(nodes))
        else:
            done.append(Tree(node.label, (next(words),)))
    return done[0]
