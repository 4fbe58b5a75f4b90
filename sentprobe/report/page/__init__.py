"""A run as one self-contained HTML page, and as a table for a notebook."""

from sentprobe.report.page.page import fragment, render
from sentprobe.report.page.section import Section
from sentprobe.report.page.sections import SECTIONS

__all__ = ["SECTIONS", "Section", "fragment", "render"]
