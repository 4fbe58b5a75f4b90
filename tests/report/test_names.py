"""Names that are drawn."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sentprobe.report.names import MAX_NAME_LENGTH, MAX_UNCUT_LENGTH, set_names, short_names, truncate_names
from tests.report.summaries import set_summary


def make_set(name, **more):
    return set_summary(name, (), **more)


LABELS = st.lists(st.text(alphabet=st.sampled_from("ab/\\:?,@… 12\u202e\x00"), max_size=60), max_size=8)


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["static:", "st:all-MiniLM-L6-v2"], ["static:", "st:all-MiniLM-L6-v2"]),
        (["st:/home/somebody/models/minilm"], ["st:minilm"]),
        (["st:/home/somebody/models/minilm/model"], ["st:minilm"]),
        (["st:C:\\Users\\somebody\\models\\minilm"], ["st:minilm"]),
        (["st:sentence-transformers/all-mpnet-base-v2"], ["st:all-mpnet-base-v2"]),
        (["hf:/home/somebody/models/minilm?layer=*"], ["hf:minilm"]),
        (["hf:/home/somebody/models/minilm?layer=*&pool=max"], ["hf:minilm?pool=max"]),
        (["hf:/home/somebody/models/minilm?pool=max&layer=*"], ["hf:minilm?pool=max"]),
        (["hf:/home/somebody/models/minilm?layer=0..3"], ["hf:minilm?layer=0..3"]),
        (
            ["st:/home/somebody/minilm, linear", "st:/home/somebody/minilm, mlp"],
            ["st:minilm, linear", "st:minilm, mlp"],
        ),
        (["st:/home/somebody/minilm, partial, 5,000 rows a split"], ["st:minilm, 5,000 rows"]),
        # the folder that all are saved in says nothing, until it is what they differ in
        (["st:/somewhere/bert/checkpoint-500"], ["st:bert"]),
        (["st:/somewhere/bert/checkpoint-*"], ["st:bert"]),
        (
            ["st:/somewhere/bert/checkpoint-500", "st:/somewhere/bert/checkpoint-900"],
            ["st:bert/checkpoint-500", "st:bert/checkpoint-900"],
        ),
        (["st:/somewhere/far/one/minilm", "st:/somewhere/far/two/minilm"], ["st:one/minilm", "st:two/minilm"]),
        (["st:minilm", "st:/somewhere/quite/far/minilm"], ["st:minilm", "st:far/minilm"]),
        (["hf:/somewhere/else/minilm", "hf:/somewhere/else/minilm?layer=*"], ["hf:else/minilm", "hf:minilm?layer=*"]),
        (["a", "a", "a (2)"], ["a", "a (3)", "a (2)"]),
        (["st:\u202eevil\x00"], ["st:\\u202eevil\\u0000"]),
    ],
)
def test_short_names(labels, expected):
    assert short_names(labels) == expected


@given(LABELS)
@example(["a"] * 3 + ["a (2)"])
def test_no_two_names_are_alike_and_all_can_be_printed(labels):
    for name in (short_names, truncate_names):
        found = name(labels)
        assert len(found) == len(set(found)) == len(labels)
        assert all(text.isprintable() for text in found)


@given(LABELS)
def test_a_name_alone_is_short(labels):
    for label in labels:
        (name,) = short_names([label])
        assert len(name) <= max(MAX_UNCUT_LENGTH, MAX_NAME_LENGTH)


def test_a_long_label_is_cut_in_the_middle_unless_that_hides_the_difference():
    long = "x" * 100
    assert truncate_names([long]) == ["x" * 20 + "…" + "x" * 19]
    assert truncate_names([long, "x" * 50 + "y" + "x" * 49]) == [long, "x" * 50 + "y" + "x" * 49]


@pytest.mark.parametrize(
    ("sets", "expected"),
    [
        ([make_set("conneau2018/passive"), make_set("conneau2018/tense")], ["passive", "tense"]),
        ([make_set("a/passive"), make_set("b/passive"), make_set("b/tense")], ["a/passive", "b/passive", "b/tense"]),
        (
            [make_set("a/passive"), make_set("a/passive", language="fr"), make_set("a/tense")],
            ["passive (en)", "passive (fr)", "tense (en)"],
        ),
        (
            [make_set("a/passive", corpus="ewt"), make_set("a/passive", corpus="gum")],
            ["passive (ewt)", "passive (gum)"],
        ),
        (
            [
                make_set("a/passive", language=None, label="a/passive #1"),
                make_set("a/passive", language=None, label="a/passive #2"),
            ],
            ["a/passive #1", "a/passive #2"],
        ),
    ],
)
def test_sets_are_called_by_what_tells_them_apart(sets, expected):
    assert set_names(sets) == expected


def test_a_model_in_the_cache_of_the_hub_has_its_own_name():
    path = (
        "hf:/home/me/.cache/huggingface/hub/models--org--tiny-bert/snapshots/0123456789abcdef0123456789abcdef01234567"
    )
    assert short_names([path, "static:"]) == ["hf:tiny-bert", "static:"]
