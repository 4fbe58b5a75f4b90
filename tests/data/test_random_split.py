"""Tables without splits: which rows go where, and what is refused."""

import random
import re
from collections import Counter, defaultdict
from hashlib import blake2b

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.cli import app
from sentprobe.data.random_split import RandomSplit, parse_random_split, split_name, split_rows
from sentprobe.data.rows import Columns
from sentprobe.data.sources import find_sets
from sentprobe.data.splits import splits_of
from sentprobe.data.tables import read_table
from sentprobe.errors import DataError, UsageError
from sentprobe.run import Run, evaluate
from sentprobe.run.repeat import repeat
from sentprobe.run.variants import seen_share
from sentprobe.tasks.example import Example

PLAN = RandomSplit(80, 10, 10)


def row(text, label):
    return Example(label, tuple(text.split()), text)


def table(n=400, labels=3, groups=0, seed=0):
    """Rows with the name of their group; one in ten has the text of another."""
    draw = random.Random(seed)
    texts = [f"sentence {i if i % 10 else 5 * (i // 50)}" for i in range(n)]
    label = {text: f"l{draw.randrange(labels)}" for text in texts}
    return [(row(text, label[text]), f"g{draw.randrange(groups)}" if groups else "") for text in texts]


def where(found):
    return {split: Counter((r.text, r.label) for r in rows) for split, rows in found.items()}


@given(st.integers(0, 50), st.sampled_from([0, 60]), st.sampled_from(["80/10/10", "60/20/20", "50/0/50"]))
@settings(max_examples=30, deadline=None)
def test_the_same_rows_whatever_their_order_and_nothing_is_lost(seed, groups, shares):
    plan = parse_random_split(shares, "document" if groups else None, seed)
    rows = table(groups=groups)
    first = split_rows(rows, plan, "t.csv")
    shuffled = random.Random(seed).sample(rows, len(rows))
    assert where(split_rows(shuffled, plan, "t.csv")) == where(first)
    assert sum(where(first).values(), Counter()) == Counter((r.text, r.label) for r, _ in rows)
    for split, share in plan.shares.items():
        assert abs(len(first[split]) - share * len(rows)) <= (20 if groups else 30)


def test_labels_have_their_shares_and_texts_are_in_one_split():
    rows = table(900)
    found = split_rows(rows, PLAN, "t.csv")
    totals = Counter(r.label for r, _ in rows)
    for split, share in PLAN.shares.items():
        own = Counter(r.label for r in found[split])
        for label, n in totals.items():
            assert abs(own[label] - share * n) <= 6  # of the repeated texts, the largest has six rows
    assert all(len({s for s in found if text in {r.text for r in found[s]}}) == 1 for text in {r.text for r, _ in rows})


def test_groups_are_in_one_split():
    rows = table(600, groups=60)
    places = defaultdict(set)
    group_of = {id(r): group for r, group in rows}
    for split, own in split_rows(rows, RandomSplit(70, 15, 15, "document"), "t.csv").items():
        for r in own:
            places[group_of[id(r)]].add(split)
    assert len(places) == 60
    assert all(len(found) == 1 for found in places.values())


def test_another_seed_is_another_split_and_more_test_rows_include_the_fewer():
    rows = table()
    one, two = (split_rows(rows, RandomSplit(80, 10, 10, None, seed), "t.csv") for seed in (1, 2))
    assert where(one) != where(two)
    more = split_rows(rows, RandomSplit(60, 10, 30, None, 1), "t.csv")
    assert {r.text for r in one["te"]} <= {r.text for r in more["te"]}


def test_the_split_of_a_table_is_known():
    """By hand: of each label, the texts in the order of blake2b(seed, "text", text), two to test and one to dev."""

    def place(text):
        return blake2b(f"7\0text\0{text}".encode(), digest_size=16).digest()

    rows = [(row(f"{label} {i}", label), "") for label in "ab" for i in range(10)]
    found = split_rows(rows, RandomSplit(70, 10, 20, None, 7), "t.csv")
    for label in "ab":
        order = sorted((r.text for r, _ in rows if r.label == label), key=place)
        assert {r.text for r in found["te"] if r.label == label} == set(order[:2])
        assert {r.text for r in found["va"] if r.label == label} == set(order[2:3])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("80/20", "got 2 numbers"),
        ("80/10/20", "got a sum of 110, not 100"),
        ("80/20/0", "train and test need rows"),
        ("8/1/1", "got a sum of 10"),
        ("80//10", r"--split 80//10: expected train/dev/test in percent, such as 80/10/10"),
    ],
)
def test_shares_that_are_refused(text, message):
    with pytest.raises(UsageError, match=message):
        parse_random_split(text)


def test_shares_of_one_are_percent():
    assert parse_random_split("0.8/0.1/0.1").name == "80/10/10,seed=1111"
    assert split_name(RandomSplit(50, 25, 25, "a b", 3).record()) == "50/25/25,seed=3,group=a b"
    assert split_name(None) is None


def test_a_label_that_a_split_would_lack():
    rows = [*table(), (row("the only one", "rare"), "")]
    with pytest.raises(DataError, match=r"t\.csv: split 80/10/10, train has no row of 'rare' \(1 rows\)\. Every label"):
        split_rows(rows, PLAN, "t.csv")


def test_groups_that_are_too_large():
    rows = [(r, "one" if i < 350 else f"g{i}") for i, (r, _) in enumerate(table())]
    with pytest.raises(DataError, match=r"the largest with 350 of 400 rows, give 35\d/\d+/\d+ rows|cannot be split"):
        split_rows(rows, RandomSplit(40, 30, 30, "document"), "t.csv")
    with pytest.raises(DataError, match="2 groups, the largest with 200 of 400 rows"):
        split_rows([(r, f"g{i % 2}") for i, (r, _) in enumerate(table())], RandomSplit(80, 10, 10, "d"), "t.csv")


# Files


@pytest.fixture
def reviews(tmp_path):
    lines = ["review\tmood\tauthor", *(f"{r.text}\t{r.label}\t{group}" for r, group in table(labels=2, groups=50))]
    path = tmp_path / "reviews.tsv"
    path.write_text("\n".join(lines))
    return path


def test_a_table_that_is_split_when_it_is_read(reviews):
    plan = RandomSplit(80, 10, 10, "author")
    found = read_table(reviews, Columns(("review",), "mood", random=plan))
    assert found.manifest["split"] == {"shares": [80, 10, 10], "seed": 1111, "group": "author", "keys": "group"}
    keys = {split: {r.key for r in rows} for split, rows in found.rows.items()}
    assert not keys["tr"] & keys["te"]
    assert set.union(*keys.values()) <= {f"g{i}" for i in range(50)}
    assert found.digest != read_table(reviews, Columns(("review",), "mood", random=RandomSplit(80, 10, 10))).digest


def test_files_that_have_splits_are_not_split_again(tmp_path, reviews):
    for name in ("train", "test"):
        (tmp_path / f"{name}.tsv").write_text(reviews.read_text())
    columns = Columns(("review",), "mood", random=PLAN)
    with pytest.raises(UsageError, match=r"train\.tsv.* say their split: leave out the shares"):
        find_sets([str(tmp_path / "train.tsv"), str(tmp_path / "test.tsv")], columns)
    (one,) = find_sets(str(tmp_path / "train.tsv"), columns)
    assert {split: len(rows) for split, rows in one.load().rows.items()} == {"tr": 320, "va": 40, "te": 40}


def test_a_run_records_the_split_and_refuses_another(reviews, tmp_path):
    def sources(**more):
        return find_sets(str(reviews), Columns(("review",), "mood", random=RandomSplit(80, 10, 10, **more)))

    def probe(**more):
        return evaluate("static:?dim=64", sources(**more), tmp_path / "run", baselines=["majority"], resample=0)

    run = probe(seed=3)
    assert all("|split=80/10/10,seed=3|" in r.signature for r in run)
    assert run.info["datasets"][0]["split"]["seed"] == 3
    assert len(probe(seed=3)) == len(run)  # resumes
    for more in ({"seed": 4}, {"seed": 3, "group": "author"}):
        with pytest.raises(UsageError, match=r"has results of reviews split 80/10/10,seed=3; got 80/10/10,seed="):
            probe(**more)
    assert len(Run.load(tmp_path / "run")) == len(run)
    assert repeat(run.results[0].signature, run=run).same


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--group", "author"), "--group is for rows that are split here: add their shares"),
        (("--split-seed", "3"), "--split-seed is for rows that are split here"),
        (("--split", "80/10/10", "--group", "autor"), r"no column 'autor' \(--group\).*Did you mean 'author'"),
    ],
)
def test_options_that_would_have_no_effect(reviews, words, message, capsys):
    try:
        app(["audit", str(reviews), "--text", "review", "--label", "mood", *words],
            result_action="return_value", exit_on_error=False)  # fmt: skip
        said = capsys.readouterr().err.replace("\n", " ")
    except UsageError as e:
        said = str(e)
    assert re.search(message, said)


def test_shares_need_a_table(tmp_path):
    with pytest.raises(UsageError, match="--split is for tables: add --text and --label"):
        app(["audit", str(tmp_path), "--split", "80/10/10"], result_action="return_value", exit_on_error=False)


def test_a_text_more_frequent_than_a_split_is_large_stays_in_train():
    rows = [(row("always the same", "a"), "")] * 300
    rows += [(row(f"text {i}", "a"), "") for i in range(700)] + [(row(f"other {i}", "b"), "") for i in range(100)]
    for seed in range(20):
        found = split_rows(rows, RandomSplit(80, 10, 10, seed=seed), "t.csv")
        assert Counter(one.label for one in found["te"]) == {"a": 100, "b": 10}
        assert Counter(one.label for one in found["va"]) == {"a": 100, "b": 10}


def test_a_label_with_frequent_texts_only_is_in_every_split():
    rows = [(row(text, "a"), "") for text in ("one", "two", "three") for _ in range(50)]
    rows += [(row(f"other {i}", "b"), "") for i in range(200)]
    found = split_rows(rows, RandomSplit(80, 10, 10), "t.csv")
    assert all({one.label for one in part} == {"a", "b"} for part in found.values())


def test_groups_are_not_taken_for_target_forms(reviews):
    """Groups are in one split by design, which says nothing about words that a probe may have memorised."""
    columns = {"text": ("review",), "label": "mood"}
    grouped = splits_of(read_table(reviews, Columns(**columns, random=RandomSplit(60, 20, 20, group="author"))))
    assert grouped.grouped
    assert seen_share(grouped) == 1.0
    assert not splits_of(read_table(reviews, Columns(**columns, random=RandomSplit(60, 20, 20)))).grouped
