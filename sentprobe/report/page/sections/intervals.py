"""Confidence intervals: every score with its interval, next to baselines and published results."""

from sentprobe.report.page.section import Section, unless_charts

section = Section(
    name="intervals",
    order=30,
    title="Charts of the scores",
    intro="Where two intervals overlap widely, the order of the two encoders may be due to chance. † marks scores that "
    "are not significantly better than the best baseline.",
    words_intro="Where two intervals overlap widely, the order of the two systems may be due to chance. † marks scores "
    "that are not significantly better than the baseline copy.",
    absent=unless_charts("intervals", "No score has an interval."),
)
