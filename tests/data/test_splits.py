"""Which rows are learned from, chosen on and tested on."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.data.splits import HELD_OUT_SHARE, cluster_ids, connected, sampled, splits_of
from sentprobe.errors import DataError, UsageError
from sentprobe.probes.baselines.predict import baseline
from sentprobe.run.inputs import probing_splits
from sentprobe.tasks.example import Example
from tests.run.sets import dataset, rows


def test_three_splits_are_taken_as_they_are():
    found = splits_of(dataset(classes=3))
    assert [len(part) for part in (found.train, found.dev, found.test)] == [120, 40, 60]
    assert (found.trained_on, found.chosen_on) == ("tr", "va")
    assert found.labels == ("c0", "c1", "c2")
    assert found.test.labels[:4].tolist() == [0, 1, 2, 0]


def test_a_label_that_is_not_in_train_has_no_index():
    given = dataset()
    given.rows["te"][0] = given.rows["te"][0]._replace(label="strange")
    assert splits_of(given).test.labels[:2].tolist() == [-1, 1]


@pytest.mark.parametrize("missing", ["tr", "va"])
def test_without_tr_or_va_some_rows_are_held_out(missing):
    found = splits_of(replace(dataset(), rows={**dataset().rows, missing: []}))
    other = "va" if missing == "tr" else "tr"
    n = len(dataset().rows[other])
    assert found.trained_on == other
    assert found.chosen_on == f"15% of {other}"
    assert len(found.train) + len(found.dev) == n
    assert HELD_OUT_SHARE * n <= len(found.dev) <= HELD_OUT_SHARE * n + 3
    assert set(found.train.texts).isdisjoint(found.dev.texts)


@pytest.mark.parametrize("missing", ["", "tr", "va", "te"])
def test_probes_and_baselines_learn_from_the_same_rows_whatever_is_missing(missing):
    given = dataset(classes=3)
    given = replace(given, rows={split: [] if split == missing else rows for split, rows in given.rows.items()})
    if missing == "te":
        with pytest.raises(DataError, match="no test rows"):
            splits_of(given)
        with pytest.raises(DataError, match="no test rows"):
            baseline("majority", given)
        return
    probe, whole = splits_of(given), splits_of(given, hold_out_dev=False)
    assert Counter([*probe.train.texts, *probe.dev.texts]) == Counter([*whole.train.texts, *whole.dev.texts])
    assert (whole.trained_on, whole.test.texts, whole.labels) == (probe.trained_on, probe.test.texts, probe.labels)
    assert whole.chosen_on == ("nothing" if missing else "va")
    assert len(whole.dev) == (0 if missing else 40)
    found = baseline("nb-uni", given)
    assert found.settings["trained_on"] == probe.trained_on
    assert found.settings["chosen_on"] == (None if missing else "va")


def test_rows_are_taken_with_all_their_columns():
    split = splits_of(dataset(classes=3, keys=5)).test
    some = split.take(np.array([4, 0]))
    assert some.texts == [split.texts[4], split.texts[0]]
    assert some.labels.tolist() == [split.labels[4], split.labels[0]]
    for column in ("keys", "lengths", "label_names", "tokens", "near"):
        assert [*getattr(some, column)] == [getattr(split, column)[i] for i in (4, 0)], column
    assert len(split.take([])) == 0


def test_a_fold_knows_the_labels_of_its_training_rows_only():
    given = splits_of(dataset(classes=3))
    learn = np.flatnonzero(given.train.labels != 1)
    fold = given.fold(learn, np.arange(3))
    assert fold.labels == ("c0", "c2")
    assert fold.test.labels.tolist() == [0, -1, 1]
    assert [*fold.train.texts] == [given.train.texts[i] for i in learn]
    assert len(fold.dev) == 0


def test_what_is_held_out_shares_no_target_form_with_the_rest():
    given = dataset(keys=20)
    found = splits_of(replace(given, rows={**given.rows, "va": []}))
    assert set(found.train.keys).isdisjoint(found.dev.keys)
    assert found.dev.keys


def test_what_is_held_out_shares_no_sentence_with_the_rest_whatever_its_target_form():
    given = dataset(keys=40)
    twice = [row._replace(key=f"{row.key}{i}") for i in range(2) for row in given.rows["tr"]]
    found = splits_of(replace(given, rows={**given.rows, "tr": twice, "va": []}))
    assert set(found.train.texts).isdisjoint(found.dev.texts)
    assert set(found.train.keys).isdisjoint(found.dev.keys)
    assert len(found.dev) > 0


@settings(max_examples=30)
@given(st.lists(st.tuples(st.integers(0, 25), st.integers(0, 25)), min_size=30, max_size=60))
def test_what_is_held_out_shares_nothing_with_the_rest_by_way_of_others_either(found):
    """Sentences that share forms that share sentences …"""
    words = [f"{a}{b} stands alone" for a in "abcdefgh" for b in "lmnop"]
    made = [
        Example(f"c{i % 2}", tuple(words[text].split()), words[text], key=f"k{key}")
        for i, (text, key) in enumerate(found)
    ]
    given = dataset()
    try:
        parts = splits_of(replace(given, rows={**given.rows, "tr": made, "va": []}))
    except DataError:  # all rows hang together
        return
    assert set(parts.train.texts).isdisjoint(parts.dev.texts)
    assert set(parts.train.keys).isdisjoint(parts.dev.keys)


@pytest.mark.parametrize(
    ("change", "says"),
    [({"te": []}, "no test rows"), ({"tr": [], "va": []}, "has neither train"), ({"tr": rows(9, 1, 1)}, "got only c0")],
)
def test_what_cannot_be_probed(change, says):
    with pytest.raises(DataError, match=says):
        probing_splits(replace(dataset(), rows={**dataset().rows, **change}))


def test_a_missing_input_is_named():
    with pytest.raises(DataError, match="'word'"):
        probing_splits(dataset(inputs=["word"]))


@given(st.integers(2, 150), st.integers(2, 5), st.randoms())
def test_a_sample_of_equal_classes_is_balanced_and_depends_on_the_rows_alone(limit, classes, random):
    given = dataset(classes=classes)
    found = sampled(given, limit)
    for split, some in found.rows.items():
        assert len(some) == min(limit, len(given.rows[split]))
        counts = np.unique([row.label for row in some], return_counts=True)[1]
        assert len(counts) == min(limit, classes)
        assert counts.max() - counts.min() <= 1
        assert {row.label for row in some} == {row.label for row in found.rows["tr"]}
        assert [row for row in given.rows[split] if row in set(some)] == list(some)
    shuffled = {split: random.sample(given.rows[split], len(given.rows[split])) for split in given.rows}
    other = sampled(replace(given, rows=shuffled), limit)
    assert all(set(other.rows[split]) == set(found.rows[split]) for split in found.rows)


def test_a_sample_of_no_rows():
    with pytest.raises(UsageError, match="--limit 1"):
        sampled(dataset(), 1)
    assert sampled(dataset(), None) == dataset()


def test_rows_of_one_sentence_stay_together():
    assert cluster_ids([None] * 4, ["a", "a", "b", "b"]) == ["a", "a", "b", "b"]
    assert cluster_ids([None, "k", "k"], ["a", "a", "b"]) == ["\x000", "k", "k"]  # target forms come first
    assert cluster_ids([None] * 3, ["a", "b", "c"]) is None
    assert cluster_ids([None] * 40, [*map(str, range(38)), "a", "a"]) is None  # one repetition among many is none
    assert cluster_ids([], []) is None


def test_a_sample_of_natural_classes_keeps_their_shares_and_the_rows_of_a_sentence():
    def twice(n):
        texts = [f"text {i}" for i in range(n)]
        return [
            Example("c0" if i % 10 else "c1", (t, *"words"), t, key=None) for i, t in enumerate(texts) for _ in "ab"
        ]

    given = replace(
        dataset("own/natural"),
        rows={"tr": twice(400), "va": twice(100), "te": twice(100)},
        manifest={"policy": {"balance": "natural"}},
    )
    some = sampled(given, 100)
    assert [len(rows) for rows in some.rows.values()] == [100, 100, 100]
    for found in some.rows.values():
        assert 2 <= sum(row.label == "c1" for row in found) <= 24  # a tenth of them, and not a half
        assert set(Counter(row.text for row in found).values()) == {2}
    drawn = sampled(replace(given, manifest={}), 100)
    assert sum(row.label == "c1" for row in drawn.rows["tr"]) == 10


@given(st.lists(st.integers(1, 400), min_size=2, max_size=6), st.lists(st.integers(1, 400), min_size=2, max_size=6))
def test_labels_keep_their_shares_of_each_split_in_a_sample(train, test):
    """Whatever the shares are, in train and in test: a constant answer scores what it scores on the whole set."""

    def rows(split, sizes):
        names = [f"c{i}" for i, n in enumerate(sizes) for _ in range(n)]
        return [Example(name, (split, str(i)), f"{split} {i}") for i, name in enumerate(names)]

    whole = {"tr": rows("tr", train), "va": rows("va", train), "te": rows("te", test)}
    some = sampled(replace(dataset(), rows=whole), 100).rows
    for split, sizes in ("tr", train), ("va", train), ("te", test):
        counts = Counter(row.label for row in some[split])
        assert counts.total() == min(100, sum(sizes))
        assert len(counts) == len(sizes)  # every label has a row
        spare = sum(100 * n / sum(sizes) < 1 for n in sizes) if sum(sizes) > 100 else 0
        for i, n in enumerate(sizes):
            # half a row for the rounding of each other label, and what labels with less than a row are given
            assert abs(counts[f"c{i}"] - min(1, 100 / sum(sizes)) * n) <= max(1, (len(sizes) - 1) / 2) + spare


def test_a_sample_of_scores_has_their_distribution():
    """Rows of each score alike would make the distribution of the scores even, and correlations others."""
    scores = [str(5 - (i % 100) ** 0.5 / 2) if i % 10 else "5" for i in range(3000)]
    rows = [Example(score, (str(i),), f"text {i}") for i, score in enumerate(scores)]
    given = replace(dataset(), rows={"tr": rows, "va": rows, "te": rows}, manifest={"protocol": "relatedness"})
    some = sampled(given, 60).rows["te"]  # less than there are scores
    assert len(some) == 60
    assert len({row.label for row in some}) > 30
    means = [sum(float(row.label) for row in found) / len(found) for found in (some, rows)]
    assert abs(means[0] - means[1]) < 0.5  # four standard errors


def test_rows_with_one_target_form_are_held_out_together_whatever_its_spelling():
    words = ("Muß", "muss", "kann")
    rows = [Example("A", (word,), f"text {word} {chr(97 + i)}", key=word) for i, word in enumerate(words)]
    one, other, third = connected(rows)
    assert one == other != third
