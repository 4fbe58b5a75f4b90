"""Corpus + tasks → probing sets: count, propose, finish."""

from sonde.core.progress import Progress
from sonde.make.finish import finish
from sonde.make.job import SkippedTask, choose_reading
from sonde.make.make import make_sets
from sonde.make.manifest import length_correlation
from sonde.make.passes import count, propose

__all__ = ["Progress", "SkippedTask", "choose_reading", "count", "finish", "length_correlation", "make_sets", "propose"]
