"""Translation language model (TLM) of XLM: a masked language model over a sentence and its translation together."""

from __future__ import annotations

from sentprobe.lab.training.lm.preparation import LanguageModelKind, lm_objective

objective = lm_objective(
    "tlm",
    "masked tokens of a sentence and its translation, from both",
    "pairs with their languages: --pairs en-fr=FILE,FILE",
    LanguageModelKind(pairs=True),
    order=42,
)
