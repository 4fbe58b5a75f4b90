"""Suggestions for what was probably meant."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`` Did you mean X or Y?`` with the nearest of the known names, or nothing."""
    near = difflib.get_close_matches(name, list(known), n=2)
    return f" Did you mean {' or '.join(near)}?" if near else ""
