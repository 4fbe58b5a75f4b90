"""Runs: encoders on sets, every result written when it is finished."""

from sonde.run.evaluate import evaluate
from sonde.run.folder import Run

__all__ = ["Run", "evaluate"]
