"""Is there a word with this relation in the sentence: ``relation:acl:relcl``, ``relation:cop``, ``relation:expl``?

With a subtype, only that counts (``acl:relcl``: a relative clause); without, any does. ``relation:negation``, which UD
has no relation for, means a word with Polarity=Neg or PronType=Neg (*not*, *never*, *nothing*), or with the subtype
``neg``. Classes have the same lengths. Sentences without a verb are left out: they lack most relations, and a probe
would only have to recognise fragments.
"""

import re
from collections.abc import Iterable, Mapping
from functools import partial

from sentprobe.corpus.syntax import base, feature
from sentprobe.errors import UsageError
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Example, ParametricTask, Policy, Proposal, Task

NEGATION = "negation"
PARAMETER = re.compile(r"[a-z]+([:-][a-z]+)?")
UNINFORMATIVE = frozenset({"root", "punct", "dep", "goeswith", "reparandum", "list", "orphan"})
"""Relations of the suite's survey that say nothing about grammar."""
SHARE = 0.02
"""A relation that fewer sentences have, or lack, is not in the suite."""


def words_with(s: Sentence, relation: str) -> list[int]:
    """The words that have a relation, or are a negation."""
    assert s.deprels is not None
    if relation == NEGATION:
        return [i for i, name in enumerate(s.deprels) if _is_negation(s, i, name)]
    if ":" in relation:
        return [i for i, name in enumerate(s.deprels) if name == relation]
    return [i for i, name in enumerate(s.deprels) if base(name) == relation]


def _is_negation(s: Sentence, i: int, relation: str) -> bool:
    """*not*, *n't*, *nor* have a polarity; *never*, *nothing*, *no doubt* a negative PronType."""
    negative = feature(s, i, "Polarity") == "Neg" or feature(s, i, "PronType") == "Neg"
    return negative or relation == "neg" or relation.endswith(":neg")


def propose(s: Sentence, context: Context, relation: str) -> Proposal:
    """Yes or no; the words are marked."""
    assert s.upos is not None
    if "VERB" not in s.upos and "AUX" not in s.upos:
        return "no verb"
    words = words_with(s, relation)
    return Example.of(s, "yes" if words else "no", marks=words)


def build(parameter: str) -> Task:
    """The task of a relation."""
    if not PARAMETER.fullmatch(parameter):
        raise UsageError(
            f"relation:{parameter}: expected a relation of UD, in lower case, such as relation:cop or "
            "relation:acl:relcl, or relation:negation."
        )
    relation = parameter.replace("-", ":")
    needs = {"upos", "heads", *(["feats"] if relation == NEGATION else [])}
    return Task(
        name=f"relation.{relation.replace(':', '-')}",
        title="negation" if relation == NEGATION else f"relation {relation}",
        version=2,
        question="Is there a negation?" if relation == NEGATION else f"Does a word have the relation {relation}?",
        paper="UD",
        propose=partial(propose, relation=relation),
        settings=(),
        labels=("no", "yes"),
        solved_by=frozenset({"edges", "punctuation", "unigrams", "bigrams", "characters"}),
        readings={"ud": frozenset(needs)},
        policies={"relations": Policy(sizes=(10_000, 1_000, 1_000))},
    )


def survey(s: Sentence) -> Iterable[tuple[str, str]]:
    """The relations of a sentence, with and without subtypes."""
    if s.deprels is None:
        return
    names = {*s.deprels, *map(base, s.deprels)}
    for name in names:
        if base(name) not in UNINFORMATIVE:
            yield name, "yes"
    if s.feats is not None and words_with(s, NEGATION):
        yield NEGATION, "yes"


def supported(tallies: Mapping[str, Mapping[str, int]], sentences: int, least: int) -> list[str]:
    """The relations that some sentences have and others lack; of two names for the same sentences, the shorter one."""
    least = max(least, int(SHARE * sentences))
    counts = {name: seen["yes"] for name, seen in tallies.items() if least <= seen["yes"] <= sentences - least}
    return sorted(name for name, n in counts.items() if ":" not in name or counts.get(base(name)) != n)


parametric_task = ParametricTask(
    name="relation",
    parameter="RELATION",
    example="acl:relcl",
    summary="Does the sentence have a word with this relation?",
    suite="relations",
    source="Universal Dependencies: every relation that the corpus has",
    build=build,
    survey=survey,
    supported=supported,
)
