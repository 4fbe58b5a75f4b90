"""Is the subject of the main clause singular or plural?

The subject is the one nominal subject of the root (or the NP before the VP of the sentence node), a common noun; the
noun of *there are two cats* counts as one. Left out: coordinated subjects, whose number is not their head's, nouns
whose number a numeral governs, and heads whose finite verb disagrees with them (*a lot of people were*).
"""

from collections.abc import Iterable

from sentprobe.corpus.languages import IMPERSONAL_PASSIVE, code_of
from sentprobe.corpus.syntax import (
    base,
    children,
    feature,
    finite,
    head_noun,
    main_clause,
    not_main,
    root,
    sentence_node,
    shows_passive,
    tags,
)
from sentprobe.sentence import Sentence
from sentprobe.tasks import (
    OUTSIDE_BAND,
    TARGET_FIELDS,
    Context,
    Counts,
    Example,
    Policy,
    Proposal,
    Task,
    target_forms,
)

PENN_NUMBER = {"NN": "NN", "NNS": "NNS"}
UD_NUMBER = {"Sing": "NN", "Plur": "NNS"}
OF_A_PASSIVE = "the object of a passive"


def propose(s: Sentence, context: Context) -> Proposal:
    """The number of the subject; its form is the key."""
    if context.reading == "constituency":
        phrase = main_clause(sentence_node(s.tree))[0] if s.tree else None
        return number(s, context, head_noun(s, phrase) if phrase else None, "nsubj")
    return number(s, context, argument(s, "nsubj"), "nsubj")


def argument(s: Sentence, relation: str) -> int | str:
    """The one dependent of the root with this relation, or why there is none."""
    assert s.deprels is not None
    dependents = [i for i in children(s, root(s)) if base(s.deprels[i]) == relation]
    if len(dependents) == 1:
        return dependents[0]
    return f"several {relation}" if dependents else f"no {relation} of the root"


def number(s: Sentence, context: Context, noun: int | str | None, relation: str) -> Proposal:
    """The example for a noun at a known position, under the reading's own idea of number."""
    if not isinstance(noun, int):
        return noun or "no common noun as head"
    label = _label(s, context, noun)
    if label is None:
        return "no common noun with a number"
    problem = _doubt(s, context, noun, relation, label) if s.heads is not None else None
    if problem:
        return problem
    if context.fold(s.forms[noun]) not in context.plan:
        return OUTSIDE_BAND
    key = context.lower_case(s.forms[noun])
    note = redundancy(label, [_label(s, context, i) for i in _nouns(s, context) if i != noun])
    return Example.of(s, label, key=key, marks=(noun,))._replace(extra=(note,))


def _label(s: Sentence, context: Context, i: int) -> str | None:
    """The number of a word, if it is a common noun that has one."""
    if context.reading == "ud":
        assert s.upos is not None
        return UD_NUMBER.get(feature(s, i, "Number") or "") if s.upos[i] == "NOUN" else None
    return PENN_NUMBER.get(s.xpos[i]) if s.xpos else None


def _nouns(s: Sentence, context: Context) -> list[int]:
    """The words that may have a number."""
    if context.reading == "ud":
        assert s.upos is not None
        return [i for i, tag in enumerate(s.upos) if tag == "NOUN"]
    return [i for i, tag in enumerate(s.xpos or ()) if tag in PENN_NUMBER]


def redundancy(label: str, other_values: Iterable[str | None]) -> tuple[str, str]:
    """A note for the manifest: whether most words of the sentence that have a value have that of the target.

    ``other_values`` are those of the words besides the target, which counts as well; ``alone``: none of them has one.
    """
    values = [value for value in other_values if value is not None]
    if not values:
        return "#redundancy", "alone"
    lead = values.count(label) + 1 - max([values.count(value) for value in {*values} - {label}], default=0)
    return "#redundancy", "majority" if lead > 0 else "minority" if lead else "tie"


def _doubt(s: Sentence, context: Context, noun: int, relation: str, label: str) -> str | None:
    """Why the dependencies contradict a noun's number or its being the argument, or None."""
    assert s.deprels is not None
    assert s.heads is not None
    head = root(s)
    if s.heads[noun] != head or base(s.deprels[noun]) != relation:
        return "the two annotations disagree on the argument"
    below = {s.deprels[i] for i in children(s, noun)}
    if "conj" in below:
        return "coordinated"
    if feature(s, noun, "Abbr") == "Yes":
        return "abbreviation"
    if not below.isdisjoint({"nummod:gov", "det:numgov"}) or (label == "NN" and "nummod" in below):
        return "a numeral governs the number"
    if relation == "nsubj":
        verb = finite(s, head)
        agreement = None if verb is None else feature(s, verb, "Number")
        if agreement in UD_NUMBER and UD_NUMBER[agreement] != label:
            return "verb and subject disagree in number"
    elif problem := not_main(s, head):
        return problem
    elif shows_passive(s, head) and not _is_impersonal(s, head, context.language):
        return OF_A_PASSIVE
    elif s.feats is not None and (tags(s)[head] != "VERB" or finite(s, head) is None):
        return "the root is not a finite verb"
    return None


def _is_impersonal(s: Sentence, head: int, language: str | None) -> bool:
    """Whether a passive keeps its object: that of Finnic languages, and forms without a person (Irish, Ukrainian)."""
    return code_of(language) in IMPERSONAL_PASSIVE or feature(s, head, "Person") == "0"


def plan(counts: Counts, policy: Policy, reading: str) -> frozenset[str]:
    """Noun forms that may be targets."""
    return target_forms(counts, policy, "NOUN")


READINGS = {
    "constituency": frozenset({"penn", "tree"}),
    "penn": frozenset({"penn", "heads"}),
    "ud": frozenset({"upos", "feats", "heads"}),
}
AS_PUBLISHED = {"xprobe2019": {"disjoint": False}}
POLICIES = {
    "conneau2018": Policy(disjoint=True, band=(100, 5000)),
    "universal2019": Policy(disjoint=True, trim=(2, 0.001), cap=0.01, readings=("ud",), sizes=(75_000, 7_500, 7_500)),
    "xprobe2019": Policy(disjoint=True, readings=("ud",)),
}

task = Task(
    name="subj_number",
    title="subject number",
    version=2,
    question="Is the subject of the main clause singular or plural?",
    paper="conneau2018",
    propose=propose,
    settings=TARGET_FIELDS,
    labels=("NN", "NNS"),
    label_names={"NN": "singular", "NNS": "plural"},
    solved_by=frozenset({"edges", "unigrams", "bigrams", "characters"}),
    readings=READINGS,
    tables=frozenset({"words"}),
    plan=plan,
    policies=POLICIES,
    as_published=AS_PUBLISHED,
)
