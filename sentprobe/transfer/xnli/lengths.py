"""Mean token counts of premises and hypotheses, language by language."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from sentprobe.transfer.xnli.pairs import Pair


@dataclass(frozen=True)
class Lengths:
    """Mean tokens of one language."""

    language: str
    pairs: int
    premise: float
    hypothesis: float


def mean_lengths(pairs: Iterable[Pair], tokens: Callable[[str, str], Sequence[str]]) -> list[Lengths]:
    """The means by language; ``tokens`` is called with a text and its language."""
    groups: dict[str, list[Pair]] = {}
    for pair in pairs:
        groups.setdefault(pair.language, []).append(pair)
    return [
        Lengths(
            language,
            len(own),
            sum(len(tokens(pair.premise, language)) for pair in own) / len(own),
            sum(len(tokens(pair.hypothesis, language)) for pair in own) / len(own),
        )
        for language, own in groups.items()
    ]
