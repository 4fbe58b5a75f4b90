"""Names, files and limits that nobody would use on purpose: an error that says what is wrong, and no traceback."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sentprobe.core.files import map_array
from sentprobe.core.folders import scratch_folder
from sentprobe.core.third_party import summarise_error
from sentprobe.core.unpickle import load as unpickle
from sentprobe.errors import DataError
from tests.command_line import process, sentprobe


@pytest.fixture
def one_set(universal, tmp_path, monkeypatch):
    universal["sentence_length"].save(tmp_path / "sets" / "sentence_length")
    monkeypatch.chdir(tmp_path)
    return "sets"


def expected_error(done, *words):
    assert done.returncode in (1, 2)
    assert "Traceback" not in done.stderr
    assert "This is a bug" not in done.stderr
    for word in words:
        assert word in " ".join(done.stderr.split())


@pytest.mark.parametrize("name", ["builtin:%ff", "npy:a?texts=%ff", "npy:a@%ff"])
def test_names_that_are_not_utf8(one_set, name):
    expected_error(sentprobe("run", one_set, "-e", name, "-o", "r"), "'%ff' has percent-encoded bytes", "UTF-8")
    signature = f"task=a|data=b|enc={name.replace('?', '%3F')}|probe=linear|n=1|split=te|seed=0|sentprobe=0"
    expected_error(sentprobe("repeat", signature), "has bytes that are not UTF-8")


def test_a_name_that_no_file_can_have_does_not_stop_the_other_encoders(one_set):
    done = sentprobe("encode", one_set, "-e", f"npy:{'x' * 300}", "-e", "baseline:hash?dim=4", "-o", "v", "--no-store")
    expected_error(done, "File name too long")
    assert [path.name for path in Path("v").iterdir()] == ["baseline-hash-dim-4"]


def test_vectors_of_an_encoder_with_a_long_name_are_written(one_set):
    Path("own.py").write_text("def encode(texts):\n    return [[len(t), 1.0] for t in texts]\n")
    names = [f"py:{'./' * 200}own.py", f"py:{'./' * 201}own.py"]
    done = sentprobe("encode", one_set, "-e", names[0], "-e", names[1], "-o", "v", "--no-store", "-j", "1")
    assert done.returncode == 0, done.stderr
    assert len(list(Path("v").glob("*/vectors.npy"))) == 2


def headers():
    """Damaged headers of .npy files."""
    good = b"{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }"
    for bad in (
        good.replace(b"(3, 2)", b"(3, "), good.replace(b"'<f4'", b"'\xff'"), good.replace(b"<f4", b"|O"), b"",
        good.replace(b"(3, 2)", b"(99999999999999, 99999999)"), good.replace(b"(3, 2)", b"(-1, 2)"), b"(" * 5000,
        good.replace(b"3", b"9" * 5000), good.replace(b"<f4", b"<f4,(2,3)i4"), b"'" + b"\\" * 9, b"__import__('os')",
    ):  # fmt: skip
        padded = bad + b" " * (118 - len(bad) % 64) + b"\n"
        yield b"\x93NUMPY\x01\x00" + struct.pack("<H", min(len(padded), 65535)) + padded[:65535] + bytes(24)


@pytest.mark.parametrize("number", range(11))
def test_damaged_headers_of_arrays(one_set, number):
    content = list(headers())[number]
    Path("w.npy").write_bytes(content)
    Path("w.txt").write_text("a\nb\nc\n")
    with pytest.raises(ValueError, match=r"\w"):
        map_array("w.npy")
    done = sentprobe("encode", one_set, "-e", "vec:w.npy", "-e", "npy:w.npy?texts=w.txt", "--no-store", "-j", "1")
    expected_error(done, "not encoded: vec:w.npy", "not encoded: npy:w.npy")


def test_an_archive_in_place_of_an_array(tmp_path):
    np.savez(tmp_path / "a.npz", x=np.ones(3))
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    with pytest.raises(ValueError, match="archive"):
        map_array(tmp_path / "a.npy")


def test_names_of_parquet_columns_that_are_not_utf8(tmp_path, monkeypatch):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    monkeypatch.chdir(tmp_path)
    pq.write_table(pa.table({"zzzz": ["He left."], "text": ["a"]}), "t.parquet", compression="none")
    content = Path("t.parquet").read_bytes()
    Path("t.parquet").write_bytes(content.replace(b"zzzz", b"\xff\xfezz"))
    Path("own.py").write_text("def annotate(texts):\n    return []\n")
    expected_error(sentprobe("audit", "t.parquet", "-j", "1"), "t.parquet")
    expected_error(sentprobe("annotate", "t.parquet", "--with", "py:own.py", "-o", "a.conllu"), "t.parquet")


def test_a_lone_surrogate_in_the_key_of_sheets(one_set):
    assert sentprobe("judge", "sample", one_set, "-o", "sheets", "--items", "4").returncode == 0
    key = json.loads(Path("sheets/key.json").read_bytes())
    key["sheets"][0]["items"][0]["text"] += "\ud800"
    Path("sheets/key.json").write_text(json.dumps(key))
    (table,) = Path("sheets").glob("*.tsv")
    expected_error(sentprobe("judge", "read", "sheets", str(table)), "key.json is damaged")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"\x80\x02B\xff\xff\xff\xffx.", "4,294,967,295 bytes, where the file has 2 more"),  # BINBYTES
        (b"\x80\x02X\xff\xff\xff\xffx.", "4,294,967,295 bytes"),  # BINUNICODE
        (b"\x80\x04\x8e" + b"\xff" * 7 + b"\x7fx.", "bytes"),  # BINBYTES8
        (b"\x80\x02\x8b\xff\xff\xff\x7fx.", "2,147,483,647 bytes"),  # LONG4
        (b"\x80\x04\x95" + b"\xff" * 7 + b"\x7fx.", "bytes"),  # FRAME
    ],
)
def test_pickles_that_claim_to_be_large_are_not_believed(tmp_path, content, message):
    (tmp_path / "p").write_bytes(content)
    with pytest.raises(DataError, match=message):
        unpickle(tmp_path / "p")


def test_a_pickle_that_claims_many_objects_takes_no_memory(tmp_path):
    # LONG_BINPUT: the unpickler in C would make room for twice as many objects, 64 GB
    (tmp_path / "p").write_bytes(b"\x80\x02}r\xf0\xff\xff\xff.")
    assert unpickle(tmp_path / "p") == {}


def test_advice_of_other_packages_to_run_code_is_not_passed_on():
    torch_says = (
        "Weights only load failed. In PyTorch 2.6, we changed the default value of the `weights_only` argument in "
        "`torch.load` from `False` to `True`. Re-running `torch.load` with `weights_only` set to `False` will likely "
        "succeed, but it can result in arbitrary code execution. Do it only if you got the file from a trusted source. "
        "Trying to load unsupported GLOBAL posix.system whose module posix is blocked."
    )
    text = summarise_error(RuntimeError(torch_says))
    assert "posix.system" in text
    for word in ("weights_only", "trusted", "succeed"):
        assert word not in text
    assert "trust_remote_code" not in summarise_error(ValueError("Please pass the argument `trust_remote_code=True`."))


# Limits


def test_too_little_memory_is_named(tmp_path):
    (tmp_path / "own.py").write_text("raise MemoryError('9 GB')\n")
    code = "import sys; sys.argv[1:] = ['ls', 'tasks']; import sentprobe.cli as c\n"
    code += "c.make_app = lambda names: (_ for _ in ()).throw(MemoryError('Unable to allocate 9 GB')); c.main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("sentprobe: There is too little memory")
    assert "Unable to allocate 9 GB" in done.stderr
    assert "bug" not in done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="a mutex of glibc stands for a library that does not return")
def test_a_library_that_never_returns_does_not_keep_a_command_from_being_terminated():
    code = (
        "import ctypes, sys\n"
        "from sentprobe.cli import _exits\n"
        "_exits.STUCK_SECONDS = 1\n"
        "def stuck():\n"
        "    mutex, lock = ctypes.create_string_buffer(64), ctypes.CDLL(None).pthread_mutex_lock\n"
        "    lock(mutex)\n"
        "    print('stuck', flush=True)\n"
        "    lock(mutex)\n"
        "sys.exit(_exits.run_to_exit_code(stuck, debug=False))\n"
    )
    command = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert command.stdout.readline() == "stuck\n"
    time.sleep(1)  # until it is
    command.send_signal(signal.SIGTERM)
    _, said = command.communicate(timeout=60)
    assert command.returncode == 143
    assert "SIGTERM; a library has not returned for 1 seconds" in said


# Temporary folders


@pytest.mark.skipif(os.name == "nt", reason="there are no locks on Windows")
def test_the_next_command_removes_the_folders_of_commands_that_were_killed(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    code = (
        "import time\nfrom sentprobe.core.folders import scratch_folder\n"
        "with scratch_folder() as folder:\n    (folder / 'x').touch()\n    print(folder, flush=True)\n"
        "    time.sleep(600)\n"
    )
    commands = [subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    try:
        killed, alive = (Path(command.stdout.readline().strip()) for command in commands)
        commands[0].kill()
        commands[0].wait()
        assert killed.exists()
        (tmp_path / "sentprobe-of-another").mkdir()  # without a lock: nobody knows whose it is
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        with scratch_folder() as own:
            assert not killed.exists()
            assert (alive / "x").exists()
            assert own.exists()
        assert not own.exists()
        assert (tmp_path / "sentprobe-of-another").exists()
    finally:
        for command in commands:
            command.kill()
            command.communicate()


@pytest.mark.skipif(os.name == "nt", reason="there is no SIGKILL on Windows")
def test_make_removes_what_a_killed_make_left(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    words = [sys.executable, "-m", "sentprobe", "make", "--builtin", "60000", "-o", str(tmp_path / "p"), "-j", "1"]
    first = subprocess.Popen(words, stderr=subprocess.DEVNULL)
    until = time.monotonic() + 60
    while not list(tmp_path.glob("sentprobe-*/*-*")) and time.monotonic() < until:
        time.sleep(0.05)
    first.kill()
    first.wait()
    assert list(tmp_path.glob("sentprobe-*"))
    process("make", "-", "-t", "sentence_length", "-o", tmp_path / "q", stdin="A dog barks.\n")
    assert not list(tmp_path.glob("sentprobe-*"))
