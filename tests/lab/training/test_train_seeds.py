"""Several seeds of one training: a folder for each, and one encoder of a run."""

import pytest

from sentprobe.encoders import encoder_info, load
from sentprobe.lab.networks.folder import TrainedFolder
from sentprobe.report.summary import summarise
from sentprobe.results.compare import compare
from sentprobe.run import evaluate
from tests.command_line import sentprobe
from tests.lab.training.tiny import same_weights, write_pairs
from tests.run.sets import dataset

WORDS = ("train", "nli", "-a", "bow-mean", "--train", "train.tsv", "--held-out", "12", "--width", "8", "--epochs", "1")
SET = dataset("own/rows", n=(80, 30, 120))


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeds")
    write_pairs(folder / "train.tsv", 40)
    done = sentprobe(*WORDS, "--seeds", 2, "-o", "nli", cwd=folder)
    assert done.returncode == 0, done.stderr
    assert "sentprobe run -e nli=trained:'nli/seed-*' -d SETS" in done.stdout
    assert "with seed 1112, at most 1 epoch; writing to nli/seed-1112/" in done.stderr
    return folder


def test_each_seed_is_a_training_of_its_own(place):
    assert [path.name for path in sorted((place / "nli").iterdir())] == ["seed-1111", "seed-1112"]
    seeds = [
        TrainedFolder(place / "nli" / f"seed-{seed}").config["request"]["options"]["seed"] for seed in (1111, 1112)
    ]
    assert seeds == [1111, 1112]
    done = sentprobe(*WORDS, "--seed", 1112, "-o", "alone", cwd=place)
    assert done.returncode == 0, done.stderr
    assert same_weights(place / "alone", place / "nli" / "seed-1112", ["epoch-001"])
    assert not same_weights(place / "alone", place / "nli" / "seed-1111", ["epoch-001"])


def test_the_same_command_resumes_and_more_seeds_are_added(place):
    before = {path: path.stat().st_mtime_ns for path in (place / "nli").glob("*/model.safetensors")}
    done = sentprobe(*WORDS, "--seeds", 3, "-o", "nli", cwd=place)
    assert done.stdout.count("nothing was trained") == 2
    assert "writing to nli/seed-1113/" in done.stderr
    assert {path: path.stat().st_mtime_ns for path in before} == before


def test_trainings_are_probed_as_one_encoder(place, monkeypatch):
    monkeypatch.chdir(place)
    run = evaluate(
        ["nli=trained:nli/seed-*", "static:?dim=64"], SET, "run", baselines=["majority"], resample=10,
        controls=["untrained"],
    )  # fmt: skip
    summary = summarise(run)
    assert [column.label[0] for column in summary.columns] == ["nli", "static:?dim=64"]
    assert list(summary.sets[0].cells[0].trainings)[:2] == ["seed-1111", "seed-1112"]
    identities = {encoder_info(load(f"trained:nli/seed-{seed}")).identity for seed in (1111, 1112)}
    assert len(identities) == 2
    assert "untrained" in {variant.name for variant in summary.sets[0].variants[0]}
    (pair,) = compare(run, "nli", "static:")
    assert pair.first_trainings >= 2
    assert pair.second_trainings == 1


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--seeds", 0, "-o", "nothing"), "--seeds of 1 or more"),
        (("-o", "nli"), "nli has the folders of several seeds"),
        (("--seeds", 2, "-o", "nli/seed-1111"), "nli/seed-1111 has a single training"),
    ],
)
def test_one_training_and_several_are_not_mixed(place, words, message):
    failed = sentprobe(*WORDS, *words, cwd=place)
    assert failed.returncode == 1
    assert message in " ".join(failed.stderr.split())
    assert not (place / "nothing").exists()
