"""Lists and numbers in sentences."""

from __future__ import annotations

from collections.abc import Sequence


def listed(names: Sequence[str], *, most: int | None = None, more: str = "more") -> str:
    """``a, b and c``; of more than ``most``, the first ones and how many others there are."""
    shown = list(names)
    if most is not None and len(shown) > most:
        shown = [*shown[: most - 1], f"{len(shown) - most + 1} {more}"]
    if not shown:
        return ""
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
