"""Copying an encoder into another language."""

import json

import pytest
import torch

from sonde.errors import UsageError
from sonde.training.objectives.align import pair_losses
from sonde.training.request import make_request
from tests.training.tiny import SIZES, same_weights, sentences, train, write_pairs
from tests.training.tiny import request as nli_request


def toy(text):
    """The sentence in a language with another word order and other words."""
    return " ".join(word[::-1] for word in reversed(text.split()))


@pytest.fixture(scope="module")
def teacher(tmp_path_factory):
    folder = tmp_path_factory.mktemp("teacher")
    train(nli_request(folder), folder / "en")
    return folder / "en"


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    file = tmp_path_factory.mktemp("pairs") / "pairs.tsv"
    file.write_text("".join(f"{text}\t{toy(text)}\n" for text in sentences(150)))
    return str(file)


def request(teacher, pairs, epochs=3, hidden=8, **settings):
    options = {"batch": 16, "epochs": epochs, "lr": 0.01, "patience": 0}
    given = {**SIZES, "hidden": hidden, "teacher": f"trained:{teacher}", **settings}
    return make_request("align", "bilstm-max", settings=given, options=options, width=12, train=(pairs,), held_out=30)


def scores(folder):
    lines = map(json.loads, (folder / "training.jsonl").read_text().splitlines())
    return [line["scores"] for line in lines if line.get("scores")]


@pytest.mark.parametrize("shift", [1, 2, 4])
def test_the_losses_are_those_of_the_papers(shift):
    x, y = torch.randn(5, 3, generator=torch.manual_seed(0)), torch.randn(5, 3, generator=torch.manual_seed(1))
    norm, squared, ranking = (pair_losses(x, y, shift, loss, 0.25, 1.0) for loss in ("norm", "squared", "ranking"))
    for i in range(5):
        other = (i - shift) % 5
        near, one, two = ((a - b).norm() for a, b in ((x[i], y[i]), (x[other], y[i]), (x[i], y[other])))
        assert norm[i].item() == pytest.approx((near - 0.25 * (one + two)).item(), abs=1e-5)
        assert squared[i].item() == pytest.approx((near**2 - 0.25 * (one**2 + two**2)).item(), abs=1e-5)
        expected = max(0, 1 - two.item() + near.item()) + max(0, 1 - one.item() + near.item())
        assert ranking[i].item() == pytest.approx(expected, abs=1e-5)


def test_equal_vectors_have_a_gradient():
    x = torch.zeros(2, 3)
    y = torch.zeros(2, 3, requires_grad=True)
    pair_losses(x, y, 0, "norm", 0.25, 1.0).sum().backward()
    assert torch.isfinite(y.grad).all()


def test_the_student_comes_nearer_to_the_teacher(teacher, pairs, tmp_path):
    train(request(teacher, pairs, epochs=6, negatives=0.0), tmp_path / "toy")
    found = scores(tmp_path / "toy")
    assert found[-1]["alignment loss"] < 0.8 * found[0]["alignment loss"]


def test_the_classifier_of_the_teacher_chooses(teacher, pairs, tmp_path):
    nli = tmp_path / "toy-nli.tsv"
    write_pairs(tmp_path / "nli.tsv", 30, 2)
    lines = (tmp_path / "nli.tsv").read_text().splitlines()
    rows = [line.split("\t") for line in lines]
    nli.write_text("".join(f"{toy(one)}\t{toy(two)}\t{label}\n" for one, two, label in rows) + "a\tb\t-\n")
    train(request(teacher, pairs, xnli=str(nli)), tmp_path / "toy")
    found = scores(tmp_path / "toy")
    assert all(0 <= one["XNLI accuracy"] <= 100 for one in found)
    assert json.loads((tmp_path / "toy" / "config.json").read_text())["selection"] == "XNLI accuracy"


def test_an_interrupted_training_goes_on_bit_for_bit(teacher, pairs, tmp_path):
    asked = request(teacher, pairs, epochs=2)
    train(asked, tmp_path / "whole")

    def stop(line):
        if line.get("epoch") == 1 and "scores" in line:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        train(asked, tmp_path / "parts", stop)
    train(asked, tmp_path / "parts")
    assert same_weights(tmp_path / "whole", tmp_path / "parts")


def test_a_teacher_of_another_size_is_refused(teacher, pairs, tmp_path):
    with pytest.raises(UsageError, match=r"has 16 dimensions and the encoder 20"):
        train(request(teacher, pairs, hidden=10), tmp_path / "toy")


def test_a_teacher_is_needed_and_for_xnli_one_with_a_classifier(teacher, pairs, tmp_path):
    with pytest.raises(UsageError, match="teacher=trained:FOLDER"):
        train(request(teacher, pairs, **{"teacher": ""}), tmp_path / "a")
    with pytest.raises(UsageError, match="trained with nli"):
        train(request(teacher, pairs, hidden=128, **{"teacher": "static:", "xnli": pairs}), tmp_path / "b")
