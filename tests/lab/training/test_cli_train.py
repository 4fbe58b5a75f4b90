"""`sentprobe train` as a user sees it: its help, its lists, what it prints, and how it ends."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import fields
from inspect import signature

import pytest

from sentprobe.core.install import pip_install
from sentprobe.encoders import Spec
from sentprobe.lab.cli._training import TrainingDisplay
from sentprobe.lab.cli.train import train as verb
from sentprobe.lab.networks import ARCHITECTURES
from sentprobe.lab.networks.folder import TrainedFolder
from sentprobe.lab.training import OBJECTIVES
from sentprobe.lab.training.card import encoder_name
from sentprobe.lab.training.history import TrainingReport, read_reports
from sentprobe.lab.training.request import TrainingRequest
from sentprobe.lab.training.schedule import TrainingOptions
from sentprobe.lab.training.train import join_processes
from tests.command_line import PLAIN, sentprobe
from tests.lab.training.tiny import same_weights, write_pairs

TINY = ("nli", "-a", "bilstm-max", "--set", "hidden=8", "--set", "head=8", "--width", 12, "--optimiser", "adam",
        "--batch", 16, "--patience", 0, "--held-out", 15)  # fmt: skip


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A folder with training data."""
    folder = tmp_path_factory.mktemp("train")
    write_pairs(folder / "pairs.tsv")
    return folder


def train(place, *words):
    return sentprobe("train", *TINY, "--train", "pairs.tsv", *words, cwd=place)


@pytest.fixture(scope="module")
def done(place):
    """A training of two epochs, and what it printed."""
    return train(place, "--epochs", 2, "-o", "out")


def test_help(snapshot):
    done = sentprobe("train", "--help")
    assert done.returncode == 0
    assert done.stdout == snapshot


def test_everything_that_can_be_requested_is_an_option():
    known = {name.rstrip("_") for name in signature(verb).parameters}
    assert {field.name for field in fields(TrainingOptions)} <= known
    assert "architecture" in known  # of the encoder, which is what `-e` selects elsewhere
    made_of_others = {"encoder", "options", "encoder_settings", "objective_settings"}
    assert {field.name for field in fields(TrainingRequest)} - made_of_others <= known


def test_the_lists_have_every_part_with_its_settings():
    done = sentprobe("train", "--list")
    assert done.returncode == 0, done.stderr
    for part in (*ARCHITECTURES, *OBJECTIVES):
        assert f"\n{part} " in done.stdout
    assert "hidden=512" in done.stdout
    assert "text1, text2, label" in " ".join(done.stdout.split())
    for what in ("architectures", "objectives", "presets"):
        assert sentprobe("ls", what).returncode == 0


def test_the_list_of_one_part_explains_its_settings():
    listed = sentprobe("train", "nli", "-a", "bilstm-max", "--list").stdout
    assert "With --optimiser sgd (the default): lr 0.1, decay 0.99" in listed
    assert "clip-lr yes" in listed
    rows = {line.split()[0]: line for line in listed.splitlines() if line}
    assert rows["hidden"].split()[1] == "512"
    assert "units per direction" in rows["hidden"]
    assert "yes or no" in rows["nonlinear"]


def test_the_list_of_a_preset_says_what_it_chooses():
    listed = sentprobe("train", "--preset", "conneau2018/bilstm-max-4m", "--list").stdout
    assert "Encoder: bilstm-max: hidden 256, layers 2.\nWords: projection 1024.\nTraining: " in listed
    assert "For nli: head 100, head_layers 1, nonlinear yes." in listed


@pytest.mark.parametrize("name", ["plain", "two words", "é", "a@b", "what?", "100%", "a&b=c"])
def test_a_printed_name_means_the_folder(name):
    assert Spec.parse(encoder_name(name)).path == name


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ((), "Name an objective, such as nli"),
        (("nlu", "-o", "new"), "There is no objective 'nlu'. Did you mean nli?"),
        (("nli", "-a", "bilstm_max", "-o", "new"), "There is no architecture 'bilstm_max'. Did you mean bilstm-max"),
        (("nli", "-o", "new"), "Name an architecture: --architecture with one of "),
        (("nli", "-a", "bilstm-max"), "Name the folder to write to: -o FOLDER."),
        (("nli", "-a", "bilstm-max", "--set", "hiden=9", "-o", "new"), "Did you mean hidden?"),
        (("nli", "-a", "bilstm-max", "--set", "hidden", "-o", "new"), "--set hidden: expected KEY=VALUE"),
        (("nli", "-a", "bilstm-max", "--set", "hidden=many", "-o", "new"), "hidden=many: expected an integer, 1 or"),
        (("nli", "-a", "bilstm-max", "--set", "head=2", "--set", "head=3", "-o", "new"), "contradict each other"),
        (("nli", "-a", "bilstm-max", "--words", 0, "-o", "new"), "--words 0: expected an integer, 1 or more."),
        (("nli", "-a", "bilstm-max", "--held-out", -1, "-o", "new"), "--held-out -1: expected an integer, 0 or more."),
        (("nli", "-a", "bilstm-max", "--seed", "-1", "-o", "new"), "expected an integer from 0 to 2147483647."),
        (("nli", "-a", "bilstm-max", "--fine-tune", "-o", "new"), "--fine-tune is for given word vectors"),
        (
            ("nli", "-a", "bilstm-max", "--optimiser", "adm", "-o", "new"),
            "--optimiser=adm: expected one of sgd, adam, ",
        ),
        (("nli", "-a", "bilstm-max", "--lr", "-1", "-o", "new"), "--lr=-1.0: expected a number, 0 or more."),
        (("nli", "-a", "bilstm-max", "--preset", "none", "-o", "new"), "There is no preset 'none'."),
        (("nli", "-a", "bilstm-max", "-o", "new"), "Name training data: --train, with pairs with a label"),
        (("nli", "-a", "bilstm-max", "--train", "pairs.tsv", "-o", "new"), "There is no dev data"),
        (("nli", "-a", "bilstm-max", "--train", "gone.tsv", "--held-out", "3", "-o", "new"), "gone.tsv"),
    ],
)
def test_wrong_use_says_what_to_do_and_writes_nothing(place, words, message):
    done = sentprobe("train", *words, cwd=place)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert not (place / "new").exists()


@pytest.mark.parametrize("package", ["torch", "accelerate"])
def test_what_is_not_installed_is_said_before_anything_else(package, monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, package, None)
    for words in (("train", "--list"), ("train", "nli", "-a", "nothing", "-o", tmp_path / "out"), ("ls", "objectives")):
        done = sentprobe(*words)
        assert done.returncode == 1
        assert f"Training needs {package}, which cannot be imported" in done.stderr
        assert pip_install("train") in done.stderr
    assert not (tmp_path / "out").exists()


def test_a_pipe_gets_a_line_per_epoch_and_a_summary(place, done):
    assert done.returncode == 0, done.stderr
    announced, *lines = done.stderr.splitlines()
    assert announced == "Training bilstm-max for nli on pairs.tsv, at most 2 epochs; writing to out/"
    assert [line.split("  ")[0] for line in lines] == ["epoch 1/2", "epoch 2/2"]
    reports = [report for report in read_reports(TrainedFolder(place / "out").job) if report.checkpoint]
    for line, report in zip(lines, reports, strict=True):
        assert f"loss {report.loss:.4f}" in line
        assert f"accuracy {report.scores['accuracy']:.1f}" in line
        assert ("best so far" in line) == report.best
    best = [report for report in reports if report.best][-1]
    assert done.stdout.splitlines()[0] == f"best:     epoch {best.epoch}, accuracy {best.scores['accuracy']:.1f} on dev"
    assert done.stdout.splitlines()[1].endswith("ended: 2 epochs as requested")
    assert "sentprobe run -e trained:out -d SETS" in done.stdout


def test_a_finished_folder_says_so_and_more_epochs_go_on(place, done):
    before = {path: path.stat().st_mtime_ns for path in (place / "out").rglob("*")}
    again = train(place, "--epochs", 2, "-o", "out")
    assert again.returncode == 0
    assert again.stdout.splitlines()[0] == "out/ is finished; nothing was trained."
    assert again.stdout.splitlines()[1:] == done.stdout.splitlines()
    assert again.stderr == ""
    assert {path: path.stat().st_mtime_ns for path in (place / "out").rglob("*")} == before
    more = train(place, "--epochs", 3, "-o", "out")
    assert [line.split("  ")[0] for line in more.stderr.splitlines()[1:]] == ["epoch 3/3"]
    assert "ended: 3 epochs as requested" in more.stdout


def test_data_that_have_changed_are_refused(place, tmp_path):
    write_pairs(tmp_path / "pairs.tsv")
    one = ("--epochs", 1, "-o", "out")
    assert train(tmp_path, *one).returncode == 0
    write_pairs(tmp_path / "pairs.tsv", seed=5)
    done = train(tmp_path, "--epochs", 2, "-o", "out")
    assert done.returncode == 1
    assert "pairs.tsv (train) has changed since the training in out began" in done.stderr


def test_ctrl_c_ends_with_130_and_the_same_command_goes_on_bit_for_bit(place, tmp_path):
    words = [*map(str, TINY), "--train", str(place / "pairs.tsv")]
    # a shell starts its background jobs with interrupts ignored, and they would inherit that
    code = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler); import sentprobe.cli as s; s.main()"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, "train", *words, "--epochs", "1000", "-o", "out"],
        cwd=tmp_path, stderr=subprocess.PIPE, text=True, env={**os.environ, **PLAIN},
    )  # fmt: skip
    deadline = time.monotonic() + 120
    job = TrainedFolder(tmp_path / "out").job
    while not (job.is_begun and any(read_reports(job))) and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Repeat the command to go on with the training in out/." in errors
    assert "interrupted; what was already written is kept, and the same command resumes" in errors
    assert "Traceback" not in errors
    epochs = str(max(report.epoch for report in read_reports(TrainedFolder(tmp_path / "out").job)) + 1)
    names = tuple(f"epoch-{number:03d}" for number in range(int(epochs) + 1))
    assert sentprobe("train", *words, "--epochs", epochs, "-o", "out", cwd=tmp_path).returncode == 0
    assert sentprobe("train", *words, "--epochs", epochs, "-o", "whole", cwd=tmp_path).returncode == 0
    assert same_weights(tmp_path / "out", tmp_path / "whole", names)


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_terminal_gets_one_line_that_is_gone_at_the_end(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    with TrainingDisplay(4) as display:
        display.report(TrainingReport(1, 5, 5, 10, 1.25, 0.1, 2000.0, 3.0))
        display.report(TrainingReport(1, 10, 10, 10, 1.5, 0.1, 2100.0, 6.0, {"accuracy": 51.26}, True, "epoch-001"))
        display.report(TrainingReport(2, 15, 5, 10, 0.75, 0.1, 2200.0, 3.0))
    shown = terminal.getvalue()
    assert "epoch 2/4" in shown
    assert "loss 0.7500 · accuracy 51.3 · 2,200 words/s" in shown
    assert "left" in shown
    assert "best so far" not in shown
    assert shown.endswith("\x1b[2K") or "\x1b[2K" in shown[-40:]


def test_the_time_left_is_that_of_all_steps_at_the_speed_so_far(monkeypatch):
    now = 100.0
    monkeypatch.setattr("sentprobe.lab.cli._training.time.monotonic", lambda: now)
    display = TrainingDisplay(3)
    display.report(TrainingReport(1, 5, 5, 10, 1.0, 0.1, 1.0))
    assert display.time_left(now) == ""
    now = 110.0
    display.report(TrainingReport(1, 7, 7, 10, 1.0, 0.1, 1.0))
    # 3 steps of this epoch and 20 of the others, at 5 seconds each
    assert display.time_left(now) == "· 0:01:55 left"
    assert display.time_left(now + 200) == "· 0:00:00 left"


def test_only_the_main_process_of_several_prints(monkeypatch, place, done):
    monkeypatch.setenv("RANK", "1")
    again = train(place, "--epochs", 2, "-o", "out")
    assert (again.returncode, again.stdout, again.stderr) == (0, "", "")


def test_processes_on_a_cpu_work_together(monkeypatch):
    monkeypatch.delenv("ACCELERATE_USE_CPU", raising=False)
    monkeypatch.setattr("torch.cuda.is_available", lambda: False)
    assert not join_processes()
    assert "ACCELERATE_USE_CPU" not in os.environ
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("ACCELERATE_USE_CPU", "")  # put back at the end
    monkeypatch.delenv("ACCELERATE_USE_CPU")
    assert join_processes()
    assert os.environ["ACCELERATE_USE_CPU"] == "true"


def test_show_has_the_facts_and_the_curve_in_every_format(place, done):
    reports = [report for report in read_reports(TrainedFolder(place / "out").job) if report.checkpoint]
    table = sentprobe("show", place / "out").stdout
    assert table.splitlines()[0].split()[:2] == ["encoder", "bilstm-max"]
    assert table.count(" * ") == 1
    for report in reports:
        assert f" {report.loss:.4f} " in table
    markdown = sentprobe("show", place / "out", "--format", "md").stdout
    assert "| epoch | step | loss | accuracy | learning rate | words/s | seconds |" in markdown
    header, *rows = sentprobe("show", place / "out", "--format", "csv").stdout.splitlines()
    assert header == "epoch,step,loss,lr,words,seconds,checkpoint,best,dev_accuracy"
    assert [row.split(",")[6] for row in rows] == [report.checkpoint for report in reports]
    facts = json.loads(sentprobe("show", place / "out", "--format", "json").stdout)
    assert [epoch["scores"] for epoch in facts["epochs"]] == [report.scores for report in reports]
    assert facts["best"] in [report.checkpoint for report in reports if report.best]
    assert facts["size"] == 16
    assert "\\toprule" in sentprobe("show", place / "out", "--format", "tex").stdout
    wrong = sentprobe("show", place / "out", "--examples", 3)
    assert (wrong.returncode, wrong.stderr.count("the only option for it is --format")) == (1, 1)


def test_show_needs_no_torch(place, done):
    code = (
        "import sys; sys.argv = ['sentprobe', 'show', 'out']\n"
        "from sentprobe.cli import main\n"
        "try: main()\n"
        "except SystemExit as e: assert e.code == 0\n"
        "assert not {'torch', 'accelerate', 'safetensors'} & set(sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True, cwd=place, stdout=subprocess.DEVNULL)
