"""What cells share: it is made once, given up where there is no room, and vectors of several tables are one table."""

import threading
import time

import numpy as np
import pytest

from sonde.embed import Embeddings
from sonde.run.shared import Places, Pool, Shared


def table(texts, start, seconds=0.0, layers=()):
    """Vectors that count on from a number."""
    shape = (len(layers), len(texts), 2) if layers else (len(texts), 2)
    vectors = start + np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    return Embeddings(tuple(texts), vectors, None, tuple(layers), len(texts), seconds)


def test_a_thing_is_made_once():
    shared, made = Shared(), []
    for _ in range(3):
        assert shared.get("a", 1, lambda: made.append("a") or 7) == 7
    assert made == ["a"]


def test_what_was_asked_for_longest_ago_makes_room():
    shared, made = Shared(room=10), []

    def ask(name, size=4):
        return shared.get(name, size, lambda: made.append(name) or name.upper())

    assert [ask(name) for name in "abacab"] == list("ABACAB")
    assert made == ["a", "b", "c", "b"]  # c took the room of b, as a had been asked for since
    assert ask("large", 11) == ask("large", 11) == "LARGE"
    assert made[-2:] == ["large", "large"]  # for which there is never room
    assert ask("a")
    assert made[-1] == "large"  # it took nothing else with it


def test_one_thread_makes_it_and_the_others_wait():
    shared, made, found = Shared(), [], []

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
    shared = Shared()
    with pytest.raises(ZeroDivisionError):
        shared.get("a", 1, lambda: 1 / 0)
    assert shared.get("a", 1, lambda: 3) == 3


def test_places_of_columns():
    places, column = Places(["a", "b", "c"]), ["c", "a", "c"]
    assert places.of(column).tolist() == [2, 0, 2]
    assert places.of(column) is places.of(column)
    assert places.of(["b"]).tolist() == [1]
    assert places.has(column)
    assert not places.has(["a", "d"])
    with pytest.raises(KeyError):
        places.of(["d"])


def test_a_table_that_has_all_is_taken_as_it_is():
    one, two = table("ab", 0), table("cde", 100)
    pool = Pool().plus(one).plus(two)
    found, place = pool.of([["e"], ["c", "c"]])
    assert found is two
    assert place.of(["e", "c"]).tolist() == [2, 0]
    assert pool.missing([["a", "x"], ["c"], ["y", "x", "e"]]) == ["x", "y"]
    assert Pool().missing([["a", "a"]]) == ["a"]


@pytest.mark.parametrize("layers", [(), ("low", "high")])
def test_texts_of_several_tables_are_put_together(layers):
    one, two = table("ab", 0, 4.0, layers), table("bcde", 100, 8.0, layers)
    columns = [["e", "a"], ["b", "e"]]
    found, place = Pool().plus(one).plus(two).of(columns)
    assert found.texts == ("e", "a", "b")
    assert found.layers == tuple(layers)
    expected = np.stack([two.vectors[..., 3, :], one.vectors[..., 0, :], one.vectors[..., 1, :]], axis=-2)
    assert np.array_equal(found.vectors, expected)
    assert place.of(columns[0]).tolist() == [0, 1]
    assert found.seconds == pytest.approx(4.0 * 2 / 2 + 8.0 / 4)
