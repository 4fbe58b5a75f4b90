"""Tasks with a parameter: any feature of a word with a known role, and whether a sentence has a relation."""

import pytest

from sentprobe import load_task, make_sets, select_tasks
from sentprobe.data.dataset import Dataset
from sentprobe.errors import UsageError
from sentprobe.make.request import supported_tasks
from sentprobe.tasks import PARAMETRIC_TASKS, is_task_name
from sentprobe.tasks.parametric.morph import FeaturePlan, frequent
from tests.tasks.asking import Anything, ask, label, reason
from tests.writing import sentence

# "The small dog that I saw gave the children no bones."
GAVE = """
    The      DET  X Definite=Def               3 det
    small    ADJ  X Degree=Pos                 3 amod
    dog      NOUN X Number=Sing|Gender=Masc    7 nsubj
    that     PRON X PronType=Rel               6 obj
    I        PRON X Case=Nom|Number=Sing       6 nsubj
    saw      VERB X Tense=Past                 3 acl:relcl
    gave     VERB X Mood=Ind|Tense=Past        0 root
    the      DET  X Definite=Def               9 det
    children NOUN X Number=Plur|Gender=Fem,Masc 7 iobj
    no       DET  X Polarity=Neg               11 det
    bones    NOUN X Number=Plur|Typo=Yes       7 obj
"""


class Every:
    """A plan that lets every value be a class and every form a target."""

    values = forms = Anything()


def of(name, text=GAVE, **named):
    return ask(load_task(name), sentence(text), plan=Every(), **named)


@pytest.mark.parametrize(
    ("name", "label", "key"),
    [
        ("morph:root.Mood", "Ind", "gave"),
        ("morph:nsubj.Number", "Sing", "dog"),  # of the main clause, not of the relative one
        ("morph:iobj.Number", "Plur", "children"),
        ("morph:amod.Degree", "Pos", "small"),
        ("morph:amod-head.Gender", "Masc", "dog"),
        ("morph:acl:relcl.Tense", "Past", "saw"),
        ("morph.acl-relcl.Tense", "Past", "saw"),  # as its sets are called
    ],
)
def test_the_value_of_a_word_with_a_role(name, label, key):
    found = of(name)
    assert (found.label, found.key) == (label, key)
    assert [found.tokens[i] for i in found.marks] == [key]


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("morph:obj.Number", "an abbreviation, a foreign word or a typo"),
        ("morph:iobj.Gender", "several values of Gender"),
        ("morph:det.Definite", "several det"),
        ("morph:root.Case", "no Case"),
    ],
)
def test_what_cannot_be_told_is_left_out_with_the_reason(name, why):
    assert of(name) == why
    assert of("morph:vocative.Case") is None  # the question does not apply


def test_closed_classes_are_left_out_unless_they_are_named():
    text = "She PRON X Case=Nom 2 nsubj\nsleeps VERB X _ 0 root"
    assert of("morph:nsubj.Case", text) == "not a word of an open class"
    assert of("morph:nsubj.Case", text, upos=("PRON",)).label == "Nom"


def test_a_coordinated_word_has_a_case_but_no_number_of_its_own():
    text = """
        dogs NOUN  X Case=Nom|Number=Plur 4 nsubj
        and  CCONJ X _                    3 cc
        cats NOUN  X Case=Nom|Number=Plur 1 conj
        bark VERB  X _                    0 root
    """
    assert of("morph:nsubj.Number", text) == "coordinated"
    assert of("morph:nsubj.Case", text).label == "Nom"


def test_a_word_inside_a_multi_word_token_has_no_form_to_show():
    s = sentence("da VERB X Mood=Imp 0 root\nme PRON X _ 1 iobj", mwts=((0, 2, "dame"),))
    assert ask(load_task("morph:root.Mood"), s, plan=Every()) == "inside a multi-word token"


def test_rare_values_are_no_classes():
    assert frequent({"Acc": 300, "Gen": 30, "Dat": 29}) == ["Acc", "Gen"]
    assert frequent({"Acc": 300, "Gen": 30}, least=31) == ["Acc"]
    task, s = load_task("morph:nsubj.Number"), sentence(GAVE)
    assert reason(task, s, plan=FeaturePlan(frozenset({"Plur"}), frozenset({"dog"}))) == "a rare value"
    assert label(task, s, plan=FeaturePlan(frozenset({"Sing"}), frozenset({"dog"}))) == "Sing"


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("relation:acl:relcl", ["saw"]),
        ("relation:acl", ["saw"]),
        ("relation:nsubj", ["dog", "I"]),
        ("relation:negation", ["no"]),
        ("relation:cop", []),
        ("relation:acl:cleft", []),
    ],
)
def test_whether_there_is_a_relation(name, words):
    found = ask(load_task(name), sentence(GAVE))
    assert found.label == ("yes" if words else "no")
    assert [found.tokens[i] for i in found.marks] == words


@pytest.mark.parametrize("feats", ["Polarity=Neg", "PronType=Neg", "Number=Sing|PronType=Neg"])
def test_never_and_nothing_are_negations_as_not_is(feats):
    s = sentence(f"Nothing PRON X {feats} 2 nsubj\nhelps VERB X _ 0 root")
    assert ask(load_task("relation:negation"), s).label == "yes"
    assert (
        ask(load_task("relation:negation"), sentence("She PRON X PronType=Prs 2 nsubj\nhelps VERB X _ 0 root")).label
        == "no"
    )


def test_fragments_are_not_asked_for_relations():
    assert ask(load_task("relation:cop"), sentence("Good ADJ X _ 2 amod\nnight NOUN X _ 0 root")) == "no verb"


@pytest.mark.parametrize("name", ["morph:Case", "morph:obj.case", "morph:root-head.Case", "relation:Cop", "morph"])
def test_a_bad_parameter_is_refused_with_an_example(name):
    with pytest.raises(UsageError, match=r"such as (morph:obj\.Case|relation:cop)"):
        load_task(name)
    assert not is_task_name(name)


def test_names_of_sets_are_safe_to_load():
    assert is_task_name("morph.obj.Case")
    assert is_task_name("relation.acl-relcl")
    assert not is_task_name("os.path:join")
    assert load_task("relation.acl-relcl").name == load_task("relation:acl:relcl").name == "relation.acl-relcl"


@pytest.mark.parametrize("suite", ["morphology", "relations"])
def test_a_suite_has_what_the_corpus_supports(suite, small):
    part = next(part for part in PARAMETRIC_TASKS.parts().values() if part.suite == suite)
    found = [task.name for task in supported_tasks(part, small)]
    assert [t.name for _, t, _ in select_tasks(suite, corpus=small)] == found
    assert {"morphology": "morph.nsubj.Number", "relations": "relation.cop"}[suite] in found
    assert {"morphology": "morph.nsubj.Case", "relations": "relation.punct"}[
        suite
    ] not in found  # English nouns have none
    with pytest.raises(UsageError, match="depend on the corpus"):
        select_tasks(suite)


@pytest.mark.parametrize("name", ["morph:nsubj.Number", "relation:cop"])
def test_the_sets_are_balanced_and_have_no_target_in_two_splits(name, small):
    (made,) = make_sets(small, select_tasks(tasks=name, sizes="200/60/60"), audit=True)
    assert isinstance(made, Dataset)
    gold = {s.id: s for s in small}
    for split in made.rows.values():
        counts = [[row.label for row in split].count(one) for one in made.labels]
        assert len(set(counts)) == 1
        for row in split:  # recomputed another way: from the columns of the sentence the row was made from
            s = gold[row.source]
            if name == "relation:cop":
                assert row.label == ("yes" if "cop" in s.deprels else "no")
            else:
                (i,) = (i for i, r in enumerate(s.deprels) if r.split(":")[0] == "nsubj" and s.heads[s.heads[i]] == -1)
                assert f"Number={row.label}" in s.feats[i].split("|")
    keys = [{row.key for row in split} for split in made.rows.values()]
    assert name == "relation:cop" or not (keys[0] & keys[1] or keys[0] & keys[2] or keys[1] & keys[2])
    assert not [f for f in made.manifest["audit"] if f["severity"] == "error"]
