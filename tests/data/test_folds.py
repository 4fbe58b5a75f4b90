"""Folds: every row is tested once, groups stay together, and nothing but the rows decides."""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.data.dataset import MANIFEST_FORMAT, Dataset
from sentprobe.data.folds import cross_validated, divided, probing_folds, with_folds
from sentprobe.errors import DataError, SentProbeWarning
from sentprobe.tasks import Example

MADE = {"format": MANIFEST_FORMAT, "policy": {"disjoint": False}}
DISJOINT = {"format": MANIFEST_FORMAT, "policy": {"disjoint": True}}
WORDS = "bal den gir kos lum mar ner pol rus sen tir vel".split()


def rows(n, classes=2, keys=0, seed=0):
    rng = random.Random(seed)
    result = []
    for i in range(n):
        words = [*rng.choices(WORDS, k=6), f"w{seed}x{i}"]
        key = f"form{rng.randrange(keys)}" if keys else None
        result.append(Example(f"c{i % classes}", tuple(words), " ".join(words), key=key))
    return result


def dataset(examples, manifest=MADE, sizes=(0.6, 0.2)):
    a, b = (int(len(examples) * share) for share in (sizes[0], sum(sizes)))
    labels = tuple(sorted({row.label for row in examples}))
    parts = {"tr": examples[:a], "va": examples[a:b], "te": examples[b:]}
    return Dataset("own/task", "task", 1, "en", labels, parts, manifest)


def texts_by_fold(splits):
    return [set(fold.test.texts) for fold in splits.folds]


@pytest.mark.parametrize("folds", [2, 5, 7])
def test_every_row_is_tested_once_and_in_the_order_of_the_set(folds):
    data = dataset(rows(203, classes=3))
    splits = cross_validated(data, folds)
    assert list(splits.test.texts) == [row.text for _, row in data]
    assert splits.fold_count == folds == len(splits.folds)
    for number, fold in enumerate(splits.folds):
        assert list(fold.test.texts) == [splits.test.texts[i] for i in np.flatnonzero(splits.fold_of == number)]
        assert list(fold.train.texts) == [splits.test.texts[i] for i in fold.pool_rows]
        parts = [set(part.texts) for part in (fold.train, fold.dev, fold.test)]
        assert sum(map(len, parts)) == len(set().union(*parts)) == 203
        assert 0.1 < len(fold.dev) / (len(fold.dev) + len(fold.train)) < 0.2


@pytest.mark.parametrize(("n", "classes"), [(300, 2), (203, 3), (500, 40)])
def test_every_label_has_its_share_in_every_fold(n, classes):
    splits = cross_validated(dataset(rows(n, classes)), 5)
    for label, total in Counter(splits.test.labels.tolist()).items():
        counts = [int((fold.test.labels == label).sum()) for fold in splits.folds]
        assert max(counts) - min(counts) <= 1, (label, total, counts)
    sizes = [len(fold.test) for fold in splits.folds]
    assert max(sizes) - min(sizes) <= 1


def test_target_forms_that_the_splits_do_not_share_stay_in_one_fold():
    splits = cross_validated(dataset(rows(300, keys=40), DISJOINT), 5)
    folds_of = {}
    for key, fold in zip(splits.test.keys, splits.fold_of.tolist(), strict=True):
        folds_of.setdefault(key, set()).add(fold)
    assert all(len(numbers) == 1 for numbers in folds_of.values())
    for fold in splits.folds:  # dev, too, is of other forms than train
        train, dev, test = (set(part.keys) for part in (fold.train, fold.dev, fold.test))
        assert not train & dev
        assert not (train | dev) & test


def test_target_forms_that_splits_may_share_are_not_kept_together():
    splits = cross_validated(dataset(rows(300, keys=4)), 5)
    assert all(len(set(fold.train.keys) & set(fold.test.keys)) == 4 for fold in splits.folds)


def test_sentences_that_differ_in_case_digits_and_punctuation_stay_together():
    originals = rows(120)
    copies = [row._replace(text=f"{row.text.upper()}!", label="c1") for row in originals[:60]]
    splits = cross_validated(dataset(originals + copies), 5)
    for fold in splits.folds:
        train, dev, test = (
            {near_duplicate_key(text) for text in part.texts} for part in (fold.train, fold.dev, fold.test)
        )
        assert not train & dev
        assert not (train | dev) & test


def test_the_rows_alone_decide():
    examples = rows(240, keys=50)
    shuffled = random.Random(1).sample(examples, len(examples))
    one, two = (cross_validated(dataset(order, DISJOINT, sizes), 5) for order, sizes in
                ((examples, (0.6, 0.2)), (shuffled, (0.5, 0.1))))  # fmt: skip
    assert texts_by_fold(one) == texts_by_fold(two)
    assert [set(fold.dev.texts) for fold in one.folds] == [set(fold.dev.texts) for fold in two.folds]


def test_a_sample_is_drawn_before_the_folds():
    splits = cross_validated(dataset(rows(600)), 5, limit=50)
    assert len(splits.test) == 150
    assert splits.sizes["te"] == 150


def test_a_label_that_only_the_test_rows_of_a_fold_have_is_not_in_its_labels():
    examples = [*rows(100), Example("rare", ("x",), "x alone")]
    splits = cross_validated(dataset(examples), 5)
    tested = next(fold for fold in splits.folds if "x alone" in fold.test.texts)
    assert splits.labels == ("c0", "c1", "rare")
    assert tested.labels == ("c0", "c1")
    assert tested.test.labels[list(tested.test.texts).index("x alone")] == -1


def test_a_group_that_is_larger_than_a_fold_is_reported():
    examples = [row._replace(key="of" if i % 2 else f"form{i}") for i, row in enumerate(rows(100, classes=4))]
    with pytest.warns(SentProbeWarning, match="50 of 100 rows"):
        splits = cross_validated(dataset(examples, DISJOINT), 5)
    assert max(len(fold.test) for fold in splits.folds) == 50


def test_fewer_groups_than_folds():
    data = dataset(rows(100, keys=3), DISJOINT)
    with pytest.raises(DataError, match="3 groups of rows"):
        divided(data, requested=5)
    assert divided(data).fold_count is None  # by default, the set keeps its split


@pytest.mark.parametrize(
    ("manifest", "n", "requested", "expected"),
    [
        (MADE, 500, None, 5),
        (MADE, 500, 0, None),
        (MADE, 500, 3, 3),
        (MADE, 5000, None, None),  # 1,000 test rows
        (MADE, 4995, None, 5),
        ({}, 500, None, None),  # files with splits of their own
        ({}, 500, 5, 5),
        ({**MADE, "released": True}, 500, None, None),
        ({"split": {"shares": [80, 10, 10], "seed": 1, "group": None}}, 500, None, 5),
        ({"split": {"shares": [80, 10, 10], "seed": 1, "group": "who", "keys": "group"}}, 500, None, 5),
        ({"split": {"shares": [80, 10, 10], "seed": 1, "group": "who"}}, 500, None, None),
        ({**MADE, "protocol": "nested"}, 500, 5, None),
    ],
)
def test_which_sets_are_tested_in_folds(manifest, n, requested, expected):
    assert probing_folds(dataset(rows(n), manifest), requested) == expected


def test_groups_that_rows_do_not_name_cannot_be_kept_together():
    data = dataset(rows(100, keys=9), {"split": {"shares": [80, 10, 10], "seed": 1, "group": "who"}})
    with pytest.raises(DataError, match="which group they are of"):
        divided(data, requested=5)


def test_changed_folds_are_put_together_in_the_order_of_the_set():
    splits = cross_validated(dataset(rows(90, classes=3)), 3)
    same = with_folds(splits, splits.folds)
    assert list(same.test.texts) == list(splits.test.texts)
    assert same.test.labels.tolist() == splits.test.labels.tolist()
    fewer = [replace(fold, test=fold.test.take(range(10))) for fold in splits.folds]
    left = with_folds(splits, fewer)
    assert list(left.test.texts) == [text for fold in fewer for text in fold.test.texts]
    assert left.fold_of.tolist() == [0] * 10 + [1] * 10 + [2] * 10
