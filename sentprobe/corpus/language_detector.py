"""Which language a text is in, if py3langid is installed (the extra ``language``)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

from sentprobe.corpus.languages import code_of

FEWEST_WORDS = 5
"""Shorter texts are easily confused, and not examined."""
MIN_OTHER_PROBABILITY, UNLIKELY = 0.7, 0.02
"""How probable another language must be, and how improbable a text's own: short sentences are easily confused."""
NO_LANGUAGE = "zxx"
LANGUAGE_ALIASES = {"nb": "no", "iw": "he", "in": "id", "fil": "tl", "cmn": "zh"}
"""Codes that the detector knows under another name."""
ALIKE: tuple[tuple[str, ...], ...] = (
    ("no", "nn"), ("bs", "hr", "sr"), ("id", "ms"), ("zh", "yue", "wuu"), ("ar", "arz", "ary"), ("el", "grc"),
    ("he", "hbo"), ("en", "pcm"), ("fr", "wa", "gcf", "gcr"), ("it", "lij", "vec"), ("es", "an", "ext"),
    ("lv", "ltg"), ("ku", "sdh"),
)  # fmt: skip
"""Languages that the detector confuses."""
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Letters of scripts without spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""


def available() -> bool:
    """Whether the detector is installed."""
    return find_spec("py3langid") is not None


def detector_code(language: str) -> str | None:
    """The detector's code of a language; None if it does not know it."""
    code = code_of(language)
    code = LANGUAGE_ALIASES.get(code, code)
    return code if code in detector().labels else None


def is_long(text: str, tokens: Sequence[str]) -> bool:
    """Whether a text has enough words to tell its language."""
    words = sum(any(map(str.isalpha, token)) for token in tokens)
    # a word of an unspaced script is two letters long or so
    return words >= FEWEST_WORDS or len(UNSPACED.findall(text)) >= 2 * FEWEST_WORDS


def other_language(text: str, code: str) -> str | None:
    """The language a text is in, if it is clearly not the one of this code, as ``detector_code`` returns it."""
    own = _family(code)
    best, _ = detector().classify(text)
    if best in own or best == NO_LANGUAGE:
        return None
    ranked = dict(detector().rank(text))
    theirs, ours = (sum(ranked.get(code, 0.0) for code in family) for family in (_family(best), own))
    return str(best) if theirs >= MIN_OTHER_PROBABILITY and ours <= UNLIKELY else None


def _family(code: str) -> tuple[str, ...]:
    return next((group for group in ALIKE if code in group), (code,))


@cache
def detector() -> Any:
    """The detector, loaded once: it takes a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
