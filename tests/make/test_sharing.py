"""Which set gets which sentence when no sentence may be in two."""

import random
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe import Corpus, make_sets, select_tasks
from sentprobe.core.hashing import mix
from sentprobe.data.dataset import Dataset
from sentprobe.errors import TooFewError
from sentprobe.make.candidates import Candidate
from sentprobe.make.finish import share_out
from sentprobe.make.job import Job, SkippedTask
from sentprobe.make.selection import Selection
from sentprobe.tasks import Example, Policy, Task


def job(name, sizes=(100, 20, 20), labels=("A", "B")):
    task = Task(name=name, version=1, question="?", paper="", propose=lambda s, c: None, labels=labels)
    return Job(task, Policy(sizes=sizes, strata=()), "mine")


def candidates(job, labelled):
    """Label → numbers of sentences, as cells in the order of the job's priorities."""
    cells = {}
    for label, sentences in labelled.items():
        items = [
            Candidate.of(mix(n ^ job.salt), n, Example(label, (str(n),), str(n), f"s{n}", None)) for n in sentences
        ]
        cells[label, ""] = sorted(items)
    return cells


def shared(jobs, labelled):
    cells = [candidates(one, by_label) for one, by_label in zip(jobs, labelled, strict=True)]
    proposed = [{label: len(found) for label, found in by_label.items()} for by_label in labelled]
    return share_out(jobs, cells, proposed)


def rows(share):
    return [c.near_key for items in share.selection.splits.values() for c in items] if is_made(share) else []


def is_made(share):
    return isinstance(share.selection, Selection)


def test_two_sets_of_the_same_sentences_get_half_each():
    both = {"A": range(100), "B": range(100, 200)}
    found = shared([job("one", (400, 50, 50)), job("two", (400, 50, 50))], [both, both])
    assert [share.rows_unshared for share in found] == [200, 200]
    sizes = [len(rows(share)) for share in found]
    assert sum(sizes) >= 196  # whole rows per class and split
    assert max(sizes) <= 1.1 * min(sizes)


def test_a_set_with_few_candidates_keeps_most_of_them_beside_one_that_has_others():
    scarce = {"A": range(50), "B": range(100, 150)}
    rich = {"A": range(100), "B": range(100, 200)}
    few, many = shared([job("few", (400, 50, 50)), job("many", (400, 50, 50))], [scarce, rich])
    assert few.rows_unshared == 100
    assert len(rows(few)) >= 75  # the other one does not spare them: its rows are drawn whatever others want
    assert len(rows(few)) + len(rows(many)) == 200


def test_what_one_set_cannot_use_goes_to_the_others():
    narrow = {"A": range(30), "B": range(100, 200)}  # thirty of each class at most
    wide = {"A": range(30, 100), "B": range(100, 200)}
    first, second = shared([job("narrow", (400, 50, 50)), job("wide", (400, 50, 50))], [narrow, wide])
    assert len(rows(first)) == 60
    assert len(rows(second)) == 140


def test_when_there_is_enough_every_set_is_what_it_would_be_alone():
    enough = {"A": range(1000), "B": range(1000, 2000)}
    jobs = [job("one"), job("two"), job("three")]
    found = shared(jobs, [enough] * 3)
    assert [len(rows(share)) for share in found] == [140] * 3
    (alone,) = shared(jobs[:1], [enough])
    assert set(rows(found[0])) == set(rows(alone))  # the first in alphabetical order takes its own best


def test_a_set_that_cannot_be_made_holds_nothing():
    found = shared([job("one"), job("tiny")], [{"A": range(90), "B": range(90, 180)}, {"A": range(5), "B": range(90)}])
    assert isinstance(found[1].selection, TooFewError)
    assert found[1].rows_unshared == 0
    assert len(rows(found[0])) == 140


def test_a_set_of_many_classes_exists_before_the_others_are_full():
    """Ten classes need ten rows in every split, more than the lowest level."""
    labels = tuple("ABCDEFGHIJ")
    many = {label: range(60 * k, 60 * k + 60) for k, label in enumerate(labels)}
    two = {"A": range(300), "B": range(300, 600)}
    found = shared([job("many", (500, 50, 50), labels), job("two", (500, 50, 50))], [many, two])
    assert [share.rows_unshared for share in found] == [600, 600]
    assert min(len(rows(share)) for share in found) >= 250


@given(st.data())
@settings(max_examples=40, deadline=None)
def test_no_sentence_is_in_two_sets_and_order_does_not_matter(data):
    sentences = range(data.draw(st.integers(60, 200)))
    jobs = [job(name, (200, 40, 40)) for name in data.draw(st.permutations(["one", "two", "three"]))]
    wants = {
        one.name: {
            label: data.draw(st.sets(st.sampled_from(sentences), min_size=24).map(sorted)) for label in ("A", "B")
        }
        for one in jobs
    }
    for by_label in wants.values():  # a sentence has one label in a set
        by_label["B"] = [n for n in by_label["B"] if n not in set(by_label["A"])]
    found = dict(zip((j.name for j in jobs), shared(jobs, [wants[j.name] for j in jobs]), strict=True))
    seen = Counter(n for share in found.values() for n in rows(share))
    assert max(seen.values(), default=1) == 1
    assert all(len(rows(share)) <= max(share.rows_unshared, 0) for share in found.values())
    others = sorted(jobs, key=lambda j: j.name)
    again = dict(zip((j.name for j in others), shared(others, [wants[j.name] for j in others]), strict=True))
    assert {name: rows(share) for name, share in found.items()} == {name: rows(share) for name, share in again.items()}


@pytest.fixture(scope="module")
def small():
    return list(Corpus.synthetic(1500))


def test_exclusive_sets_do_not_depend_on_the_order_of_the_corpus(small):
    requests = select_tasks(tasks=["subj_number", "obj_number", "past_present"], sizes="1000/100/100")
    shuffled = random.Random(0).sample(small, len(small))
    one, two = (
        {d.name: d.digest for d in make_sets(Corpus.of(sentences), requests, exclusive=True)}
        for sentences in (small, shuffled)
    )
    assert one == two


def test_the_manifest_says_what_a_set_would_have_alone(small):
    requests = select_tasks(tasks=["subj_number", "obj_number", "past_present"], sizes="1000/100/100")
    free = {d.name: len(d) for d in make_sets(Corpus.of(small), requests)}
    found = list(make_sets(Corpus.of(small), requests, exclusive=True))
    assert {d.name: d.manifest["sizes"]["without --exclusive"] for d in found} == free
    assert min(len(d) for d in found) > 0.2 * min(free.values())


def test_a_set_left_without_sentences_says_so():
    """Both want the same forty sentences of class A: not enough for two."""

    def propose(s, context):
        return Example.of(s, "A" if int(s.id.rpartition("-")[2]) < 40 else "B")

    tasks = [
        Task(name=name, version=1, question="?", paper="", propose=propose, labels=("A", "B"))
        for name in ("one", "two")
    ]
    policy = Policy(sizes=(100, 20, 20), strata=(), length=(1, 99))
    found = make_sets(Corpus.synthetic(400), [("mine", task, policy) for task in tasks], exclusive=True)
    made, skipped = sorted(found, key=lambda d: isinstance(d, SkippedTask))
    assert isinstance(made, Dataset)
    assert skipped.kind == "too few"
    assert skipped.reason.endswith("Without --exclusive it would have 80 rows.")
