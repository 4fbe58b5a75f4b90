"""Whether an encoder keeps the rules: shape, numbers, and a vector that depends on its text alone."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from sonde.embed import ask, facts
from sonde.errors import SondeError, words_of
from sonde.testing.verdict import Verdict

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
LONG = " ".join(("and then the old clock in the hall struck again",) * 600)
EXACT, SAME = 1e-6, 1e-3
"""Vectors are the same if they differ by less than this share of their length; padding changes the order of sums."""


def check_encoder(encoder: Callable[[Sequence[str]], Any]) -> None:
    """Raise SondeError at the first rule that the encoder breaks."""
    for verdict in examine_encoder(encoder):
        if not verdict.passed:
            raise SondeError(f"The encoder breaks a rule: {verdict.rule}. {verdict.detail}")


def examine_encoder(encoder: Callable[[Sequence[str]], Any]) -> Iterator[Verdict]:
    """Try an encoder on a few texts, rule by rule; what cannot be tried after a failure is left out."""
    own = getattr(encoder, "texts", None)  # vectors made elsewhere are of these texts and no others
    texts = tuple(own[: len(TEXTS)]) if isinstance(own, list | tuple) and own else TEXTS
    if getattr(encoder, "needs_fit", False):
        encoder = encoder.fit(texts)  # type: ignore[attr-defined]
    layers = facts(encoder).layers

    def vectors(texts: Sequence[str]) -> np.ndarray:
        return np.array(ask(encoder, texts, layers), np.float64)

    try:
        whole = vectors(texts)
    except SondeError as e:
        yield Verdict("it gives one vector of finite numbers per text", False, str(e))
        return
    what = f"{whole.shape[2]} numbers" + (f", {len(layers)} layers" if layers else "")
    yield Verdict("it gives one vector of finite numbers per text", True, what)
    rules: tuple[tuple[str, Callable[[], str]], ...] = (
        ("the same texts give the same vectors again", lambda: _apart(whole, vectors(texts), texts, EXACT)),
        (
            "a vector does not depend on the other texts of the batch",
            lambda: _apart(whole, np.concatenate([vectors([t]) for t in texts], axis=1), texts),
        ),
        (
            "a vector does not depend on the order of the batch",
            lambda: _apart(whole, vectors(texts[::-1])[:, ::-1], texts),
        ),
        ("a text that stands twice gets one vector twice", lambda: _twice(vectors([texts[0], texts[-1], texts[0]]))),
        *(
            ()
            if own
            else (
                ("an empty text survives", lambda: _survives(vectors(["", texts[0]]))),
                (f"a text of {len(LONG.split()):,} words survives", lambda: _survives(vectors([LONG, texts[0]]))),
            )
        ),
        ("words can be asked for", lambda: _words(encoder)),
    )
    for rule, check in rules:
        try:
            wrong = check()
        except SondeError as e:
            wrong = str(e)
        yield Verdict(rule, not wrong, wrong)


def _apart(one: np.ndarray, two: np.ndarray, texts: Sequence[str], same: float = SAME) -> str:
    if one.shape != two.shape:
        return f"met an array of shape {two.shape}, expected {one.shape}"
    length = np.maximum(np.linalg.norm(one, axis=2), 1e-6)
    distance = (np.linalg.norm(one - two, axis=2) / length).max(axis=0)
    if distance.max() < same:
        return ""
    return f"the vectors of {texts[int(distance.argmax())]!r} differ by {distance.max():.2g} of their length"


def _twice(found: np.ndarray) -> str:
    return _apart(found[:, :1], found[:, 2:], ["the same text"])


def _survives(found: np.ndarray) -> str:
    return "" if found.shape[1] == 2 else f"met {found.shape[1]} vectors for two texts"


def _words(encoder: Any) -> str:
    words = getattr(encoder, "words", None)
    if words is None:
        return ""  # they are encoded as texts then
    try:
        found = np.asarray(words(["river", "window"]), np.float64)
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        return f"got {words_of(e)}"
    if found.ndim != 2 or len(found) != 2 or not np.isfinite(found).all():
        return f"met an array of shape {found.shape} for two words"
    return ""
