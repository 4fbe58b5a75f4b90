"""Constituency trees of other packages as ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from sentprobe.corpus.brackets import MAX_DEPTH, rooted
from sentprobe.sentence import Tree

Parts = Callable[[Any], tuple[str, Sequence[Any]] | None]
"""The label and the children of a node; None for a word."""


def tree_of(node: Any, parts: Parts, forms: Sequence[str]) -> Tree:
    """The tree below a node, with these words as its leaves and one ROOT on top; ValueError if they do not fit.

    Examples
    --------
    >>> nested = ("S", [("NP", [("NNS", ["dogs"])]), ("VP", [("VBP", ["bark"])])])
    >>> print(tree_of(nested, lambda node: None if isinstance(node, str) else node, ("Dogs", "bark")))
    (ROOT (S (NP (NNS Dogs)) (VP (VBP bark))))
    """
    words = iter(forms)
    done: list[Tree] = []
    stack: list[tuple[str, int] | Any] = [node]  # nodes to be read, and labels of those whose children have been
    open_nodes = 0
    while stack:
        item = stack.pop()
        if isinstance(item, _Closing):
            children = tuple(done[-item.children :])
            del done[-item.children :]
            done.append(Tree(item.label, children))
            open_nodes -= 1
            continue
        found = parts(item)
        if found is None or not found[1]:
            raise ValueError("expected every word of a tree to have a tag")
        label, below = found
        if len(below) == 1 and parts(below[0]) is None:
            form = next(words, None)
            if form is None:
                raise ValueError(f"expected a tree over {len(forms)} words, got one over more")
            done.append(Tree(label, (form,)))
            continue
        open_nodes += 1
        if open_nodes > MAX_DEPTH:
            raise ValueError(f"expected a tree of a sentence, got one that is more than {MAX_DEPTH} levels deep")
        stack.append(_Closing(label, len(below)))
        stack.extend(reversed(below))
    if next(words, None) is not None:
        raise ValueError(f"expected a tree over {len(forms)} words, got one over fewer")
    return rooted(done[0])


class _Closing:
    """A node whose children are read next."""

    def __init__(self, label: str, children: int) -> None:
        self.label, self.children = label, children
