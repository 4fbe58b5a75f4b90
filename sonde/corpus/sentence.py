"""One annotated sentence, as parallel columns over its syntactic words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

ANNOTATION_COLUMNS = ("lemmas", "upos", "xpos", "feats", "heads", "deprels", "tree")
"""The optional columns, by name; a task says which it needs."""


@dataclass(frozen=True, slots=True)
class Tree:
    """A constituency node. A pre-terminal is ``Tree(tag, (word,))``; every other child is a Tree."""

    label: str
    children: tuple[Tree | str, ...]

    @property
    def category(self) -> str:
        """The label without function tags and indices: ``NP-SBJ-1`` is ``NP``, ``-LRB-`` stays."""
        return self.label if self.label.startswith("-") else self.label.partition("-")[0].partition("=")[0]

    @property
    def nodes(self) -> tuple[Tree, ...]:
        """The children that are nodes; empty at a pre-terminal."""
        return tuple(c for c in self.children if isinstance(c, Tree))

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
        """The bracketed form on one line, every word spelt by ``spell``."""
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
                stack.extend(reversed(item.nodes))
        return "".join(out).lstrip()

    def __str__(self) -> str:
        return self.bracketed()


@dataclass(frozen=True, slots=True)
class Sentence:
    """One sentence. A column has one entry per syntactic word, or is None where the source lacks it.

    ``heads`` are 0-based word positions, -1 for the root. ``feats`` are UD feature strings (``_`` when empty).
    ``mwts`` are multi-word tokens as (first word, one past the last word, surface form): French *du* over *de le*.
    ``space_after`` says per word whether white space follows it in ``text``.
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

    @property
    def tokens(self) -> tuple[str, ...]:
        """The surface tokens: ``forms`` with every multi-word token as the one string it is in the text."""
        if not self.mwts:
            return self.forms
        out: list[str] = []
        at = 0
        for first, end, form in self.mwts:
            out += self.forms[at:first]
            out.append(form)
            at = end
        return (*out, *self.forms[at:])

    @property
    def columns(self) -> frozenset[str]:
        """The names of the optional columns this sentence has."""
        return frozenset(c for c in ANNOTATION_COLUMNS if getattr(self, c) is not None)
