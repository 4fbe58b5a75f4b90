"""Annotated text: sentences, corpora, and the files they come from."""

from sonde.corpus.sentence import Sentence, Tree

__all__ = ["Sentence", "Tree"]
