"""What is printed to install an extra, by how sentprobe was installed."""

import json
import os
import subprocess
import sys
from importlib import metadata

import pytest

import sentprobe
from sentprobe.core import install
from sentprobe.core.install import pip_install

QUOTE = '"' if os.name == "nt" else "'"
REQUIRES = [
    "numpy<3,>=2",
    'accelerate<2,>=1.2; extra == "train"',
    'torch<3,>=2.6; extra == "train"',
    "spacy<4,>=3.8; extra == 'annotate'",
    "sentprobe[annotate,train]; extra == 'all'",
    "pandas<4,>=2.2; extra == 'all'",
]


def installed(monkeypatch, tmp_path, *, origin=None, version="0.1.0.dev0", requires=REQUIRES):
    """Pretend that sentprobe was installed like this, and is not used in a clone."""

    class Distribution:
        def read_text(self, name):
            assert name == "direct_url.json"
            return json.dumps(origin) if origin else None

    Distribution.requires = requires

    def distribution(name):
        if requires is None:
            raise metadata.PackageNotFoundError(name)
        return Distribution()

    monkeypatch.setattr(metadata, "distribution", distribution)
    monkeypatch.setattr(install, "CHECKOUT", tmp_path / "site-packages")
    monkeypatch.setattr(sentprobe, "__version__", version)


@pytest.mark.parametrize(("about", "flag"), [({}, ""), ({"editable": True}, "-e ")])
def test_from_a_clone_it_names_the_clone(monkeypatch, tmp_path, about, flag):
    clone = tmp_path / "a clone"
    clone.mkdir()
    installed(monkeypatch, tmp_path, origin={"url": clone.as_uri(), "dir_info": about})
    assert pip_install("train") == f"pip install {flag}{QUOTE}{clone}[train]{QUOTE}"
    monkeypatch.chdir(clone)
    assert pip_install("train") == f"pip install {flag}{QUOTE}.[train]{QUOTE}"


def test_used_in_place_it_names_the_clone(monkeypatch, tmp_path):
    installed(monkeypatch, tmp_path, requires=None)
    monkeypatch.setattr(install, "CHECKOUT", tmp_path)
    (tmp_path / "pyproject.toml").touch()
    monkeypatch.chdir(tmp_path)
    assert pip_install("train") == f"pip install {QUOTE}.[train]{QUOTE}"


def test_from_a_file_or_an_address_it_names_that(monkeypatch, tmp_path):
    wheel = tmp_path / "sentprobe-0.1.0-py3-none-any.whl"
    installed(monkeypatch, tmp_path, origin={"url": wheel.as_uri(), "archive_info": {}})
    assert pip_install("use") == f"pip install {QUOTE}{wheel}[use]{QUOTE}"
    address = "https://example.org/sentprobe.git"
    installed(monkeypatch, tmp_path, origin={"url": address, "vcs_info": {"vcs": "git"}})
    assert pip_install("use") == f"pip install {QUOTE}sentprobe[use] @ {address}{QUOTE}"


def test_the_index_is_named_by_released_versions_only(monkeypatch, tmp_path):
    installed(monkeypatch, tmp_path, version="0.1.0")
    assert pip_install("train") == f"pip install {QUOTE}sentprobe[train]{QUOTE}"
    installed(monkeypatch, tmp_path)
    assert pip_install("train") == f"pip install {QUOTE}accelerate<2,>=1.2{QUOTE} {QUOTE}torch<3,>=2.6{QUOTE}"
    assert pip_install("all").replace(QUOTE, "") == (
        "pip install spacy<4,>=3.8 accelerate<2,>=1.2 torch<3,>=2.6 pandas<4,>=2.2"
    )


def test_this_installation_can_follow_it():
    extra = pip_install("fast")
    words = [sys.executable, "-m", *extra.replace(QUOTE, "").split(), "--dry-run", "--no-deps", "--no-index", "--quiet"]
    done = subprocess.run([*words, "--no-build-isolation"], capture_output=True, text=True)
    assert "Invalid requirement" not in done.stderr
    assert "does not exist" not in done.stderr
    assert "does not provide the extra" not in done.stderr
