"""Measures: other questions to the same vectors. One file, one measure; the loop runs and keeps them like any cell."""
