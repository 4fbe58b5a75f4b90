"""What charts are drawn with: ``Chart`` itself, the options of a figure, its look, and views that several charts share.

A chart is one file in ``sentprobe.report.charts``, or in another package that offers it as an entry point of the group
``sentprobe.charts``.
"""

from sentprobe.report.drawing.chart import Chart, OnPage, Options
from sentprobe.report.drawing.figure_style import Row, Spec, figure_style, single_view

__all__ = ["Chart", "OnPage", "Options", "Row", "Spec", "figure_style", "single_view"]
