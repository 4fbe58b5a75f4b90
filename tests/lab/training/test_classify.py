import math

import numpy as np
import pytest

pytest.importorskip("torch")
pytest.importorskip("accelerate")

from sentprobe.errors import CorpusError, DataError
from tests.lab.training.prepared import different, learn_by_heart, prepare, request, write

SIZES = {"hidden": 16, "head": 32}


def labelled(path, classes, count=50):
    return write(path, [(text, f"class {i % classes}") for i, text in enumerate(different(count))])


@pytest.mark.parametrize("classes", [2, 5])
def test_fifty_sentences_are_learned_by_heart(tmp_path, classes):
    source = labelled(tmp_path / "texts.tsv", classes)
    prepared = prepare(tmp_path / "data", request("classify", "bilstm-max", source, dev=(source,), settings=SIZES))
    assert learn_by_heart(prepared, 30) == {"accuracy": 100}
    assert prepared.facts["classes"] == [f"class {i}" for i in range(classes)]


def test_loss_at_the_start(tmp_path):
    source = labelled(tmp_path / "texts.tsv", 5)
    prepared = prepare(tmp_path / "data", request("classify", "bilstm-max", source, dev=(source,), settings=SIZES))
    loss = prepared.model(prepared.streams[0].collate(np.arange(50)))
    assert loss.total.item() / loss.units == pytest.approx(math.log(5), rel=0.03)


def test_labels_of_dev_must_be_those_of_training(tmp_path):
    source = labelled(tmp_path / "texts.tsv", 2)
    other = write(tmp_path / "dev.tsv", [("a cat", "class 0"), ("a dog", "class 7")])
    with pytest.raises(CorpusError, match=r"dev\.tsv:2: got the label 'class 7'; expected one of .*: class 0, class 1"):
        prepare(tmp_path / "data", request("classify", "bilstm-max", source, dev=(other,), settings=SIZES))


def test_one_class_is_refused(tmp_path):
    source = labelled(tmp_path / "texts.tsv", 1)
    with pytest.raises(DataError, match=r"all labels are 'class 0'; expected two classes or more"):
        prepare(tmp_path / "data", request("classify", "bilstm-max", source, dev=(source,), settings=SIZES))
