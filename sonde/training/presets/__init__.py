"""Encoders of papers, one file per paper."""
