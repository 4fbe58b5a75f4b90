"""Gold labels by vote: that of at least three of five, or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from sentprobe.transfer.xnli.pairs import NO_GOLD, Pair

CONSENSUS = 3


def gold_label(votes: Sequence[str], consensus: int = CONSENSUS) -> str:
    """The label that at least this many have chosen, or ``-``.

    Examples
    --------
    >>> gold_label(["neutral", "neutral", "entailment", "neutral", "contradiction"])
    'neutral'
    >>> gold_label(["neutral", "neutral", "entailment", "entailment", "contradiction"])
    '-'
    """
    if not votes:
        return NO_GOLD
    (label, count), *_ = Counter(votes).most_common()
    return label if count >= consensus else NO_GOLD


@dataclass(frozen=True)
class VoteReport:
    """How the votes of a file agree, and whether its gold labels are theirs."""

    pairs: int
    voted: int
    """Pairs with votes."""
    consensus: int
    """Pairs with a gold label by vote."""
    unanimous: int
    author_kept: int
    """Pairs whose gold label is the first vote, the author's."""
    different: tuple[int, ...]
    """Numbers, from 1, of pairs whose gold label in the file is another one."""


def count_votes(pairs: Iterable[Pair]) -> VoteReport:
    """Vote on every pair."""
    every = list(pairs)
    voted = [(i, pair, gold_label(pair.votes)) for i, pair in enumerate(every, 1) if pair.votes]
    return VoteReport(
        pairs=len(every),
        voted=len(voted),
        consensus=sum(gold != NO_GOLD for _, _, gold in voted),
        unanimous=sum(len(set(pair.votes)) == 1 for _, pair, _ in voted),
        author_kept=sum(gold == pair.votes[0] for _, pair, gold in voted),
        different=tuple(i for i, pair, gold in voted if gold != pair.label),
    )
