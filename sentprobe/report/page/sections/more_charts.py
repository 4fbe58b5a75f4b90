"""More charts: those whose section is not on the page."""

from sentprobe.report.page.section import Section, unless_charts

section = Section(name="more_charts", order=95, title="More charts", absent=unless_charts("more_charts", ""))
