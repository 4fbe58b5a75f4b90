"""Whether an encoder follows the rules: shapes, finite numbers, and vectors that depend on their text alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from sentprobe.core.third_party import third_party_code
from sentprobe.encoders import encoder_info
from sentprobe.encoders.call import call_encoder
from sentprobe.encoders.diagnosis import (
    EQUAL_TOLERANCE,
    EXEMPT_SCHEME,
    SAMPLED_TEXTS,
    describe_difference,
    diagnose_vectors,
    unknown_tokens,
)
from sentprobe.encoders.schemes.vec import Pooled
from sentprobe.errors import SentProbeError, describe_error
from sentprobe.testing.verdict import Verdict, raise_failure

TEXTS = (
    "The river was high after the rain.",
    "Nobody had told her that the shop was closed on Mondays.",
    "Yes.",
    "L’été dernier, nous sommes allés à la mer.",
    "Она открыла окно и долго смотрела на улицу.",
    "A very small dog barked at a very large van, and the van drove on.",
    "the river was high after the rain.",
    "What did the teacher say when the bell rang at noon?",
)
TEXTS_BY_LANGUAGE = {
    "English": ("The river was very high", "A dog chased two cats", "She never drinks cold milk"),
    "Spanish": ("El río estaba muy alto", "Un perro persigue dos gatos", "Ella nunca bebe leche fría"),
    "German": ("Der Fluss war sehr hoch", "Ein Hund jagte zwei Katzen", "Sie trinkt nie kalte Milch"),
    "Turkish": ("Nehir dün gece çok yükseldi", "Bir köpek iki kedi kovaladı", "O hiç soğuk süt içmez"),
    "Russian": ("Река вчера была очень высокой", "Собака гнала двух серых кошек", "Она никогда не пьёт молоко"),
    "Arabic": ("كان النهر عاليا جدا أمس", "طارد الكلب قطتين في الشارع", "هي لا تشرب الحليب البارد"),
    "Hindi": ("नदी कल बहुत ऊँची थी", "कुत्ते ने दो बिल्लियाँ भगाईं", "वह ठंडा दूध नहीं पीती"),
    "Chinese": ("昨天河水涨得很高", "一只狗追着两只猫", "她从来不喝凉牛奶"),
    "Japanese": ("昨日は川の水が高かった", "犬が二匹の猫を追いかけた", "彼女は牛乳を飲まない"),
}
"""Texts of equal length with different words: an encoder without words of a language cannot distinguish them."""
LONG_TEXT = " ".join(("and then the old clock in the hall struck again",) * 600)
REPEAT_TOLERANCE = 1e-6
"""By how much vectors of a second call may differ from the first, relative to their norm."""


def check_encoder(encoder: Callable[[Sequence[str]], Any]) -> None:
    """Raise SentProbeError at the first rule that an encoder breaks.

    Parameters
    ----------
    encoder: Callable
        A function from a list of texts to an array (n, d) or (layers, n, d).
    """
    raise_failure(examine_encoder(encoder), "The encoder")


def examine_encoder(encoder: Callable[[Sequence[str]], Any]) -> Iterator[Verdict]:
    """Try an encoder on a few texts, rule by rule; what cannot be tried after a failure is skipped."""
    precomputed = getattr(encoder, "texts", None)  # precomputed vectors are of these texts only
    texts = tuple(precomputed[: len(TEXTS)]) if isinstance(precomputed, list | tuple) and precomputed else TEXTS
    if getattr(encoder, "needs_fit", False):
        with third_party_code:
            encoder = encoder.fit(texts)  # type: ignore[attr-defined]
    layers = encoder_info(encoder).layers

    def vectors(texts: Sequence[str]) -> np.ndarray:
        return np.array(call_encoder(encoder, texts, layers), np.float64)

    try:
        together = vectors(texts)
    except SentProbeError as e:
        yield Verdict("it gives one vector of finite numbers per text", False, str(e))
        return
    what = f"{together.shape[2]} numbers" + (f", {len(layers)} layers" if layers else "")
    yield Verdict("it gives one vector of finite numbers per text", True, what)
    rules: tuple[tuple[str, Callable[[], str]], ...] = (
        (
            "the same texts give the same vectors again",
            lambda: describe_difference(together, vectors(texts), texts, REPEAT_TOLERANCE),
        ),
        (
            "a vector does not depend on the other texts of the batch",
            lambda: describe_difference(together, np.concatenate([vectors([t]) for t in texts], axis=1), texts),
        ),
        (
            "a vector does not depend on the order of the batch",
            lambda: describe_difference(together, vectors(texts[::-1])[:, ::-1], texts),
        ),
        (
            "a text that occurs twice gets the same vector twice",
            lambda: _twice(vectors([texts[0], texts[-1], texts[0]])),
        ),
        *(
            ()
            if precomputed
            else (
                ("an empty text gets a vector", lambda: _survives(vectors(["", texts[0]]))),
                (
                    f"a text of {len(LONG_TEXT.split()):,} words gets a vector",
                    lambda: _survives(vectors([LONG_TEXT, texts[0]])),
                ),
            )
        ),
        ("it gives vectors for single words", lambda: _words(encoder)),
    )
    for rule, check in rules:
        try:
            wrong = check()
        except SentProbeError as e:
            wrong = str(e)
        yield Verdict(rule, not wrong, wrong)
    yield from _alive(encoder, precomputed if isinstance(precomputed, list | tuple) else (), layers, vectors)
    caveat = encoder_info(encoder).caveat
    if caveat is not None:
        yield Verdict("its identity covers everything that can change a vector", True, caveat, warning=True)


def _alive(
    encoder: Any, precomputed: Sequence[str], layers: Sequence[str], vectors: Callable[[Sequence[str]], np.ndarray]
) -> Iterator[Verdict]:
    """Whether it distinguishes texts, and knows their words."""
    identity = encoder_info(encoder).identity
    if identity is not None and identity.scheme == EXEMPT_SCHEME:
        return
    texts = tuple(precomputed[:SAMPLED_TEXTS]) or tuple(
        text for language_texts in TEXTS_BY_LANGUAGE.values() for text in language_texts
    )
    try:
        embedded = vectors(texts)
    except SentProbeError as e:
        yield Verdict("different texts have different vectors", False, str(e))
        return
    symptoms = {symptom.code: symptom.message for symptom in diagnose_vectors(texts, embedded, layers)}
    overflow = symptoms.get("large-values", "")  # of which no distances can be computed
    wrong = overflow or symptoms.get("equal-vectors") or symptoms.get("zero-vectors") or ""
    if not precomputed and not overflow:  # one language is enough
        groups = [embedded[:, at : at + 3] for at in range(0, len(texts), 3)]
        wrong = (
            ""
            if any(map(_told_apart, groups))
            else f"in none of {', '.join(TEXTS_BY_LANGUAGE)} does it distinguish three texts"
        )
    yield Verdict("different texts have different vectors", not wrong, wrong)
    constant = symptoms.get("constant-columns", "")
    yield Verdict("no dimension of the vectors is constant", True, constant, warning=bool(constant))
    if isinstance(encoder, Pooled):
        unknown = _unknown(encoder)
        yield Verdict("it has vectors for the words of texts", True, unknown, warning=bool(unknown))


def _told_apart(group: np.ndarray) -> bool:
    """Whether some layer has different vectors for all texts of a group (layers, n, d)."""
    length = np.linalg.norm(group, axis=2).max(axis=1)
    pairs = [np.linalg.norm(group[:, i] - group[:, j], axis=1) for i in range(group.shape[1]) for j in range(i)]
    return bool((np.min(pairs, axis=0) > EQUAL_TOLERANCE * np.maximum(length, 1e-30)).any())


def _unknown(encoder: Pooled) -> str:
    """Which words the vectors lack in the language that they cover best, also with punctuation attached."""
    best = min(TEXTS_BY_LANGUAGE.values(), key=lambda texts: encoder.missing(texts).share)
    if plain := unknown_tokens(encoder, best):
        return plain[0].message
    return next((symptom.message for symptom in unknown_tokens(encoder, [f"{text}." for text in best])), "")


def _twice(vectors: np.ndarray) -> str:
    return describe_difference(vectors[:, :1], vectors[:, 2:], ["the same text"])


def _survives(vectors: np.ndarray) -> str:
    return "" if vectors.shape[1] == 2 else f"got {vectors.shape[1]} vectors for two texts"


def _words(encoder: Any) -> str:
    words = getattr(encoder, "words", None)
    if words is None:
        return ""  # they are encoded as texts then
    try:
        with third_party_code:
            vectors = np.asarray(words(["river", "window"]), np.float64)
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        return f"got {describe_error(e)}"
    if vectors.ndim != 2 or len(vectors) != 2 or not np.isfinite(vectors).all():
        return f"got an array of shape {vectors.shape} for two words"
    return ""
