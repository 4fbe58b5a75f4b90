"""The sections of the page: one file each, with its template next to it."""

from sentprobe.core.plugins import Kind
from sentprobe.report.page.section import Section

SECTIONS = Kind("section", __name__, Section)
"""All sections, also those that other packages offer as entry points of the group ``sentprobe.sections``."""
