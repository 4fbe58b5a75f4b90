"""How long work reports its progress."""

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called with a stage, how much of it is done, and the total; None where the total is unknown.

What is in work may follow the stage: ``encode: static:``, ``cells: st:a on bigram_shift``.
"""

MIN_DONE_SHARE = 0.1
"""The share of the work that must be done before it is estimated how long the rest takes."""


def split_stage(stage: str) -> tuple[str, str]:
    """A stage, and what of it is in work, if it says so.

    >>> split_stage("cells: st:a on bigram_shift")
    ('cells', 'st:a on bigram_shift')
    >>> split_stage("encode")
    ('encode', '')
    """
    name, _, now = stage.partition(": ")
    return name, now


def remaining_seconds(elapsed: float, done: int, left: int) -> float | None:
    """How long the rest takes if it goes on like this; None where too little is done to say.

    ``done`` is what was done in the time that elapsed, without what had been finished before.

    >>> remaining_seconds(30.0, 3, 6)
    60.0
    >>> remaining_seconds(30.0, 1, 99)
    >>> remaining_seconds(30.0, 0, 0)
    """
    if done <= 0 or done / (done + left) < MIN_DONE_SHARE:
        return None
    return elapsed * left / done
