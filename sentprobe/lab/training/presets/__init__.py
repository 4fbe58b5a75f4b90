"""Encoders of papers, one file per paper; none of them imports torch."""
