"""Why a set is not made, and what makes it."""

from dataclasses import replace

import pytest

from sentprobe import Corpus, Dataset, SkippedTask, load_task, make_sets, select_tasks
from sentprobe.errors import UsageError
from sentprobe.make.relax import relaxations, relaxed


@pytest.fixture(scope="module")
def corpus():
    return Corpus.synthetic(400)


def test_a_refusal_names_the_filters_and_the_options(corpus):
    (skipped,) = make_sets(corpus, select_tasks(tasks="passive", length="9-10", sizes="60/20/20"))
    assert isinstance(skipped, SkippedTask)
    assert "sentences outside 9 to 10 tokens (--set passive.length=[3,60])" in skipped.reason
    assert "--set passive.min_class=12" in skipped.reason
    assert "--relax" in skipped.reason


def test_a_relaxed_set_is_made_and_says_how(corpus):
    requests = select_tasks(tasks="passive", length="9-10", sizes="60/20/20")
    (made,) = make_sets(corpus, requests, relax=True)
    assert isinstance(made, Dataset)
    settings = made.manifest["relaxed"]
    assert settings[0] == "min_class=12"
    again = select_tasks(tasks="passive", length="9-10", sizes="60/20/20", settings=settings)
    (same,) = make_sets(corpus, again)
    assert same.digest == made.digest
    assert "relaxed" not in same.manifest


def test_what_can_be_made_is_not_relaxed(corpus):
    requests = select_tasks(tasks="bigram_shift", sizes="60/20/20")
    assert [d.digest for d in make_sets(corpus, requests, relax=True)] == [
        d.digest for d in make_sets(corpus, requests)
    ]


def test_every_step_is_wider_than_the_one_before():
    task = load_task("tree_depth")
    policy = task.policies["universal2019"]
    steps = list(relaxed(task, policy))
    assert [len(step.settings) for step in steps] == list(range(1, len(steps) + 1))
    assert steps[-1].policy == replace(policy, **{c.field: c.value for c in relaxations(task, policy)})
    assert [c.field for c in relaxations(task, policy)] == ["min_class", "min_classes", "strata", "length"]


def test_exclusive_sets_are_not_relaxed(corpus):
    with pytest.raises(UsageError, match="exclusive"):
        list(make_sets(corpus, select_tasks(tasks="passive"), relax=True, exclusive=True))
