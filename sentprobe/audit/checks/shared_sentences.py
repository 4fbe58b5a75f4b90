"""Sentences that several sets of a collection have."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

import numpy as np

from sentprobe.audit.check import AuditCheck, Code, Finding, SentenceKeys, Severity
from sentprobe.tasks import SPLITS

SHARED_SENTENCES = Code(
    "shared-sentences",
    "several sets of the collection have the same sentences",
    "Sentences, up to case, digits, punctuation and spacing, that two or more sets of the collection have; the "
    "evidence names the pairs that share most. A note, or a warning where a test sentence of one set is a training "
    "sentence of another (sets without splits aside): that matters as soon as one probe or encoder is trained on "
    "several sets.",
    "Do not train on one set and test on another of this collection; `sentprobe make --exclusive` keeps them apart.",
)
MAX_PAIRS_SHOWN = 5


def find(sets: Sequence[SentenceKeys]) -> Iterator[Finding]:
    """Sentences that several sets of a collection have."""
    # one sort over all keys; what follows looks only at those that several sets have
    parts = [(i, split, keys) for i, s in enumerate(sets) for split, keys in s.keys.items()]
    all_keys = np.concatenate([keys for _, _, keys in parts])
    owner = np.repeat([i for i, _, _ in parts], [len(keys) for _, _, keys in parts])
    split_index = np.repeat([SPLITS.index(split) for _, split, _ in parts], [len(keys) for _, _, keys in parts])
    order = np.lexsort((owner, all_keys))
    all_keys, owner, split_index = all_keys[order], owner[order], split_index[order]
    edges = np.flatnonzero(np.r_[True, all_keys[1:] != all_keys[:-1], True])
    several = np.flatnonzero(owner[edges[1:] - 1] != owner[edges[:-1]])
    count, distinct = len(several), len(edges) - 1
    if not count:
        return
    divided = [len(s.keys) > 1 for s in sets]
    common: Counter[tuple[int, ...]] = Counter()
    leaks = 0
    for a, b in zip(edges[several].tolist(), edges[several + 1].tolist(), strict=True):
        owners = owner[a:b].tolist()
        common.update(combinations(sorted(set(owners)), 2))
        members = [(o, s) for o, s in zip(owners, split_index[a:b].tolist(), strict=True) if divided[o]]
        trained = {o for o, s in members if s == SPLITS.index("tr")}
        leaks += sum(len(trained - {o}) for o, s in members if s == SPLITS.index("te"))
    message = f"{count:,} of {distinct:,} sentences {'is' if count == 1 else 'are'} in several sets"
    if leaks:
        message += f"; {leaks:,} times a test sentence of one set is a training sentence of another"
    evidence: dict[str, float | int | str] = {"sentences": distinct, "te in another tr": leaks}
    evidence |= {f"{sets[a].name} and {sets[b].name}": n for (a, b), n in common.most_common(MAX_PAIRS_SHOWN)}
    severity: Severity = "warning" if leaks else "note"
    yield SHARED_SENTENCES.finding(severity, message, count=count, evidence=evidence)


audit_check = AuditCheck(
    name="shared_sentences", topic="copies", codes=(SHARED_SENTENCES,), in_collection=find, order=12
)
