"""SentEval's pickles of COCO become files that are read without any."""

import json

import numpy
import pytest

from sentprobe.data.layouts import read_layout
from sentprobe.data.layouts.captions import images
from sentprobe.data.sources import find_sets
from sentprobe.errors import DataError
from sentprobe.transfer.coco import convert
from tests.transfer.pickles import array, coco, keyed, listed, number, pickled, string

FIVE = ["a man rides", "b", "c", "d", "e"]


@pytest.fixture
def pickles(tmp_path):
    paths = []
    for i, name in enumerate(("train", "valid", "test")):
        paths.append(tmp_path / f"{name}.pkl")
        paths[-1].write_bytes(coco(array([[i, 1.5], [2.0, 3.0]]), [FIVE, [*FIVE, "a sixth"]]))
    return paths


def test_pickles_become_features_and_captions(pickles, tmp_path):
    told = list(convert(pickles, tmp_path / "COCO"))
    assert told == [(tmp_path / f"COCO/{name}.npy", 2, 2) for name in ("train", "valid", "test")]
    features = numpy.load(tmp_path / "COCO/valid.npy", allow_pickle=False)
    assert (features.tolist(), features.dtype) == ([[1.0, 1.5], [2.0, 3.0]], numpy.float32)
    held = json.loads((tmp_path / "COCO/train.json").read_text("utf-8"))
    assert held["captions"][1] == [f"{caption} ." for caption in [*FIVE, "a sixth"]]
    assert {path.name for path in (tmp_path / "COCO").iterdir()} == {
        f"{name}.{suffix}" for name in ("train", "valid", "test") for suffix in ("npy", "json")
    }


def test_the_converted_set_is_found_and_gives_the_loop_its_features(pickles, tmp_path):
    list(convert(pickles, tmp_path / "data/downstream/COCO"))
    (source,) = find_sets([str(tmp_path / "data")])
    found = source.load()
    assert (found.task, found.manifest["protocol"]) == ("ImageCaptionRetrieval", "retrieval")
    assert [row.text for row in found.rows["te"]][:5] == [f"{caption} ." for caption in FIVE]
    features = images(found, "te")
    assert (features.tolist(), features.dtype) == ([[2.0, 1.5], [2.0, 3.0]], numpy.float32)
    assert [int(row.label) for row in found.rows["te"]] == [0] * 5 + [1] * 5


@pytest.mark.parametrize(
    "features",
    [
        array([[0, 1], [2, 3]], "f8", ">"),
        listed(array([0.0, 1.0]), array([2.0, 3.0])),
        listed(listed(number(0), number(1)), listed(number(2), number(3))),
    ],
    ids=["doubles", "arrays", "lists"],
)
def test_features_may_be_in_several_forms(pickles, tmp_path, features):
    pickles[0].write_bytes(coco(features, [FIVE, FIVE]))
    list(convert(pickles, tmp_path / "out"))
    assert numpy.load(tmp_path / "out/train.npy").tolist() == [[0.0, 1.0], [2.0, 3.0]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (pickled(keyed(other=number(1))), r"train\.pkl is not one of SentEval's pickles: KeyError: 'features'"),
        (pickled(number(1)), r"is not one of SentEval's pickles: TypeError"),
        (coco(array([[1.0]]), [FIVE[:4]]), r"image 0 has 4 captions; expected at least 5"),
        (coco(array([1.0]), [FIVE]), r"features of shape \(1,\); expected finite numbers"),
        (coco(array([[numpy.nan]]), [FIVE]), r"expected finite numbers"),
        (coco(array([[1.0], [2.0]]), [FIVE]), r"KeyError: 1"),
        (coco(array([[1.0]]), [FIVE]).replace(string("b"), number(7), 2), r"TypeError: a caption that is a int"),
    ],
)
def test_pickles_of_something_else_are_refused(pickles, tmp_path, content, message):
    pickles[0].write_bytes(content)
    with pytest.raises(DataError, match=message):
        list(convert(pickles, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_features_that_were_altered_since_are_noticed(pickles, tmp_path):
    list(convert(pickles, tmp_path))
    found = read_layout("ImageCaptionRetrieval", tmp_path)
    numpy.save(tmp_path / "test.npy", numpy.zeros((2, 2), numpy.float32))
    with pytest.raises(DataError, match=r"test\.npy was changed after"):
        images(found, "te")


def test_features_that_are_no_numbers_are_refused(pickles, tmp_path):
    list(convert(pickles, tmp_path))
    numpy.save(tmp_path / "test.npy", numpy.full((2, 2), numpy.inf, numpy.float32))
    with pytest.raises(DataError, match="not finite numbers"):
        images(read_layout("ImageCaptionRetrieval", tmp_path), "te")
