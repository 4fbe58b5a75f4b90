"""What a run found, shown: a summary as plain data, and tables, texts, figures and pages made from it."""

from sonde.report.notebook import Report
from sonde.report.summary import summarise

__all__ = ["Report", "summarise"]
