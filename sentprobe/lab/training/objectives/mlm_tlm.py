"""Masked and translation language model together (MLM+TLM), as in XLM: batches of texts and of pairs in turn."""

from __future__ import annotations

from sentprobe.lab.training.lm.preparation import LanguageModelKind, lm_objective

objective = lm_objective(
    "mlm+tlm",
    "masked tokens of texts and of pairs of translations, in turn",
    "texts and pairs with their languages: --text en=FILE --text fr=FILE --pairs en-fr=FILE,FILE",
    LanguageModelKind(windows=True, pairs=True),
    order=43,
)
