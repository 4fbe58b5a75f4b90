"""A run as one self-contained HTML page, and as a table for a notebook."""

from sonde.report.page.page import fragment, render
from sonde.report.page.section import Section
from sonde.report.page.sections import SECTIONS

__all__ = ["SECTIONS", "Section", "fragment", "render"]
