"""What cells share: it is made once, given up where there is no room, and vectors of several tables are one table."""

import threading
import time

import numpy as np
import pytest

from sentprobe.data.splits import Split
from sentprobe.encoders.embed import Embeddings
from sentprobe.errors import ShapeError
from sentprobe.run.job import EmbeddingPool, SharedCache, TextIndex, Vectors


def table(texts, start, seconds=0.0, layers=()):
    """Vectors that count on from a number."""
    shape = (len(layers), len(texts), 2) if layers else (len(texts), 2)
    vectors = start + np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return Embeddings(tuple(texts), vectors, None, tuple(layers), len(texts), seconds)


def test_a_thing_is_made_once():
    shared, made = SharedCache(), []
    for _ in range(3):
        assert shared.get("a", 1, lambda: made.append("a") or 7) == 7
    assert made == ["a"]


def test_the_least_recently_used_value_is_dropped():
    shared, made = SharedCache(max_bytes=10), []

    def ask(name, size=4):
        return shared.get(name, size, lambda: made.append(name) or name.upper())

    assert [ask(name) for name in "abacab"] == list("ABACAB")
    assert made == ["a", "b", "c", "b"]  # c replaced b, because a was used more recently
    assert ask("large", 11) == ask("large", 11) == "LARGE"
    assert made[-2:] == ["large", "large"]  # for which there is never room
    assert ask("a")
    assert made[-1] == "large"  # it took nothing else with it


def test_one_thread_makes_it_and_the_others_wait():
    shared, made, found = SharedCache(), [], []

    def make():
        made.append(1)
        time.sleep(0.05)
        return 5

    threads = [threading.Thread(target=lambda: found.append(shared.get("a", 1, make))) for _ in range(4)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    assert (made, found) == ([1], [5] * 4)


def test_what_fails_is_tried_again():
    shared = SharedCache()
    with pytest.raises(ZeroDivisionError):
        shared.get("a", 1, lambda: 1 / 0)
    assert shared.get("a", 1, lambda: 3) == 3


def test_places_of_columns():
    places, column = TextIndex(["a", "b", "c"]), ["c", "a", "c"]
    assert places.of(column).tolist() == [2, 0, 2]
    assert places.of(column) is places.of(column)
    assert places.of(["b"]).tolist() == [1]
    assert places.has(column)
    assert not places.has(["a", "d"])
    with pytest.raises(KeyError):
        places.of(["d"])


def test_texts_that_are_missing():
    pool = EmbeddingPool().plus(table("ab", 0)).plus(table("cde", 100))
    assert pool.missing([["a", "x"], ["c"], ["y", "x", "e"]]) == ["x", "y"]
    assert pool.missing([["a", "e"]]) == []
    assert EmbeddingPool().missing([["a", "a"]]) == ["a"]


def test_the_time_of_texts_is_that_of_their_tables():
    pool = EmbeddingPool().plus(table("ab", 0, 4.0)).plus(table("bcde", 100, 8.0))
    assert pool.seconds([["a", "a"]]) == pytest.approx(2.0)
    assert pool.seconds([["c"], ["d", "c"]]) == pytest.approx(4.0)
    assert pool.seconds([["e", "a"], ["b", "e"]]) == pytest.approx(4.0 + 2.0)


def test_tables_of_one_encoder_are_alike():
    pool = EmbeddingPool().plus(table("ab", 0))
    with pytest.raises(ShapeError, match=r"shape \[2\] .* got \[3\] for 'c'"):
        pool.plus(Embeddings(("c",), np.zeros((1, 3), np.float32), None))


def test_vectors_come_from_the_table_that_has_all_of_a_column():
    one, two = np.arange(4.0).reshape(2, 2), 100 + np.arange(8.0).reshape(4, 2)
    vectors = Vectors([(one, TextIndex("ab")), (two, TextIndex("bcde"))])

    def part(texts, **inputs):
        return Split(texts, inputs, np.zeros(len(texts), np.int64), [None] * len(texts))

    alone = vectors.features(part(["e", "c"]))
    assert alone.tables[0] is two
    assert alone.take(slice(None)).tolist() == [[106, 107], [102, 103]]
    pairs = vectors.features(part(["a", "b"], word=["d", "a"]))
    assert pairs.tables[0] is one
    assert pairs.take(slice(None)).tolist() == [[0, 1, 104, 105], [2, 3, 0, 1]]  # the second is of both tables
    assert vectors.rows(["b", "e", "a"]).tolist() == [[2, 3], [106, 107], [0, 1]]
