"""Probing and transfer: whether scores on probing sets predict scores on transfer tasks."""

from sentprobe.report.page.section import Section, sibling_file, unless_charts

section = Section(
    name="correlations",
    order=80,
    title="Probing and transfer",
    intro="Whether encoders that do well on a probing set also do well on a transfer task, over the encoders of this "
    "run.",
    template=sibling_file(__package__, "correlations.html"),
    absent=unless_charts(
        "correlations", "This needs a probing set, a transfer task and at least three encoders with results on both."
    ),
)
