"""What spaces of words are good for: translation, similarity, retrieval of sentences; results are in a run folder."""

from __future__ import annotations

from sentprobe.core.plugins import Kind
from sentprobe.lab.words.evaluation import WordEvaluation

WORD_EVALUATIONS = Kind("word evaluation", "sentprobe.lab.words.evaluations", WordEvaluation)
"""All evaluations, also those that other packages offer as entry points of the group ``sentprobe.word_evaluations``."""
