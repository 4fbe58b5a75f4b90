"""Sets of frames and lists of rows: the same sets as those of files with the same rows."""

import json

import pandas as pd
import pyarrow as pa
import pytest

from sentprobe import Dataset, evaluate
from sentprobe.data.rows import parse_columns
from sentprobe.data.tables import read_table
from sentprobe.errors import DataError, UsageError

COLUMNS = {
    "review": [f"{word} film number {i} ." for i in range(30) for word in ("Good", "Bad")],
    "second": [f"Seen\non day {i // 5} ." for i in range(60)],
    "mood": ["pos", "neg"] * 30,
    "stars": [5, 1] * 30,
    "author": [f"author {i % 20}" for i in range(60)],
    "part": ["train"] * 40 + ["dev"] * 10 + ["test"] * 10,
}


def polars_frame():
    return pytest.importorskip("polars").DataFrame(COLUMNS)


FRAMES = {
    "pandas": lambda: pd.DataFrame(COLUMNS),
    "pandas with categories": lambda: pd.DataFrame(COLUMNS).astype({"mood": "category", "author": "string"}),
    "pandas through Arrow": lambda: pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "polars": polars_frame,
    "arrow": lambda: pa.table(COLUMNS),
    "lists": lambda: COLUMNS,
}


@pytest.fixture
def csv_file(tmp_path):
    path = tmp_path / "reviews.csv"
    pd.DataFrame(COLUMNS).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize(
    "options",
    [
        {"text": "review", "label": "mood", "split": "part"},
        {"text": "review", "label": "mood", "split": "60/20/20"},
        {"text": "review", "label": "stars", "split": "60/20/20", "group": "author", "split_seed": 3},
        {"text": ("review", "second"), "label": "mood", "split": "80/0/20"},
    ],
)
def test_a_frame_is_the_set_of_the_same_rows_in_a_file(kind, options, csv_file):
    dataset = Dataset.from_frame(FRAMES[kind](), **options, name="reviews")
    text = options["text"]
    columns = parse_columns(**{**options, "text": (text,) if isinstance(text, str) else text})
    from_file = read_table(csv_file, columns)
    assert (dataset, dataset.digest) == (from_file, from_file.digest)


def test_rows_are_the_set_of_the_same_rows_in_a_frame():
    options = {"text": ("review", "second"), "label": "mood", "group": "author", "split": "60/20/20"}
    dataset = Dataset.from_frame(COLUMNS, **options)
    names = ("review", "second", "mood", "author")
    tuples = list(zip(*(COLUMNS[name] for name in names), strict=True))
    dicts = [dict(zip(names, row, strict=True)) for row in tuples]
    for rows in (tuples, dicts, iter(dicts)):
        assert Dataset.from_rows(rows, **options) == dataset
    assert dataset.manifest["inputs"] == ["second"]


def test_rows_are_split_if_nothing_else_is_requested_and_groups_stay_together():
    dataset = Dataset.from_frame(COLUMNS, text="review", label="mood")
    assert [len(dataset.rows[split]) for split in ("tr", "va", "te")] == [48, 6, 6]
    grouped = Dataset.from_frame(COLUMNS, text="review", label="mood", group="author")
    splits_of_group = {row.key: set() for _, row in grouped}
    for split, row in grouped:
        splits_of_group[row.key].add(split)
    assert len(splits_of_group) == 20
    assert {len(splits) for splits in splits_of_group.values()} == {1}


def test_language_task_and_name():
    dataset = Dataset.from_frame(COLUMNS, text="review", label="mood", language="en", task="sentiment", name="a/b")
    assert (dataset.name, dataset.task, dataset.language) == ("a/b", "sentiment", "en")
    assert Dataset.from_frame(COLUMNS, text="review", label="mood", task="sentiment").name == "sentiment"


def test_columns_without_names_have_numbers():
    rows = [(f"text {i}", i % 2) for i in range(40)]
    frame = pd.DataFrame(rows)
    assert Dataset.from_frame(frame, text=0, label=1).digest == Dataset.from_rows(rows).digest


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, pd.NaT])
def test_a_missing_text_is_empty_and_a_missing_label_is_an_error(missing):
    values = ["a", missing, "c", "d"]
    frame = pd.DataFrame({"x": pd.Series(values, dtype=object), "y": [1, 1, 0, 0], "part": ["train", "test"] * 2})
    assert Dataset.from_frame(frame, text="x", label="y", split="part").rows["te"][0].text == ""
    with pytest.raises(DataError, match=r"^table: row 1 \(the first is 0\) has an empty label; expected a label\.$"):
        Dataset.from_frame(frame, text="y", label="x", split="part")


def test_truth_values_are_those_of_json():
    dataset = Dataset.from_rows([{"text": "a", "label": True, "s": "train"}, ("b", False, "test")], split="s")
    assert dataset.labels == ("false", "true")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: Dataset.from_frame(COLUMNS, text="reviews", label="mood"),
            "text='reviews': there is no such column; expected one of 'review', 'second', 'mood', 'stars', 'author', "
            "'part'. Did you mean review?",
        ),
        (
            lambda: Dataset.from_frame(pd.DataFrame([[1, 2]], columns=["a", "a"]), text="a", label="b"),
            "text='a': 2 columns have this name; rename them.",
        ),
        (
            lambda: Dataset.from_frame([("a", 1)], text="a", label="b"),
            "Expected a frame with columns by name (pandas, polars, Arrow, a dict of lists), got list. For a list of "
            "rows, use from_rows.",
        ),
        (
            lambda: Dataset.from_rows([("a", "b", "c")]),
            "Row 0 (the first is 0) is ('a', 'b', 'c'); expected a dict, or a tuple of 2 values: text, label.",
        ),
        (
            lambda: Dataset.from_rows([{"text": "a"}]),
            "Row 0 (the first is 0): label='label': there is no such column; expected one of 'text'.",
        ),
        (lambda: Dataset.from_rows([]), "table has no rows; expected labelled sentences."),
        (
            lambda: Dataset.from_rows([("a", ["b"])]),
            "The column 'label' holds list, not strings or numbers: ['b']",
        ),
    ],
)
def test_what_is_refused(call, message):
    with pytest.raises((DataError, UsageError)) as error:
        call()
    assert str(error.value) == message


def test_an_encoder_is_probed_on_a_frame_and_again(tmp_path):
    dataset = Dataset.from_frame(pd.DataFrame(COLUMNS), text="review", label="mood", name="reviews")
    for _ in range(2):
        run = evaluate("baseline:chars", dataset, tmp_path / "run")
        assert {result.cell.dataset for result in run} == {"reviews"}
    info = json.loads((tmp_path / "run/run.json").read_text())
    assert info["datasets"][0]["split"]["shares"] == [80, 10, 10]
