"""Sealed folders: what was edited, damaged, swapped or lost is found, and a kill leaves a whole folder."""

import json
import os
import random
import shutil
import subprocess
import sys

import pytest

from sentprobe.core.hashing import b2sum
from sentprobe.core.job_folder import JobFolder
from sentprobe.core.seal import is_sealed, line_checksum, seal_line
from sentprobe.errors import DataError, UsageError

COMMAND = "sentprobe train"


def job_at(path):
    return JobFolder(path, COMMAND, lambda name: f"Restore {name}.")


@pytest.fixture
def job(tmp_path):
    made = job_at(tmp_path / "job")
    with made.writing():
        made.write({"a/one.bin": b"one"}, {"epoch": 1})
        made.write({"two.json": b'{"x": 2}'})
        for i in range(4):
            made.append("log.jsonl", {"i": i})
    return job_at(made.path)


def test_what_was_written_is_read_back(job):
    job.verify_all()
    assert job.read("a/one.bin") == b"one"
    assert job.about("a/one.bin") == {"epoch": 1}
    assert job.read_json("two.json") == {"x": 2}
    assert job.log("log.jsonl") == [{"i": i} for i in range(4)]
    assert job.names("a/") == ["a/one.bin"]
    assert [job.about("nothing"), job.is_there("nothing"), job.is_there("two.json")] == [None, False, True]


def test_digests_are_those_of_b2sum(job):
    """BLAKE2b-512 of "abc" from RFC 7693, appendix A."""
    with job.writing():
        job.write({"abc": b"abc"})
    rfc = (
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
        "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
    )
    assert job.verify("abc").blake2b == b2sum(job.path / "abc") == rfc


@pytest.mark.parametrize("name", ["a/one.bin", "two.json", "log.jsonl", "checksums.json"])
def test_every_byte_counts(job, name):
    file = job.path / name
    content = file.read_bytes()
    for place in range(len(content)):
        changed = bytearray(content)
        changed[place] ^= 1 << place % 8
        file.write_bytes(changed)
        if name == "checksums.json" and content[place : place + 1].isspace():
            continue  # of this document, all values count
        with pytest.raises(DataError, match=name):
            job_at(job.path).verify_all()
    file.write_bytes(content)
    for size in range(len(content)):
        file.write_bytes(content[:size])
        with pytest.raises(DataError, match=name):
            job_at(job.path).verify_all()


def test_messages_name_the_file_and_what_to_do(job):
    (job.path / "a/one.bin").write_bytes(b"two")
    with pytest.raises(
        DataError, match=r"a/one\.bin has changed since `sentprobe train` wrote it\. Restore a/one\.bin"
    ):
        job.read("a/one.bin")
    (job.path / "a/one.bin").unlink()
    with pytest.raises(DataError, match=r"a/one\.bin, which `sentprobe train` wrote, is missing\. Restore a/one\.bin"):
        job.read("a/one.bin")
    (job.path / "other").write_bytes(b"")
    with pytest.raises(DataError, match=r"other was not written by `sentprobe train`"):
        job.verify("other")


@pytest.mark.parametrize(
    "edit",
    [lambda lines: lines[1:], lambda lines: lines[:-1], lambda lines: [*lines, lines[-1]],
     lambda lines: [lines[0], *lines], lambda lines: [lines[1], lines[0], *lines[2:]], lambda lines: [],
     lambda lines: [lines[0], *lines[2:]], lambda lines: [lines[0].replace(b'"i": 0', b'"i": 7'), *lines[1:]],
     lambda lines: [seal_line(b'{"i": 0, "x": 1}') + b"\n", *lines[1:]],
     lambda lines: [*lines, seal_line(b'{"i": 4}') + b"\n"]],
)  # fmt: skip
def test_lines_are_not_removed_repeated_moved_or_added(job, edit):
    file = job.path / "log.jsonl"
    file.write_bytes(b"".join(edit(file.read_bytes().splitlines(keepends=True))))
    with pytest.raises(DataError, match=r"log\.jsonl:\d has changed"):
        job.log("log.jsonl")


def test_the_log_of_another_folder_is_refused(job, tmp_path):
    other = job_at(tmp_path / "other")
    with other.writing():
        for i in range(9):
            other.append("log.jsonl", {"i": 10 + i})
    shutil.copy(other.path / "log.jsonl", job.path / "log.jsonl")
    with pytest.raises(DataError, match=r"log\.jsonl:4 has changed"):
        job.log("log.jsonl")


def test_a_line_is_sealed_together_with_the_one_before():
    first = seal_line(b'{"a": 1}')
    second = seal_line(b'{"a": 2}', line_checksum(first))
    assert is_sealed(first)
    assert is_sealed(second, line_checksum(first))
    assert not is_sealed(second)
    assert json.loads(second)["checksum"] == line_checksum(second)


def test_a_line_that_was_being_written_is_dropped(job):
    with (job.path / "log.jsonl").open("ab") as file:
        file.write(b'{"i": 4, "chec')
    assert len(job.log("log.jsonl")) == 4
    with job.writing():
        job.append("log.jsonl", {"i": 4})
    assert job_at(job.path).log("log.jsonl") == [{"i": i} for i in range(5)]


def test_lines_after_the_last_state_count_and_are_checked(job):
    before = (job.path / "checksums.json").read_bytes()
    with job.writing():
        job.append("log.jsonl", {"i": 4})
    (job.path / "checksums.json").write_bytes(before)  # killed before it was brought up to date
    assert len(job_at(job.path).log("log.jsonl")) == 5
    file = job.path / "log.jsonl"
    file.write_bytes(file.read_bytes().replace(b'"i": 4', b'"i": 5'))
    with pytest.raises(DataError, match=r"log\.jsonl:5 has changed"):
        job_at(job.path).log("log.jsonl")


def test_a_log_is_cut(job):
    with job.writing():
        job.cut("log.jsonl", 2)
        job.append("log.jsonl", {"i": 9})
    assert job_at(job.path).log("log.jsonl") == [{"i": 0}, {"i": 1}, {"i": 9}]


def test_files_may_be_removed_and_some_may_be_gone(job):
    with job.writing():
        job.remove("two.json")
        job.remove("two.json")
    assert job_at(job.path).about("two.json") is None
    job_at(job.path).verify_all()
    shutil.rmtree(job.path / "a")
    job_at(job.path).verify_all(lambda name: name.startswith("a/"))
    assert job_at(job.path).about("a/one.bin") == {"epoch": 1}
    with pytest.raises(DataError, match=r"one\.bin, which .* is missing"):
        job_at(job.path).verify_all()


def test_another_process_may_be_writing(job):
    assert job.read_json("two.json") == {"x": 2}  # it has read the checksums
    writer = job_at(job.path)
    with writer.writing():
        writer.write({"two.json": b'{"x": 3}'})
        writer.cut("log.jsonl", 1)
        assert job.read_json("two.json") == {"x": 3}
        assert job.log("log.jsonl") == [{"i": 0}]
        with pytest.raises(UsageError, match="Another process is writing"), job_at(job.path).writing():
            pass


def test_a_file_that_is_read_twice_is_hashed_once(job, monkeypatch):
    calls = []
    monkeypatch.setattr("sentprobe.core.job_folder.b2sum", lambda file: calls.append(file) or b2sum(file))
    assert job.read("two.json") == job.read("two.json")
    job.verify("two.json")
    assert len(calls) == 1
    assert job.is_unchanged()
    (job.path / "two.json").write_bytes(b'{"x": 3}')
    assert not job.is_unchanged()
    (job.path / "two.json").unlink()
    assert not job.is_unchanged()


def test_other_folders_and_other_requests_are_refused(job, tmp_path):
    job.check_own()
    job_at(tmp_path / "new").check_own()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "poem.txt").touch()
    with pytest.raises(UsageError, match=r"full has poem\.txt, which was not written by `sentprobe train`"):
        job_at(tmp_path / "full").check_own()
    job_at(tmp_path / "full").check_own({"poem.txt"})
    with pytest.raises(UsageError, match="is a file; name a folder"):
        job_at(tmp_path / "full" / "poem.txt").check_own()
    job.check_same("an encoder", {"a": 1, "b": 2}, {"a": 1, "b": 3}, {"a"})
    with pytest.raises(UsageError, match=r"has an encoder with max length \(none\), and this is 1,2: choose another"):
        job.check_same("an encoder", {"max_length": []}, {"max_length": [1, 2]}, {"max_length"})


def test_a_refused_command_leaves_no_checksums(tmp_path):
    job = job_at(tmp_path / "job")
    with pytest.raises(UsageError), job.writing():
        raise UsageError("refused")
    assert list(job.path.iterdir()) == []


@pytest.fixture
def growing(tmp_path):
    made = job_at(tmp_path / "job.part")
    with made.writing():
        made.extend({"text": b"one ", "trees": b""}, {"pieces": 1})
        made.extend({"text": b"two "}, {"pieces": 2})
    return job_at(made.path)


def test_a_growing_file_goes_as_far_as_its_facts(growing):
    file = growing.path / "text"
    assert growing.facts == {"pieces": 2}
    assert growing.grown("text").blake2b == b2sum(b"one two ")
    with file.open("ab") as more:
        more.write(b"thr")  # by a process that was killed
    with growing.writing():
        assert file.read_bytes() == b"one two "
        growing.extend({"text": b"three"}, {"pieces": 3})
    again = job_at(growing.path)
    again.verify_all()
    assert (again.facts, again.grown("text").bytes, file.read_bytes()) == ({"pieces": 3}, 13, b"one two three")


def test_growing_files_count_together_or_not_at_all(growing, monkeypatch):
    from sentprobe.core import job_folder

    def full(path, content):
        if path.name == "trees":
            raise DataError("No space left on device")
        with path.open("ab") as file:
            file.write(content)

    monkeypatch.setattr(job_folder, "append_durably", full)
    with pytest.raises(DataError, match="No space left"), growing.writing():
        growing.extend({"text": b"three", "trees": b"(S three)"}, {"pieces": 3})
    again = job_at(growing.path)
    assert (again.facts, again.grown("text").bytes, again.grown("trees").bytes) == ({"pieces": 2}, 8, 0)
    with again.writing():
        assert (growing.path / "text").read_bytes() == b"one two "


@pytest.mark.parametrize("content", [b"one tw0 ", b"one", b"", None])
def test_a_growing_file_that_has_changed_is_refused(growing, content):
    file = growing.path / "text"
    file.unlink() if content is None else file.write_bytes(content)
    with pytest.raises(DataError, match="text"):
        growing.verify_all()
    with pytest.raises(DataError, match="text"), growing.writing():
        pass


def test_complete_files_are_moved_out_even_if_that_is_interrupted(growing, tmp_path, monkeypatch):
    targets, replace, moved = {"text": "corpus", "trees": "corpus.trees"}, type(growing.path).replace, []

    def crash(part, to):
        if to.name == "corpus.trees" and not moved:
            moved.append(to)
            raise KeyboardInterrupt
        return replace(part, to)

    monkeypatch.setattr(type(growing.path), "replace", crash)
    with pytest.raises(KeyboardInterrupt), growing.writing():
        growing.move_out(targets)
    assert (tmp_path / "corpus").exists() != (tmp_path / "corpus.trees").exists()
    again = job_at(growing.path)
    again.verify_all()
    (tmp_path / "corpus").write_bytes(b"one two more")
    with pytest.raises(DataError, match="corpus has changed"):
        again.verify_all()
    (tmp_path / "corpus").write_bytes(b"one two ")
    with again.writing():
        again.move_out(targets)
        again.dissolve()
    assert [(tmp_path / name).read_bytes() for name in targets.values()] == [b"one two ", b""]
    assert list(growing.path.iterdir()) == []


def test_names_do_not_lead_out_of_the_folder(job):
    from sentprobe.core.seal import seal_document

    seal = json.loads((job.path / "checksums.json").read_text())
    seal["files"]["../secret"] = seal["files"]["two.json"]
    (job.path / "checksums.json").write_bytes(seal_document(seal))
    with pytest.raises(DataError, match=r"checksums\.json is damaged: it names \.\./secret, which is outside"):
        job.verify_all()


KILLED = """
import os, sys
from pathlib import Path
import sentprobe.core.files as files, sentprobe.core.job_folder as module
from sentprobe.core.job_folder import JobFolder

left = int(sys.argv[2])
def dying(real):  # the process is killed before or after one of the calls that reach the disk
    def call(*args, **more):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)
        found = real(*args, **more)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), 9)
        return found
    return call
os.fsync, Path.replace, Path.unlink = dying(os.fsync), dying(Path.replace), dying(Path.unlink)
job = JobFolder(Path(sys.argv[1]), "sentprobe train")
with job.writing():
    job.verify_all()
    done = len(job.log("log.jsonl"))
    for i in range(done, 3):
        job.write({f"epoch-{i}": b"%d" % i * 9, "best": b"%d" % i, "state": b"state %d" % i}, {"i": i})
        job.append("log.jsonl", {"i": i})
    job.remove("best")
    job.cut("log.jsonl", 2)
    job.append("log.jsonl", {"i": 2})
"""


def test_a_kill_at_any_moment_leaves_a_whole_folder(tmp_path):
    """After a kill at each of its disk operations, the same program goes on, and ends with the same files."""

    def run(path, left):
        return subprocess.run([sys.executable, "-c", KILLED, str(path), str(left)], capture_output=True, text=True)

    def content(path):
        return {p.name: p.read_bytes() for p in path.iterdir()}

    assert run(tmp_path / "whole", 0).returncode == 0
    expected, kills = content(tmp_path / "whole"), 0
    for left in random.Random(5).sample(range(1, 45), 10):
        path = tmp_path / f"killed-{left}"
        found = run(path, left)
        if found.returncode == 0:
            continue
        assert found.returncode == -9, found.stderr
        kills += 1
        if (path / "checksums.json").exists():
            job_at(path).verify_all()
        again = run(path, 0)
        assert again.returncode == 0, again.stderr
        assert content(path) == expected
    assert kills >= 8


def test_a_full_disk_leaves_a_whole_folder(job, monkeypatch):
    real = os.fsync

    def full(number):
        raise OSError(28, "No space left on device")

    with job.writing():
        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(DataError, match="No space left on device"):
            job.append("log.jsonl", {"i": 4})
        monkeypatch.setattr(os, "fsync", real)
    assert len(job_at(job.path).log("log.jsonl")) == 4
    job_at(job.path).verify_all()
