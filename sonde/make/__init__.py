"""Corpus + tasks → probing sets: count, propose, finish."""

from sonde.make.make import Progress, Unmade, choose_reading, count, finish, length_correlation, make_sets, propose

__all__ = ["Progress", "Unmade", "choose_reading", "count", "finish", "length_correlation", "make_sets", "propose"]
