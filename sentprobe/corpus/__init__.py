"""Annotated text: sentences, corpora, and the files they come from."""

from sentprobe.corpus.corpus import Corpus
from sentprobe.sentence import Sentence, Tree

__all__ = ["Corpus", "Sentence", "Tree"]
