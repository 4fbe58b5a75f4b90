"""Calls that may hang, such as those to a network that swallows every packet."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """The result of a call, or what it raised; TimeoutError if there is neither after this many seconds.

    Timeouts of sockets are not enough: they begin anew for every address of a host, and do not cover looking it up. A
    call that goes on after that does so in a thread that nobody waits for.

    >>> call_within(5, lambda: 42)
    42
    """
    results: list[T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(call())
        except BaseException as e:
            errors.append(e)

    thread = threading.Thread(target=run, name="call with a deadline", daemon=True)
    thread.start()
    thread.join(seconds)
    if errors:
        raise errors[0]
    if not results:
        raise TimeoutError(f"no answer within {seconds:g} seconds")
    return results[0]
