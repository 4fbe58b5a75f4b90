import os
import shutil
import signal
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from sentprobe import SentProbeError, load_encoder
from sentprobe.core.files import read_json
from sentprobe.core.folders import locked
from sentprobe.errors import SentProbeWarning, UsageError
from sentprobe.lab.networks.folder import TrainedFolder
from sentprobe.lab.training import loop
from sentprobe.lab.training.history import read_history, read_reports
from sentprobe.lab.training.objective import Chance, guessing
from tests.command_line import sentprobe
from tests.lab.training.tiny import request, same_weights, train, weights, write_pairs

DROPOUT = {"dropout": 0.3}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """A training that was not interrupted, and its request."""
    place = tmp_path_factory.mktemp("whole")
    asked = request(place, settings=DROPOUT)
    train(asked, place / "out")
    return place / "out", asked


class Crash(Exception):
    pass


def crash_at(step):
    def report(one):
        if one.step >= step:
            raise Crash

    return report


def test_training_writes_a_checkpoint_per_epoch_and_marks_the_best(whole):
    folder = TrainedFolder(whole[0])
    assert [c.name for c in folder.checkpoints()] == ["epoch-000", "epoch-001", "epoch-002"]
    by_epoch = {r.epoch: r for r in read_reports(TrainedFolder(whole[0]).job) if r.scores}
    assert sorted(by_epoch) == [1, 2]
    best = max(by_epoch.values(), key=lambda r: (r.scores["accuracy"], -r.epoch))
    assert folder.best().name == best.checkpoint == read_json(whole[0] / "best.json")["checkpoint"]
    assert best.best
    (whole[0] / "best.json").rename(whole[0] / "best.lost")
    assert folder.best().name == best.checkpoint, "the scores are in training.jsonl, too"
    (whole[0] / "best.lost").rename(whole[0] / "best.json")
    assert not (whole[0] / ".data").exists()


def test_the_same_seed_gives_the_same_weights_and_another_one_others(whole, tmp_path):
    out, asked = whole
    train(asked, tmp_path / "again")
    assert same_weights(out, tmp_path / "again", ("epoch-000", "epoch-001", "epoch-002"))
    train(request(tmp_path, settings=DROPOUT, options={"seed": 2, "epochs": 1}), tmp_path / "other")
    assert not same_weights(out, tmp_path / "other", ("epoch-000",))


@pytest.mark.skipif(sys.platform == "win32", reason="no locks")
def test_one_process_at_a_time_trains_in_a_folder(tmp_path):
    (tmp_path / "out").mkdir()
    with locked(tmp_path / "out", tmp_path / "out", UsageError), pytest.raises(UsageError, match="Another process"):
        train(request(tmp_path), tmp_path / "out")
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("step", [2, 4, 6])
def test_a_crash_costs_nothing_but_time(whole, tmp_path, step):
    out, asked = whole
    with pytest.raises(Crash):
        train(asked, tmp_path / "out", crash_at(step))
    train(asked, tmp_path / "out")
    assert same_weights(out, tmp_path / "out")
    steps = [r.step for r in read_reports(TrainedFolder(tmp_path / "out").job) if not r.scores]
    assert steps == sorted(set(steps)), "what was repeated is reported once"


@pytest.mark.parametrize("step", [2, 5])
def test_ctrl_c_within_an_epoch_is_resumed_bit_for_bit(whole, tmp_path, interruptible, step):
    out, asked = whole

    def report(one):
        if one.step == step:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(asked, tmp_path / "out", report)
    facts = loop.load_facts(TrainedFolder(tmp_path / "out").job)
    assert facts["position"]["step"] == step
    train(asked, tmp_path / "out")
    assert same_weights(out, tmp_path / "out")
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_an_interrupted_training_may_be_ended_by_asking_for_fewer_epochs(tmp_path):
    with pytest.raises(Crash):
        train(request(tmp_path), tmp_path / "out", crash_at(6))
    assert "not ended" in (tmp_path / "out" / "card.md").read_text("utf-8")
    train(request(tmp_path, options={"epochs": 1}), tmp_path / "out")
    assert "ended: 1 epoch as requested" in (tmp_path / "out" / "card.md").read_text("utf-8")
    assert read_history(TrainedFolder(tmp_path / "out")).stopped == "1 epoch as requested"
    train(request(tmp_path), tmp_path / "out")
    assert read_history(TrainedFolder(tmp_path / "out")).stopped == "2 epochs as requested"


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGTERM to send")
def test_sigterm_is_saved_first_and_then_does_what_it_did_before(whole, tmp_path, monkeypatch):
    out, asked = whole

    def terminate(number, frame):
        raise Crash(number)

    def report(one):
        if one.step == 3:
            for _ in range(2):  # a launcher sends on what all processes have got
                os.kill(os.getpid(), signal.SIGTERM)

    before = signal.signal(signal.SIGTERM, terminate)
    try:
        with pytest.raises(Crash, match=str(int(signal.SIGTERM))):
            train(asked, tmp_path / "out", report)
        assert signal.getsignal(signal.SIGTERM) is terminate
        assert loop.load_facts(TrainedFolder(tmp_path / "out").job)["position"]["step"] == 3
        monkeypatch.setattr(loop, "AGAIN_SECONDS", -1.0)
        with pytest.raises(Crash):
            train(asked, tmp_path / "again", report)
        assert loop.load_facts(TrainedFolder(tmp_path / "again").job) is None, "a second signal ends training at once"
    finally:
        signal.signal(signal.SIGTERM, before)
    train(asked, tmp_path / "out")
    assert same_weights(out, tmp_path / "out")


def test_all_processes_end_after_the_same_step():
    fellows = SimpleNamespace(num_processes=2, device="cpu", gather=lambda mine: torch.cat((mine, torch.tensor([15]))))
    training = SimpleNamespace(accelerator=fellows, signal=0)
    assert loop._is_interrupted(training)
    assert training.signal == 15
    fellows.gather = lambda mine: torch.cat((mine, mine))
    assert not loop._is_interrupted(SimpleNamespace(accelerator=fellows, signal=0))


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGKILL")
def test_kill_9_is_resumed_bit_for_bit(whole, tmp_path):
    out, asked = whole
    code = (
        "import os, signal, sys\n"
        "from pathlib import Path\n"
        "from tests.lab.training.tiny import request, train\n"
        "asked = request(Path(sys.argv[1]), settings={'dropout': 0.3}, train=(sys.argv[2],), dev=(sys.argv[3],))\n"
        "def report(one):\n"
        "    if one.step == 6: os.kill(os.getpid(), signal.SIGKILL)\n"
        "train(asked, Path(sys.argv[1]) / 'out', report)\n"
    )
    found = subprocess.run([sys.executable, "-c", code, tmp_path, *asked.train, *asked.dev], capture_output=True)
    assert found.returncode == -signal.SIGKILL, found.stderr.decode()
    train(asked, tmp_path / "out")
    assert same_weights(out, tmp_path / "out")


def test_a_finished_training_can_go_on_for_more_epochs(whole, tmp_path):
    out, asked = whole
    train(
        request(tmp_path, settings=DROPOUT, options={"epochs": 1}, train=asked.train, dev=asked.dev), tmp_path / "out"
    )
    before = (tmp_path / "out/epoch-001/model.safetensors").stat().st_mtime_ns
    train(asked, tmp_path / "out")
    assert same_weights(out, tmp_path / "out")
    assert (tmp_path / "out/epoch-001/model.safetensors").stat().st_mtime_ns == before
    reports = len(list(read_reports(TrainedFolder(tmp_path / "out").job)))
    train(asked, tmp_path / "out")
    assert len(list(read_reports(TrainedFolder(tmp_path / "out").job))) == reports, "nothing was left to do"


def test_what_has_learned_nothing_after_three_epochs_is_reported(tmp_path):
    still = request(tmp_path, options={"lr": 0, "epochs": 4})
    with pytest.warns(SentProbeWarning) as warned:
        folder = train(still, tmp_path / "still")
    score = read_history(folder).epochs[2].scores["accuracy"]
    # a third of 30 rows, and 1.645 standard errors: 33.33 + 1.645 * sqrt(0.2222 / 30) * 100 = 47.49
    assert [str(warning.message) for warning in warned] == [
        f"After 3 epochs, accuracy on dev is {score:.1f}, no better than chance (at most 47.5). If it stays so, try a "
        "learning rate ten times as high as --lr 0, or a tenth of it."
    ]
    train(request(tmp_path, options={"lr": 0.01, "epochs": 4}), tmp_path / "learns")  # a warning would be an error


def test_chance_is_not_told_from_a_handful_of_rows():
    assert guessing(0.5, 20).includes(65)  # 50 + 1.645 * sqrt(0.25 / 20) * 100 = 68.4
    assert not guessing(0.5, 20).includes(69)
    assert not guessing(0.5, 19).includes(0)


def test_a_perplexity_is_at_chance_if_all_tokens_are_alike():
    assert Chance(500, maximise=False).includes(510)
    assert not Chance(500, maximise=False).includes(499)


@pytest.mark.filterwarnings("ignore:After 3 epochs")
def test_more_patience_lets_a_training_go_on(tmp_path):
    def asked(patience):
        # nothing is learned, so that no epoch after the first is better
        options = {"lr": 0, "epochs": 5, "patience": patience}
        return request(tmp_path, options=options, train=(pairs,), dev=(pairs,))

    pairs = write_pairs(tmp_path / "train.tsv", 20)
    ends = {}
    for patience in (1, 3, 0):
        folder = train(asked(patience), tmp_path / "out")
        ends[patience] = (folder.checkpoints()[-1].name, read_history(folder).stopped)
    assert ends == {
        1: ("epoch-002", "1 epoch without gain"),
        3: ("epoch-004", "3 epochs without gain"),
        0: ("epoch-005", "5 epochs as requested"),
    }


def test_checkpoints_between_epochs(tmp_path):
    train(request(tmp_path, options={"every": 3, "epochs": 1}), tmp_path / "out")
    found = [(c.name, c.step, c.epoch) for c in TrainedFolder(tmp_path / "out").checkpoints()]
    assert found == [("epoch-000", 0, 0), ("step-000003", 3, 1), ("epoch-001", 4, 1)]
    one, two = (load_encoder(f"trained:{tmp_path / 'out'}?{which}") for which in ("step=3", "epoch=1"))
    assert one.identity != two.identity
    assert not np.allclose(one(["the dog sleeps"]), two(["the dog sleeps"]), atol=1e-6)


@pytest.mark.parametrize("optimiser", ["sgd", "adagrad", "adadelta", "rmsprop"])
def test_every_optimiser_is_resumed_bit_for_bit(tmp_path, interruptible, optimiser):
    asked = request(
        tmp_path,
        options={"optimiser": optimiser, "lr": 0.01, "epochs": 1, **({"momentum": 0.9} if optimiser == "sgd" else {})},
    )
    train(asked, tmp_path / "whole")

    def report(one):
        if one.step == 2:
            os.kill(os.getpid(), signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        train(asked, tmp_path / "out", report)
    train(asked, tmp_path / "out")
    assert same_weights(tmp_path / "whole", tmp_path / "out", ("epoch-001",))


def test_a_loss_that_is_not_finite_ends_training_and_keeps_the_last_checkpoint(tmp_path):
    asked = request(tmp_path, options={"optimiser": "sgd", "lr": 1e30, "clip": 0})
    with pytest.raises(SentProbeError, match=r"The loss is (nan|inf) in step \d+, epoch 1.*epoch-000"):
        train(asked, tmp_path / "out")
    assert np.isfinite(load_encoder(f"trained:{tmp_path / 'out'}?epoch=0")(["the dog sleeps"])).all()


def test_another_request_is_refused(whole, tmp_path):
    out, asked = whole
    with pytest.raises(SentProbeError, match=r"has an encoder with hidden 8, and this is 9:"):
        train(request(tmp_path, settings={**DROPOUT, "hidden": 9}, train=asked.train, dev=asked.dev), out)
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.tex").write_text("years of work")
    with pytest.raises(SentProbeError, match=r"thesis.tex, which was not written by `sentprobe train`"):
        train(asked, tmp_path / "mine")


def test_other_word_vectors_are_refused(tmp_path):
    pairs = write_pairs(tmp_path / "train.tsv")
    words = sorted({word.strip(".,?!") for word in (tmp_path / "train.tsv").read_text().split()})

    def asked(seed, epochs):
        vectors = np.random.default_rng(seed).normal(size=(len(words), 12))
        lines = (f"{word} {' '.join(f'{x:.3f}' for x in row)}" for word, row in zip(words, vectors, strict=True))
        (tmp_path / "words.vec").write_text("\n".join([f"{len(words)} 12", *lines]) + "\n")
        more = {"train": (pairs,), "dev": (pairs,), "vectors": str(tmp_path / "words.vec")}
        return request(tmp_path, options={"epochs": epochs}, **more)

    train(asked(1, 1), tmp_path / "out")
    before = (tmp_path / "out/vectors.npy").read_bytes()
    with pytest.raises(SentProbeError, match=r"words\.vec \(vectors\) has changed since the training in .* began"):
        train(asked(2, 2), tmp_path / "out")
    assert (tmp_path / "out/vectors.npy").read_bytes() == before
    train(asked(1, 2), tmp_path / "out")
    assert (tmp_path / "out/epoch-002").is_dir()


@pytest.mark.skipif(sys.platform == "win32", reason="folders are not locked")
def test_two_trainings_do_not_share_a_folder(whole, tmp_path):
    out, asked = whole
    refused = []

    def report(one):
        if one.step == 2:
            with pytest.raises(SentProbeError, match=r"Another process is writing to .*out; wait for it"):
                train(asked, tmp_path / "out")
            refused.append(one.step)

    train(asked, tmp_path / "out", report)
    assert refused == [2]
    assert same_weights(out, tmp_path / "out")


def test_a_full_disk_loses_nothing(whole, tmp_path, monkeypatch):
    out, asked = whole
    real = os.fsync

    def full(number):
        raise OSError(28, "No space left on device")

    def report(one):
        if one.step == 5:
            monkeypatch.setattr(os, "fsync", full)

    with pytest.raises(SentProbeError, match="No space left on device"):
        train(asked, tmp_path / "out", report)
    monkeypatch.setattr(os, "fsync", real)
    train(asked, tmp_path / "out")
    assert same_weights(out, tmp_path / "out")


def test_damaged_states_are_named(whole, tmp_path):
    _, asked = whole
    with pytest.raises(Crash):
        train(asked, tmp_path / "out", crash_at(5))
    file = tmp_path / "out/resume.safetensors"
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(SentProbeError, match=r"resume\.safetensors has changed since .*delete it and repeat"):
        train(asked, tmp_path / "out")


def test_two_processes_learn_what_one_does(whole, tmp_path):
    # without dropout, which is drawn in each process; sums in another order differ in the last digits
    pairs, dev = write_pairs(tmp_path / "train.tsv"), write_pairs(tmp_path / "dev.tsv", 30, 1)
    words = [
        "train", "nli", "-a", "bilstm-max", "--train", pairs, "--dev", dev, "--set", "hidden=8",
        "--set", "head=16", "--width", "12", "--optimiser", "adam", "--batch", "16", "--epochs", "2",
    ]  # fmt: skip
    found = sentprobe(*words, "-o", tmp_path / "one")
    assert found.returncode == 0, found.stderr
    # accelerate's launcher would start one process only where there is no GPU
    launch = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "-m", "sentprobe"]
    found = subprocess.run([sys.executable, *launch, *words, "-o", tmp_path / "two"], capture_output=True, text=True)
    assert found.returncode == 0, found.stderr
    one, two = weights(tmp_path / "one", "epoch-002"), weights(tmp_path / "two", "epoch-002")
    assert one.keys() == two.keys()
    for key in one:
        np.testing.assert_allclose(one[key], two[key], atol=2e-4)
    assert len(list(read_reports(TrainedFolder(tmp_path / "two").job))) == len(
        list(read_reports(TrainedFolder(tmp_path / "one").job))
    )


def test_a_loss_that_rises_is_reported(tmp_path):
    asked = request(tmp_path, options={"optimiser": "sgd", "lr": 20.0, "clip": 5.0, "epochs": 1})
    with pytest.warns(SentProbeWarning, match=r"The loss rises: \S+ in the first step, \S+ in epoch 1"):
        train(asked, tmp_path / "out")


def test_the_state_of_another_training_is_refused(whole, tmp_path):
    # same shapes and data, another seed: its weights would go on as if they were of this one
    _, asked = whole
    other = request(tmp_path, settings=DROPOUT, options={"seed": 2}, train=asked.train, dev=asked.dev)
    for one, name in ((asked, "one"), (other, "two")):
        with pytest.raises(Crash):
            train(one, tmp_path / name, crash_at(5))
    shutil.copy(tmp_path / "two/resume.safetensors", tmp_path / "one/resume.safetensors")
    with pytest.raises(SentProbeError, match=r"one/resume\.safetensors has changed since `sentprobe train` wrote it"):
        train(asked, tmp_path / "one")
