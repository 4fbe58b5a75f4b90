"""Runs: encoders probed on datasets, every result saved as soon as it is finished."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from sentprobe.run.folder import Run
from sentprobe.run.join import join

if TYPE_CHECKING:
    from sentprobe.run.loop import evaluate

__all__ = ["Run", "evaluate", "join"]


def __getattr__(name: str) -> Any:
    """``evaluate``, imported when it is first used: to read a run does not take what computes one."""
    if name == "evaluate":
        from sentprobe.run.loop import evaluate

        return evaluate
    raise AttributeError(f"module 'sentprobe.run' has no attribute {name!r}")
