"""BLEU, by sacrebleu."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sentprobe.core.arguments import Setting
from sentprobe.lab.training.installed import import_for_training

SETTING = Setting(
    "13a",
    "how BLEU splits texts into words; none for texts that are tokenised already",
    ("13a", "intl", "none", "char", "zh"),
)
"""With ``none`` it is that of multi-bleu; ``13a`` splits off punctuation, nearly as Moses does."""


def bleu(outputs: Sequence[str], references: Sequence[str], tokenise: str = "13a") -> tuple[float, str]:
    """BLEU of a corpus, 0 to 100, with one reference for each output, and its signature."""
    # force: no warning about tokenised texts
    metric: Any = import_for_training("sacrebleu").BLEU(tokenize=tokenise, force=True)
    score = float(metric.corpus_score(list(outputs), [list(references)]).score)
    return score, str(metric.get_signature())
