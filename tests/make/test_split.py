import math
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.errors import TooFewError
from sentprobe.make.candidates import Candidate
from sentprobe.make.selection import deal_keys, gaussian_sizes, quotas
from sentprobe.make.selection import select as select_from
from sentprobe.tasks import SPLITS, Example, Policy, Task


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
            cells[cell].append(Candidate.of(n, n, Example(cell[0], (str(n),), str(n), f"s{n}", key)))
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


@pytest.mark.parametrize(
    "policy",
    [
        Policy(sizes=(200, 40, 40)),
        Policy(sizes=(200, 40, 40), disjoint=True, cap=0.1),
        Policy(sizes=(200, 40, 40), balance="natural"),
        Policy(sizes=(200, 40, 40), strata="exact", decorrelate="gaussian"),
    ],
    ids=["classes", "forms", "natural", "gaussian"],
)
def test_the_order_of_cells_does_not_matter(policy):
    keys = {label: [f"{label}{i}" for i in range(30)] for label in ("03", "04")}
    cells = pool({("04", "/07"): 90, ("03", "/08"): 70, ("03", "/07"): 80, ("04", "/08"): 100, ("04", "/09"): 30}, keys)
    found, turned = (select(each, task(labels=("03", "04")), policy) for each in (cells, dict(reversed(cells.items()))))
    assert {s: [c[1] for c in items] for s, items in found.splits.items()} == {
        s: [c[1] for c in items] for s, items in turned.splits.items()
    }


@pytest.mark.parametrize("disjoint", [False, True])
def test_every_split_has_its_own_remainder(disjoint):
    keys = {label: [f"{label}{i}" for i in range(60)] for label in "AB"}
    cells = pool({("A", ""): 190, ("B", ""): 180}, keys)
    found = select(cells, task(), Policy(sizes=(100, 21, 21), disjoint=disjoint))
    assert {split: len(items) for split, items in found.splits.items()} == {"tr": 100, "va": 21, "te": 21}
    assert len({c[1] for items in found.splits.values() for c in items}) == 142
    # the class with more rows to spare has the odd one
    assert table(found)["va"] == table(found)["te"] == {"A": 11, "B": 10}
    if disjoint:
        home = {(c.example.key, split) for split, items in found.splits.items() for c in items}
        assert len(home) == len({key for key, _ in home})


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
                cells[label, ""].append(Candidate.of(n, n, Example(label, (str(n),), str(n), f"s{n}", f"k{k}")))
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


def test_large_forms_go_where_the_larger_share_is_missing():
    """Of three forms of ten rows each split gets one, though train lacks more rows than the others have room for."""
    counts = {**{f"large{i}": {"A": 10} for i in range(3)}, **{f"small{i:02d}": {"A": 1} for i in range(70)}}
    home = deal_keys(counts, {"A": 100}, (80, 10, 10))
    assert [home[f"large{i}"] for i in range(3)] == ["tr", "va", "te"]
    assert {home[f"small{i:02d}"] for i in range(70)} == {"tr"}


def test_depths_of_just_enough_rows_are_classes():
    counts = {(f"{d:02d}", "/07"): 24 for d in range(3, 8)}
    policy = Policy(sizes=(300, 30, 30), strata="exact", min_classes=5, min_class=24)
    assert select(pool(counts), task(labels="depth"), policy).labels == ("03", "04", "05", "06", "07")


def test_one_form_is_capped():
    keys = {"A": ["x"], "B": [f"y{i}" for i in range(300)]}
    cells = pool({("A", ""): 300, ("B", ""): 300}, keys)
    cells["A", ""] += pool({("A", ""): 300}, {"A": [f"z{i}" for i in range(300)]})["A", ""]
    found = select(cells, task(), Policy(sizes=(300, 30, 30), disjoint=True, cap=0.1))
    assert found.cap == 18
    # the rows of this form have the lowest priorities: as many as the cap allows are chosen, and in one split
    assert Counter((split, c.example.key) for split, items in found.splits.items() for c in items)["tr", "x"] == 18
    assert Counter(c.example.key for items in found.splits.values() for c in items)["x"] == 18


@pytest.mark.parametrize(
    ("rows", "share", "cap"),
    [
        (300, 0.1, 18),  # of the 180 rows that a class is to have
        (300, 0.101, 19),  # rounded up
        (101, 0.1, 11),  # of the 101 rows that a class can have
        (300, 0.001, 5),  # never fewer than SMALLEST_CAP
    ],
)
def test_the_cap_is_a_share_of_the_rows_of_a_class(rows, share, cap):
    """Each class has one form that is met in all lower priorities, and enough others."""
    cells = pool({("A", ""): rows, ("B", ""): rows}, {"A": ["x"], "B": ["y"]})
    others = pool(
        {("A", ""): 300, ("B", ""): 300}, {"A": [f"a{i}" for i in range(300)], "B": list(map(str, range(300)))}
    )
    cells = {cell: [*items, *(others[cell] if rows == 300 else [])] for cell, items in cells.items()}
    found = select(cells, task(), Policy(sizes=(300, 30, 30), cap=share))
    assert found.cap == cap
    assert [sum(c.example.key == form for items in found.splits.values() for c in items) for form in "xy"] == [cap, cap]


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
    drawn = gaussian_sizes(cells, 100_000)
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


def test_gaussian_decorrelation_has_the_means_and_deviations_of_the_pool():
    """A pool with ten times the rows that are needed in each cell gives independent normals of its own moments."""
    cells = {
        (f"{d:02d}", f"/{n:02d}"): 100 + 400 * (n > 16) + 300 * (d > 6) for d in range(1, 12) for n in range(1, 28)
    }
    drawn = gaussian_sizes(cells, 9000)
    assert 0.95 * 9000 < sum(drawn.values()) <= 9000

    def moments(counts, place):
        values = {cell: int(str(cell[place]).strip("/")) for cell in counts}
        total = sum(counts.values())
        mean = sum(values[cell] * n for cell, n in counts.items()) / total
        return mean, (sum(n * (values[cell] - mean) ** 2 for cell, n in counts.items()) / total) ** 0.5

    def normal(mean, deviation, size):
        """Moments of a normal that is cut off at the ends of the pool."""
        return moments({(x, x): math.exp(-(((x - mean) / deviation) ** 2) / 2) for x in range(1, size + 1)}, 0)

    assert moments(drawn, 0) == pytest.approx(normal(*moments(cells, 0), 11), abs=0.1)
    mean, deviation = moments(cells, 1)
    found = [normal(mean, deviation * narrow, 27) for narrow in (1.0, 0.8, 0.65, 0.5, 0.4, 0.3)]
    assert min(math.dist(moments(drawn, 1), each) for each in found) < 0.1


def test_gaussian_decorrelation_narrows_the_lengths_where_cells_run_short():
    """Long and short sentences are scarce: fewer lengths with more rows each are better than many with a few."""
    cells = {(f"{d:02d}", f"/{n:02d}"): 1000 if 8 <= n <= 12 else 1 for d in (3, 4, 5) for n in range(1, 20)}
    drawn = gaussian_sizes(cells, 100_000)
    assert all(0 <= n <= cells[cell] for cell, n in drawn.items())
    middle = sum(n for (_, s), n in drawn.items() if 8 <= int(s[1:]) <= 12)
    assert middle > 0.97 * sum(drawn.values())
    assert sum(drawn.values()) > 4000


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
    with pytest.raises(TooFewError, match=r"2 classes with at least 24 \(x 30, y 30\); expected at least 5 such"):
        select(pool({("x", ""): 30, ("y", ""): 30}), task(labels="words"), Policy(min_classes=5))
    with pytest.raises(TooFewError, match=r"1 class with .* \(07 30\); .* 2 such classes with the same lengths"):
        select(pool({("07", "/05"): 30}), task(labels="depth"), Policy(strata="exact"))
    with pytest.raises(TooFewError, match="has too few candidates: none; expected at least 24 of each of A, B"):
        select({}, task(), Policy())


@pytest.mark.parametrize("labels", [("A", "B"), "words"])
def test_a_class_of_just_enough_candidates_is_enough(labels):
    found = select(pool({("A", ""): 30, ("B", ""): 24}), task(labels=labels), Policy(sizes=(16, 8, 8), min_class=24))
    assert found.labels == ("A", "B")
    with pytest.raises(TooFewError, match=r"B 23; expected at least 24|1 class with .* 24 \(A 30, B 23\); expected"):
        select(pool({("A", ""): 30, ("B", ""): 23}), task(labels=labels), Policy(sizes=(16, 8, 8), min_class=24))


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
