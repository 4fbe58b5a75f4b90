"""What a run found, shown: a summary as plain data, and tables, texts, figures and pages made from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sentprobe.report.notebook import Report
    from sentprobe.report.summary import summarise

__all__ = ["Report", "summarise"]


def __getattr__(name: str) -> Any:
    """The public names, each imported when it is first used: a table does not need what writes the page."""
    if name == "Report":
        from sentprobe.report.notebook import Report

        return Report
    if name == "summarise":
        from sentprobe.report.summary import summarise

        return summarise
    raise AttributeError(f"module 'sentprobe.report' has no attribute {name!r}")
