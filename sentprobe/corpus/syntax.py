"""Queries on one sentence's dependency tree and constituency tree.

Dependency queries need ``heads`` and ``deprels``; constituency queries need ``tree``. Positions are 0-based words.
"""

from __future__ import annotations

import re
from functools import lru_cache

from sentprobe.core.resources import remember_last
from sentprobe.sentence import Sentence, Tree

PENN_TO_UPOS = {
    "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "NNPS": "PROPN", "JJ": "ADJ", "JJR": "ADJ", "JJS": "ADJ",
    "RB": "ADV", "RBR": "ADV", "RBS": "ADV", "WRB": "ADV", "VB": "VERB", "VBD": "VERB", "VBG": "VERB",
    "VBN": "VERB", "VBP": "VERB", "VBZ": "VERB", "MD": "AUX", "DT": "DET", "PDT": "DET", "WDT": "DET",
    "IN": "ADP", "TO": "PART", "RP": "ADP", "CC": "CCONJ", "CD": "NUM", "PRP": "PRON", "PRP$": "PRON",
    "WP": "PRON", "WP$": "PRON", "EX": "PRON", "POS": "PART", "UH": "INTJ", "FW": "X", "LS": "X", "GW": "X",
    "SYM": "SYM", "$": "SYM", "#": "SYM",
}  # fmt: skip
"""Penn tag → the nearest UD part of speech."""
PENN_PUNCTUATION = frozenset({".", ",", ":", "``", "''", "-LRB-", "-RRB-", "HYPH", "NFP"})
PENN_TAGS = PENN_PUNCTUATION | PENN_TO_UPOS.keys() | {"ADD", "AFX", "XX", "WP$", "PRP$"}

NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS"})


def tags(s: Sentence) -> tuple[str, ...]:
    """UD parts of speech, read off Penn tags where the corpus has only those; empty strings where it has neither."""
    if s.upos is not None:
        return s.upos
    return ("",) * len(s) if s.xpos is None else _from_penn(s.xpos)


@remember_last
def _from_penn(xpos: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(["PUNCT" if t in PENN_PUNCTUATION else PENN_TO_UPOS.get(t, "") for t in xpos])


UNSPACED = re.compile(
    "["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f\u1780-\u17ff"  # Burmese, Khmer
    "\u0f00-\u0fff"  # Tibetan
    "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # Japanese, Chinese
    "\U00020000-\U0003ffff"
    "]"
)


def is_unspaced(form: str) -> bool:
    """Whether a word is written in a script without spaces between words."""
    return not form.isascii() and UNSPACED.search(form) is not None


@lru_cache(maxsize=1 << 14)
def features(feats: str) -> dict[str, str]:
    """UD feature string → dict, ``Number=Sing|Case=Nom`` → ``{"Number": "Sing", "Case": "Nom"}``. Do not modify it."""
    return {} if feats == "_" else dict(pair.split("=", 1) for pair in feats.split("|") if "=" in pair)


def feature(s: Sentence, i: int, name: str) -> str | None:
    """The value of one UD feature of word ``i``, or None."""
    return None if s.feats is None else features(s.feats[i]).get(name)


def root(s: Sentence) -> int:
    """The position of the root word."""
    assert s.heads is not None
    return s.heads.index(-1)


def children(s: Sentence, head: int) -> tuple[int, ...]:
    """The positions of the dependents of ``head``, left to right."""
    assert s.heads is not None
    return tuple(_dependents(s.heads)[head])


@remember_last
def _dependents(heads: tuple[int, ...]) -> list[list[int]]:
    """The dependents of every word, and the root last, so that it is found at -1."""
    dependents: list[list[int]] = [[] for _ in range(len(heads) + 1)]
    for i, head in enumerate(heads):
        dependents[head].append(i)
    return dependents


@lru_cache(maxsize=1 << 12)
def base(deprel: str) -> str:
    """A relation without its subtype: ``nsubj:pass`` → ``nsubj``."""
    return deprel.partition(":")[0]


def depth(s: Sentence) -> int:
    """The number of words on the longest path from the root down, both ends counted, punctuation left out."""
    assert s.heads is not None
    dependents, upos = _dependents(s.heads), tags(s)
    deepest = depth = 0
    words = dependents[-1]
    while words:
        depth += 1
        if {upos[i] for i in words} != {"PUNCT"}:
            deepest = depth
        words = [j for i in words for j in dependents[i]]
    return deepest


def subtree(s: Sentence, top: int) -> list[int]:
    """The positions under ``top``, itself included, in sentence order."""
    assert s.heads is not None
    inside = {top}
    stack = [top]
    while stack:
        dependents = children(s, stack.pop())
        inside.update(dependents)
        stack.extend(dependents)
    return sorted(inside)


def subjects(s: Sentence, head: int) -> list[int]:
    """The nominal and clausal subjects of ``head`` (``nsubj``, ``csubj`` and their subtypes)."""
    assert s.deprels is not None
    return [i for i in children(s, head) if base(s.deprels[i]) in ("nsubj", "csubj")]


def is_finite(s: Sentence, i: int) -> bool:
    """Whether word ``i`` is a finite verb."""
    return s.feats is not None and are_finite(s.feats[i])


@lru_cache(maxsize=1 << 14)
def are_finite(feats: str) -> bool:
    """Whether these are the features of a finite verb; a treebank may give its finite verbs a Mood and no VerbForm."""
    values = features(feats)
    return values.get("VerbForm") == "Fin" or ("VerbForm" not in values and "Mood" in values)


def auxiliaries(s: Sentence, head: int, *relations: str) -> list[int]:
    """The children of ``head`` that are auxiliaries (``aux`` and its subtypes), or have one of these relations."""
    assert s.deprels is not None
    accepted = relations or ("aux",)
    return [i for i in children(s, head) if base(s.deprels[i]) in accepted]


def finite(s: Sentence, head: int) -> int | None:
    """The finite verb of the clause headed by ``head``: itself, or its auxiliary or copula."""
    if is_finite(s, head):
        return head
    return next((i for i in auxiliaries(s, head, "aux", "cop") if is_finite(s, i)), None)


def not_main(s: Sentence, head: int) -> str | None:
    """Why the clause of ``head`` is not a main clause, or None.

    *The answer is that they left* has the root *left*, which is the predicate of a copula; *if they left* on its own,
    as in a list, is a subordinate clause.
    """
    assert s.deprels is not None
    deprels = [s.deprels[i] for i in children(s, head)]
    if "cop" in deprels and tags(s)[head] == "VERB":
        return "the root is a clausal predicate"
    return "the root is a subordinate clause" if "mark" in deprels else None


PASSIVE_RELATIONS = frozenset({"aux:pass", "auxpass", "nsubj:pass", "nsubjpass", "csubj:pass", "expl:pass"})
"""Relations that only a passive has, also in the names of Stanford Dependencies."""


def shows_passive(s: Sentence, head: int) -> bool:
    """Whether a word has the voice, or one of the dependents, of a passive."""
    assert s.deprels is not None
    return feature(s, head, "Voice") == "Pass" or not PASSIVE_RELATIONS.isdisjoint(
        s.deprels[i] for i in children(s, head)
    )


# Constituency


CLAUSES = frozenset({"S", "SBAR", "SBARQ", "SINV", "SQ"})


def sentence_node(tree: Tree) -> Tree:
    """The sentence itself: the highest node with several children, or a clause of a verb phrase alone (*go home*).

    Above it are ROOT, and in some treebanks nodes for headings, captions, fragments, or a second S.
    """
    node = tree
    while len(node.nodes) == 1 and (inner := node.nodes[0]).nodes:
        if node.category in CLAUSES and inner.category == "VP":
            break
        node = inner
    return node


def height(tree: Tree) -> int:
    """The number of labelled nodes on the longest path from ROOT to a pre-terminal, both counted, the word not."""
    deepest, level = 0, [tree]
    while level:
        deepest += 1
        level = [child for node in level for child in node.children if not isinstance(child, str)]
    return deepest


@remember_last
def main_clause(node: Tree) -> tuple[Tree | None, Tree | None]:
    """The subject NP and the VP of a declarative main clause ``S → … NP … VP …``; None for what is missing."""
    if node.category != "S":
        return None, None
    verb = next((c for c in node.nodes if c.category == "VP"), None)
    if verb is None:
        return None, None
    before = node.nodes[: node.nodes.index(verb)]
    subject = next((c for c in reversed(before) if c.category == "NP"), None)
    marked = next((c for c in before if "SBJ" in c.label.split("-")), None)
    return marked or subject, verb


def position(tree: Tree, phrase: Tree, child: int) -> int:
    """The position of the first word of a child of a phrase. The phrase is found by identity; equal words may be one
    object, so that they could not be."""
    at, stack = 0, [tree]
    while stack:
        node = stack.pop()
        if node is phrase:
            return at + sum(1 for before in phrase.nodes[:child] for _ in before.leaves())
        if isinstance(node.children[0], str):
            at += 1
        else:
            stack.extend(reversed(node.nodes))
    raise ValueError("the phrase is not in the tree")


def finite_verb(s: Sentence, phrase: Tree) -> int | None:
    """The position of the first verb or modal of a VP, which carries its tense."""
    assert s.tree is not None
    inner: Tree | None = phrase
    while inner is not None:
        for child, c in enumerate(inner.nodes):
            if c.label in ("VBD", "VBZ", "VBP", "VB", "VBN", "VBG", "MD", "TO"):
                return position(s.tree, inner, child)
        inner = next((c for c in inner.nodes if c.category == "VP"), None)
    return None


def lexical_phrase(verb: Tree) -> Tree:
    """The innermost VP of a chain of auxiliaries: ``has been eating fish`` → ``eating fish``."""
    while inner := next((c for c in verb.nodes if c.category == "VP"), None):
        verb = inner
    return verb


def head_noun(s: Sentence, phrase: Tree) -> int | None:
    """The position of an NP's head, the last noun of its leftmost base NP; None for other heads and coordination."""
    assert s.tree is not None
    while True:
        if any(c.label in ("CC", "CONJP") for c in phrase.nodes):
            return None
        inner = phrase.nodes[0] if phrase.nodes else None
        if inner is None or inner.category != "NP" or any(c.label == "POS" for c in inner.nodes):
            break
        phrase = inner
    words = [
        (child, c.label)
        for child, c in enumerate(phrase.nodes)
        if isinstance(c.children[0], str) and c.label not in PENN_PUNCTUATION
    ]
    return position(s.tree, phrase, words[-1][0]) if words and words[-1][1] in NOUNS else None
