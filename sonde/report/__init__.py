"""What a run found, shown: a summary as plain data, and tables and texts made from it."""

from sonde.report.summary import summarise

__all__ = ["summarise"]
