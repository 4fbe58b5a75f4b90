"""The best constant answer: the label, of those in the training rows, that most test rows have."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sentprobe.baselines.parts import Parts


def predict_majority(parts: Parts) -> tuple[np.ndarray, dict[str, object]]:
    """The label that most test rows have, for every test row, with its share of the training rows.

    The majority of the training rows may be rare in test, and then anything would be better than it: here, what is
    better is better than every constant answer. Of several labels, the most frequent in train, then the first by name.
    """
    seen, tested = (Counter(row.label for row in rows) for rows in (parts.train, parts.test))
    most = min(parts.labels, key=lambda label: (-tested[label], -seen[label], label))
    return np.full(len(parts.test), parts.labels.index(most)), {"label": most, "share": seen[most] / seen.total()}
