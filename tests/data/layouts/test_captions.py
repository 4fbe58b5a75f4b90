"""Captions with image features."""

import json

import numpy
import pytest

from sentprobe.data.layouts import layouts_in, read_layout
from sentprobe.data.sources import find_sets
from sentprobe.errors import CorpusError, DataError
from tests.data.layouts.files import FILES, write_all

FOUR = json.dumps({"format": "sentprobe.captions.v1", "captions": [["x"] * 4, ["y"] * 5]})
ONE = json.dumps({"format": "sentprobe.captions.v1", "captions": [["x"] * 5]})
OTHER = json.dumps({"format": "sentprobe.captions.v9", "captions": []})


@pytest.fixture
def coco(tmp_path):
    return write_all(tmp_path) / "COCO"


def test_the_first_five_captions_of_each_image_are_rows_and_its_number_is_their_label(coco):
    found = read_layout("ImageCaptionRetrieval", coco)
    assert [(row.label, row.text) for row in found.rows["tr"]] == [("0", letter) for letter in "abcde"]
    assert [row.label for row in found.rows["te"]] == ["0"] * 5 + ["1"] * 5
    assert found.manifest["inputs"] == []
    assert found.manifest["images"] == {
        "tr": str(coco / "train.npy"), "va": str(coco / "valid.npy"), "te": str(coco / "test.npy")
    }  # fmt: skip


def test_the_digest_depends_on_the_features_and_not_on_their_file(coco):
    before = read_layout("ImageCaptionRetrieval", coco).digest
    rows = numpy.load(coco / "test.npy")
    (coco / "test.npy").unlink()
    numpy.savez(coco / "test.npz", features=rows.astype(numpy.float64))
    assert read_layout("ImageCaptionRetrieval", coco).digest == before
    rows[1, 1] += 1
    numpy.savez(coco / "test.npz", features=rows)
    assert read_layout("ImageCaptionRetrieval", coco).digest != before


@pytest.mark.parametrize(
    ("captions", "features", "message"),
    [
        (FOUR, [[1.0], [2.0]], r"test\.json: image 0 has 4 captions; expected at least 5"),
        (ONE, [[1.0], [2.0]], r"captions for 1 images, and .*test\.npy features of 2"),
        (ONE, [1.0], r"test\.npy has an array \(1,\) of float64; expected \(images, d\) of floats"),
        (ONE, [[1]], r"test\.npy has an array \(1, 1\) of int64"),
        (ONE, None, r"test\.json has no image features next to it: expected .*test\.npy or test\.npz"),
        (OTHER, [[1.0]], r"test\.json:1: got the format 'sentprobe\.captions\.v9'"),
        ('{"format": 1}', [[1.0]], r"test\.json:1: got invalid JSON or another structure"),
        ("[" * 100_000, [[1.0]], r"test\.json:1: got invalid JSON or another structure"),
    ],
)
def test_what_does_not_fit_is_said(coco, captions, features, message):
    (coco / "test.json").write_text(captions, "utf-8")
    (coco / "test.npy").unlink()
    if features is not None:
        numpy.save(coco / "test.npy", numpy.array(features))
    with pytest.raises(DataError, match=message):
        read_layout("ImageCaptionRetrieval", coco)


def test_arrays_of_objects_are_not_loaded(coco):
    numpy.save(coco / "test.npy", numpy.array([[print]], object), allow_pickle=True)
    with pytest.raises(DataError, match=r"test\.npy cannot be read as image features \(.*Python objects"):
        read_layout("ImageCaptionRetrieval", coco)


def test_broken_json_is_said(coco):
    (coco / "test.json").write_text(FILES["COCO/test.json"][:30], "utf-8")
    with pytest.raises(CorpusError, match=r"test\.json:1: got invalid JSON"):
        read_layout("ImageCaptionRetrieval", coco)


def test_other_json_files_of_the_same_name_are_not_taken_for_captions(tmp_path):
    (tmp_path / "train.json").write_text("[]\n", "utf-8")
    assert layouts_in(tmp_path) == ()


def test_the_original_pickles_are_found_and_it_is_said_how_to_convert_them(tmp_path):
    (tmp_path / "COCO").mkdir()
    for name in ("train", "valid", "test"):
        (tmp_path / f"COCO/{name}.pkl").write_bytes(b"")
    (source,) = find_sets([str(tmp_path)])
    with pytest.raises(DataError, match=r"has SentEval's pickles.* sentprobe data convert-coco train\.pkl valid\.pkl"):
        source.load()
