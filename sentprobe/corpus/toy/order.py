"""The word order of the toy language: the verb and its auxiliaries last, adjectives after nouns, postpositions."""

from __future__ import annotations

from collections.abc import Mapping

from sentprobe.corpus.toy.morphology import Word

BEFORE = (
    "cc", "discourse", "vocative", "advcl", "obl:unmarked", "csubj", "nsubj", "expl", "obl", "obl:agent", "iobj", "obj",
    "ccomp", "xcomp", "advmod", "acl", "nmod:poss", "nmod", "nmod:desc", "det:predet", "det", "nummod", "compound",
)  # fmt: skip
"""Relations of what comes before a head, from left to right."""
AFTER = ("flat", "amod", "appos", "conj", "case", "advmod", "cop", "aux", "mark", "parataxis", "punct")
"""Relations of what comes after it. Negation is an adverbial after the verb; clauses are coordinated after all else."""
NOMINAL = ("NOUN", "PROPN", "PRON", "NUM", "ADJ")
PREDICATIVE = ("nsubj", "csubj", "cop", "expl")


def linearised(words: Mapping[int, Word]) -> list[int]:
    """The English positions of words in the order of the toy language."""
    children: dict[int, list[int]] = {}
    for at, word in words.items():
        children.setdefault(word.head, []).append(at)

    def is_clause(at: int) -> bool:
        below = (words[child].deprel.partition(":")[0] for child in children.get(at, ()))
        return words[at].upos not in NOMINAL or any(relation in PREDICATIVE for relation in below)

    def rank(at: int) -> tuple[int, int]:
        word = words[at]
        relation = word.deprel
        if relation not in BEFORE and relation not in AFTER:
            relation = relation.partition(":")[0]
        if relation == "conj" and is_clause(at):
            return len(AFTER), at
        if relation in AFTER and not (relation == "advmod" and word.upos != "PART"):
            # auxiliaries are in the reverse of the English order
            return 1 + AFTER.index(relation), -at if relation == "aux" else at
        return (BEFORE.index(relation) if relation in BEFORE else len(BEFORE)) - len(BEFORE) - 1, at

    def below(at: int) -> list[int]:
        ranked = sorted((rank(child), child) for child in children.get(at, ()))
        left = [i for (place, _), child in ranked if place < 0 for i in below(child)]
        return [*left, at, *(i for (place, _), child in ranked if place > 0 for i in below(child))]

    (root,) = children[-1]
    found = below(root)
    # the final mark is the last word whatever it belongs to
    final = [at for at in found if words[at].upos == "PUNCT"]
    return [at for at in found if at not in final] + final
