from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sonde.errors import TooFewError
from sonde.make.candidates import Candidate
from sonde.make.gaussian import gaussian
from sonde.make.split import deal_keys, quotas
from sonde.make.split import select as select_from
from sonde.task import SPLITS, Example, Policy, Task


def task(labels=("A", "B"), **more):
    return Task(name="t", version=1, question="?", paper="", propose=lambda s, c: None, labels=labels, **more)


def pool(counts, keys=None):
    """(label, stratum) → that many candidates, numbered so that no two are alike; keys are dealt in turn."""
    cells, n = {}, 0
    for cell, size in counts.items():
        cells[cell] = []
        for i in range(size):
            n += 1
            key = keys[cell[0]][i % len(keys[cell[0]])] if keys else None
            cells[cell].append(Candidate(n, n, 1, Example(cell[0], (str(n),), str(n), f"s{n}", key)))
    return cells


def select(cells, task, policy):
    """Every class as frequent as the pool has it."""
    proposed = Counter()
    for (label, _), items in cells.items():
        proposed[label] += len(items)
    return select_from(cells, task, policy, proposed)


def table(selection):
    """(split, label, stratum of the test's pool) → rows."""
    return {split: Counter(c.example.label for c in items) for split, items in selection.splits.items()}


def test_sizes_are_met_exactly_when_there_is_enough():
    found = select(pool({("A", "1"): 900, ("B", "1"): 700}), task(), Policy(sizes=(400, 50, 50)))
    assert table(found) == {"tr": {"A": 200, "B": 200}, "va": {"A": 25, "B": 25}, "te": {"A": 25, "B": 25}}


def test_classes_are_balanced_in_every_stratum_of_every_split():
    cells = pool({("A", "1"): 60, ("B", "1"): 500, ("A", "2"): 500, ("B", "2"): 90})
    home = {c.near_key: stratum for (_, stratum), items in cells.items() for c in items}
    found = select(cells, task(), Policy(sizes=(1000, 100, 100), floor=0))
    for items in found.splits.values():
        counts = Counter((home[c.near_key], c.example.label) for c in items)
        assert counts["1", "A"] == counts["1", "B"]
        assert counts["2", "A"] == counts["2", "B"]
    assert sum(map(len, found.splits.values())) == 2 * (60 + 90)


@given(
    st.dictionaries(st.sampled_from(["1", "2", "3"]), st.tuples(st.integers(0, 80), st.integers(0, 80)), min_size=1),
    st.tuples(st.integers(20, 120), st.integers(2, 30), st.integers(2, 30)),
)
def test_no_candidate_twice_and_no_split_unbalanced(strata, sizes):
    cells = pool({(label, s): n for s, ab in strata.items() for label, n in zip("AB", ab, strict=True)})
    try:
        found = select(cells, task(), Policy(sizes=sizes, remainder="drop", min_class=5))
    except TooFewError:
        # a class too small, or classes that hardly meet in any stratum
        scarce = min(sum(ab[i] for ab in strata.values()) for i in (0, 1))
        assert scarce < 5 or sum(min(ab) for ab in strata.values()) < 10 * sum(sizes) / min(sizes)
        return
    chosen = [c.near_key for items in found.splits.values() for c in items]
    assert len(chosen) == len(set(chosen))
    for split, counts in table(found).items():
        assert counts["A"] == counts["B"]
        assert sum(counts.values()) <= sizes[SPLITS.index(split)]


def test_a_remainder_goes_to_the_largest_pools_or_nowhere():
    cells = pool({("A", ""): 90, ("B", ""): 100, ("C", ""): 80})
    labels = task(labels=("A", "B", "C"))
    spread = select(cells, labels, Policy(sizes=(101, 20, 20)))
    assert table(spread)["tr"] == {"A": 34, "B": 34, "C": 33}
    assert sum(map(len, spread.splits.values())) == 141
    dropped = select(cells, labels, Policy(sizes=(101, 20, 20), remainder="drop"))
    assert table(dropped)["tr"] == {"A": 33, "B": 33, "C": 33}


def test_a_small_corpus_keeps_validation_and_test_useful():
    policy = Policy(sizes=(100_000, 10_000, 10_000))
    assert quotas(policy, 2, 60_000) == (50_000, 5_000, 5_000)
    assert quotas(policy, 2, 12_000) == (10_000, 1_000, 1_000)
    assert quotas(policy, 2, 1_500) == (1_000, 250, 250)
    assert quotas(policy, 2, 500) == (300, 100, 100)
    assert quotas(replace(policy, floor=0), 2, 600) == (500, 50, 50)
    assert quotas(replace(policy, sizes=(100, 10, 10)), 2, 30) == (20, 5, 5)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30)), min_size=8, max_size=60))
def test_forms_live_in_one_split(counts):
    keys = {"A": [], "B": []}
    cells = {("A", ""): [], ("B", ""): []}
    n = 0
    for k, (a, b) in enumerate(counts):
        for label, times in (("A", a), ("B", b)):
            keys[label].append(f"k{k}")
            for _ in range(times):
                n += 1
                cells[label, ""].append(Candidate(n, n, 1, Example(label, (str(n),), str(n), f"s{n}", f"k{k}")))
    try:
        found = select(cells, task(), Policy(sizes=(200, 40, 40), disjoint=True))
    except TooFewError:
        return
    homes = {}
    for split, items in found.splits.items():
        for c in items:
            assert homes.setdefault(c.example.key, split) == split
    for counts_here in table(found).values():
        assert counts_here["A"] == counts_here["B"]


def test_dealing_forms_largest_first_fills_every_split():
    # one form is a third of everything; first-fit would starve the test set
    counts = {"big": {"A": 100}, **{f"a{i}": {"A": 2} for i in range(100)}, **{f"b{i}": {"B": 3} for i in range(100)}}
    home = deal_keys(counts, {"A": 300, "B": 300}, (1000, 100, 100))
    rows = Counter()
    for key, n in counts.items():
        for label, k in n.items():
            rows[home[key], label] += k
    assert home["big"] == "tr"
    for split, target in (("tr", 250), ("va", 25), ("te", 25)):
        for label in "AB":
            assert abs(rows[split, label] - target) <= 3


def test_one_form_is_capped():
    keys = {"A": ["x"], "B": [f"y{i}" for i in range(300)]}
    cells = pool({("A", ""): 300, ("B", ""): 300}, keys)
    cells["A", ""] += pool({("A", ""): 300}, {"A": [f"z{i}" for i in range(300)]})["A", ""]
    found = select(cells, task(), Policy(sizes=(300, 30, 30), disjoint=True, cap=0.1))
    assert found.cap == 18
    assert Counter(c.example.key for items in found.splits.values() for c in items)["x"] <= 18


def test_depth_classes_are_the_widest_run_with_equal_lengths():
    counts = {(f"{d:02d}", f"/{n:02d}"): 10 for d in range(3, 9) for n in range(5, 15)}
    counts["09", "/30"] = 500  # deep sentences of a length no other depth has
    depth = task(labels="depth")
    found = select(pool(counts), depth, Policy(sizes=(300, 30, 30), strata="exact", min_classes=5))
    assert found.labels == ("03", "04", "05", "06", "07", "08")
    assert table(found)["tr"] == dict.fromkeys(found.labels, 50)


def test_exact_decorrelation_gives_every_depth_the_same_lengths():
    counts = {(f"{d:02d}", f"/{n:02d}"): max(0, 40 - 3 * abs(n - 3 * d)) for d in range(3, 8) for n in range(5, 28)}
    cells = pool(counts)
    length = {c.near_key: cell[1] for cell, items in cells.items() for c in items}
    found = select(cells, task(labels="depth"), Policy(sizes=(900, 90, 90), strata="exact", min_classes=5, min_class=5))
    for items in found.splits.values():
        histograms = {d: Counter(length[c.near_key] for c in items if c.example.label == d) for d in found.labels}
        assert len({tuple(sorted(h.items())) for h in histograms.values()}) == 1


def test_gaussian_decorrelation_leaves_little_correlation():
    cells = {(f"{d:02d}", f"/{n:02d}"): max(0, 400 - 25 * abs(n - 3 * d)) for d in range(3, 9) for n in range(5, 28)}
    drawn = gaussian(cells, 100_000)
    assert all(0 <= n <= cells[cell] for cell, n in drawn.items())
    pairs = [(int(d), int(s[1:]), n) for (d, s), n in drawn.items()]
    total = sum(n for *_, n in pairs)
    assert total > 2000
    mean_d = sum(d * n for d, _, n in pairs) / total
    mean_l = sum(k * n for _, k, n in pairs) / total
    cov = sum((d - mean_d) * (k - mean_l) * n for d, k, n in pairs)
    var_d = sum((d - mean_d) ** 2 * n for d, _, n in pairs)
    var_l = sum((k - mean_l) ** 2 * n for _, k, n in pairs)
    assert abs(cov / (var_d * var_l) ** 0.5) < 0.05


def test_natural_balance_keeps_the_distribution():
    found = select(pool({("A", ""): 900, ("B", ""): 100}), task(), Policy(sizes=(500, 50, 50), balance="natural"))
    assert sum(map(len, found.splits.values())) == 600
    found = select(
        pool({("A", ""): 900, ("B", ""): 100}), task(), Policy(sizes=(5000, 500, 500), balance="natural", floor=0)
    )
    assert sum(table(found)[s]["B"] for s in SPLITS) == 100


def test_too_few_says_what_there_is_and_what_is_needed():
    with pytest.raises(TooFewError, match=r"A 30, B 3; expected at least 24 of each of A, B"):
        select(pool({("A", ""): 30, ("B", ""): 3}), task(), Policy())
    with pytest.raises(TooFewError, match="expected at least 24 of each of 5 classes"):
        select(pool({("x", ""): 30, ("y", ""): 30}), task(labels="words"), Policy(min_classes=5))


def test_open_classes_are_the_largest():
    found = select(
        pool({("a", ""): 50, ("b", ""): 40, ("c", ""): 30, ("d", ""): 5}),
        task(labels="words"),
        Policy(classes=2, sizes=(60, 10, 10)),
    )
    assert found.labels == ("a", "b")
    assert table(found)["tr"] == {"a": 30, "b": 30}


def test_the_most_frequent_classes_are_taken_though_the_pool_is_cut():
    cells = pool({("a", ""): 30, ("b", ""): 30, ("c", ""): 30})
    found = select_from(cells, task(labels="words"), Policy(classes=2, sizes=(40, 8, 8)), {"a": 30, "b": 900, "c": 700})
    assert found.labels == ("b", "c")


def test_sizes_that_leave_a_class_without_a_row_are_refused():
    with pytest.raises(TooFewError, match="1/1/1 rows were requested and each of 2 classes has 50"):
        select(pool({("A", ""): 50, ("B", ""): 50}), task(), Policy(sizes=(1, 1, 1)))
