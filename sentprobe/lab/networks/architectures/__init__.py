"""Architectures of sentence encoders, one file per family."""
