"""A limit of one thread, which what is within may ask for again."""

import sys
import threading

import numpy  # noqa: F401  its BLAS is what is limited
import pytest
from threadpoolctl import ThreadpoolController, threadpool_info, threadpool_limits

from sentprobe.core import resources
from sentprobe.core.resources import single_threaded


def limits():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


@pytest.fixture(autouse=True)
def two():
    with threadpool_limits(limits=2):
        yield


def test_it_ends_with_the_outermost():
    with single_threaded():
        assert limits() == {1}
        with single_threaded():
            assert limits() == {1}
        assert limits() == {1}
    assert limits() == {2}


def test_it_ends_after_an_error():
    with pytest.raises(RuntimeError), single_threaded():
        raise RuntimeError
    assert limits() == {2}


def test_another_thread_within_does_not_lift_it():
    def ask():
        with single_threaded():
            pass

    with single_threaded():
        other = threading.Thread(target=ask)
        other.start()
        other.join()
        assert limits() == {1}
    assert limits() == {2}


def test_libraries_are_looked_for_again_only_if_modules_were_imported(monkeypatch):
    looked = []

    def look():
        looked.append(1)
        return ThreadpoolController()

    monkeypatch.setattr(resources, "ThreadpoolController", look)
    monkeypatch.setattr(resources, "_cached_controller", None)
    with single_threaded(), single_threaded():
        assert looked == [1]
    with single_threaded():
        assert looked == [1]
        monkeypatch.setitem(sys.modules, "a_module_that_is_new", threading)
        with single_threaded():
            assert looked == [1, 1]
        assert limits() == {1}
    assert limits() == {2}
