"""Which words give the maxima of encoders that pool by maximum, beside the same encoders before training."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sentprobe.encoders.embed import Embeddings
from sentprobe.errors import SentProbeError
from sentprobe.run.controls.untrained import untrained
from sentprobe.serve.choices import Choice
from sentprobe.serve.encoders import Encoders

Words = list[dict[str, Any]]
"""``word``, ``share`` of the dimensions, and ``untrained``, the share without training; None if there is none."""


def find_selections(
    encoders: Encoders,
    selected: Sequence[Choice],
    vectors: Mapping[str, Embeddings | None],
    sentences: Sequence[str],
    problems: list[dict[str, str]],
) -> list[tuple[dict[str, Any], list[Words]]]:
    """What is known of each encoder that can say it, and its words, sentence by sentence."""
    found: dict[str, tuple[dict[str, Any], list[Words]]] = {}
    for choice in selected:
        name = choice.column.encoder
        if name in found or vectors[choice.name] is None:  # several probes on one encoder; or it has failed already
            continue
        try:
            own = encoders.selection(name, sentences)
            if own is None:
                continue
            copy = untrained(name)
            before = None if copy is None else encoders.selection(copy, sentences)
        except SentProbeError as e:
            problems.append({"encoder": choice.name, "error": str(e)})
            continue
        about = {"encoder": choice.short, "untrained": copy if before is not None else None}
        found[name] = about, [_side_by_side(own[i], before[i] if before else None) for i in range(len(sentences))]
    return list(found.values())


def _side_by_side(own: Sequence[tuple[str, float]], before: Sequence[tuple[str, float]] | None) -> Words:
    shares: Sequence[float | None] = [None] * len(own)
    if before is not None and [word for word, _ in before] == [word for word, _ in own]:
        shares = [round(share, 6) for _, share in before]
    return [
        {"word": word, "share": round(share, 6), "untrained": other}
        for (word, share), other in zip(own, shares, strict=True)
    ]
