"""The examples of docs/train.md: an architecture and an objective of another package, found by their entry points."""

import re
from pathlib import Path

import pytest

from sentprobe import load_encoder
from sentprobe.lab.networks.folder import TrainedFolder
from tests.command_line import sentprobe
from tests.lab.training.tiny import sentences
from tests.plugins import plugin  # noqa: F401 - a fixture

PAGE = Path(__file__).parents[3] / "docs/train.md"
WORDS = ("word-order", "-a", "deep-average", "--set", "hidden=8", "--width", 8, "--train", "text.txt", "--held-out", 20,
         "--epochs", 2, "--batch", 16, "--lr", 0.01)  # fmt: skip


@pytest.fixture
def parts(plugin):  # noqa: F811
    """The files that the page shows, installed as the page says."""
    shown = dict(re.findall(r'^```python title="(\S+)"\n(.*?)^```$', PAGE.read_text("utf-8"), re.MULTILINE | re.DOTALL))
    plugin("architectures", shown["deep_average.py"])
    plugin("objectives", shown["word_order.py"])


def test_parts_of_another_package_are_listed_trained_and_loaded(parts, tmp_path):
    (tmp_path / "text.txt").write_text("".join(f"{text}\n" for text in sentences(100)), "utf-8")
    for what, name in (("architectures", "deep-average"), ("objectives", "word-order")):
        assert re.search(rf"^{name} ", sentprobe("ls", what).stdout, re.MULTILINE)
    done = sentprobe("train", *WORDS, "-o", "out", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("best:     epoch ")
    config = TrainedFolder(tmp_path / "out").config
    assert config["rows"]["train"]["used"] + config["rows"]["dev"]["used"] == 100
    assert load_encoder(f"trained:{tmp_path / 'out'}")(["A sentence ."]).shape == (1, 8)
