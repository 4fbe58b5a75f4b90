"""Runs: encoders probed on datasets, every result saved as soon as it is finished."""

from sonde.run.folder import Run
from sonde.run.join import join
from sonde.run.loop import evaluate

__all__ = ["Run", "evaluate", "join"]
