"""Is the main clause in the past or the present tense?

``penn`` and ``constituency`` read the tag of the finite verb of the main clause (VBD against VBP and VBZ), as Conneau
et al. (2018) do; with an auxiliary that is the auxiliary, and modals are out. ``ud`` reads the Tense feature of the
root, as the UD suites do: *has starred* is past there, because the participle is. A participle says nothing about the
tense of *is built* or *was eating*, so a root whose finite auxiliary contradicts it is dropped, the perfect excepted;
the policy ``tense="root"`` keeps it.
"""

from collections.abc import Sequence
from functools import lru_cache

from sentprobe.corpus.languages import IMPERFECT_FORMS, code_of
from sentprobe.corpus.syntax import (
    are_finite,
    auxiliaries,
    feature,
    features,
    finite_verb,
    is_finite,
    main_clause,
    not_main,
    root,
    sentence_node,
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
    target_words,
)
from sentprobe.tasks.definitions.subj_number import redundancy

PENN_TENSE = {"VBD": "PAST", "VBP": "PRES", "VBZ": "PRES"}
UD_TENSE = {"Past": "PAST", "Pres": "PRES"}
PERFECT = frozenset({"Past", "Pres", "Imp", "Pqp"})
"""Tenses of the auxiliary of a perfect: *has*, *had*, *avait*; a future perfect is not a past."""


def propose(s: Sentence, context: Context) -> Proposal:
    """The tense of the verb that the chosen reading looks at; its form is the key."""
    if context.reading == "constituency":
        target = _from_tree(s)
    elif context.reading == "penn":
        target = _from_tags(s)
    else:
        target = _from_features(s, context.policy)
    if isinstance(target, str):
        return target
    verb, label = target
    if context.fold(s.forms[verb]) not in context.plan:
        return OUTSIDE_BAND
    key = context.lower_case(s.forms[verb])
    note = redundancy(label, _other_tenses(s, context, verb))
    return Example.of(s, label, key=key, marks=(verb,))._replace(extra=(note,))


def _other_tenses(s: Sentence, context: Context, verb: int) -> list[str | None]:
    """The tenses of the other finite verbs; the target's own auxiliaries do not count."""
    if context.reading != "ud":
        assert s.xpos is not None
        return [PENN_TENSE.get(tag) for i, tag in enumerate(s.xpos) if i != verb]
    assert s.feats is not None
    predicate = {verb, *auxiliaries(s, verb, "aux", "cop")}
    return [_finite_tense(feats) for i, feats in enumerate(s.feats) if i not in predicate]


@lru_cache(maxsize=1 << 14)
def _finite_tense(feats: str) -> str | None:
    """The tense of a word with these features if it is a finite verb."""
    return UD_TENSE.get(features(feats).get("Tense", "")) if are_finite(feats) else None


def _from_tree(s: Sentence) -> tuple[int, str] | str:
    phrase = main_clause(sentence_node(s.tree))[1] if s.tree else None
    verb = finite_verb(s, phrase) if phrase else None
    if verb is None or s.xpos is None:
        return "no main clause with a verb"
    label = PENN_TENSE.get(s.xpos[verb])
    return (verb, label) if label else "modal or no tense"


def _from_tags(s: Sentence) -> tuple[int, str] | str:
    """The root if tagged finite, otherwise its first finite auxiliary or copula."""
    assert s.xpos is not None
    head = root(s)
    if problem := not_main(s, head):
        return problem
    verbs = [head, *auxiliaries(s, head, "aux", "cop")]
    verb = next((i for i in verbs if s.xpos[i] in PENN_TENSE or s.xpos[i] == "MD"), None)
    if verb is None:
        return "no finite verb"
    label = PENN_TENSE.get(s.xpos[verb])
    return (verb, label) if label else "modal or no tense"


def _from_features(s: Sentence, policy: Policy) -> tuple[int, str] | str:
    verb = root(s)
    if policy.upos and tags(s)[verb] not in policy.upos:
        return "the root is not a verb"
    tense = feature(s, verb, "Tense")
    if tense not in UD_TENSE:
        return "no past or present tense"
    problem = _contradiction(s, verb, tense) if policy.tense == "clause" else None
    return problem or (verb, UD_TENSE[tense])


def _contradiction(s: Sentence, verb: int, tense: str) -> str | None:
    """Why the root's Tense is not the tense of its clause, or None."""
    assert s.deprels is not None
    helpers = auxiliaries(s, verb)
    if problem := not_main(s, verb):
        return problem
    if feature(s, verb, "Mood") not in (None, "Ind"):
        return "not indicative"
    if (
        any(feature(s, i, "Mood") == "Cnd" or s.deprels[i] in ("aux:cnd", "aux:imp") for i in helpers)
        or "бы" in s.forms
    ):
        return "conditional or imperative"
    finite = next((i for i in helpers if is_finite(s, i)), None)
    if is_finite(s, verb):
        return None if finite is None or feature(s, finite, "Tense") == tense else "the auxiliary has another tense"
    if finite is None:
        # the participles of Slavic past tenses are active; a bare passive one has a present copula left out
        return None if feature(s, verb, "Voice") == "Act" else "no finite verb"
    inner = [i for i in helpers if i != finite]
    if any(not _past_participle(s, i) for i in inner):
        return "the auxiliary is an infinitive or a progressive"
    if feature(s, finite, "Tense") == tense and not (inner and tense == "Pres"):
        return None
    perfect = tense == "Past" and s.deprels[finite] != "aux:pass" and feature(s, finite, "Tense") in PERFECT
    return None if perfect else "the auxiliary has another tense"


def _past_participle(s: Sentence, i: int) -> bool:
    return feature(s, i, "VerbForm") == "Part" and feature(s, i, "Tense") in ("Past", None)


def plan(counts: Counts, policy: Policy, reading: str) -> frozenset[str]:
    """Verb forms that may be targets."""
    return target_forms(counts, policy, *(policy.upos or ("VERB", "AUX")))


def doubts(rows: Sequence[Example], language: str | None) -> list[str]:
    """Imperfects among the presents, by their endings; they are in neither class."""
    imperfect = IMPERFECT_FORMS.get(code_of(language))
    return [
        "the form of an imperfect"
        if imperfect and row.label == "PRES" and any(imperfect.fullmatch(form) for form in target_words(row))
        else ""
        for row in rows
    ]


task = Task(
    name="past_present",
    title="tense",
    version=2,
    question="Is the main clause in the past or the present tense?",
    paper="conneau2018",
    propose=propose,
    settings=(*TARGET_FIELDS, "upos", "ud.tense"),
    labels=("PAST", "PRES"),
    label_names={"PAST": "past", "PRES": "present"},
    solved_by=frozenset({"edges", "unigrams", "bigrams", "characters"}),
    readings={
        "constituency": frozenset({"penn", "tree"}),
        "penn": frozenset({"penn", "heads"}),
        "ud": frozenset({"upos", "feats", "heads"}),
    },
    doubts=doubts,
    tables=frozenset({"words"}),
    plan=plan,
    as_published={"universal2019": {"tense": "root"}, "xprobe2019": {"tense": "root", "disjoint": False}},
    policies={
        "conneau2018": Policy(disjoint=True, band=(100, 5000)),
        "universal2019": Policy(
            disjoint=True, trim=(2, 0.001), cap=0.01, readings=("ud",), upos=("VERB",), sizes=(75_000, 7_500, 7_500)
        ),
        "xprobe2019": Policy(disjoint=True, readings=("ud",), upos=("VERB",)),
    },
)
