"""What sets can show, by their rows; the manifests of made sets say so."""

from dataclasses import replace

import pytest

from sentprobe import Corpus, Dataset, Example, make_sets, select_tasks
from sentprobe.data.planning import default_difference, plan_set
from sentprobe.errors import DataError, UsageError
from sentprobe.stats import Variation, design_effect


def rows(numbers, labels=2, key=None):
    return [
        Example(f"label {i % labels}", ("word", str(i)), f"word {i}", key=None if key is None else key(i))
        for i in numbers
    ]


def dataset(train, test, labels=2, key=None, **manifest):
    splits = {
        "tr": rows(range(train), labels, key),
        "va": [],
        "te": rows(range(train, train + test), labels, key),
    }
    return Dataset("mine/words", "words", 1, "en", tuple(f"label {i}" for i in range(labels)), splits, manifest)


@pytest.fixture(scope="module")
def made():
    (dataset,) = make_sets(Corpus.synthetic(1200), select_tasks(tasks="bigram_shift", sizes="200/50/50"))
    return dataset


def test_every_row_is_tested_in_folds():
    plan = plan_set(dataset(400, 100))
    assert (plan.rows, plan.train, plan.test, plan.classes) == (500, 400, 100, 2)
    assert plan.accuracy == 0.75  # half-way between 50 and 100 %
    assert plan.in_folds == Variation.assumed(0.75).in_folds(500)
    assert plan.in_split == Variation.assumed(0.75).in_split(100, 400)
    assert plan.in_folds < plan.in_split


def test_classes_and_accuracy():
    assert plan_set(dataset(400, 100, labels=5)).accuracy == pytest.approx(0.6)
    assert plan_set(dataset(400, 100), 0.95).in_folds < plan_set(dataset(400, 100)).in_folds
    with pytest.raises(UsageError, match=r"between 0 and 1, got 1\.5"):
        plan_set(dataset(400, 100), 1.5)


def test_rows_of_a_form_are_worth_less():
    sets = [dataset(400, 100, key=key) for key in (None, str, lambda i: f"Form {i % 50}", lambda i: f"form {i % 50}")]
    independent, own_forms, forms, lower_case = (plan_set(each).variation.tested for each in sets)
    assert independent == own_forms
    assert forms == pytest.approx(independent * design_effect([10] * 50))
    assert forms == lower_case


def test_the_rows_that_are_needed_detect_the_difference():
    plan = plan_set(dataset(400, 100))
    larger = replace(plan, rows=plan.rows_in_folds(0.03), test=plan.test_rows(0.03), train=4 * plan.test_rows(0.03))
    assert larger.in_folds == pytest.approx(0.03, rel=1e-3)
    assert larger.in_split == pytest.approx(0.03, rel=1e-3)


def test_sets_that_are_not_tested_in_folds():
    assert not plan_set(dataset(400, 100)).by_default  # nobody says that its split is ours
    assert not plan_set(dataset(4000, 1000, split={"name": "80/10/10"})).by_default
    assert plan_set(dataset(400, 100, split={"name": "80/10/10"})).by_default
    other_language = plan_set(dataset(400, 100, train_language="en"))
    assert (other_language.in_folds, other_language.rows_in_folds(0.03)) == (None, None)
    assert other_language.in_split is not None


@pytest.mark.parametrize(
    ("planned", "message"),
    [
        (dataset(400, 0), "0 test rows of 400"),
        (dataset(0, 100), "100 test rows of 100"),
        (dataset(400, 100, labels=1), "with 1 labels"),
        (dataset(400, 100, protocol="similarity"), "not scored by accuracy"),
    ],
)
def test_sets_that_cannot_be_planned(planned, message):
    with pytest.raises(DataError, match=message):
        plan_set(planned)


def test_made_sets_say_what_they_can_show(made, tmp_path):
    plan = plan_set(made)
    assert plan.by_default
    assert made.detects == {"folds": round(plan.in_folds, 4), "split": round(plan.in_split, 4)}
    assert default_difference(made.manifest) == made.detects["folds"]
    made.save(tmp_path / "set")
    assert Dataset.load(tmp_path / "set").detects == made.detects
    large = {**made.manifest, "sizes": {**made.manifest["sizes"], "made": {"tr": 9000, "va": 1000, "te": 1000}}}
    assert default_difference(large) == made.detects["split"]
    assert default_difference({"sizes": {}}) is None  # made before manifests said so
    assert dataset(400, 100).detects == {}
