"""One planted fault per code, and a sound set beside it."""

from sonde.audit import audit_set
from sonde.dataset import Dataset
from sonde.task import Example


def rows(split, n, labels="AB", key="k"):
    words = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")

    def name(i):
        return " ".join(words[int(c)] for c in str(i))

    return [
        Example(labels[i % len(labels)], (split, name(i)), f"{split} {name(i)}", key=f"{split}{i % 7}")
        for i in range(n)
    ]


def sound(**changes):
    splits = {"tr": rows("tr", 60), "va": rows("va", 40), "te": rows("te", 400)}
    return Dataset("x/t", "t", 1, None, ("A", "B"), splits | changes)


def codes(dataset, **more):
    return {f.code: f for f in audit_set(dataset, **more)}


def test_a_sound_set_has_no_findings():
    assert audit_set(sound(), disjoint=True) == ()


def test_empty_and_one_class_splits():
    found = codes(sound(va=[], te=rows("te", 400, labels="A")))
    assert found["empty-split"].split == "va"
    assert (found["one-class"].split, found["one-class"].count) == ("te", 400)


def test_a_class_missing_from_a_split():
    three = sound(tr=rows("tr", 60, labels="ABC"))
    found = codes(Dataset("x/t", "t", 1, None, ("A", "B", "C"), three.rows))
    assert found["missing-class"].examples == ("C",)


def test_copies_across_splits_up_to_case_and_digits():
    copy = Example("A", ("TR", "zero"), "TR zero!")
    assert codes(sound(te=[*rows("te", 400), copy]))["copies-across-splits"].count == 1


def test_one_sentence_with_two_labels():
    torn = Example("B", ("te", "zero"), "te zero", key="te0")
    assert codes(sound(te=[*rows("te", 400), torn]))["two-labels"].count == 1


def test_shared_targets_count_only_where_they_must_not_be():
    leaky = sound(te=[*rows("te", 400), Example("A", ("new",), "new", key="tr3")])
    assert codes(leaky, disjoint=True)["shared-targets"].examples == ("tr3",)
    assert "shared-targets" not in codes(leaky)


def test_a_small_test_set_is_noted_with_its_resolution():
    found = codes(sound(te=rows("te", 100)))["small-test"]
    assert found.severity == "note"
    # two standard errors of a proportion of one half over 100 rows: 2 * sqrt(0.25 / 100) = 0.1
    assert "±10.0 points" in found.message
