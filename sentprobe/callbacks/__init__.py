"""Probing during somebody's training: an evaluator for sentence-transformers, and a callback for transformers' Trainer.

Both probe the model every so often, in one run folder, whose page shows a curve per set; and both report to the
trainer's own logs. They are loaded when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from sentprobe.core.public import public_names

if TYPE_CHECKING:
    from sentprobe.callbacks.evaluator import SentProbeEvaluator as SentProbeEvaluator
    from sentprobe.callbacks.monitor import TrainingMonitor as TrainingMonitor
    from sentprobe.callbacks.trainer import SentProbeCallback as SentProbeCallback

_HOMES = {
    "SentProbeCallback": "sentprobe.callbacks.trainer",
    "SentProbeEvaluator": "sentprobe.callbacks.evaluator",
    "TrainingMonitor": "sentprobe.callbacks.monitor",
}

__all__ = ["SentProbeCallback", "SentProbeEvaluator", "TrainingMonitor"]

if not TYPE_CHECKING:
    __getattr__, __dir__ = public_names(__name__, _HOMES)
