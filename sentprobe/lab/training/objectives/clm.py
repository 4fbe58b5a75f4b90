"""Causal language model (CLM) over one language or several, as in XLM."""

from __future__ import annotations

from sentprobe.lab.training.lm.preparation import LanguageModelKind, lm_objective

objective = lm_objective(
    "clm",
    "the next token of a text",
    "texts with their languages: --text en=FILE --text fr=FILE",
    LanguageModelKind(windows=True, causal=True),
    order=40,
)
