"""Runs: encoders probed on datasets, every result saved as soon as it is finished."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentprobe.results.run import Run, join
    from sentprobe.run.loop import evaluate

__all__ = ["Run", "evaluate", "join"]

_HOMES = {"Run": "sentprobe.results.run", "evaluate": "sentprobe.run.loop", "join": "sentprobe.results.run"}


def __getattr__(name: str) -> Any:
    """What is public, imported when it is first used: to read a run does not take what computes one."""
    if name not in _HOMES:
        raise AttributeError(f"module 'sentprobe.run' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)
