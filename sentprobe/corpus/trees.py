"""Joining constituency trees from bracket files to the sentences of a treebank, by document and words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from sentprobe.corpus.brackets import OnError, read_brackets
from sentprobe.errors import CorpusError
from sentprobe.sentence import Sentence, Tree

_ALIKE = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "‘": "'", "’": "'", "`": "'", "–": "-", "—": "-", "\u00a0": ""}
)
_PENN_ESCAPES = {
    "-LRB-": "(",
    "-RRB-": ")",
    "-LSB-": "[",
    "-RSB-": "]",
    "-LCB-": "{",
    "-RCB-": "}",
    "``": '"',
    "''": '"',
}


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
    """Index the trees of bracket files; the index is kept until a file changes.

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
    plain = "\t".join([_PENN_ESCAPES.get(form, form) for form in forms]).translate(_ALIKE)
    return (
        unicodedata.normalize("NFC", plain).replace("''", '"').replace("--", "-").replace("...", "…").replace(" ", "")
    )


def with_tree(sentence: Sentence, found: Sentence) -> Sentence:
    """The sentence with the tree of another one, whose leaves get its own forms."""
    tree = found.tree
    if tree is not None and sentence.forms != found.forms:
        tree = _with_leaves(tree, sentence.forms)
    s = sentence
    xpos = s.xpos or found.xpos
    # ``dataclasses.replace`` takes several times as long
    return Sentence(
        s.id, s.text, s.forms, s.lemmas, s.upos, xpos, s.feats, s.heads, s.deprels, s.space_after, s.mwts, s.doc, tree
    )


def _with_leaves(tree: Tree, forms: Sequence[str]) -> Tree:
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
