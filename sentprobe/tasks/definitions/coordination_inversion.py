"""Were the two coordinated main clauses of the sentence exchanged?

From a constituency tree the sentence node is ``S (,) CC S .``; from dependencies the root and its one conjunct are
clauses, and the conjunct with its conjunction is one span at the end. The second clause has a subject of its own, or a
verb whose person or number is not the first one's, in languages that leave pronouns out; both have finite verbs where
the corpus marks these (*she drank tea and he coffee* is left out). The conjunction and the comma stay in the middle and
the final punctuation stays final. The old first word loses its capital if it would have none inside a sentence; the new
first word gains one, in either class. Left out is what would give the old order away: questions, opening interjections
and vocatives, list numbers, titles in capitals, *either … or*. Classes are balanced over which clause comes out longer;
the policy's ``clauses`` balances by how much, too (``lengths``: Conneau et al. say "by clause length"), or not at all.
"""

from bisect import bisect_right
from dataclasses import dataclass

from sentprobe.corpus.folding import capitalised, uncapitalised
from sentprobe.corpus.syntax import (
    are_finite,
    feature,
    finite,
    is_finite,
    not_main,
    root,
    sentence_node,
    subjects,
    subtree,
    tags,
)
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Counts, Example, Policy, Proposal, Task, token_positions
from sentprobe.tasks.example import detokenise, space_flags, token_spans


@dataclass(frozen=True, slots=True)
class Clauses:
    """Word positions: the first clause is 0 … middle-1, the second is second … end-1, punctuation follows."""

    middle: int
    second: int
    end: int


@dataclass(frozen=True, slots=True)
class Capitals:
    """What the corpus shows: forms and parts of speech with a capital inside sentences (*I*, names, German nouns)."""

    forms: frozenset[str]
    tags: frozenset[str]
    finite: bool = False
    """Whether the corpus marks finite verbs, so that a clause without one is known to lack it."""


def propose(s: Sentence, context: Context) -> Proposal:
    """I (inverted) or O (original) by the toss of a coin, once two clauses are found."""
    if problem := _betrays_order(s, context.plan):
        return problem
    finite_only = context.plan.finite
    clauses = _from_tree(s, finite_only) if context.reading == "constituency" else _from_heads(s, finite_only)
    if isinstance(clauses, str):
        return clauses
    tokens, space = list(s.tokens), space_flags(s)
    middle, second, end = clauses.middle, clauses.second, clauses.end
    edges = token_positions(s, (middle - 1, middle, second - 1, second, end - 1))
    if edges[0] == edges[1] or edges[2] == edges[3]:
        return "clause edge inside a multi-word token"
    middle, second, end = edges[1], edges[3], edges[4] + 1
    first_clause, second_clause = tokens[:middle], tokens[second:end]
    inverted = not context.draw(2)
    if inverted:
        if not keeps_capital(s, context.plan):
            first_clause[0] = uncapitalised(first_clause[0], context.language)
        space[middle - 1], space[end - 1] = space[end - 1], space[middle - 1]
        tokens = second_clause + tokens[middle:second] + first_clause + tokens[end:]
        space = space[second:end] + space[middle:second] + space[:middle] + space[end:]
        first_clause, second_clause = second_clause, first_clause
    tokens[0] = capitalised(tokens[0], context.language)
    stratum = _length_stratum(len(first_clause), len(second_clause), context.policy.clauses)
    marks = tuple(range(len(first_clause), len(first_clause) + second - middle))
    return Example("I" if inverted else "O", tuple(tokens), detokenise(tokens, space), s.id, None, stratum, marks)


def _length_stratum(first: int, second: int, clauses: str) -> str:
    """The group inside which classes are balanced: which clause is longer, and by how much."""
    if clauses == "none":
        return ""
    longer = "first longer" if first > second else "second longer" if first < second else "equal"
    return longer if clauses == "longer" else f"{longer} {bisect_right(DIFFERENCES, abs(first - second))}"


def original(row: Example) -> str | None:
    """The clauses back in their order, with the original words; which letters were capital is lost."""
    if row.label != "I":
        return row.text
    spans = token_spans(row)
    words = [i for i, token in enumerate(row.tokens) if any(map(str.isalnum, token))]
    if spans is None or not row.marks or not 0 < row.marks[0] <= row.marks[-1] < max(words, default=0):
        return None
    (first, last), text = (row.marks[0], row.marks[-1]), row.text
    # SECOND between FIRST rest: what is between the clauses keeps its spaces
    second, start, end = spans[first - 1][1], spans[last + 1][0], spans[words[-1]][1]
    return capitalised(text[start:end] + text[second:start] + text[:second] + text[end:])


def _betrays_order(s: Sentence, capitals: Capitals) -> str | None:
    pos = tags(s)
    if not QUOTES_AND_BRACKETS.isdisjoint(s.forms):
        return "quotes or brackets"
    if "?" in s.forms[-1]:
        return "question"
    if not s.forms[0][0].isalpha() or pos[0] in ("INTJ", "CCONJ"):
        return "opens with an interjection, conjunction or number"
    if s.deprels is not None and (s.deprels[0] in ("discourse", "vocative") or "cc:preconj" in s.deprels):
        return "opens with an address or has paired conjunctions"
    second = s.forms[1] if len(s) > 1 else ""
    if second[:1].isupper() and pos[1] not in capitals.tags and second not in capitals.forms:
        return "title in capitals"
    return None


def _from_heads(s: Sentence, finite_only: bool) -> Clauses | str:
    assert s.deprels is not None
    assert s.heads is not None
    if s.deprels.count("cc") != 1 or s.deprels.count("conj") != 1:
        return "not exactly one coordination"
    top, cc, conjunct = root(s), s.deprels.index("cc"), s.deprels.index("conj")
    if s.heads[conjunct] != top or s.heads[cc] != conjunct:
        return "the coordination is not at the top"
    first_is_clause = subjects(s, top) or finite(s, top) is not None
    if not first_is_clause or not (subjects(s, conjunct) or _differ_in_person(s, top, conjunct)):
        return "a conjunct is not a clause of its own"
    verbs = finite(s, top), finite(s, conjunct)
    if None in verbs and (finite_only or verbs[0] != verbs[1]):
        return "a conjunct has no finite verb"
    if not_main(s, top) or not_main(s, conjunct):
        return "a conjunct is a subordinate clause"
    if any(feature(s, i, "PronType") == "Rel" for i in subjects(s, conjunct)):
        return "a conjunct is a relative clause"
    pos = tags(s)
    end = len(s)
    while end and pos[end - 1] == "PUNCT":
        end -= 1
    span = [i for i in subtree(s, conjunct) if i < end]
    if not span or span != list(range(span[0], end)):
        return "the second clause is not one span at the end"
    second = span[0]
    while second < end and (second == cc or pos[second] == "PUNCT"):
        second += 1
    if not span[0] <= cc < second:
        return "the conjunction is not between the clauses"
    return _check_clauses(s, span[0], second, end)


def _differ_in_person(s: Sentence, top: int, conjunct: int) -> bool:
    """Whether two finite verbs without pronouns must have different subjects."""
    if not (is_finite(s, top) and is_finite(s, conjunct)):
        return False
    pairs = [(feature(s, top, name), feature(s, conjunct, name)) for name in ("Person", "Number")]
    return any(a is not None and b is not None and a != b for a, b in pairs)


def _from_tree(s: Sentence, finite_only: bool) -> Clauses | str:
    if s.tree is None:
        return "no tree"
    parts = sentence_node(s.tree).nodes
    names = [c.category for c in parts]
    inner = names[:-1] if names and names[-1] == "." else names
    if inner not in (["S", "CC", "S"], ["S", ",", "CC", "S"]):
        return "the sentence is not S (,) CC S"
    if sum(tag == "CC" for tag, _ in s.tree.leaves()) != 1:
        return "not exactly one coordination"
    if any(not {"NP", "VP"} <= {c.category for c in part.nodes} for part in parts if part.category == "S"):
        return "a conjunct is not a clause of its own"
    sizes = [sum(1 for _ in c.leaves()) for c in parts]
    clauses = _check_clauses(s, sizes[0], sum(sizes[: len(inner) - 1]), sum(sizes[: len(inner)]))
    if isinstance(clauses, Clauses) and s.heads is not None and _from_heads(s, finite_only) != clauses:
        return "the two annotations disagree on the clauses"
    return clauses


def _check_clauses(s: Sentence, middle: int, second: int, end: int) -> Clauses | str:
    """Only commas and the conjunction may be in the middle, and each clause needs at least two words."""
    pos = tags(s)
    while middle and pos[middle - 1] == "PUNCT":
        middle -= 1
    if any(form not in COMMAS for form in s.forms[middle:second] if not form[0].isalpha()):
        return "a semicolon, dash or colon between the clauses"
    if middle < 2 or end - second < 2:
        return "a clause of one word"
    if s.forms[second].lower() == "else":
        return "or else"
    return Clauses(middle, second, end)


def keeps_capital(s: Sentence, capitals: Capitals) -> bool:
    """Whether the first word would have its capital inside a sentence too: a name, *I*, an acronym."""
    first = s.forms[0]
    letters = "".join(filter(str.isalpha, first[1:]))
    return tags(s)[0] in capitals.tags or first in capitals.forms or (bool(letters) and not letters.islower())


def plan(counts: Counts, policy: Policy, reading: str) -> Capitals:
    """What the corpus writes with a capital inside sentences more often than without."""
    return Capitals(*counts.capitalised(), any(are_finite(feats) for _, _, feats in counts.words))


COMMAS = frozenset({",", "،", "、", "，"})
QUOTES_AND_BRACKETS = frozenset({'"', "``", "''", "“", "”", "„", "«", "»", "(", ")", "[", "]", "‘", "’"})
DIFFERENCES = (1, 3, 6)
"""Where bins of the difference of clause lengths begin: none, one or two tokens, three to five, six or more."""
TWO_LENGTH_BINS = ((5, 14), (15, 28))

task = Task(
    name="coordination_inversion",
    version=3,
    question="Were the two coordinated main clauses of the sentence exchanged?",
    paper="conneau2018",
    propose=propose,
    settings=("clauses",),
    as_published={"conneau2018": {"clauses": "lengths"}, "xprobe2019": {"clauses": "none"}},
    changes="order",
    original=original,
    labels=("I", "O"),
    label_names={"I": "exchanged", "O": "original"},
    readings={"constituency": frozenset({"tree"}), "dependency": frozenset({"heads"})},
    tables=frozenset({"words"}),
    plan=plan,
    policies={
        "conneau2018": Policy(strata=TWO_LENGTH_BINS),
        "xprobe2019": Policy(strata=TWO_LENGTH_BINS, readings=("dependency",)),
    },
)
