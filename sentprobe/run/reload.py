"""Encoders that cannot be loaded again by name, so that `sentprobe serve` cannot try their probes on new sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

UNLOADABLE = "unloadable"
"""The key in run.json: pairs of an encoder and why."""


def why_not_reloadable(name: str, *, given: bool, fitted: bool, identity: str | None) -> str | None:
    """Why an encoder cannot be loaded again; None if it can.

    ``given``: it was passed as an object, not as a name; ``fitted``: on the texts of the run.
    """
    later = "`sentprobe serve` cannot try its probes on new sentences"
    if given:
        return f"it was passed as a function; name it as py:FILE.py:FUNCTION?version=1 instead, or {later}"
    if fitted:
        return f"it is fitted on the texts of all sets of the run, so that {later}"
    if identity is None:
        return f"it has no identity; give it one, as in {name}{'&' if '?' in name else '?'}version=1, or {later}"
    return None


def read_unloadable(info: Mapping[str, Any]) -> dict[str, str]:
    """The encoders of a run that cannot be loaded again, and why; the last command counts."""
    asked = info.get("asked", {}).get("encoders")
    return {name: why for name, why in info.get(UNLOADABLE, ()) if asked is None or name in asked}
