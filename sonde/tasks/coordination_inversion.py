"""Were the two coordinated main clauses of the sentence exchanged?

From a constituency tree the sentence node is ``S (,) CC S .``; from dependencies the root and its one conjunct are
clauses with a subject and a finite verb of their own, and the conjunct with its conjunction is one stretch at the end.
The conjunction and the comma stay in the middle and the final punctuation stays final. The old first word loses its
capital if the corpus writes it small inside sentences; the new first word gains one, in either class. Classes are
balanced over which clause comes out longer.
"""

from dataclasses import dataclass

from sonde.corpus.sentence import Sentence
from sonde.corpus.syntax import finite, root, sentence_node, subjects, subtree, tags
from sonde.edit import render, spaces
from sonde.task import Context, Counts, Example, Policy, Proposal, Task, token_positions


@dataclass(frozen=True, slots=True)
class Clauses:
    """Word positions: the first clause is 0 … middle-1, the second is second … end-1, punctuation follows."""

    middle: int
    second: int
    end: int


def propose(s: Sentence, context: Context) -> Proposal:
    """I (inverted) or O (original) by the toss of a coin, once two clauses are found."""
    if not MARKS.isdisjoint(s.forms):
        return "quotes or brackets"
    found = _from_tree(s) if context.reading == "constituency" else _from_heads(s)
    if isinstance(found, str):
        return found
    tokens, space = list(s.tokens), spaces(s)
    middle, second, end = token_positions(s, (found.middle, found.second, found.end - 1))
    end += 1
    if len(set(token_positions(s, (found.middle - 1, found.middle, found.second - 1, found.second)))) < 3:
        return "clause edge inside a multi-word token"
    one, two = tokens[:middle], tokens[second:end]
    inverted = not context.draw(2)
    if inverted:
        one[0] = one[0] if keeps_capital(s, context.plan) else one[0][:1].lower() + one[0][1:]
        space[middle - 1], space[end - 1] = space[end - 1], space[middle - 1]
        tokens = two + tokens[middle:second] + one + tokens[end:]
        space = space[second:end] + space[middle:second] + space[:middle] + space[end:]
        one, two = two, one
    tokens[0] = tokens[0][:1].upper() + tokens[0][1:]
    relation = "first longer" if len(one) > len(two) else "second longer" if len(one) < len(two) else "equal"
    marks = tuple(range(len(one), len(one) + second - middle))
    return Example("I" if inverted else "O", tuple(tokens), render(tokens, space), s.id, None, relation, marks)


def _from_heads(s: Sentence) -> Clauses | str:
    assert s.deprels is not None
    if sum(d == "cc" for d in s.deprels) != 1 or s.deprels.count("conj") != 1:
        return "not exactly one coordination"
    top, cc, other = root(s), s.deprels.index("cc"), s.deprels.index("conj")
    assert s.heads is not None
    if s.heads[other] != top or s.heads[cc] != other:
        return "the coordination is not at the top"
    for head in (top, other):
        if not subjects(s, head) or (s.feats is not None and finite(s, head) is None):
            return "a conjunct is no clause with a subject and a finite verb"
    pos = tags(s)
    end = len(s)
    while end and pos[end - 1] == "PUNCT":
        end -= 1
    span = [i for i in subtree(s, other) if i < end]
    start = span[0]
    if span != list(range(start, end)):
        return "the second clause is not one stretch at the end"
    middle = start
    while middle and pos[middle - 1] == "PUNCT":
        middle -= 1
    second = start
    while second < end and (second == cc or pos[second] == "PUNCT"):
        second += 1
    if not middle <= cc < second:
        return "the conjunction is not between the clauses"
    return _sound(s, Clauses(middle, second, end))


def _from_tree(s: Sentence) -> Clauses | str:
    if s.tree is None:
        return "no tree"
    parts = sentence_node(s.tree).nodes
    names = [c.category for c in parts]
    inner = names[:-1] if names and names[-1] == "." else names
    if inner not in (["S", "CC", "S"], ["S", ",", "CC", "S"]):
        return "the sentence is not S (,) CC S"
    if sum(tag == "CC" for tag, _ in s.tree.leaves()) != 1:
        return "not exactly one coordination"
    sizes = [sum(1 for _ in c.leaves()) for c in parts]
    if any(not {"NP", "VP"} <= {c.category for c in part.nodes} for part in parts if part.category == "S"):
        return "a conjunct is no clause with a subject and a finite verb"
    middle = sizes[0]
    return _sound(s, Clauses(middle, sum(sizes[: len(inner) - 1]), sum(sizes[: len(inner)])))


def _sound(s: Sentence, found: Clauses) -> Clauses | str:
    """Only commas and the conjunction may stand in the middle, and each clause needs at least two words."""
    if any(form not in COMMAS for form in s.forms[found.middle : found.second] if not form[0].isalpha()):
        return "a semicolon, dash or colon between the clauses"
    if found.middle < 2 or found.end - found.second < 2:
        return "a clause of one word"
    return found


def keeps_capital(s: Sentence, capitals: frozenset[str]) -> bool:
    """Whether the first word would have its capital inside a sentence too: a name, *I*, an acronym."""
    first = s.forms[0]
    return tags(s)[0] == "PROPN" or first in capitals or (len(first) > 1 and not first[1:].islower())


def plan(counts: Counts, policy: Policy, reading: str) -> frozenset[str]:
    """Capitalised forms that the corpus writes with a capital inside sentences too: *I*, German nouns, names."""
    inside: dict[str, int] = {}
    for (form, _, _), n in counts.words.items():
        inside[form] = inside.get(form, 0) + n
    return frozenset(
        form for form, n in inside.items() if form[:1].isupper() and n > inside.get(form[:1].lower() + form[1:], 0)
    )


COMMAS = frozenset({",", "،", "、", "，"})
MARKS = frozenset({'"', "``", "''", "“", "”", "„", "«", "»", "(", ")", "[", "]", "‘", "’"})
HALVES = ((5, 14), (15, 28))

task = Task(
    name="coordination_inversion",
    version=1,
    question="Were the two coordinated main clauses of the sentence exchanged?",
    paper="conneau2018",
    propose=propose,
    labels=("I", "O"),
    readings={"constituency": frozenset({"tree"}), "dependency": frozenset({"heads"})},
    tables=frozenset({"words"}),
    plan=plan,
    policies={"conneau2018": Policy(strata=HALVES), "xprobe2019": Policy(strata=HALVES, readings=("dependency",))},
)
