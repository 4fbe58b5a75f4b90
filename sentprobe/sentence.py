"""One annotated sentence, as parallel columns over its syntactic words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache

import msgspec

from sentprobe.core.resources import remember_last

ANNOTATION_COLUMNS = ("lemmas", "upos", "xpos", "feats", "heads", "deprels", "tree")
"""The optional columns, by name; a task says which it needs."""


def shorten(text: str, most: int = 60) -> str:
    """A text cut to at most this many characters, for a one-line repr."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


class Tree(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A node of a constituency tree. A struct, because it is made five times as fast as a frozen dataclass.

    Attributes
    ----------
    label
        The category with its function tags, such as ``NP-SBJ``, or the tag of a word.
    children
        The nodes below, from left to right. A pre-terminal has its word as its only child: ``Tree("NN", ("dog",))``.

    Examples
    --------
    >>> from sentprobe import Tree
    >>> tree = Tree("S", (Tree("NP-SBJ", (Tree("NNS", ("Dogs",)),)), Tree("VP", (Tree("VBP", ("bark",)),))))
    >>> print(tree)
    (S (NP-SBJ (NNS Dogs)) (VP (VBP bark)))
    >>> tree.nodes[0].category, list(tree.leaves())
    ('NP', [('NNS', 'Dogs'), ('VBP', 'bark')])
    """

    label: str
    children: tuple[Tree | str, ...]

    @property
    def category(self) -> str:
        """The label without function tags and indices: ``NP-SBJ-1`` is ``NP``, ``-LRB-`` stays."""
        return _category(self.label)

    @property
    def nodes(self) -> tuple[Tree, ...]:
        """The children that are nodes; empty at a pre-terminal."""
        children = self.children
        return () if not children or isinstance(children[0], str) else children  # type: ignore[return-value]

    def leaves(self) -> Iterator[tuple[str, str]]:
        """Yield (tag, word) from left to right."""
        stack: list[Tree] = [self]
        while stack:
            node = stack.pop()
            if isinstance(word := node.children[0], str):
                yield node.label, word
            else:
                stack.extend(reversed(node.nodes))

    def bracketed(self, spell: Callable[[str], str] = str) -> str:
        """The tree in brackets, on one line; ``spell`` is applied to every word."""
        out: list[str] = []
        stack: list[Tree | str] = [self]
        while stack:
            item = stack.pop()
            if isinstance(item, str):
                out.append(item)
            elif isinstance(word := item.children[0], str):
                out.append(f" ({item.label} {spell(word)})")
            else:
                out.append(f" ({item.label}")
                stack.append(")")
                stack.extend(item.children[::-1])
        return "".join(out).lstrip()

    def __str__(self) -> str:
        return self.bracketed()

    def __repr__(self) -> str:
        return f"Tree({shorten(self.bracketed())!r})"


@lru_cache(maxsize=1 << 12)
def _category(label: str) -> str:
    return label if label.startswith("-") else label.partition("-")[0].partition("=")[0]


@dataclass(frozen=True, slots=True, repr=False)
class Sentence:
    """One annotated sentence, as parallel columns over its syntactic words.

    A column has one entry per word, or is None where the source lacks it. Positions count from 0.

    Parameters
    ----------
    id
        The sentence id; made from file name and number where the source has none.
    text
        The sentence as it is written.
    forms
        The syntactic words, punctuation included.
    lemmas
        The lemma of every word, ``_`` where there is none.
    upos
        Universal parts of speech: ``NOUN``, ``VERB``, …
    xpos
        Language-specific tags, such as the Penn tags of English treebanks.
    feats
        UD features of every word as one string, ``Number=Sing|Person=3``, ``_`` where there is none.
    heads
        The position of each word's head, counted from 0; -1 for the root. (CoNLL-U counts from 1, with 0 for the root.)
    deprels
        The relation of each word to its head, such as ``nsubj:pass``; ``root`` for the root.
    space_after
        Whether white space follows each word in ``text``.
    mwts
        Multi-word tokens as (first word, one past the last word, surface form): French *du* over *de le*.
    doc
        The id of the document, if known.
    tree
        The constituency tree, if there is one.

    Examples
    --------
    >>> from sentprobe import Sentence
    >>> s = Sentence(
    ...     "s1", "She doesn't sleep.", ("She", "does", "n't", "sleep", "."),
    ...     upos=("PRON", "AUX", "PART", "VERB", "PUNCT"), heads=(3, 3, 3, -1, 3), mwts=((1, 3, "doesn't"),),
    ... )
    >>> s
    Sentence('s1', "She doesn't sleep.", 5 words: upos, heads)
    >>> s.tokens, s.forms[s.heads.index(-1)]
    (('She', "doesn't", 'sleep', '.'), 'sleep')
    """

    id: str
    text: str
    forms: tuple[str, ...]
    lemmas: tuple[str, ...] | None = None
    upos: tuple[str, ...] | None = None
    xpos: tuple[str, ...] | None = None
    feats: tuple[str, ...] | None = None
    heads: tuple[int, ...] | None = None
    deprels: tuple[str, ...] | None = None
    space_after: tuple[bool, ...] | None = None
    mwts: tuple[tuple[int, int, str], ...] = ()
    doc: str | None = None
    tree: Tree | None = None

    def __len__(self) -> int:
        return len(self.forms)

    def __repr__(self) -> str:
        columns = ", ".join(c for c in ANNOTATION_COLUMNS if getattr(self, c) is not None) or "no annotation"
        words = f"{len(self.forms)} word{'s' * (len(self.forms) != 1)}"
        return f"Sentence({self.id!r}, {shorten(self.text)!r}, {words}: {columns})"

    @property
    def tokens(self) -> tuple[str, ...]:
        """The surface tokens: ``forms`` with every multi-word token as the one string it is in the text."""
        return _tokens(self) if self.mwts else self.forms

    @property
    def columns(self) -> frozenset[str]:
        """The names of the optional columns this sentence has."""
        return frozenset(c for c in ANNOTATION_COLUMNS if getattr(self, c) is not None)


@remember_last
def _tokens(s: Sentence) -> tuple[str, ...]:
    out: list[str] = []
    at = 0
    for first, end, form in s.mwts:
        out += s.forms[at:first]
        out.append(form)
        at = end
    return (*out, *s.forms[at:])
