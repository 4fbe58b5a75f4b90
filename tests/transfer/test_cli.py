"""`sentprobe data`, as a user meets it."""

import gc
import hashlib
import io
import json
import shlex
import sys
from dataclasses import replace

import numpy
import pytest

from sentprobe.cli import main
from sentprobe.transfer import check
from sentprobe.transfer import remote_sets as table
from sentprobe.transfer.remote_sets import RemoteFile, RemoteSet
from tests import command_line
from tests.corpus.treebanks import mill
from tests.data.layouts.files import FILES, write
from tests.transfer.pickles import array, coco

FIVE = ["a", "b", "c", "d", "e"]


@pytest.fixture
def sentprobe(monkeypatch, capsys):
    def run(*words, typed=None):
        keyboard = io.StringIO(typed)
        keyboard.isatty = lambda: typed is not None
        monkeypatch.setattr(sys, "argv", ["sentprobe", *map(str, words)])
        monkeypatch.setattr(sys, "stdin", keyboard)
        with pytest.raises(SystemExit) as ended:
            main()
        said = capsys.readouterr()
        return ended.value.code, said.out, said.err

    threshold = gc.get_threshold()
    yield run
    gc.set_threshold(*threshold)  # which the command line sets for itself


@pytest.fixture
def films(server, monkeypatch):
    """A set of the published size on a server, and one to be fetched by hand."""
    half = b"".join(b"film %d .\n" % i for i in range(5331))
    found = tuple(
        RemoteFile((server.serve(f"/{name}", half),), 200_000, hashlib.sha256(half).hexdigest(), "the test", to=name)
        for name in ("rt-polarity.pos", "rt-polarity.neg")
    )
    held = {
        "MR": RemoteSet("MR", ("MR",), "downstream/MR", "Free for all.", "http://films.invalid/", found, then="Enjoy."),
        "MRPC": table.remote_sets()["MRPC"],
    }
    monkeypatch.setattr(table, "remote_sets", lambda: held)
    return held


def test_a_set_is_fetched_and_checked_once_its_licence_is_accepted(sentprobe, films, tmp_path):
    code, out, err = sentprobe("data", "get", "MR", "-o", tmp_path)
    assert code == 1
    assert "MR: Free for all.\n  http://films.invalid/" in err
    assert "must be accepted before anything is downloaded: add --yes" in err
    assert list(tmp_path.iterdir()) == []
    code, out, err = sentprobe("data", "get", "MR", "-o", tmp_path, "--yes")
    assert (code, out.split()[-5:]) == (0, ["valid", "te", "10,662", "same", "2"])
    assert "MR: Enjoy." in err
    assert sentprobe("data", "get", "MR", "-o", tmp_path)[0] == 0  # it is there, so nothing is asked
    code, out, _ = sentprobe("data", "check", tmp_path)
    assert code == 0
    assert "downstream/MR" in out
    assert "not found: CR, SUBJ" in out


PROBING_SIZES = {"tr": 40, "va": 10, "te": 10}


def probing_set(number):
    """One of SentEval's probing sets, in its format, much smaller."""
    rows = [(split, i) for split, n in PROBING_SIZES.items() for i in range(n)]
    return "".join(f"{s}\t{'ab'[i % 2]}\tThe {s} mill number{number} turns {i} times .\n" for s, i in rows).encode()


@pytest.fixture
def probing(server, monkeypatch):
    """SentEval's ten probing sets on a server, with checksums of git."""
    real = table.remote_sets()["probing"]
    contents = {file.to: probing_set(i) for i, file in enumerate(real.files)}
    served = tuple(
        RemoteFile((server.serve(f"/{name}", content),), 100_000, to=name, git_blob=mill.blob(content))
        for name, content in contents.items()
    )
    monkeypatch.setattr(table, "remote_sets", lambda: {"probing": replace(real, files=served)})
    monkeypatch.setattr(check, "_PROBING_SIZES", PROBING_SIZES)
    return contents


def test_the_probing_sets_have_one_name_and_lead_to_a_run(probing, server, tmp_path):
    # the first is interrupted; the command line waits before it goes on
    server.pages["/bigram_shift.txt"].cut = [100]
    done = command_line.sentprobe("data", "get", "probing", "-o", "my data", "--yes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert ("/bigram_shift.txt", "bytes=100-") in server.asked
    assert done.stdout.count("valid") == 10
    assert "accepted without verification" not in done.stderr
    assert {path.name: path.read_bytes() for path in (tmp_path / "my data/probing").iterdir()} == probing
    (command,) = [line.removeprefix("next: ") for line in done.stderr.splitlines() if line.startswith("next: ")]
    assert command == "sentprobe run -e static: -d 'my data/probing' -o my-run"
    ran = command_line.sentprobe(*shlex.split(command)[1:], cwd=tmp_path)
    assert ran.returncode == 0, ran.stderr
    assert sum(name.removesuffix(".txt") in ran.stdout for name in probing) == 10


def test_a_probing_set_that_is_not_that_of_the_commit_is_refused(probing, server, tmp_path):
    server.serve("/tree_depth.txt", probing_set(99))
    done = command_line.sentprobe("data", "get", "probing", "-o", "data", "--yes", "--trust", cwd=tmp_path)
    assert done.returncode == 1
    assert (
        f"tree_depth.txt has changed: expected git checksum {mill.blob(probing['tree_depth.txt'])}, got" in done.stderr
    )
    assert not (tmp_path / "data/probing").exists()


def test_all_ten_probing_sets_are_known_by_their_checksums():
    place = table.remote_sets()["probing"]
    assert {file.to.removesuffix(".txt") for file in place.files} == set(check.PROBING_TASKS.values())
    assert len({file.git_blob for file in place.files if file.has_checksum}) == 10


def test_on_a_terminal_one_is_asked(sentprobe, films, server, tmp_path):
    code, _, err = sentprobe("data", "get", "MR", "-o", tmp_path, typed="\n")
    assert code == 1
    assert "The terms were not accepted; nothing was downloaded" in err
    assert server.asked == []
    code, _, err = sentprobe("data", "get", "MR", "-o", tmp_path, typed="y\n")
    assert code == 0
    assert "Download MR on these terms? [y/N]" in err


def test_a_set_to_be_fetched_by_hand_says_how_and_the_others_are_fetched(sentprobe, films, tmp_path):
    code, out, err = sentprobe("data", "get", "MRPC", "MR", "-o", tmp_path, "-y")
    assert code == 2
    assert "MRPC must be downloaded by hand" in err
    assert str(tmp_path / "downstream/MRPC") in err
    assert "10,662" in out


def test_files_taken_on_trust_are_told_with_their_sums(sentprobe, films, tmp_path):
    films["MR"] = RemoteSet(
        "MR", ("MR",), "downstream/MR", "", "", tuple(RemoteFile(f.urls, f.limit, to=f.to) for f in films["MR"].files)
    )
    code, _, err = sentprobe("data", "get", "all", "-o", tmp_path, "-y")
    assert code == 1
    assert "no checksum is known for it" in err
    code, _, err = sentprobe("data", "get", "all", "-o", tmp_path, "-y", "--trust")
    assert code == 0
    assert err.count("accepted without verification: http://127.0.0.1") == 2


@pytest.mark.parametrize("how", ["flag", "environment"])
def test_offline_is_an_error_at_once(sentprobe, films, server, tmp_path, monkeypatch, how):
    if how == "environment":
        monkeypatch.setenv("SENTPROBE_OFFLINE", "1")
    code, _, err = sentprobe("data", "get", "MR", "-o", tmp_path, *(["--offline"] if how == "flag" else []))
    assert code == 1
    assert "the network may not be used" in err
    assert server.asked == []


def test_without_a_name_the_table_is_shown(sentprobe, tmp_path):
    code, out, _ = sentprobe("data", "get", "-o", tmp_path)
    assert code == 0
    states = {line.split()[0]: " ".join(line.split()[1:3]) for line in out.splitlines()[1:]}
    assert states["SNLI"] == "to download"
    assert states["COCO"].startswith("by hand")


def test_an_unknown_name_is_refused(sentprobe, tmp_path):
    code, _, err = sentprobe("data", "get", "MRR", "-o", tmp_path)
    assert code == 1
    assert "Did you mean MR?" in err


def test_check_ends_with_1_if_a_set_is_not_sound_and_speaks_json(sentprobe, tmp_path):
    write(tmp_path, {name: text for name, text in FILES.items() if name.startswith("TREC")})
    code, out, _ = sentprobe("data", "check", tmp_path)
    assert code == 1
    assert "error  rows are not as published: tr 2 instead of 5,452, te 1 instead of 500 (Li and Roth 2002)" in out
    code, out, _ = sentprobe("data", "check", tmp_path, "--format", "json")
    assert code == 1
    assert json.loads(out)["sets"][0]["rows"] == {"tr": 2, "te": 1}


def test_pickles_are_converted(sentprobe, tmp_path):
    paths = [tmp_path / f"{name}.pkl" for name in ("train", "valid", "test")]
    for path in paths:
        path.write_bytes(coco(array([[1.0, 2.0, 3.0]]), [FIVE]))
    code, out, _ = sentprobe("data", "convert-coco", *paths, "-o", tmp_path / "COCO")
    assert code == 0
    assert out.count("1 images, 3 features each") == 3
    assert numpy.load(tmp_path / "COCO/test.npy").tolist() == [[1.0, 2.0, 3.0]]
    paths[0].write_bytes(b"cos\nsystem\n(S'true'\ntR.")
    code, _, err = sentprobe("data", "convert-coco", *paths, "-o", tmp_path / "COCO")
    assert code == 1
    assert "refers to os.system" in err
