from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe import Sentence
from sentprobe.annotate.repair import CYCLE, FAULTS, NO_ROOT, OUT_OF_RANGE, SELF_LOOP, SEVERAL_ROOTS, repair


def sentence(heads, upos=None, deprels=None):
    forms = tuple(f"w{i}" for i in range(len(heads)))
    return Sentence("s", " ".join(forms), forms, upos=upos, heads=tuple(heads), deprels=deprels)


def is_tree(heads):
    """The definition, not the way it is computed: one root, and every word reaches it."""
    if list(heads).count(-1) != 1 or any(not -1 <= head < len(heads) for head in heads):
        return False
    for word in range(len(heads)):
        steps = 0
        while word != -1 and steps <= len(heads):
            word, steps = heads[word], steps + 1
        if word != -1:
            return False
    return True


def any_heads(most):
    return st.integers(1, most).flatmap(lambda n: st.lists(st.integers(-3, n + 2), min_size=n, max_size=n))


def trees(most):
    """Every word hangs below one that was placed before it, in some order of the words."""

    def build(order, picks):
        heads = [-1] * len(order)
        for at in range(1, len(order)):
            heads[order[at]] = order[picks[at] % at]
        return heads

    return st.integers(1, most).flatmap(
        lambda n: st.builds(
            build, st.permutations(range(n)), st.lists(st.integers(0, n), min_size=n, max_size=n)
        )
    )  # fmt: skip


@given(any_heads(12), st.data())
def test_the_outcome_is_a_tree(heads, data):
    tags = st.sampled_from(["VERB", "NOUN", "PUNCT"])
    upos = tuple(data.draw(st.lists(tags, min_size=len(heads), max_size=len(heads))))
    relations = st.sampled_from(["root", "nsubj", "punct"])
    deprels = tuple(data.draw(st.lists(relations, min_size=len(heads), max_size=len(heads))))
    found = repair(sentence(heads, upos, deprels))
    assert is_tree(found.sentence.heads)
    assert bool(found.faults) == bool(found.changed) == (not is_tree(heads))
    same = [i for i in range(len(heads)) if found.sentence.heads[i] == heads[i]]
    assert sorted([*same, *found.changed]) == list(range(len(heads)))
    assert all(found.sentence.deprels[i] == deprels[i] for i in same)
    for word in found.changed:
        assert (found.sentence.deprels[word] == "root") == (found.sentence.heads[word] == -1)
    assert repair(found.sentence).sentence is found.sentence


@given(trees(40))
def test_a_tree_is_left_alone(heads):
    assert is_tree(heads)
    whole = sentence(heads)
    assert repair(whole).sentence is whole
    assert repair(whole).faults == ()


ALL_TREES = {n: [h for h in product(range(-1, n), repeat=n) if is_tree(h)] for n in range(1, 6)}


def test_there_are_as_many_trees_as_cayley_says():
    assert {n: len(found) for n, found in ALL_TREES.items()} == {1: 1, 2: 2, 3: 9, 4: 64, 5: 625}


@given(any_heads(5))
def test_no_tree_is_nearer(heads):
    fewest = min(sum(a != b for a, b in zip(heads, tree, strict=True)) for tree in ALL_TREES[len(heads)])
    assert len(repair(sentence(heads)).changed) == fewest


@pytest.mark.parametrize(
    ("heads", "faults"),
    [
        ([1, 2, -1], ()),
        ([1, 0, -1], (CYCLE,)),
        ([1, 2, 0], (CYCLE, NO_ROOT)),
        ([0, 0, 0], (SELF_LOOP, NO_ROOT)),
        ([-1, 1, 0], (SELF_LOOP,)),
        ([3, -1, 1], (OUT_OF_RANGE,)),
        ([-2, -1, 1], (OUT_OF_RANGE,)),
        ([-1, -1, 0], (SEVERAL_ROOTS,)),
        ([-1, -1, 2, 9, 5, 4], (OUT_OF_RANGE, SELF_LOOP, CYCLE, SEVERAL_ROOTS)),
    ],
)
def test_what_is_wrong_has_a_name(heads, faults):
    assert repair(sentence(heads)).faults == faults
    assert set(faults) <= set(FAULTS)


def test_a_sentence_without_heads_is_left_alone():
    plain = Sentence("s", "Hm.", ("Hm", "."))
    assert repair(plain).sentence is plain


def test_the_verb_becomes_the_root_and_a_former_root_is_unspecified():
    found = repair(sentence([-1, -1, -1], ("NOUN", "VERB", "PUNCT"), ("root", "root", "root"))).sentence
    assert found.heads == (1, -1, 1)
    assert found.deprels == ("dep", "root", "punct")


def test_the_word_whose_relation_is_root_comes_before_the_verb():
    found = repair(sentence([1, 0], ("NOUN", "VERB"), ("root", "nsubj"))).sentence
    assert (found.heads, found.deprels) == ((-1, 0), ("root", "nsubj"))


def test_a_detached_word_keeps_its_relation():
    found = repair(sentence([-1, 2, 1], ("VERB", "NOUN", "ADJ"), ("root", "obl", "amod"))).sentence
    assert (found.heads, found.deprels) == ((-1, 0, 1), ("root", "obl", "amod"))
