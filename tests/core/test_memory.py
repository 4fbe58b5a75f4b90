"""Remembered results, and the paused garbage collector."""

import gc

from sonde.core.memory import gc_paused, remember_last


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


def test_what_was_made_while_the_collector_was_paused_is_old_afterwards():
    gc.unfreeze()
    with gc_paused():
        assert not gc.isenabled()
        made = [[i] for i in range(5000)]
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    assert len(gc.get_objects(generation=0)) + len(gc.get_objects(generation=1)) < len(made)


def test_a_collector_that_is_off_stays_off():
    gc.disable()
    try:
        with gc_paused():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()
