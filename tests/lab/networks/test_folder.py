"""The folder of a trained encoder: which checkpoint a name means, and that the same weights are the same encoder."""

import shutil

import pytest

from sentprobe.encoders import load
from sentprobe.errors import DataError
from tests.lab.networks.folders import sealed, write_folder

pytest.importorskip("torch")
pytest.importorskip("safetensors")


def test_no_other_checkpoint_is_taken_for_the_best(tmp_path):
    copy = write_folder(tmp_path / "nli-8").path
    shutil.rmtree(copy / "epoch-002")
    with pytest.raises(DataError, match=r"has no epoch-002, the best checkpoint .* such as \?epoch=3\."):
        load(f"trained:{copy}")
    load(f"trained:{copy}?epoch=3")


def test_an_untrained_network_is_not_taken_for_a_trained_one(tmp_path):
    folder = write_folder(tmp_path / "begun", 0)
    (folder.path / "best.json").unlink()
    config = {**folder.config, "trains": True, "request": {"options": {"epochs": 3}}}
    sealed(folder.path, config=config)
    with pytest.raises(DataError, match=r"no checkpoint after training yet: .* \?epoch=0"):
        load(f"trained:{folder.path}")
    load(f"trained:{folder.path}?epoch=0")
    sealed(folder.path, config={**config, "request": {"options": {"epochs": 0}}})
    load(f"trained:{folder.path}")


def test_the_same_weights_have_the_same_identity(tmp_path):
    one, two = (write_folder(tmp_path / name / "nli-8") for name in ("one", "two"))
    for name in ("epoch-000", "epoch-003"):
        first, second = (folder.path / name / "model.safetensors" for folder in (one, two))
        assert first.read_bytes() == second.read_bytes()
    assert load(f"trained:{one.path}").identity == load(f"trained:{two.path}").identity
