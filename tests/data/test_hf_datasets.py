"""Datasets of Hugging Face: what the library saved, and what it loads by name."""

import builtins
from functools import partial

import pytest

from sentprobe.data.dataset import Dataset
from sentprobe.data.rows import Columns
from sentprobe.data.sources import find_sets
from sentprobe.errors import DataError, NotInstalled, Offline, UsageError
from sentprobe.make.card import write_card
from tests.command_line import sentprobe

datasets = pytest.importorskip("datasets")
SIZES = {"train": 40, "validation": 10, "test": 20}


def reviews(n, first=0):
    mood, text, number = datasets.ClassLabel(names=["neg", "pos"]), datasets.Value("string"), datasets.Value("int32")
    texts, moods = [f"A film with number {first + i} ." for i in range(n)], [i % 2 for i in range(n)]
    rows = {"idx": [*range(n)], "review": texts, "mood": moods}
    return datasets.Dataset.from_dict(rows, datasets.Features({"idx": number, "review": text, "mood": mood}))


@pytest.fixture
def splits():
    return datasets.DatasetDict({name: reviews(n, 100 * i) for i, (name, n) in enumerate(SIZES.items())})


def rows_of(dataset):
    return {split: [(row.text, row.label) for row in rows] for split, rows in dataset.rows.items()}


def expected(splits):
    names = {"train": "tr", "validation": "va", "test": "te"}
    return {names[s]: [(r["review"], ("neg", "pos")[r["mood"]]) for r in rows] for s, rows in splits.items()}


def test_a_saved_folder_is_a_set_with_the_splits_and_the_names_of_labels(splits, tmp_path):
    splits.save_to_disk(tmp_path / "data/reviews")
    said = []
    (source,) = find_sets(tmp_path / "data", guess=said.append)
    assert (source.name, source.kind, source.task) == ("reviews", "hf-dataset", "reviews")
    assert "text: column `review`; label: column `mood`" in said[0]
    dataset = source.load()
    assert rows_of(dataset) == expected(splits)
    assert dataset.labels == ("neg", "pos")
    (direct,) = find_sets(tmp_path / "data/reviews")
    assert direct.load().digest == dataset.digest


def test_rows_that_were_selected_and_shuffled_are_the_rows(splits, tmp_path):
    changed = datasets.DatasetDict({name: rows.shuffle(seed=3).select(range(8)) for name, rows in splits.items()})
    changed.save_to_disk(tmp_path / "changed")
    assert rows_of(find_sets(tmp_path / "changed")[0].load()) == expected(changed)


def test_one_split_is_split_here(tmp_path):
    reviews(200).save_to_disk(tmp_path / "one")
    dataset = find_sets(tmp_path / "one")[0].load()
    assert {split: len(rows) for split, rows in dataset.rows.items()} == {"tr": 160, "va": 20, "te": 20}
    typed = f"{tmp_path / 'one'}:text=review,label=mood,split=50/0/50"
    assert {s: len(rows) for s, rows in find_sets(typed)[0].load().rows.items()} == {"tr": 100, "va": 0, "te": 100}


def test_a_name_is_loaded_by_the_library(conneau, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    for task in ("bigram_shift", "tree_depth"):
        conneau[task].save(tmp_path / "probes/conneau2018" / task)
    assert write_card(tmp_path / "probes")
    typed = f"hf-dataset:{tmp_path / 'probes'}?config=conneau2018-tree_depth"
    for columns in ("", ":text=text,label=label"):
        (source,) = find_sets(typed + columns)
        assert source.name == "probes/conneau2018-tree_depth"
        loaded, made = source.load(), conneau["tree_depth"]
        assert rows_of(loaded) == {split: [(row.text, row.label) for row in rows] for split, rows in made.rows.items()}
    with pytest.raises(DataError, match="conneau2018-bigram_shift"):  # the library lists the configurations
        find_sets(f"hf-dataset:{tmp_path / 'probes'}")[0].load()


def test_rows_without_a_public_label_and_other_splits_are_left_out(splits, tmp_path):
    hidden = splits["test"].map(lambda row: {"mood": -1 if row["idx"] < 5 else row["mood"]})
    datasets.DatasetDict({**splits, "test": hidden, "unsupervised": reviews(3)}).save_to_disk(tmp_path / "glue")
    dataset = find_sets(tmp_path / "glue")[0].load()
    assert {split: len(rows) for split, rows in dataset.rows.items()} == {"tr": 40, "va": 10, "te": 15}
    assert dataset.rows["te"][0].source == "5"


@pytest.mark.parametrize("drop", ["mood", "review"])
def test_in_doubt_every_column_is_shown(drop, splits, tmp_path):
    splits.remove_columns(drop).save_to_disk(tmp_path / "d")
    reviews(30).save_to_disk(tmp_path / "e")
    said = []
    found = find_sets([tmp_path / "d", tmp_path / "e"], guess=said.append)
    assert len(said) == 1
    with pytest.raises(DataError, match=r"it is not clear which column(.|\n)*idx"):
        found[0].load()


def test_what_is_wrong_is_said(splits, tmp_path, monkeypatch):
    splits.save_to_disk(tmp_path / "d")
    for typed, words in (("text=revue,label=mood", "revue"), ("text=review,label=moods", "expected one of 'idx'")):
        with pytest.raises(UsageError, match=words):
            find_sets(f"{tmp_path / 'd'}:{typed}")[0].load()
    (tmp_path / "d/train/data-00000-of-00001.arrow").write_bytes(b"damaged")
    with pytest.raises(DataError, match="cannot be loaded by datasets"):
        find_sets(tmp_path / "d")[0].load()
    for typed in ("hf-dataset:", "hf-dataset:x?split=train", "hf-dataset:x?config="):
        with pytest.raises(UsageError, match="hf-dataset:NAME"):
            find_sets(typed)
    monkeypatch.setenv("SENTPROBE_OFFLINE", "1")
    with pytest.raises(Offline, match="SENTPROBE_OFFLINE"):
        find_sets("hf-dataset:nobody/nothing")[0].load()


def test_an_empty_label_is_named_by_split_and_row(tmp_path):
    rows = {"text": ["One .", "Two ."], "label": ["a", None]}
    datasets.DatasetDict({"test": datasets.Dataset.from_dict(rows)}).save_to_disk(tmp_path / "d")
    with pytest.raises(DataError, match=r"split test: row 1 .* an empty label"):
        find_sets(tmp_path / "d")[0].load()


def test_without_the_library_it_is_said_how_to_install_it(splits, tmp_path, monkeypatch):
    splits.save_to_disk(tmp_path / "d")
    real = builtins.__import__

    def without(name, *more, **keywords):
        if name == "datasets":
            raise ImportError(name)
        return real(name, *more, **keywords)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(NotInstalled, match="datasets"):
        find_sets(tmp_path / "d", Columns(("review",), "mood"))[0].load()


def test_a_run_reads_them_like_any_other_set(splits, tmp_path):
    splits.save_to_disk(tmp_path / "reviews")
    done = sentprobe("run", "-e", "baseline:words", "-d", tmp_path / "reviews", "-o", tmp_path / "run", "--no-store")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "column `review`" in done.stderr
    assert "reviews" in done.stdout


def test_pairs_have_two_texts(tmp_path):
    rows = {"premise": ["One ."] * 4, "hypothesis": ["Two ."] * 4, "label": ["a", "b"] * 2}
    make = partial(datasets.Dataset.from_dict, rows)
    datasets.DatasetDict({"train": make(), "test": make()}).save_to_disk(tmp_path / "d")
    dataset = find_sets(tmp_path / "d")[0].load()
    assert isinstance(dataset, Dataset)
    assert dataset.manifest["inputs"] == ["hypothesis"]
    assert dataset.rows["te"][0].extra == (("hypothesis", "Two ."),)


@pytest.mark.parametrize("number", [7, -2])
def test_a_label_without_a_name_is_an_error_with_its_row(tmp_path, number):
    import pyarrow as pa

    rows = reviews(40)
    moods = pa.array([number if i == 3 else i % 2 for i in range(40)], pa.int64())
    table = rows.data.table.set_column(2, rows.features.arrow_schema.field("mood"), moods)
    datasets.Dataset(table.cast(rows.features.arrow_schema)).save_to_disk(tmp_path / "one")
    (source,) = find_sets(tmp_path / "one", columns=Columns(("review",), "mood"))
    with pytest.raises(DataError, match=f"row 3 .*has the label {number}; expected the number of a label's name"):
        source.load()
