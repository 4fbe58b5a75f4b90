"""Sentences of similar length together, so that little padding is computed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

BATCH_WORDS = 2048
"""Words, with padding, that are encoded together: more of them leave the cache of a processor."""
MIN_BATCH, MAX_PADDED = 32, 4 / 3
"""After this many sentences, a batch ends at one that is longer than the first by this factor."""


def batches_by_length(lengths: Sequence[int]) -> Iterator[list[int]]:
    """The places of sentences of similar length, shortest first; the last of a batch is its longest."""
    order = sorted(range(len(lengths)), key=lengths.__getitem__)
    at = 0
    while at < len(order):
        end = at + 1
        longest = MAX_PADDED * lengths[order[at]]
        while end < len(order) and (end + 1 - at) * (length := lengths[order[end]]) <= BATCH_WORDS:
            if length > longest and end - at >= MIN_BATCH:
                break
            end += 1
        yield order[at:end]
        at = end
