"""What the tests of alignments share."""

from tests.plugins import plugin

__all__ = ["plugin"]
