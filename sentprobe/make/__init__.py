"""Corpus + tasks → probing sets: count, propose, finish."""

from sentprobe.make.card import write_card
from sentprobe.make.finish import finish
from sentprobe.make.job import SkippedTask, choose_reading
from sentprobe.make.make import make_sets
from sentprobe.make.manifest import length_correlation
from sentprobe.make.passes import count, propose

__all__ = [
    "SkippedTask",
    "choose_reading",
    "count",
    "finish",
    "length_correlation",
    "make_sets",
    "propose",
    "write_card",
]
