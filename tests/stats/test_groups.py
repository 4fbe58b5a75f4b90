"""Letters of tied systems."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.stats import holm, letters, mcnemar, tie_groups


@st.composite
def comparisons(draw):
    names = [f"s{i}" for i in range(draw(st.integers(0, 8)))]
    return names, {pair: draw(st.sampled_from([0.01, 0.05, 0.06, 1.0])) for pair in combinations(names, 2)}


@settings(deadline=None, max_examples=300)
@given(comparisons(), st.randoms(use_true_random=False))
def test_a_letter_is_shared_if_and_only_if_there_is_no_difference(given_, random):
    names, p = given_
    found = letters(names, p)
    assert list(found) == names
    assert all(found.values())
    for pair, value in p.items():
        assert bool(set(found[pair[0]]) & set(found[pair[1]])) == (value > 0.05)
    used = {letter for text in found.values() for letter in text}
    members = {letter: {name for name in names if letter in found[name]} for letter in used}
    assert not any(members[a] <= members[b] for a in used for b in used if a != b)
    assert letters(names, {(b, a) if random.random() < 0.5 else (a, b): v for (a, b), v in p.items()}) == found


def test_by_hand():
    far = {("x", "y"): 0.3, ("x", "z"): 0.01, ("y", "z"): 0.4}
    assert letters(["x", "y", "z"], far) == {"x": "a", "y": "ab", "z": "b"}
    assert letters(["x", "y", "z"], dict.fromkeys(far, 1.0)) == dict.fromkeys("xyz", "a")
    assert letters(["x", "y", "z"], dict.fromkeys(far, 0.0)) == {"x": "a", "y": "b", "z": "c"}
    # x differs from z, y from w: a ring, which no line of "not different" could show
    ring = {("x", "y"): 1, ("y", "z"): 1, ("z", "w"): 1, ("w", "x"): 1, ("x", "z"): 0, ("y", "w"): 0}
    assert letters(["x", "y", "z", "w"], ring) == {"x": "ab", "y": "ac", "z": "cd", "w": "bd"}
    assert letters(["x"], {}) == {"x": "a"}
    assert letters([], {}) == {}


def systems(steps, n=3000):
    """Systems that are right on rows up to a point, with the same noise of a kind on all."""
    rng = np.random.default_rng(1)
    base = rng.normal(size=n)
    return {f"s{i}": base + rng.normal(size=n) + step > 0 for i, step in enumerate(steps)}


def test_systems_are_ordered_by_score_and_tied_by_holm():
    correct = systems([0.0, 0.4, 0.05, 0.42, 0.9])
    found = tie_groups(correct)
    assert list(found) == sorted(correct, key=lambda name: -correct[name].sum())
    assert found == {"s4": "a", "s3": "b", "s1": "b", "s2": "c", "s0": "c"}
    pairs = list(combinations(correct, 2))
    p = holm([mcnemar(correct[a], correct[b]).p_mid for a, b in pairs])
    for (a, b), value in zip(pairs, p, strict=True):
        assert bool(set(found[a]) & set(found[b])) == (value > 0.05)


def test_order_of_names_does_not_count_and_exact_ties_no_fewer():
    correct = systems(np.linspace(0, 0.5, 12), n=800)
    found = tie_groups(correct)
    assert list(tie_groups(dict(reversed(correct.items()))).items()) == list(found.items())
    exact = tie_groups(correct, exact=True)
    tied = [{pair for pair in combinations(correct, 2) if set(g[pair[0]]) & set(g[pair[1]])} for g in (found, exact)]
    assert tied[0] <= tied[1]
    assert tie_groups({}) == {}
    assert tie_groups({"one": [True, False]}) == {"one": "a"}
    assert tie_groups({"b": [1, 0, 1], "a": [1, 0, 1]}) == {"a": "a", "b": "a"}


def test_many_systems_get_letters():
    found = tie_groups(systems(np.linspace(0, 2, 60), n=1000))
    assert len(found) == 60
    assert next(iter(found.values()))[0] == "a"


def test_the_mid_p_is_taken_unless_exact_is_asked_for():
    """Five rows that only one has right: the exact p-value is 2 / 2 ** 5, and the mid-p half of it."""
    right = {"one": [True] * 20, "two": [False] * 5 + [True] * 15}
    assert tie_groups(right) == {"one": "a", "two": "b"}
    assert tie_groups(right, exact=True) == {"one": "a", "two": "a"}


def test_a_letter_that_tells_nothing_new_is_left_out():
    """Three systems tied with each other, and each two of them with another one: the first three need no letter."""
    names = list("uvwxyz")
    tied = [set("uvw"), set("uvx"), set("vwy"), set("uwz")]
    pairs = {(a, b): 0.5 if any({a, b} <= group for group in tied) else 0.001 for a, b in combinations(names, 2)}
    found = letters(names, pairs)
    assert len(set("".join(found.values()))) == 3
    for (a, b), p in pairs.items():
        assert bool(set(found[a]) & set(found[b])) == (p > 0.05)
