"""How long work reports its progress."""

from collections.abc import Callable

Progress = Callable[[str, int, int | None], None]
"""Called with a stage, how much of it is done, and the total; None where the total is unknown."""
