"""The order of records, and what is known of a run whose description is lost."""

import random
from dataclasses import replace

from sentprobe.results.records import in_order
from sentprobe.results.result import Cell, Failure

INFO = {
    "encoders": ["second", "first"],
    "datasets": [{"name": "own/b", "digest": "1"}, {"name": "own/a", "digest": "2"}, {"name": "own/a", "digest": "1"}],
    "probes": ["mlp", "linear"],
    "seeds": [7, 3],
}
CELL = Cell(task="a", version=1, dataset="own/b", data="1", encoder="second", probe="mlp", seed=7, sentprobe="1")
ORDERED = [
    CELL,
    replace(CELL, sentprobe="2"),
    replace(CELL, device="cuda"),
    replace(CELL, seed=3),
    replace(CELL, seed=1),  # not requested: after those that were, by value
    replace(CELL, seed=2),
    replace(CELL, limit=20),
    replace(CELL, probe="linear"),
    replace(CELL, probe=None),
    replace(CELL, probe="absent"),
    replace(CELL, layer="2"),  # by number
    replace(CELL, layer="10"),
    replace(CELL, variant="key"),
    replace(CELL, dataset="own/a", data="2"),
    replace(CELL, dataset="own/a", data="1"),
    replace(CELL, dataset="own/0", data="1"),
    replace(CELL, encoder="first"),
    replace(CELL, encoder="absent"),
]


def test_records_are_in_the_order_of_requests():
    records = [Failure(key=cell.key, cell=cell, error="", kind="") for cell in ORDERED]
    # a sample has fewer rows than the set, which has no limit
    expected = [*records[6:7], *records[:6], *records[7:]]
    for seed in range(5):
        shuffled = random.Random(seed).sample(records, len(records))
        assert [r.cell for r in in_order(shuffled, INFO)] == [r.cell for r in expected]
