"""Annotated text: sentences, corpora, and the files they come from."""

from sonde.corpus.corpus import Corpus
from sonde.corpus.sentence import Sentence, Tree

__all__ = ["Corpus", "Sentence", "Tree"]
