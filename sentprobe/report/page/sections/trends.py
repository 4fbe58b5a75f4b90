"""Layers, size and training: how scores change along them. Each chart says itself why it is absent."""

from sentprobe.report.page.section import Section, unless_charts

section = Section(
    name="trends",
    order=50,
    title="Layers, size and training",
    intro="How scores change with the layer of an encoder, its embedding dimension, or training.",
    absent=unless_charts("trends", ""),
)
