import re
from dataclasses import replace
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.core.hashing import hash_64
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.make import filters
from sentprobe.make.candidates import Candidate, Pool, lowest
from sentprobe.make.filters import columns, rejection_reason, strata_of
from sentprobe.tasks import Example, Policy
from tests.writing import STARRED, sentence

CANDIDATES = st.lists(st.tuples(st.integers(0, 40), st.sampled_from("abc"), st.sampled_from("xy")), max_size=80)


def candidate(priority, text="t"):
    return Candidate.of(priority, priority, Example("L", (text,), text, f"s{text}"))


@given(CANDIDATES, st.integers(1, 12), st.integers(1, 5), st.randoms(use_true_random=False))
def test_a_pool_is_the_same_in_any_order_and_any_number_of_shards(items, limit, shards, rng):
    # near-duplicates share a priority and may differ in everything else
    whole = [((cell, ""), candidate(p, text)) for p, text, cell in items]
    one = Pool(limit)
    for cell, c in whole:
        one.add(cell, c)
    shuffled = list(whole)
    rng.shuffle(shuffled)
    parts = [Pool(limit) for _ in range(shards)]
    for i, (cell, c) in enumerate(shuffled):
        parts[i % shards].add(cell, c)
    merged = Pool(limit)
    for part in parts:
        merged.merge(part.cut())
    assert merged.cut().cells == one.cut().cells


def test_the_lowest_are_kept_once_each_and_near_duplicates_are_counted():
    items = [candidate(p, text) for p, text in [(5, "a"), (1, "b"), (1, "a"), (2, "a"), (3, "b"), (4, "a")]]
    assert [c.priority for c in lowest(items, 10)] == [1, 2, 3, 4, 5]
    assert [c.priority for c in lowest(items, 3)] == [1, 2, 3]
    assert (lowest(items, 3)[0].times, lowest(items, 3)[0].example.text) == (2, "a")


def test_a_pool_never_holds_much_more_than_its_limit():
    pool = Pool(10)
    rng = Random(1)
    for _ in range(5000):
        pool.add(("L", ""), candidate(rng.getrandbits(64)))
        assert len(pool.cells["L", ""]) <= 23


def test_a_full_cell_does_not_take_what_would_be_cut():
    pool = Pool(4)
    for priority in range(14):
        pool.add(("L", ""), candidate(priority))
    assert pool.highest == {("L", ""): 3}
    pool.add(("L", ""), candidate(20))
    pool.add(("L", ""), candidate(3, "s"))  # a near-duplicate of one that is kept counts
    assert [(c.priority, c.times) for c in pool.cut().cells["L", ""]] == [(0, 1), (1, 1), (2, 1), (3, 2)]


@pytest.mark.parametrize(
    "example",
    [
        Example("L", ("a", "b"), "a b", "s", "a", "x", (0,), (("word", "b"),)),
        Example("L", ("a",), "a", "s", extra=(("n", 3),)),  # a task's own values need not be strings
        Example("L", ("\ud800",), "\ud800"),
    ],
)
def test_a_serialised_example_is_the_same(example):
    pool = Pool(4, packs=True)
    pool.add(("L", ""), Candidate.of(1, 2, example))
    ((found,),) = pool.cells.values()
    assert found[:5] == (1, 2, 1, example.label, example.key)
    assert found.example == example


@given(st.text(st.sampled_from("ab (){}[]«»\"„“”'`_@&<|=\\RrB-.:/whtpcomn\u200b\ufffd\t "), max_size=30))
def test_plain_texts_are_recognised_and_nothing_else_is_taken_for_one(text):
    s = replace(sentence(STARRED), text=text)
    found = rejection_reason(s)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(filters, "SPECIAL", re.compile(""))  # every text is examined
        assert rejection_reason(s) == found


def test_near_duplicates_have_one_key():
    same = ["On 3 May, Ann left!", "on 17 may ann left", "ON 3  MAY — ANN LEFT."]
    assert len({near_duplicate_key(t) for t in same}) == 1
    assert near_duplicate_key("Ann left") != near_duplicate_key("Annleft")
    assert near_duplicate_key("Ann left") != near_duplicate_key("Ann leaves")
    # Hindi: a boy, a girl; the vowels at the end are combining marks
    assert near_duplicate_key("लड़का") != near_duplicate_key("लड़की")


def test_the_hash_is_the_same_everywhere():
    # printf abc | b2sum -l 64, GNU coreutils 9.1
    assert hash_64("abc") == int.from_bytes(bytes.fromhex("d8bb14d833d59559"), "little")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("See www.example.org now please", "web or mail address"),
        ("Mail me@example.org now please", "web or mail address"),
        ("( he left early today", "unbalanced quotes or brackets"),
        ('" he left early today', "unbalanced quotes or brackets"),
        ("he left ( ) early today", "markup, invisible or lost characters"),
        ("he left &amp; returned early", "markup, invisible or lost characters"),
        ("he le\u00adft early today", "markup, invisible or lost characters"),
        ("he le\ufffdt early today", "markup, invisible or lost characters"),
        ("he ( and she ) left early", None),
        ("1 2 3 go", "fewer than half of the tokens are words"),
        ("He left early today", None),
    ],
)
def test_unfit_sentences(text, why):
    s = sentence("\n".join(f"{w} X X _ {0 if i == 0 else 1} dep" for i, w in enumerate(text.split())))
    assert rejection_reason(s) == why


def test_a_token_with_a_space_inside_is_unfit():
    s = sentence(STARRED, forms=("10\xa0000", *sentence(STARRED).forms[1:]))
    assert rejection_reason(s) == "white space inside a token"


def test_columns_that_say_something():
    s = sentence(STARRED)
    assert columns(s) == ("upos", "heads", "feats", "penn")
    assert columns(sentence(STARRED, feats=("_",) * 8, xpos=("subst:sg",) * 8)) == ("upos", "heads")
    # the German tagset has NN too
    german = ("NN", "VVFIN", "ART", "NN", "APPR", "ART", "NN", "$.")
    assert "penn" not in columns(sentence(STARRED, xpos=german))


def test_strata():
    assert strata_of(Policy(strata=((5, 6), (7, 7)))) == {5: "05-06", 6: "05-06", 7: "07-07"}
    assert strata_of(Policy(strata="exact", length=(5, 6))) == {5: "05", 6: "06"}
    assert strata_of(Policy(strata=())) == {}
