"""Remembered results, and the paused garbage collector."""

import gc

import pytest

from sentprobe.core import resources
from sentprobe.core.resources import gc_paused, remember_last


def test_a_result_is_computed_once_for_the_same_object():
    calls = []

    @remember_last
    def length(words: list[str]) -> int:
        """How many there are."""
        calls.append(words)
        return len(words)

    one, two = ["a"], ["a"]
    assert [length(one), length(one), length(two), length(one)] == [1, 1, 1, 1]
    assert [words is one for words in calls] == [True, False, True]  # an equal object is another one
    assert (length.__name__, length.__doc__) == ("length", "How many there are.")


@pytest.fixture(autouse=True)
def frozen_again():
    """For the tests that follow, the collector leaves alone what is there, as ``conftest.py`` has it."""
    yield
    gc.freeze()


def young():
    return len(gc.get_objects(generation=0)) + len(gc.get_objects(generation=1))


def test_what_was_made_while_the_collector_was_paused_is_old_afterwards(monkeypatch):
    monkeypatch.setattr(resources, "MANY_OBJECTS", 4000)
    gc.unfreeze()
    with gc_paused():
        assert not gc.isenabled()
        made = [[i] for i in range(5000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    assert young() < len(made)


def test_frozen_objects_stay_frozen_and_are_not_counted_after_little_work(monkeypatch):
    kept = [[i] for i in range(5000)]
    gc.freeze()
    monkeypatch.setattr(resources, "MANY_OBJECTS", 4000)
    with gc_paused():
        made = [[i] for i in range(5000)]
    assert gc.get_freeze_count() >= len(kept)
    assert young() >= len(made)
    gc.collect()
    monkeypatch.setattr(gc, "get_freeze_count", lambda: pytest.fail("it takes as long as there are frozen objects"))
    with gc_paused():
        made = [[i] for i in range(50)]


def test_a_collector_that_is_off_stays_off():
    gc.disable()
    try:
        with gc_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
