"""Tables without named columns: what is guessed, what is said about it, and when nothing is."""

import csv
import io
import json
import re

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sentprobe.cli import app
from sentprobe.data.sources import find_sets, split_columns
from sentprobe.errors import DataError, UsageError

REVIEWS = {
    "id": [f"r{i}" for i in range(60)],
    "review": [f"Film number {i} was {'good' if i % 2 else 'bad'} ." for i in range(60)],
    "mood": ["neg", "pos"] * 30,
}
STARS = {**REVIEWS, "stars": [str(i % 5) for i in range(60)]}
SPLITS = {"split": ["train", "train", "dev", "test"] * 15, "label": ["0", "1"] * 30, "text": REVIEWS["review"]}
PAIRS = {"premise": REVIEWS["review"], "hypothesis": REVIEWS["review"][::-1], "gold": ["yes", "no", "maybe"] * 20}


def delimited(columns, delimiter=","):
    out = io.StringIO()
    writer = csv.writer(out, delimiter=delimiter, lineterminator="\n")
    writer.writerows([columns, *zip(*columns.values(), strict=True)])
    return out.getvalue()


RANDOM = "split 80/10/10 by sentprobe, since there is no split column"


def written(path, columns):
    if path.suffix == ".parquet":
        pq.write_table(pa.table({**columns, "list": [[1]] * 60}), path)
    elif path.suffix == ".jsonl":
        rows = (dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True))
        path.write_text("".join(json.dumps({**row, "list": [1]}) + "\n" for row in rows))
    else:
        path.write_text(delimited(columns, "," if path.suffix == ".csv" else "\t"))
    return str(path)


def guessed(*paths):
    lines = []
    return find_sets(paths, guess=lines.append), lines


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".parquet"])
@pytest.mark.parametrize(
    ("columns", "text"),
    [
        (REVIEWS, f"text: column `review`; label: column `mood`; {RANDOM}"),
        (SPLITS, "text: column `text`; label: column `label`; split: column `split`"),
        (PAIRS, f"text: column `premise` and column `hypothesis`; label: column `gold`; {RANDOM}"),
        ({**STARS, "label": STARS["stars"]}, f"text: column `review`; label: column `label`; {RANDOM}"),
    ],
)  # fmt: skip
def test_what_is_beyond_doubt_is_guessed_and_said_with_the_options_that_say_the_same(tmp_path, suffix, columns, text):
    path = written(tmp_path / f"data{suffix}", columns)
    (source,), (line,) = guessed(path)
    message, _, options = line.partition(". To say otherwise: ")
    assert message == f"{path}: {text}"
    assert len(source.load()) == 60
    assert source.name == "data"
    assert all(option.startswith(("--text", "--label", "--split")) for option in options.split() if option[0] == "-")


def test_a_guess_is_the_same_set_as_the_options_that_it_names(tmp_path):
    path = written(tmp_path / "reviews.csv", REVIEWS)
    (source,), _ = guessed(path)
    (named,) = find_sets(f"{path}:text=review,label=mood,split=80/10/10")
    assert source == named


def test_the_names_of_files_say_the_split(tmp_path):
    paths = [written(tmp_path / f"{split}.csv", REVIEWS) for split in ("train", "test")]
    (source,), (line,) = guessed(*paths)
    assert {split: len(rows) for split, rows in source.load().rows.items()} == {"tr": 60, "va": 0, "te": 60}
    assert "and 1 more: text: column `review`; label: column `mood`; split: from the names of the files" in line


@pytest.mark.parametrize("header", ["split\tlabel\ttext", "Split\tLabel\tSentence", "partition\tclass\tlabel"])
def test_a_table_whose_columns_are_in_the_order_of_senteval_is_a_table(tmp_path, header):
    path = tmp_path / "past_present.txt"
    path.write_text(
        header + "\n" + "tr\tPAST\tShe has left .\nva\tPRES\tShe always runs .\nte\tPAST\tHe just slept .\n" * 5
    )
    if header.endswith("label"):
        with pytest.raises(DataError, match="is a table"):
            guessed(str(path))
        return
    (source,), _ = guessed(str(path))
    assert (source.kind, len(source.load())) == ("table", 15)


def test_in_doubt_every_column_is_shown_with_what_to_type(tmp_path):
    path = written(tmp_path / "reviews.csv", STARS)
    with pytest.raises(DataError) as error:
        guessed(path)
    assert str(error.value) == (
        f"{path} is a table, and it is not clear which column holds the label (`mood` or `stars`). Its columns, with "
        "the first value of each:\n  id      r0\n  review  Film number 0 was bad .\n  mood    neg\n  stars   0\n"
        "Name the columns: --text review --label COLUMN --split 80/10/10. If its first line is not a header, use "
        "--no-header and give their numbers."
    )


def test_a_first_line_that_is_a_row_is_no_header(tmp_path):
    path = tmp_path / "reviews.csv"
    path.write_text(delimited(REVIEWS).partition("\n")[2])
    with pytest.raises(DataError, match=r"its first line is like a row[^$]*--no-header --text 2 --label 3 --split"):
        guessed(str(path))


def test_nothing_is_guessed_unless_that_is_said(tmp_path):
    path = written(tmp_path / "reviews.csv", REVIEWS)
    with pytest.raises(DataError, match="holds no set in a known format"):
        find_sets(path)


# Columns after the path


@pytest.mark.parametrize(
    ("typed", "path", "text", "label"),
    [
        ("C:\\data\\a.csv:text=x,label=y", "C:\\data\\a.csv", ("x",), "y"),
        ("C:/a.csv:text=premise,text=a,b,label=y,split=part", "C:/a.csv", ("premise", "a,b"), "y"),
        ("a.csv:label=a:b,text=x,group=doc,split=80/10/10", "a.csv", ("x",), "a:b"),
    ],
)
def test_a_path_may_have_columns_of_its_own(typed, path, text, label):
    found, columns = split_columns(typed)
    assert (found, columns.text, columns.label) == (path, text, label)


@pytest.mark.parametrize("typed", ["C:\\data\\a.csv", "hf:org/name", "a.csv:tex=1"])
def test_a_colon_alone_is_part_of_the_path(typed):
    assert split_columns(typed) == (typed, None)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("a.csv:text=x", "a.csv:text=x: expected columns after the path, as in a.csv:text=COLUMN,label=COLUMN,split="),
        ("a.csv:text=x,label=y,label=z", "label is named twice"),
        ("a.csv:text=x,label=y,split=80/30/10", "got a sum of 120"),
    ],
)
def test_columns_of_a_path_that_are_refused(typed, message):
    with pytest.raises(UsageError, match=re.escape(message)):
        split_columns(typed)


def test_several_tables_in_one_run_which_the_same_command_resumes(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "stars.csv", STARS)
    written(tmp_path / "splits.tsv", SPLITS)
    command = [
        "run", "-e", "baseline:hash", "-d", "stars.csv:text=review,label=mood,split=60/20/20", "-d", "splits.tsv",
        "-d", "stars.csv:text=review,label=stars,split=60/20/20", "-o", "run", "--resample", "0",
    ]  # fmt: skip
    for _ in range(2):
        assert app(command, result_action="return_value", exit_on_error=False) == 0
        results = (tmp_path / "run/results.jsonl").read_text().splitlines()
        info = json.loads((tmp_path / "run/run.json").read_text())
        assert {d["name"]: d["source"]["columns"]["label"] for d in info["datasets"]} == {
            "stars-mood": "mood", "splits": "label", "stars-stars": "stars"
        }  # fmt: skip
        assert "splits.tsv: text: column `text`" in capsys.readouterr().err
    assert len(results) == len(set(results))
