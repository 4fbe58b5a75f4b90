"""Which value does a morphological feature have on a word with a known role: ``morph:obj.Case``, ``morph:root.Mood``?

The role is ``root``, or a relation of UD. A relation of clauses (``nsubj``, ``obj``, ``obl``, …) means the one
dependent of the root that has it; any other one (``amod``, ``nmod``, ``det``, …) means the one word of the sentence
that has it. With a subtype (``nsubj:pass``), only that counts; without, any does. ``amod-head`` is the word that the
``amod`` depends on, and so for any relation.

Left out: words of closed classes (``upos`` changes that), words inside a multi-word token, abbreviations, foreign words
and typos, words with several values (``Gender=Fem,Masc``), and coordinated words, whose number, gender and person are
not those of the whole. Classes are the values with at least a tenth of the most frequent one's words: a rare value
would make a balanced set tiny. A target form occurs in one split only, so that a probe cannot look its value up.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

from sentprobe.corpus.syntax import base, children, feature, features, root
from sentprobe.errors import UsageError
from sentprobe.sentence import Sentence
from sentprobe.tasks import OUTSIDE_BAND, Context, Counts, Example, ParametricTask, Policy, Proposal, Task, target_forms

OPEN = ("NOUN", "PROPN", "VERB", "ADJ", "ADV", "AUX")
"""Parts of speech that a target may have by default; AUX is a root in many treebanks, and *be* in all."""
CLAUSAL = frozenset(
    {"nsubj", "csubj", "obj", "iobj", "obl", "xcomp", "ccomp", "advcl", "advmod", "aux", "cop", "expl", "vocative"}
)
"""Relations that are looked up at the root; others must occur once in the sentence."""
ROLES = ("root", "nsubj", "obj", "iobj", "obl", "xcomp", "amod", "nmod")
"""The roles of the suite; any other can be named."""
ROLE_NAMES = {
    "root": "root",
    "nsubj": "subject",
    "obj": "object",
    "iobj": "indirect object",
    "obl": "oblique",
    "amod": "adjective modifier",
    "nmod": "noun modifier",
    "xcomp": "open complement",
    "det": "determiner",
    "aux": "auxiliary",
    "cop": "copula",
}
"""What a question calls a role."""
NOT_FEATURES = frozenset({"Abbr", "Foreign", "Typo", "ExtPos", "Style", "NumForm", "Hyph", "CorrectForm"})
"""Features of spelling and of the annotation, not of the word form's grammar."""
DOUBTFUL = ("Abbr", "Foreign", "Typo")
RARE = 0.1
"""A value with fewer words than this share of the most frequent one's is not a class."""
PARAMETER = re.compile(r"(?P<role>[a-z]+([:-][a-z]+)?(-head)?)\.(?P<feature>[A-Z][A-Za-z]*)")


class Role(NamedTuple):
    """A relation, with its subtype if it has one, and whether the word itself or the one it depends on is meant."""

    relation: str
    head: bool = False

    def __str__(self) -> str:
        return self.relation.replace(":", "-") + "-head" * self.head


def parse_role(text: str) -> Role:
    """``nsubj:pass``, or ``nsubj-pass`` as in names of sets; ``obj-head``."""
    head = text.endswith("-head")
    return Role(text.removesuffix("-head").replace("-", ":"), head)


def find(s: Sentence, role: Role) -> int | str | None:
    """The word with this role; why it cannot be told; or None if there is none."""
    assert s.deprels is not None
    assert s.heads is not None
    if role.relation == "root":
        return root(s)
    relation = role.relation
    scope = children(s, root(s)) if base(relation) in CLAUSAL else range(len(s.forms))
    words = [i for i in scope if s.deprels[i] == relation or (":" not in relation and base(s.deprels[i]) == relation)]
    if len(words) != 1:
        return f"several {relation}" if words else None
    return s.heads[words[0]] if role.head else words[0]


def problem_of(s: Sentence, i: int, name: str, allowed: tuple[str, ...]) -> str | None:
    """Why a word cannot be a target, or None."""
    assert s.upos is not None
    assert s.deprels is not None
    if s.upos[i] not in (allowed or OPEN):
        return "not a word of an open class" if not allowed else f"not {' or '.join(allowed)}"
    if any(first <= i < end for first, end, _ in s.mwts):
        return "inside a multi-word token"
    if any(feature(s, i, doubt) == "Yes" for doubt in DOUBTFUL):
        return "an abbreviation, a foreign word or a typo"
    if name in ("Number", "Gender", "Person") and any(s.deprels[j] == "conj" for j in children(s, i)):
        return "coordinated"
    return None


@dataclass(frozen=True, slots=True)
class FeaturePlan:
    """What the corpus decides: the values that are classes, and the forms that may be targets."""

    values: frozenset[str]
    forms: frozenset[str]


def propose(s: Sentence, context: Context, role: Role, name: str) -> Proposal:
    """The value of the feature; the form is the key."""
    i = find(s, role)
    if not isinstance(i, int):
        return i
    value = feature(s, i, name)
    if value is None:
        return f"no {name}"
    if "," in value:
        return f"several values of {name}"
    if problem := problem_of(s, i, name, context.policy.upos):
        return problem
    if value not in context.plan.values:
        return "a rare value"
    if context.fold(s.forms[i]) not in context.plan.forms:
        return OUTSIDE_BAND
    return Example.of(s, value, key=context.lower_case(s.forms[i]), marks=(i,))


def count(s: Sentence, role: Role, name: str) -> Iterable[tuple[str, str]]:
    """The part of speech of the word, and its value."""
    if s.heads is None or s.upos is None or s.feats is None:
        return
    i = find(s, role)
    if isinstance(i, int) and (value := feature(s, i, name)) and "," not in value:
        yield s.upos[i], value


def plan(counts: Counts, policy: Policy, reading: str, task: str) -> FeaturePlan:
    """The frequent values, and the forms of the frequency band."""
    pos = policy.upos or OPEN
    seen: dict[str, int] = {}
    for (tag, value), n in counts.tallies.get(task, {}).items():
        if tag in pos:
            seen[value] = seen.get(value, 0) + n
    return FeaturePlan(frozenset(frequent(seen)), target_forms(counts, policy, *pos))


def frequent(seen: Mapping[str, int], least: int = 1) -> list[str]:
    """The values that are frequent enough to be classes."""
    most = max(seen.values(), default=0)
    return sorted(value for value, n in seen.items() if n >= max(least, RARE * most))


def build(parameter: str) -> Task:
    """The task of a role and a feature."""
    match = PARAMETER.fullmatch(parameter)
    if not match or match["role"] == "root-head":
        raise UsageError(
            f"morph:{parameter}: expected ROLE.FEATURE, such as morph:obj.Case or morph:nsubj:pass.Number; the role is "
            "root or a relation of UD, in lower case, and the feature is one of UD, such as Case, Gender or Mood."
        )
    role, name = parse_role(match["role"]), match["feature"]
    task = f"morph.{role}.{name}"
    name_of_role = ROLE_NAMES.get(role.relation, f"word with the relation {role.relation}")
    who = f"word that the {name_of_role} depends on" if role.head else name_of_role
    return Task(
        name=task,
        title=f"{_spaced(name)} of the {who}",
        version=2,
        question=f"What is the {_spaced(name)} of the {who}?",
        paper="UD",
        propose=partial(propose, role=role, name=name),
        settings=("band", "band_tokens", "trim", "disjoint", "cap", "upos"),
        labels=f"the frequent values of {name}",
        solved_by=frozenset({"edges", "unigrams", "bigrams", "characters"}),
        readings={"ud": frozenset({"upos", "feats", "heads"})},
        tables=frozenset({"words"}),
        count=partial(count, role=role, name=name),
        plan=partial(plan, task=task),
        policies={"morphology": Policy(disjoint=True, cap=0.01, sizes=(10_000, 1_000, 1_000))},
    )


def _spaced(name: str) -> str:
    """``VerbForm`` → verb form."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name).lower()


def survey(s: Sentence) -> Iterable[tuple[str, str]]:
    """Every feature of the words that have one of the roles."""
    if s.heads is None or s.upos is None or s.feats is None:
        return
    for role in ROLES:
        i = find(s, Role(role))
        if not isinstance(i, int):
            continue
        for name, value in features(s.feats[i]).items():
            usable = "[" not in name and name not in NOT_FEATURES and "," not in value
            if usable and problem_of(s, i, name, ()) is None:
                yield f"{role}.{name}", value


def supported(tallies: Mapping[str, Mapping[str, int]], sentences: int, least: int) -> list[str]:
    """The pairs of role and feature with two frequent values or more."""
    parameters = [parameter for parameter, seen in tallies.items() if len(frequent(seen, least)) > 1]
    return sorted(parameters, key=lambda p: (ROLES.index(p.partition(".")[0]), p))


parametric_task = ParametricTask(
    name="morph",
    parameter="ROLE.FEATURE",
    example="obj.Case",
    summary="Which value does this feature have on the word with this role?",
    suite="morphology",
    source="Universal Dependencies: every feature of the root and its dependents that the corpus has",
    build=build,
    survey=survey,
    supported=supported,
)
