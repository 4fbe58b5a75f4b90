"""Corpus + tasks → probing sets: count, propose, finish."""

from sonde.make.make import Progress, SkippedTask, choose_reading, count, finish, length_correlation, make_sets, propose

__all__ = ["Progress", "SkippedTask", "choose_reading", "count", "finish", "length_correlation", "make_sets", "propose"]
