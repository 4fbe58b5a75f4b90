"""Machine translation with a Transformer, as in XLM: supervised, by back-translation, or without any pairs."""

from __future__ import annotations

from sentprobe.lab.training.lm.model import ARCHITECTURE
from sentprobe.lab.training.mt.initial_weights import implied_settings
from sentprobe.lab.training.mt.preparation import OPTIMISERS, SETTINGS, prepare
from sentprobe.lab.training.objective import Objective

objective = Objective(
    "mt",
    "to translate between languages, attending to all words of the source",
    "pairs or texts with their languages: --pairs en-fr=FILE,FILE, --text en=FILE --text fr=FILE",
    prepare,
    SETTINGS,
    OPTIMISERS,
    needs_dev=False,
    order=45,
    encoder=ARCHITECTURE,
    implied=implied_settings,
)
