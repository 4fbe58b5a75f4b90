"""The most frequent label of the training rows; the first by name if several are."""

from __future__ import annotations

from collections import Counter

import numpy as np

from sentprobe.baselines.parts import Parts


def predict_majority(parts: Parts) -> tuple[np.ndarray, dict[str, object]]:
    """The majority label for every test row, with its share of the training rows."""
    seen = Counter(row.label for row in parts.train)
    most = min(parts.labels, key=lambda label: (-seen[label], label))
    return np.full(len(parts.test), parts.labels.index(most)), {"label": most, "share": seen[most] / seen.total()}
