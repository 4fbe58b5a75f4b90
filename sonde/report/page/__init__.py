"""A run as one HTML page that is complete in itself, and as a table for a notebook."""

from sonde.report.page.page import ExtraSection, fragment, render

__all__ = ["ExtraSection", "fragment", "render"]
