"""What spaces of words are good for: translation, similarity, retrieval of sentences; results are in a run folder."""

from __future__ import annotations

from sonde.core.plugins import Kind
from sonde.words.evaluation import WordEvaluation

WORD_EVALUATIONS = Kind("word evaluation", "sonde.words.evaluations", WordEvaluation)
"""All evaluations, also those that other packages offer as entry points of the group ``sonde.word_evaluations``."""
