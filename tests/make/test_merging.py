"""However many shards there are, and whatever is in them: counts and pools are those of the whole corpus."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.corpus import Corpus
from sentprobe.corpus.corpus import cut
from sentprobe.make import make_sets, passes
from sentprobe.make.candidates import Pool, pack_pools, unpack_pools
from sentprobe.make.passes import ReadLog, count_packed, count_shard, merge_packed, pack_counts, unpack_counts
from sentprobe.make.request import select_tasks
from sentprobe.tasks import Counts
from tests.make.test_candidates import CANDIDATES, candidate

KEYS = st.recursive(st.text(max_size=3) | st.integers(-9, 9) | st.none(), lambda k: st.tuples(k, k), max_leaves=4)


@given(st.dictionaries(KEYS, st.integers(1, 9)), st.dictionaries(st.tuples(st.text(), st.text()), st.integers(1, 9)))
def test_counts_are_the_same_after_they_were_sent(tally, bigrams):
    counts = Counts(3, 9, Counter(upos=3), Counter({("a", "NOUN", "_"): 2}), Counter(), Counter(bigrams), 1)
    counts.tallies, counts.failed = {"own": Counter(tally), "none": Counter()}, {"bad": "it failed"}
    packed = pack_counts(counts)
    assert isinstance(packed, bytes)
    assert unpack_counts(packed) == counts


@pytest.mark.parametrize("odd", [frozenset("ab"), ("a", frozenset()), 2**80, "\ud800", Counter])
def test_counts_of_what_cannot_be_packed_are_sent_as_they_are(odd):
    counts = Counts(1, tallies={"own": Counter([odd])})
    assert unpack_counts(pack_counts(counts)) == counts


def test_counts_are_those_of_the_corpus_in_whatever_order_workers_merge_them():
    corpus, tasks = Corpus.synthetic(1500), [task for _, task, _ in select_tasks(["conneau2018"], [])]
    whole, log = count_shard(*cut(corpus, 1), tasks, False)
    parts = [count_packed(shard, tasks, False) for shard in cut(corpus, 6)]
    two = merge_packed(merge_packed(*parts[:4]), parts[5])
    total, other = merge_packed(parts[4], two)
    assert unpack_counts(total) == whole
    assert other == log
    assert merge_packed() == (pack_counts(Counts()), ReadLog())


@given(CANDIDATES, st.integers(1, 9), st.integers(1, 4), st.integers(1, 4))
def test_a_pool_is_that_of_the_corpus_though_shards_were_asked_for_less(items, limit, share, shards):
    whole = Pool(limit)
    parts = [[Pool(n) for _ in range(shards)] for n in (min(share, limit), limit)]
    for i, (priority, text, cell) in enumerate(items):
        for pool in (whole, *(part[i * i % shards] for part in parts)):
            pool.add((cell, ""), candidate(priority, text))
    merged = Pool(limit)
    asked, full = ([pool.cut() for pool in part] for part in parts)
    for pool in unpack_pools(pack_pools(asked)):
        merged.merge(pool)
    needed = merged.needs_up_to
    missing = [{cell: p for cell, p in pool.highest.items() if p < needed(cell)} for pool in asked]
    for pool, cells in zip(full, missing, strict=True):
        merged.merge(pool.above(cells))
    assert {k: v for k, v in merged.cells.items() if v} == whole.cut().cells


def test_shards_that_have_more_than_their_share_are_asked_again(monkeypatch):
    # sentences in order of their length, so that classes and lengths are in few shards each
    sentences = sorted(Corpus.synthetic(2600), key=lambda s: len(s.tokens))
    corpus, requests = Corpus.of(sentences), select_tasks(["universal2019"], [], sizes="300/60/60")
    calls, real = [], passes._proposed

    def counted(given, *rest):
        calls.append(len(given))
        return real(given, *rest)

    expected = list(make_sets(corpus, requests))
    monkeypatch.setattr(passes, "_proposed", counted)
    monkeypatch.setattr(passes, "SHARE_MARGIN", 4)
    found = list(make_sets(corpus, requests, shards=10))
    assert calls[0] == 10
    assert calls[1] > 0
    assert [getattr(one, "manifest", one) for one in found] == [getattr(one, "manifest", one) for one in expected]
    assert [getattr(one, "digest", one) for one in found] == [getattr(one, "digest", one) for one in expected]
