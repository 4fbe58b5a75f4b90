"""Reproducibility: commands, signatures, encoders and versions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from sentprobe.report.page.section import PageData, Section, sibling_file
from sentprobe.report.types import Summary


def data(page: PageData) -> Mapping[str, object]:
    """Signatures, times, and each encoder once."""
    encoders = dict.fromkeys((column.encoder, column.identity) for column in page.summary.columns)
    return {
        "signatures": _signatures(page.brief),
        "seconds": asdict(page.summary.seconds),
        "encoders": encoders,
    }


def _signatures(summary: Summary) -> list[tuple[str, str, str]]:
    """Set, column and signature of each score in the table, for its first seed."""
    columns = [*summary.columns, *summary.baselines]
    return [
        (s.label, column.name, cell.signatures[0])
        for s in summary.sets
        for column, cell in zip(columns, (*s.cells, *s.baselines), strict=True)
        if cell
    ]


section = Section(
    name="reproduce",
    order=100,
    title="Reproducibility",
    intro="What was run, and how to reproduce each score.",
    template=sibling_file(__package__, "reproduce.html"),
    data=data,
    absent=lambda page: None if page.summary.reproduction else "",
)
