"""Heads that are not a tree, made into one with the fewest changes.

A parser that picks the head of every word for itself may leave cycles, no root or several. At least one head has to
change per cycle, per head that is no other word, and per root beyond the first; changing exactly those is enough, since
what is detached can be attached to the root. So the least number of changes is known, and what remains to be chosen is
which word of a cycle is detached, and which of several words is the root: the one that its relation, then its part of
speech, makes a root, and of equals the first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sentprobe.sentence import Sentence

OUT_OF_RANGE, SELF_LOOP, CYCLE = "head out of range", "word that is its own head", "cycle"
NO_ROOT, SEVERAL_ROOTS = "no root", "several roots"
FAULTS = (OUT_OF_RANGE, SELF_LOOP, CYCLE, NO_ROOT, SEVERAL_ROOTS)
"""What can be wrong with heads; a sentence may have several of these."""

ROOT, UNSPECIFIED, PUNCTUATION = "root", "dep", "punct"
"""Relations of UD: that of the root, and those of words whose relation is lost because they are the root no longer."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A sentence whose heads are a tree."""

    sentence: Sentence
    faults: tuple[str, ...] = ()
    """Of ``FAULTS``, what was wrong; empty if nothing was."""
    changed: tuple[int, ...] = ()
    """The positions of the words whose heads were changed."""


def repair(sentence: Sentence) -> Repair:
    """Make a tree of the heads of a sentence; one that has a tree, or no heads, is returned as it is.

    Examples
    --------
    >>> from sentprobe import Sentence
    >>> repaired = repair(Sentence("s", "Dogs bark", ("Dogs", "bark"), upos=("NOUN", "VERB"), heads=(1, 0)))
    >>> repaired.faults, repaired.sentence.heads, repaired.changed
    (('cycle', 'no root'), (1, -1), (1,))
    """
    heads = sentence.heads
    if not heads:
        return Repair(sentence)
    n = len(heads)
    out_of_range = [i for i, head in enumerate(heads) if not -1 <= head < n]
    self_loops = [i for i, head in enumerate(heads) if head == i]
    cycles = _cycles(heads)
    roots = [i for i, head in enumerate(heads) if head == -1]
    present = (out_of_range, self_loops, cycles, not roots, len(roots) > 1)
    faults = tuple(fault for fault, is_present in zip(FAULTS, present, strict=True) if is_present)
    if not faults:
        return Repair(sentence)
    preference = _preference(sentence)
    candidates = roots or [*out_of_range, *self_loops, *(word for cycle in cycles for word in cycle)]
    root = min(candidates, key=preference)
    detached = {root, *roots, *out_of_range, *self_loops}
    detached |= {root if root in cycle else min(cycle, key=preference) for cycle in cycles}
    new_heads = tuple([head if i not in detached else -1 if i == root else root for i, head in enumerate(heads)])
    changed = tuple([i for i in range(n) if new_heads[i] != heads[i]])
    deprels = sentence.deprels
    if deprels is not None:
        deprels = tuple([_new_deprel(sentence, i, root) if i in changed else old for i, old in enumerate(deprels)])
    return Repair(replace(sentence, heads=new_heads, deprels=deprels), faults, changed)


def _cycles(heads: Sequence[int]) -> list[list[int]]:
    """The cycles of two or more words; each word is visited once."""
    n = len(heads)
    walk_of = [0] * n
    cycles: list[list[int]] = []
    for walk in range(1, n + 1):
        path: list[int] = []
        at = walk - 1
        while 0 <= at < n and not walk_of[at]:
            walk_of[at] = walk
            path.append(at)
            at = heads[at]
        if 0 <= at < n and walk_of[at] == walk and at != heads[at]:
            cycles.append(path[path.index(at) :])
    return cycles


def _preference(sentence: Sentence) -> Callable[[int], tuple[bool, bool, bool, int]]:
    """The order of words by how well they would do as the root, best first."""
    deprels, upos = sentence.deprels, sentence.upos

    def key(i: int) -> tuple[bool, bool, bool, int]:
        tag = "" if upos is None else upos[i]
        return deprels is None or deprels[i] != ROOT, tag == "PUNCT", tag != "VERB", i

    return key


def _new_deprel(sentence: Sentence, word: int, root: int) -> str:
    """The relation of a word whose head was changed: as it was, unless it was that of the root, or is so now."""
    deprel = (sentence.deprels or ())[word]
    if word == root:
        return ROOT
    if deprel != ROOT:
        return deprel
    return PUNCTUATION if sentence.upos is not None and sentence.upos[word] == "PUNCT" else UNSPECIFIED
