"""What was edited in the folder of a training is not used, and not resumed with; what may be deleted is not missed."""

import json
import shutil

import pytest

from sentprobe.encoders import load
from sentprobe.errors import DataError
from sentprobe.lab.networks.folder import TrainedFolder, open_folder
from sentprobe.lab.training.history import read_history, why_finished
from sentprobe.lab.training.train import train
from tests.lab.training.lm.tiny import request as lm_request
from tests.lab.training.tiny import request, same_weights

WEIGHTS = "model.safetensors"


class Crash(Exception):
    pass


def crash(report):
    if report.epoch == 2:
        raise Crash


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A finished training, one that was interrupted in its second epoch, and a language model."""
    path = tmp_path_factory.mktemp("sealed")
    train(request(path), path / "done")
    with pytest.raises(Crash):
        train(request(path), path / "begun", crash)
    (path / "texts").mkdir()
    train(lm_request(path / "texts", train=(f"en={write_texts(path)}",), held_out=8), path / "lm")
    return path


def write_texts(path):
    from tests.lab.training.lm.tiny import sentences, write

    return write(path / "texts" / "one.en", sentences(50))


@pytest.fixture
def copy(place, tmp_path):
    return lambda name: shutil.copytree(place / name, tmp_path / name)


def test_a_best_checkpoint_that_was_edited_during_an_interruption_is_not_kept(place, copy):
    folder = copy("begun")
    best = json.loads((folder / "best.json").read_text())
    (folder / "best.json").write_text(json.dumps({**best, "checkpoint": "epoch-000"}))
    what = r"best\.json has changed since `sentprobe train` wrote it\. Restore it, or delete it: training\.jsonl has"
    with pytest.raises(DataError, match=what):
        train(request(place), folder)
    with pytest.raises(DataError, match=what):
        load(f"trained:{folder}")
    (folder / "best.json").unlink()
    done = train(request(place), folder)
    assert same_weights(folder, place / "done")
    assert done.best() == open_folder(place / "done").best()


def test_weights_of_another_epoch_and_edited_scores_are_refused(place, copy):
    folder = copy("done")
    shutil.copy(folder / "epoch-000" / WEIGHTS, folder / "epoch-001" / WEIGHTS)
    with pytest.raises(DataError, match=r"epoch-001/model\.safetensors has changed .* delete the folder epoch-001"):
        load(f"trained:{folder}?epoch=1")
    with pytest.raises(DataError, match=r"epoch-001/model\.safetensors has changed"):
        train(request(place), folder)  # a finished folder is compared, too
    shutil.rmtree(folder / "epoch-001")
    train(request(place), folder)
    load(f"trained:{folder}?epoch=2")
    log = folder / "training.jsonl"
    lines = log.read_text().splitlines(keepends=True)
    number = next(i for i, line in enumerate(lines) if "accuracy" in line)
    lines[number] = lines[number].replace('"accuracy": ', '"accuracy": 9')
    log.write_text("".join(lines))
    for use in (lambda: load(f"trained:{folder}?epoch=2"), lambda: read_history(open_folder(folder))):
        with pytest.raises(DataError, match=rf"training\.jsonl:{number + 1} has changed since"):
            use()


def test_a_checkpoint_of_another_training_is_not_taken_for_one_of_this(place, copy):
    folder = copy("begun")
    shutil.copytree(place / "done" / "epoch-002", folder / "epoch-002")
    with pytest.raises(DataError, match=r"epoch-002/model\.safetensors was not written by `sentprobe train`"):
        train(request(place), folder)
    with pytest.raises(DataError, match=r"epoch-002/model\.safetensors was not written"):
        load(f"trained:{folder}?epoch=2")


def test_a_state_that_was_deleted_costs_nothing_after_the_end_and_all_before(place, copy):
    folder = copy("done")
    (folder / "resume.safetensors").unlink()
    assert why_finished(TrainedFolder(folder)) == "2 epochs as requested"
    folder = copy("begun")
    (folder / "resume.safetensors").unlink()
    reports = []
    train(request(place), folder, reports.append)
    assert reports[0].epoch == 1
    assert same_weights(folder, place / "done")


def test_a_folder_of_an_earlier_format_is_named_as_such(copy):
    folder = copy("done")
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps({**config, "format": 2}))
    (folder / "checksums.json").unlink()
    with pytest.raises(DataError, match=r"has the format 2; this version of sentprobe reads 3"):
        load(f"trained:{folder}")


@pytest.mark.parametrize("within", ["", "/epoch-002"])
def test_a_language_model_is_compared_under_any_name(copy, within):
    pytest.importorskip("transformers")
    folder = copy("lm")
    load(f"hf:{folder}{within}")
    for name in ("tokenizer_config.json", "config.json", WEIGHTS):
        file = folder / f".{within}" / name
        content = file.read_bytes()
        file.write_bytes(content.replace(b"e", b"f", 1))
        with pytest.raises(DataError, match=rf"{name} has changed since `sentprobe train` wrote it"):
            load(f"hf:{folder}{within}")
        file.unlink()
        with pytest.raises(Exception, match=name):
            load(f"hf:{folder}{within}")
        file.write_bytes(content)
    added = folder / f".{within}" / "added_tokens.json"
    added.write_text('{"the": 3}')
    with pytest.raises(DataError, match=r"added_tokens\.json was not written by `sentprobe train`"):
        load(f"hf:{folder}{within}")
    added.unlink()
    load(f"hf:{folder}{within}")
