"""Masked language model (MLM) over one language or several, as in XLM."""

from __future__ import annotations

from sentprobe.lab.training.lm.preparation import LanguageModelKind, lm_objective

objective = lm_objective(
    "mlm",
    "tokens of a text that are masked, from those on both sides",
    "texts with their languages: --text en=FILE --text fr=FILE",
    LanguageModelKind(windows=True),
    order=41,
)
