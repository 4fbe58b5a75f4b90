"""Calls in worker processes, with joblib: in order or not, the largest first, or merged on the way."""

from __future__ import annotations

import os
import signal
import threading
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from itertools import repeat
from typing import Any, TypeVar

from sentprobe.core.agreement import CLUSTER_GONE
from sentprobe.core.cluster import call_on_worker, current_cluster
from sentprobe.core.processes import begin_worker, blocked_signals
from sentprobe.errors import RunError

T = TypeVar("T")

MERGED_AT_A_TIME = 8
"""Results that are merged by one call."""


def map_largest_first(
    call: Callable[..., T], calls: Sequence[tuple[Any, ...]], sizes: Sequence[float], jobs: int
) -> Iterator[T]:
    """The results of calls in order, made in worker processes, the largest first, so that none is left for the end.

    ``sizes`` are in any unit. With one job, or one call, they are made here, one after the other.
    """
    if jobs == 1 or len(calls) == 1:
        yield from (call(*arguments) for arguments in calls)
        return
    numbers = sorted(range(len(calls)), key=lambda i: -sizes[i])
    waiting: dict[int, T] = {}
    due = 0
    numbered = ((i, call, *calls[i]) for i in numbers)
    for number, result in map_in_workers(_numbered, numbered, min(jobs, len(calls)), in_order=False):
        waiting[number] = result
        while due in waiting:
            yield waiting.pop(due)
            due += 1


def merge_in_workers(
    call: Callable[..., T],
    calls: Iterable[tuple[Any, ...]],
    merge: Callable[..., T],
    jobs: int,
    on_done: Callable[[int], None],
) -> list[T]:
    """The results of calls, merged in worker processes, a few at a time, until only a few are left.

    ``merge`` must not depend on the order of its arguments, or on which of them were merged before. ``on_done`` is
    called with the number of calls that are done.
    """
    waiting: deque[T] = deque()

    def work() -> Iterator[tuple[Any, ...]]:
        for arguments in calls:
            while len(waiting) >= MERGED_AT_A_TIME:  # they came since the last call was sent
                yield 0, merge, *(waiting.popleft() for _ in range(MERGED_AT_A_TIME))
            yield 1, call, *arguments

    done = 0
    for was_call, result in map_in_workers(_numbered, work(), jobs, in_order=False):
        waiting.append(result)
        done += was_call
        on_done(done)
    results = list(waiting)
    while len(results) > MERGED_AT_A_TIME:
        groups = [tuple(results[a : a + MERGED_AT_A_TIME]) for a in range(0, len(results), MERGED_AT_A_TIME)]
        results = list(map_in_workers(merge, groups, jobs, in_order=False))
    return results


def _numbered(number: int, call: Callable[..., T], *arguments: Any) -> tuple[int, T]:
    return number, call(*arguments)


def map_in_workers(
    call: Callable[..., T], calls: Iterable[tuple[Any, ...]], jobs: int, *, in_order: bool = True
) -> Iterator[T]:
    """The results of calls made in ``jobs`` worker processes, in order or as they are completed.

    The processes are joblib's; inside ``sentprobe.core.cluster.joined`` they are the workers of a cluster.
    """
    from joblib import Parallel, delayed

    if (cluster := current_cluster()) is not None:
        calls = zip(repeat(cluster.agreement), repeat(_directory()), repeat(call), calls)
        call = call_on_worker

    # a worker that has grown is replaced by a new one, and its work is not lost
    warnings.filterwarnings("ignore", "A worker stopped while some jobs were given", UserWarning)
    if not getattr(threading.excepthook, "of_pools", False):
        threading.excepthook = _silent_about_pools(threading.excepthook)
    kind = "generator" if in_order else "generator_unordered"
    results: Any = None
    try:
        with _without_interrupts():  # at whose end a signal that came meanwhile stops this
            results = Parallel(n_jobs=jobs, return_as=kind, **_options())(
                delayed(call)(*arguments) for arguments in calls
            )
        yield from results
    except BrokenProcessPool as e:
        raise RunError(
            "A worker process died before its work was done: it ran out of memory, or was killed. "
            "Try again with fewer workers, or with --jobs 1."
        ) from e
    except Exception as e:
        if cluster is None or cluster.is_alive():
            raise
        raise RunError(CLUSTER_GONE) from e  # what a client without a scheduler raises, may be anything
    finally:
        if results is not None:
            results.close()


def _silent_about_pools(before: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """An excepthook for threads, without what those of a pool print when it is torn down while they use it."""

    def hook(args: Any) -> None:
        if "Executor" not in type(args.thread).__name__:
            before(args)

    hook.of_pools = True  # type: ignore[attr-defined]
    return hook


def _options() -> dict[str, Any]:
    """Options that make workers on this machine watch their parent; those of a cluster are not ours to stop."""
    from joblib.parallel import get_active_backend

    if current_cluster() is not None:
        return {"batch_size": 1}
    backend, _ = get_active_backend()
    ours = type(backend).__name__ in ("LokyBackend", "MultiprocessingBackend")
    return {"initializer": begin_worker, "initargs": (os.getpid(), _directory())} if ours else {}


def _directory() -> str | None:
    try:
        return os.getcwd()  # noqa: PTH109 - a Path raises the same
    except OSError:  # it was deleted
        return None


@contextmanager
def _without_interrupts() -> Iterator[None]:
    """What stops a command is blocked while workers start, so that no pool is torn down half built."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    from multiprocessing import resource_tracker

    from joblib.externals.loky.backend import resource_tracker as own_tracker

    with _quietly():
        for tracker in (resource_tracker, own_tracker):
            tracker.ensure_running()  # now: starting one unblocks signals again
    with blocked_signals():
        yield


@contextmanager
def _quietly() -> Iterator[None]:
    """Keep processes started here from warning about what they clean up after a command was terminated."""
    before = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = ",".join(filter(None, (before, "ignore:resource_tracker")))
    try:
        yield
    finally:
        if before is None:
            del os.environ["PYTHONWARNINGS"]
        else:
            os.environ["PYTHONWARNINGS"] = before
