"""Labels that look alike and are not the same: Yes and yes, 1 and 1.0, é in two encodings, invisible characters."""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from sentprobe.data.dataset import Dataset
from sentprobe.errors import DataError

MERGED = "merged_labels"
"""The field of a manifest that has the labels that were merged, and what they were merged into."""
MAX_SHOWN = 3
"""Groups of labels that a message shows."""
_TRUTH = {"true": "1", "false": "0"}


def plain_label(label: str) -> str:
    """The same text for labels that look alike.

    Not compared are case, Unicode normalisation, characters that cannot be seen, how much and what kind of space there
    is, and how a number or a truth value is written.
    """
    text = unicodedata.normalize("NFKC", label)
    text = "".join(c for c in text if unicodedata.category(c) not in ("Cf", "Cc") or c.isspace())
    text = unicodedata.normalize("NFKC", " ".join(text.split()).lower())  # lower case may be decomposed
    text = _TRUTH.get(text, text)
    try:
        sign, digits, exponent = Decimal(text).as_tuple()
    except InvalidOperation:
        return text
    if "_" in text or not isinstance(exponent, int):  # 1_0 is a name; an infinity has no exponent
        return text
    # digits and exponent: 1e999999999 in full would fill the memory
    plain = "".join(map(str, digits)).lstrip("0")
    zeros = len(plain) - len(plain.rstrip("0"))
    return f"{'-' * sign}{plain.rstrip('0')}e{exponent + zeros}" if plain else "0"


def lookalike_labels(counts: Mapping[str, int], declared: Collection[str] = ()) -> list[tuple[str, ...]]:
    """Groups of labels that look alike, the most frequent of each first; those that the task declares are distinct."""
    groups: dict[str, list[str]] = {}
    for label in sorted(counts, key=lambda label: (-counts[label], label)):
        groups.setdefault(plain_label(label), []).append(label)
    alike = [group for group in groups.values() if len(group) > 1]
    return [tuple(group) for group in alike if not all(label in declared for label in group)]


def describe_groups(groups: Sequence[Sequence[str]], counts: Mapping[str, int]) -> str:
    """``'Yes' (30 rows) and 'yes' (10 rows)``; what ASCII does not have is escaped, so that differences are seen."""
    texts = [" and ".join(f"{label!a} ({counts[label]:,} rows)" for label in group) for group in groups]
    unlisted = f"; and {len(texts) - MAX_SHOWN} more" if len(texts) > MAX_SHOWN else ""
    return "; ".join(texts[:MAX_SHOWN]) + unlisted


def refuse_lookalikes(dataset: Dataset, declared: Collection[str] = ()) -> None:
    """Raise DataError if labels look alike: a typing error must not make a class of its own."""
    counts = Counter(row.label for _, row in dataset)
    if groups := lookalike_labels(counts, declared):
        raise DataError(
            f"{dataset.name}: labels that look alike are separate classes: {describe_groups(groups, counts)}. Correct "
            "them, or merge them with --merge-labels."
        )


def merge_labels(dataset: Dataset, declared: Collection[str] = ()) -> Dataset:
    """The set with one label for all that look alike, the most frequent of them; its manifest says which they were."""
    groups = lookalike_labels(Counter(row.label for _, row in dataset), declared)
    merged = {label: group[0] for group in groups for label in group[1:]}
    if not merged:
        return dataset
    rows = {
        split: [row._replace(label=merged[row.label]) if row.label in merged else row for row in examples]
        for split, examples in dataset.rows.items()
    }
    labels = tuple(dict.fromkeys(merged.get(label, label) for label in dataset.labels))
    return replace(dataset, rows=rows, labels=labels, manifest={**dataset.manifest, MERGED: merged})
