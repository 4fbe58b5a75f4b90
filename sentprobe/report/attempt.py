"""Runs parts of a report that may come from other packages: one that fails is left out, with a warning."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import TypeVar

from sentprobe.errors import SentProbeWarning, describe_error, error_location

T = TypeVar("T")


def attempt(what: str, make: Callable[[], T]) -> T | None:
    """What the function returns; None, with a warning, if it fails."""
    try:
        return make()
    except Exception as e:
        warnings.warn(
            SentProbeWarning(f"{what} is left out of the report: {describe_error(e)}{error_location(e)}"), stacklevel=3
        )
        return None
