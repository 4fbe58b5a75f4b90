"""Suggestions for what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], n: int = 2) -> str:
    """`` Did you mean X or Y?`` with the nearest ``n`` of the known names, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=n)
    return f" Did you mean {' or '.join(near)}?" if near else ""
