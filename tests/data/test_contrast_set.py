import json

import pytest

from sentprobe import ContrastSet, find_sets
from sentprobe.core.seal import seal_document
from sentprobe.data.contrast_set import COLUMNS, ContrastRow, contrast_folders, is_contrast_folder
from sentprobe.errors import CorpusError, DataError, UsageError

ROWS = [
    ContrastRow("Kim saw Lee .", "Lee was seen by Kim .", "Lee saw Kim .", "roles", "passive", "s1", "d1"),
    ContrastRow("Été comme hiver,\tils dorment .", "Ils dorment .", "Ils ne dorment pas .", "negation", "", "s2"),
]


@pytest.fixture
def contrasts():
    return ContrastSet("mine/roles", tuple(ROWS), "en", {"rules": {"roles": {"read": 50, "wrong": 2}}, "seed": 3})


def test_what_is_saved_is_read_and_the_same_bytes_are_written(contrasts, tmp_path):
    contrasts.save(tmp_path / "a")
    contrasts.save(tmp_path / "b")
    for name in ("rows.parquet", "manifest.json", "roles.tsv"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    loaded = ContrastSet.read(tmp_path / "a")
    assert (loaded.name, loaded.language, loaded.rows, loaded.digest) == (
        "mine/roles", "en", tuple(ROWS), contrasts.digest,
    )  # fmt: skip
    manifest = json.loads((tmp_path / "a/manifest.json").read_text())
    assert manifest["format"] == "contrast"
    assert manifest["version"] == 1
    assert manifest["counts"] == {"negation": 1, "roles": 1}
    assert manifest["rules"] == {"roles": {"read": 50, "wrong": 2}}
    assert loaded.manifest["seed"] == 3
    assert contrast_folders(tmp_path) == [tmp_path / "a", tmp_path / "b"]
    assert not is_contrast_folder(tmp_path)
    lines = (tmp_path / "a/roles.tsv").read_text("utf-8").splitlines()
    assert lines[0].split("\t") == list(COLUMNS)
    assert lines[2].startswith("Été comme hiver, ils dorment .\tIls dorment .\tIls ne")


@pytest.mark.parametrize("suffix", ["csv", "tsv", "jsonl", "parquet"])
def test_a_table_of_any_format_is_the_same_set(suffix, tmp_path, contrasts):
    rows = [row._replace(anchor=row.anchor.replace("\t", " ")) for row in contrasts]
    path = tmp_path / f"roles.{suffix}"
    if suffix == "parquet":
        import pyarrow as pa
        import pyarrow.parquet as pq

        pq.write_table(
            pa.table({name: list(column) for name, column in zip(COLUMNS, zip(*rows, strict=True), strict=True)}), path
        )
    elif suffix == "jsonl":
        lines = [json.dumps(dict(zip(COLUMNS, row, strict=True))) + "\n" for row in rows]
        path.write_text("".join(lines), "utf-8")
    else:
        separator = {"csv": ",", "tsv": "\t"}[suffix]
        quote = '"' if suffix == "csv" else ""
        lines = [COLUMNS, *rows]
        text = "".join(separator.join(f"{quote}{cell}{quote}" for cell in line) + "\n" for line in lines)
        path.write_text(text, "utf-8")
    read = ContrastSet.read(path, language="en")
    assert (read.name, list(read)) == ("roles", rows)
    assert read.digest == ContrastSet.from_rows(rows).digest


def test_the_names_of_others_and_frames_and_lists():
    frame = {"Negative": ["c"], "anchor": ["a"], "positive": ["b"], "group": ["g"], "note": ["x"]}
    expected = ContrastRow("a", "b", "c", group="g")
    assert ContrastSet.from_frame(frame).rows == (expected,)
    assert ContrastSet.from_rows([{"anchor": "a", "positive": "b", "contrast": "c", "group": "g"}]).rows == (expected,)
    assert ContrastSet.from_rows([("a", "b", "c")]).rows[0].cluster == "a"
    assert expected.cluster == "g"
    assert ContrastSet.has_columns(["Anchor", "positive", "negative"])
    assert not ContrastSet.has_columns(["anchor", "positive", "label"])


def test_a_probing_set_is_something_else(contrasts, tmp_path):
    contrasts.save(tmp_path / "set")
    with pytest.raises(DataError, match="is a contrast set, which has no classes; `sentprobe pairs` evaluates"):
        find_sets(tmp_path / "set")[0].load()


def test_errors_name_the_line_and_the_column(tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text("anchor,positive,contrast\na,b,c\na,b,b\n")
    with pytest.raises(CorpusError, match=r"bad\.csv:3: got a contrast that is its positive"):
        ContrastSet.read(path)
    path.write_text("anchor,positive,contrast\na,,c\n")
    with pytest.raises(CorpusError, match=r"bad\.csv:2: got an empty positive"):
        ContrastSet.read(path)
    path.write_text("anchor,positive,kind\na,b,c\n")
    with pytest.raises(
        UsageError, match=r"none for contrast\. Expected one of these names: contrast: contrast, negative"
    ):
        ContrastSet.read(path)
    path.write_text("anchor,positive,contrast\n")
    with pytest.raises(DataError, match="has no rows"):
        ContrastSet.read(path)
    with pytest.raises(DataError, match="has a contrast that is its anchor"):
        ContrastSet.from_rows([("a", "b", "c"), ("a", "b", "a")])
    with pytest.raises(DataError, match=r"row 0 .* has a positive that is its anchor"):
        ContrastSet.from_rows([("a", "a", "c")])
    with pytest.raises(DataError, match="lone surrogate"):
        ContrastSet.from_rows([("a", "b", "c\ud800")])


def test_what_was_altered_is_not_read(contrasts, tmp_path):
    contrasts.save(tmp_path)
    manifest = tmp_path / "manifest.json"
    written = manifest.read_text()
    manifest.write_text(written.replace('"wrong": 2', '"wrong": 0'))
    with pytest.raises(DataError, match="checksum does not match"):
        ContrastSet.load(tmp_path)
    manifest.write_text(written.replace('"version": 1', '"version": 9'))
    with pytest.raises(DataError, match="format 9"):
        ContrastSet.load(tmp_path)
    manifest.write_text(written)
    rows = tmp_path / "rows.parquet"
    content = bytearray(rows.read_bytes())
    content[len(content) // 2] ^= 1
    rows.write_bytes(content)
    with pytest.raises(DataError, match=r"rows\.parquet is not what the manifest describes"):
        ContrastSet.load(tmp_path)
    rows.unlink()
    with pytest.raises(DataError, match="cannot be read"):
        ContrastSet.load(tmp_path)
    with pytest.raises(DataError, match="expected the folder of a contrast set"):
        ContrastSet.load(tmp_path / "none")


def test_a_manifest_without_its_fields_is_not_read(contrasts, tmp_path):
    contrasts.save(tmp_path)
    manifest = tmp_path / "manifest.json"
    about = json.loads(manifest.read_text())
    del about["files"], about["language"]
    manifest.write_bytes(seal_document(about))
    with pytest.raises(DataError, match=r"manifest\.json .* lacks language, files\. Make the set again"):
        ContrastSet.load(tmp_path)
    manifest.write_bytes(seal_document({**about, "language": None, "files": []}))
    with pytest.raises(DataError, match=r"manifest\.json .*files"):
        ContrastSet.load(tmp_path)
