"""Findings of papers as predicates, evaluated on printed results and on runs. One file in ``findings`` is one."""

from sentprobe.replicate.claim import FINDINGS, Claim
from sentprobe.replicate.decide import Answer, answer
from sentprobe.replicate.evidence import Models, Scope
from sentprobe.replicate.printed import PrintedResults
from sentprobe.replicate.vocabulary import BestOf, Correlated, Difference, Ordered

__all__ = [
    "FINDINGS",
    "Answer",
    "BestOf",
    "Claim",
    "Correlated",
    "Difference",
    "Models",
    "Ordered",
    "PrintedResults",
    "Scope",
    "answer",
]
