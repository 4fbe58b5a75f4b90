"""Languages: facts that rules of tasks need where treebanks do not annotate them, and which one a text is in."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from typing import Any

MORPHOLOGICAL_PASSIVE = frozenset({"az", "ba", "da", "kk", "ky", "nb", "nn", "no", "sv", "tr", "tt", "ug", "uz"})
"""Languages whose verbs have passive forms of their own, *yapıldı*, *byggs*, without deponents among them: a verb with
Voice=Pass is passive, and needs no auxiliary."""

IMPERSONAL_PASSIVE = frozenset({"ekk", "et", "fi", "fkv", "izh", "krl", "olo", "vep", "vot", "vro"})
"""Finnic languages, whose passive has no subject: what is built remains its object, *talo rakennettiin* (``obj`` in
UD), with the number and case of an object."""

REFLEXIVE_PASSIVE = frozenset({"ast", "ca", "es", "gl", "pt"})
"""Languages in which a reflexive clitic may make a verb passive, *se venden casas*, and some treebanks annotate it
like others (``expl:pv``): a clause with one is neither clearly active nor clearly passive."""


IMPERFECT_FORMS = {
    "fr": re.compile(
        r"(?!(?:"
        r"(?:re|dé|satis|contre|sur|par)?fai[st]|sai[st]|vais|(?:dé|com)?plai[st]|tai[st]|hai[st]|brai[st]|pais|ait|"
        r"(?:ex|dis|sous|abs|at|por)?trai(?:[st]|ent)|(?:re|mé)?connai[st]|(?:ap|com|dis|re|trans|réap)?parai[st]|"
        r"(?:re)?nai[st]|aient|(?:re)?paient|(?:ess|bal|effr|ég|bég|rel|débl|rembl|monn|r|enr|défr)aient"
        r")$)\w*(?:ais|ait|aient)"
    )
}
"""Forms of the imperfect by their endings: French *mesurait*, *étaient*. The exceptions are forms of the present
(*fait*, *connait*, *paient*). Endings in *-ions* and *-iez* may be those of a present (*étudions*)."""
NEVER_PASSIVE = {
    "fr": re.compile(
        r"(?:(?:all|arriv|décéd|rest|re?tomb|tomb|n)é(?:e?s?)|(?:re)?parti(?:e?s?)|mort(?:e?s?)|"
        r"(?:re|rede|de|par|sur|inter|ad|pro)?venu(?:e?s?))"
    )
}
"""Participles of verbs without an object, whose *être* is that of a perfect: *est né*, *sont venues*. Verbs that can
have one (*monter*, *sortir*, *prévenir*) are not among them."""


def code_of(language: str | None) -> str:
    """The language of a code with a region or a script: ``pt`` of ``pt-BR``."""
    return (language or "").lower().replace("_", "-").partition("-")[0]


# The language of a text, if py3langid is installed (the extra ``language``)


FEWEST_WORDS = 5
"""Shorter texts are easily confused, and not examined."""
MIN_OTHER_PROBABILITY, MAX_EXPECTED_PROBABILITY = 0.7, 0.02
"""For another language, and for the expected one: short sentences are easily confused."""
NO_LANGUAGE = "zxx"
LANGUAGE_ALIASES = {"nb": "no", "iw": "he", "in": "id", "fil": "tl", "cmn": "zh"}
"""Codes that the detector knows under another name."""
CONFUSED_LANGUAGES = tuple(
    tuple(group.split())
    for group in (
        "no nn",
        "bs hr sr",
        "id ms",
        "zh yue wuu",
        "ar arz ary",
        "el grc",
        "he hbo",
        "en pcm",
        "fr wa gcf gcr",
        "it lij vec",
        "es an ext",
        "lv ltg",
        "ku sdh",
    )
)
"""Languages that the detector does not tell apart."""
UNSPACED = re.compile(r"[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u2e80-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
"""Letters of scripts without spaces between words: Thai, Lao, Burmese, Khmer, Chinese, Japanese."""


def has_detector() -> bool:
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
    expected = _family(code)
    best, _ = detector().classify(text)
    if best in expected or best == NO_LANGUAGE:
        return None
    probabilities = dict(detector().rank(text))
    p_best, p_expected = (sum(probabilities.get(c, 0.0) for c in family) for family in (_family(best), expected))
    return str(best) if p_best >= MIN_OTHER_PROBABILITY and p_expected <= MAX_EXPECTED_PROBABILITY else None


def _family(code: str) -> tuple[str, ...]:
    return next((group for group in CONFUSED_LANGUAGES if code in group), (code,))


@cache
def detector() -> Any:
    """The detector, loaded once: it takes a second."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)
