"""The store gives back what was put in, or nothing, whatever happens to its files.

``python tests/encoders/test_store.py 100`` kills a hundred writing processes instead of the twenty of the suite.
"""

import errno
import hashlib
import inspect
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import warnings
import zlib
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.encoders.identity import Identity
from sentprobe.encoders.store import Store, StoreWarning, default_root, shard
from sentprobe.encoders.store import store as module
from sentprobe.encoders.store.shard import HEADER
from sentprobe.errors import ShapeError, UsageError

ONE = Identity.of("st", "one", layer=6)
TWO = Identity.of("st", "one", layer=7)


def vectors(texts, dimension=64):
    """Vectors that can be told from their texts."""
    raw = b"".join(hashlib.blake2b(t.encode("utf-8", "surrogatepass")).digest() for t in texts)
    return np.frombuffer(raw, np.uint8).reshape(len(texts), 64)[:, :dimension].astype(np.float32)


def batch(who, number, size=1500):
    return [f"text {i} of batch {number} by {who}" for i in range(size)]


def child(code, *arguments, before=(), **more):
    """A process that knows Store, ONE, vectors and batch."""
    head = (
        "import hashlib, json, os, signal, subprocess, sys, warnings\nimport numpy as np\nfrom pathlib import Path\n"
        "from sentprobe.encoders.identity import Identity\nfrom sentprobe.encoders.store import Store, shard as files\n"
        "from sentprobe.encoders.store import store as module\n"
        "ONE = Identity.of('st', 'one', layer=6)\n"
    )
    program = head + inspect.getsource(vectors) + inspect.getsource(batch) + code
    command = [*before, sys.executable, "-c", program, *map(str, arguments)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)


def answer(process):
    """What a child printed last, after it ended well."""
    out, err = process.communicate()
    assert process.returncode == 0, err
    return json.loads(out.splitlines()[-1])


def shards(store):
    return sorted(store.root.rglob("*.shard"))


def leftovers(store):
    return list(store.root.rglob("*.part"))


def check(store, texts, *, dimension=64, identity=ONE):
    """Which are found; all of those are right, and the others are zeros."""
    found, got = store.read(identity, texts)
    assert found.shape == (len(texts),)
    if got.shape[1]:
        assert (got[found] == vectors(texts, dimension)[found]).all()
        assert not got[~found].any()
    else:
        assert not found.any()
    return found


@contextmanager
def noting():
    """The store's warnings, and no others."""
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        noted = []
        yield noted
    assert {m.category for m in met} <= {StoreWarning}
    noted += [str(m.message) for m in met]


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "store")


# what goes in comes out


def test_what_was_written_is_found_and_nothing_else(store):
    assert store.write(ONE, ["a", "b"], vectors(["a", "b"]))
    assert check(store, ["b", "c", "a", "b"]).tolist() == [True, False, True, True]
    assert check(Store(store.root), ["b", "c", "a", "b"]).tolist() == [True, False, True, True]
    assert leftovers(store) == []


def test_an_empty_store_finds_nothing(store):
    found, got = store.read(ONE, ["a", "b"])
    assert found.tolist() == [False, False]
    assert got.shape == (2, 0)
    assert store.ls() == []
    assert store.evict() == 0
    assert not store.root.exists()


def test_no_texts_are_no_file(store):
    assert store.write(ONE, [], np.zeros((0, 4), np.float32))
    assert not store.root.exists()
    store.write(ONE, ["a"], vectors(["a"]))
    found, got = store.read(ONE, [])
    assert (found.shape, got.shape) == ((0,), (0, 64))


texts_of_any_kind = st.lists(st.text(st.characters()), max_size=12)  # st.characters() has lone surrogates


@given(st.lists(texts_of_any_kind, max_size=4), texts_of_any_kind)
def test_it_gives_back_what_was_put_in_whatever_the_chunking(chunks, others):
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder))
        written = set()
        for chunk in chunks:
            assert store.write(ONE, chunk, vectors(chunk))
            written.update(chunk)
            asked = [*others, *written, *chunk, ""]
            assert check(store, asked).tolist() == [t in written for t in asked]
        assert not Store(store.root).read(TWO, list(written))[0].any()


@given(
    st.lists(st.integers(0, 4999), max_size=300), st.sampled_from([1, 7, 64]), st.sampled_from([64, 1 << 13, 1 << 20])
)
def test_any_rows_in_any_order_are_read_right(many, wanted, dimension, block):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shard, "BLOCK_BYTES", block)
        found, got = Store(many).read(Identity.of("many", str(dimension)), [f"text {i}" for i in wanted])
    assert found.all()
    assert (got == vectors([f"text {i}" for i in wanted], dimension)).all()


@pytest.fixture(scope="session")
def many(tmp_path_factory):
    """Five thousand texts in three shards, with vectors of several sizes."""
    root = tmp_path_factory.mktemp("many")
    for dimension in (1, 7, 64):
        for a, b in ((0, 10), (10, 3000), (3000, 5000)):
            texts = [f"text {i}" for i in range(a, b)]
            Store(root).write(Identity.of("many", str(dimension)), texts, vectors(texts, dimension))
    return root


def test_numbers_come_back_bit_by_bit(store):
    odd = np.array([[np.nan, -0.0, np.inf, 1e-45]], np.float32)
    store.write(ONE, ["a"], odd)
    assert store.read(ONE, ["a"])[1].tobytes() == odd.tobytes()


def test_float16_stays_float16_and_the_rest_becomes_float32(store):
    for identity, given_as, kept_as in ((ONE, np.float16, np.float16), (TWO, np.float64, np.float32)):
        store.write(identity, ["a", "b"], vectors(["a", "b"]).astype(given_as))
        found, got = Store(store.root).read(identity, ["b", "a"])
        assert found.all()
        assert got.dtype == kept_as
        assert (got == vectors(["b", "a"])).all()


def test_vectors_need_not_lie_in_one_piece(store):
    store.write(ONE, ["a", "b"], np.asfortranarray(vectors(["a", "b"])))
    store.write(ONE, ["c", "d"], vectors(["c", "-", "d", "-"])[::2])
    assert check(store, ["a", "b", "c", "d"]).all()


@pytest.mark.parametrize("shape", [(3,), (1, 4), (3, 4), (2, 0), (2, 4, 1)])
def test_vectors_that_do_not_fit_the_texts_are_refused(store, shape):
    with pytest.raises(ShapeError, match="of shape \\(2, d\\)"):
        store.write(ONE, ["a", "b"], np.zeros(shape, np.float32))


def test_texts_whose_keys_begin_alike_are_kept_apart(store, monkeypatch):
    whole = shard.text_keys

    def alike(texts):
        keys = whole(texts)
        keys[:, 0] = 7
        return keys

    for user in (shard, module):
        monkeypatch.setattr(user, "text_keys", alike)
    store.write(ONE, list("abc"), vectors(list("abc")))
    store.write(ONE, list("def"), vectors(list("def")))
    assert check(store, list("fxcab")).tolist() == [True, False, True, True, True]


def test_the_vectors_of_a_shard_can_be_mapped(store):
    texts = list("abcde")
    store.write(ONE, texts, vectors(texts))
    (path,) = shards(store)
    mapped = np.memmap(path, np.float32, "r", offset=192, shape=(5, 64))  # 64 + 5 * 20 = 164, and on to 3 * 64
    assert (mapped == vectors(texts)).all()


@pytest.mark.skipif(not Path("/proc/self/io").exists(), reason="this system does not count what a process reads")
def test_a_hundredth_is_read_without_the_rest(store):
    texts = batch("us", 0, 20_000)
    store.write(ONE, texts, vectors(texts))
    store.read(ONE, ["no such text"])  # which loads the index

    def characters():
        return int(Path("/proc/self/io").read_text().split()[1])

    wanted = random.Random(1).sample(texts, 200)
    before = characters()
    found, got = store.read(ONE, wanted)
    read = characters() - before
    assert found.all()
    assert (got == vectors(wanted)).all()
    assert read < 0.25 * 20_000 * 64 * 4  # rows of 256 bytes: between two of them lie 8 kB at most that are read too


# several identities, several stores


def test_identities_are_kept_apart_even_if_their_files_are_mixed_up(store):
    store.write(ONE, ["a"], vectors(["a"]))
    store.write(TWO, ["b"], vectors(["b"]))
    assert not store.read(TWO, ["a"])[0].any()
    (path,) = (store.root / ONE.digest).glob("*.shard")
    path.rename(store.root / TWO.digest / path.name)
    with pytest.warns(
        StoreWarning, match=f"{path.name} is damaged: its header is of another format or another encoder"
    ):
        assert check(store, ["a", "b"], identity=TWO).tolist() == [False, True]


def test_what_another_store_writes_and_removes_is_noticed(store):
    other = Store(store.root)
    assert not check(store, ["a"]).any()
    other.write(ONE, ["a"], vectors(["a"]))
    assert check(store, ["a", "b"]).tolist() == [True, False]
    other.write(ONE, ["b"], vectors(["b"]))
    assert check(store, ["a", "b"]).all()
    shards(store)[0].unlink()
    assert check(store, ["a", "b"]).tolist() == [False, True]


def test_a_shard_that_goes_while_it_is_looked_for_is_no_error(store, monkeypatch):
    store.write(ONE, ["a"], vectors(["a"]))
    store.write(ONE, ["b"], vectors(["b"]))
    assert check(store, ["a", "b"]).all()
    names = module._shard_names(store.root / ONE.digest)
    monkeypatch.setattr(module, "_shard_names", lambda folder: names)
    shards(store)[0].unlink()
    assert check(store, ["a", "b"]).tolist() == [False, True]
    assert check(Store(store.root), ["a", "b"]).tolist() == [False, True]


def test_indexes_beyond_the_memory_for_them_are_made_again(store, monkeypatch):
    monkeypatch.setattr(module, "MAX_INDEX_BYTES", 0)
    for _ in range(2):
        for identity in (ONE, TWO):
            store.write(identity, [str(identity)], vectors([str(identity)]))
            assert check(store, [str(ONE), str(TWO)], identity=identity).tolist() == [identity == ONE, identity == TWO]
            assert list(store._indexes) == [identity.digest]


def test_vectors_of_another_size_under_one_identity_are_left_out(store):
    store.write(ONE, ["a", "b"], vectors(["a", "b"]))
    store.write(ONE, ["c"], vectors(["c"], 32))
    with pytest.warns(StoreWarning, match=f"{shards(store)[1].name} has vectors of 32 x float32 where .* 64 x float32"):
        assert check(store, ["a", "b", "c"]).tolist() == [True, True, False]


def test_two_processes_write_at_once(store):
    code = """
who, root = sys.argv[1:]
store = Store(Path(root))
for number in range(12):
    assert store.write(ONE, batch(who, number, 100), vectors(batch(who, number, 100)))
    assert store.read(ONE, batch(who, number, 100))[0].all()
    assert store.write(ONE, batch("both", number, 100), vectors(batch("both", number, 100)))
print(len(store.read(ONE, [])[1].T))
"""
    writing = [child(code, who, store.root) for who in ("left", "right")]
    assert [answer(process) for process in writing] == [64, 64]
    for who in ("left", "right", "both"):
        assert check(store, [t for n in range(12) for t in batch(who, n, 100)]).all()
    assert [e.vectors for e in store.ls()] == [4800]
    assert leftovers(store) == []


# processes that die

LOOP = """
who, root = sys.argv[1:]
store = Store(Path(root))
print("ready", flush=True)
for number in range(1_000_000):
    if store.write(ONE, batch(who, number), vectors(batch(who, number))):
        print(number, flush=True)
"""


def kill_writers(root, times, seed=1):
    """Kill processes while they write; how many batches they reported, and how many files they left unfinished."""
    chance, reported, unfinished = random.Random(seed), 0, 0
    for i in range(times):
        writer = child(LOOP, i, root)
        assert writer.stdout.readline() == "ready\n"
        time.sleep(chance.uniform(0, 0.06))
        writer.send_signal(signal.SIGKILL)
        said = writer.communicate()[0]
        assert writer.returncode == -signal.SIGKILL
        done = said.count("\n")
        store = Store(root)
        for number in range(done):
            assert check(store, batch(i, number)).all(), f"batch {number} was reported as written"
        # the one it was at is there as a whole or not at all, and none after it
        assert len(set(check(store, batch(i, done)).tolist())) == 1
        assert not check(store, batch(i, done + 1)).any()
        reported, unfinished = reported + done, len(leftovers(store))
    return reported, unfinished


KILLED = pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs SIGKILL")


@KILLED
def test_killed_while_writing(store):
    reported, unfinished = kill_writers(store.root, 20)
    assert len(shards(store)) >= reported
    for path in leftovers(store):
        os.utime(path, (0, 0))
    assert len(leftovers(store)) == unfinished
    store.write(ONE, ["a"], vectors(["a"]))  # another process may be writing those that are not old
    assert leftovers(store) == []


@KILLED
@pytest.mark.parametrize(
    ("moment", "kept"),
    [
        ("real = module.shard_content; module.shard_content = lambda *a: half(*real(*a))", False),
        ("os.fsync = die", False),
        ("Path.replace = die", False),
        ("files.sync_folder = die", True),
    ],
    ids=["between two writes", "before the sync", "before the rename", "after the rename"],
)
def test_killed_at_a_certain_moment(store, moment, kept):
    code = f"""
def die(*a):
    os.kill(os.getpid(), signal.SIGKILL)

def half(front, back):
    yield front
    yield back[: len(back) // 2]
    die()

store = Store(Path(sys.argv[1]))
store.write(ONE, batch("us", 0), vectors(batch("us", 0)))
{moment}
store.write(ONE, batch("us", 1), vectors(batch("us", 1)))
"""
    writer = child(code, store.root)
    assert writer.communicate() == ("", "")
    assert writer.returncode == -signal.SIGKILL
    assert check(store, batch("us", 0)).all()
    assert set(check(store, batch("us", 1)).tolist()) == {kept}
    assert len(leftovers(store)) == (not kept)


# files that were damaged

FIVE = list("abcde")
"""Five vectors of four numbers: 64 bytes of header, 100 of table, 28 to the next multiple of 64, 80 of vectors."""


@pytest.fixture
def small(store):
    store.write(ONE, FIVE, vectors(FIVE, 4))
    (path,) = shards(store)
    assert path.stat().st_size == 64 + 100 + 28 + 80
    return store, path


def expected(position):
    """What is still found after the byte there was altered."""
    if position < 164:
        return [False] * 5
    return [position < 192 or (position - 192) // 16 != i for i in range(5)]


def test_any_altered_byte_costs_at_most_what_it_belongs_to(small):
    store, path = small
    content = path.read_bytes()
    for position in range(len(content)):
        for mask in (0x01, 0x80, 0xFF):
            path.write_bytes(content[:position] + bytes([content[position] ^ mask]) + content[position + 1 :])
            fresh = Store(store.root)
            with noting() as noted:
                assert check(fresh, FIVE, dimension=4).tolist() == expected(position), position
                check(fresh, FIVE, dimension=4)
            assert len(noted) == (0 if 164 <= position < 192 else 1), position
            assert all(str(path) in message for message in noted)


def test_a_row_altered_after_the_index_was_made_is_noticed(small):
    store, path = small
    assert check(store, FIVE, dimension=4).all()
    content = bytearray(path.read_bytes())
    content[200] ^= 4
    path.write_bytes(content)
    with pytest.warns(StoreWarning, match="1 of 5 vectors that were read do not match their checksums"):
        assert check(store, FIVE, dimension=4).tolist() == [False, True, True, True, True]


@pytest.mark.parametrize("size", [0, 1, 30, 63, 64, 65, 84, 163, 164, 180, 192, 193, 207, 208, 230, 256, 271])
@pytest.mark.parametrize("later", [False, True], ids=["before", "after the index was made"])
def test_a_shard_cut_short_keeps_the_rows_before_the_cut(small, size, later):
    store, path = small
    if later:
        check(store, FIVE, dimension=4)
    os.truncate(path, size)
    with noting() as noted:
        found = check(store, FIVE, dimension=4)
        check(store, FIVE[::-1], dimension=4)
    assert found.tolist() == [i < (size - 192) // 16 for i in range(5)]
    assert [f"{path} is damaged" in message for message in noted] == [True]


def test_vectors_that_changed_places_are_not_found(small):
    store, path = small
    content = path.read_bytes()
    path.write_bytes(content[:192] + content[208:224] + content[192:208] + content[224:])
    with pytest.warns(StoreWarning, match="2 of 5 vectors"):
        assert check(store, FIVE, dimension=4).tolist() == [False, False, True, True, True]


def test_shards_that_are_no_shards(small):
    store, path = small
    (path.parent / "other.shard").write_bytes(os.urandom(1000))
    (path.parent / "folder.shard").mkdir()
    with noting() as noted:
        assert check(store, FIVE, dimension=4).all()
        assert [e.vectors for e in store.ls()] == [5]
    assert len(noted) == 2


@pytest.mark.parametrize("position", [0, 70, 200], ids=["header", "table", "vector"])
@pytest.mark.parametrize("newest", [False, True])
def test_a_good_copy_is_used_where_another_is_damaged(store, position, newest):
    for _ in range(3):
        store.write(ONE, FIVE, vectors(FIVE, 4))
    path = shards(store)[2 if newest else 0]
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    with noting() as noted:
        assert check(Store(store.root), FIVE, dimension=4).all()
    assert len(noted) == (newest or position < 192)  # the newest is looked at first


@pytest.mark.parametrize("position", [0, 70, 200], ids=["header", "table", "vector"])
def test_once_the_texts_are_written_again_there_is_no_further_warning(small, position):
    store, path = small
    content = bytearray(path.read_bytes())
    content[position] ^= 1
    path.write_bytes(content)
    with noting() as noted:
        found = check(store, FIVE, dimension=4)
        missing = [t for t, there in zip(FIVE, found, strict=True) if not there]
        assert store.write(ONE, missing, vectors(missing, 4))
    assert len(noted) == 1
    assert check(Store(store.root), FIVE, dimension=4).all()
    assert path.exists() == (position == 200)


def test_a_failing_disk_is_no_error(small, monkeypatch):
    store, path = small

    def fail(*a, **k):
        raise OSError(errno.EIO, "Input/output error")

    check(store, FIVE, dimension=4)
    monkeypatch.setattr(shard, "_open", fail)
    for there in (store, Store(store.root)):
        with noting() as noted:
            assert not check(there, FIVE, dimension=4).any()
            assert not check(there, FIVE, dimension=4).any()
        assert [f"{path} cannot be read: Input/output error" in message for message in noted] == [True]
    monkeypatch.undo()
    store.write(ONE, ["x"], vectors(["x"], 4))
    assert path.exists()  # it may be well tomorrow


# folders that cannot be written to

FILL = """
store, kept = Store(Path(sys.argv[1])), []
with warnings.catch_warnings(record=True) as met:
    warnings.simplefilter("always")
    for number in range(8):
        kept.append(store.write(ONE, batch("us", number), vectors(batch("us", number))))
    tried = module.shard_content
    module.shard_content = None  # a further try would be an error
    kept.append(store.write(ONE, ["a"], vectors(["a"])))
fresh = Store(store.root)
right = []
for number in range(8):
    found, got = fresh.read(ONE, batch("us", number))
    right.append(bool(found.all() and (got == vectors(batch("us", number))).all()))
print(json.dumps({"kept": kept, "right": right, "warnings": [f"{m.category.__name__}: {m.message}" for m in met],
                  "parts": len(list(store.root.rglob("*.part"))) if store.root.is_dir() else 0}))
"""
"""Writes of 414 kB each."""


def check_full(said, wanted):
    kept = said["kept"]
    assert kept == sorted(kept, reverse=True)  # none after the first that failed
    assert kept[-1] is False
    assert said["right"] == kept[:-1]
    assert said["parts"] == 0
    assert len(said["warnings"]) == 1
    assert said["warnings"][0].startswith("StoreWarning: ")
    assert said["warnings"][0].endswith(f"cannot be written to: {wanted}. Vectors are not stored from here on.")


@pytest.mark.skipif(sys.platform == "win32", reason="no such limit")
def test_a_file_that_may_not_grow_that_far(store):
    limit = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (300_000, 300_000))\n"
    said = answer(child(limit + FILL, store.root))
    check_full(said, "File too large")
    assert not any(said["kept"])


MOUNT = """
mount = ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", sys.argv[1]]
if subprocess.run(mount, stderr=subprocess.DEVNULL).returncode:
    print("null")
    sys.exit()
"""


def answer_in_own_mounts(code, folder):
    """What a child says that may mount things where only it sees them."""
    own = ("unshare", "--map-root-user", "--mount")
    if not shutil.which("unshare") or subprocess.run([*own, "true"], capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    folder.mkdir()
    said = answer(child(MOUNT + code, folder, before=own))
    if said is None:
        pytest.skip("a small disk cannot be mounted here")
    return said


def test_a_full_disk(store):
    said = answer_in_own_mounts(FILL, store.root)
    check_full(said, "No space left on device")
    assert said["kept"].count(True) == 2  # 1 MiB holds two of 414 kB


def test_a_read_only_disk(store):
    code = 'subprocess.run(["mount", "-o", "remount,ro", sys.argv[1]], check=True)\n'
    said = answer_in_own_mounts(code + FILL, store.root)
    check_full(said, "Read-only file system")
    assert not any(said["kept"])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="nothing is read-only for this user")
def test_a_read_only_folder(store):
    store.write(ONE, ["a"], vectors(["a"]))
    for folder in (store.root / ONE.digest, store.root):
        folder.chmod(0o555)
    try:
        with pytest.warns(StoreWarning, match="Permission denied"):
            assert not store.write(ONE, ["b"], vectors(["b"]))
        assert not store.write(TWO, ["b"], vectors(["b"]))
        assert check(store, ["a", "b"]).tolist() == [True, False]
    finally:
        for folder in (store.root, store.root / ONE.digest):
            folder.chmod(0o755)


def test_a_file_where_the_folder_should_be(store):
    store.root.write_text("not a folder")
    check_full(answer(child(FILL, store.root)), "Not a directory")
    assert store.ls() == []
    assert store.evict() == 0


@pytest.mark.parametrize("what", ["write", "fsync", "replace"])
def test_no_space_at_any_step(store, monkeypatch, what):
    store.write(ONE, ["a"], vectors(["a"]))

    def full(*a, **k):
        raise OSError(errno.ENOSPC, "No space left on device")

    if what == "write":
        monkeypatch.setattr(module, "shard_content", lambda *a: (full() for _ in range(1)))
    else:
        monkeypatch.setattr(*{"fsync": (os, "fsync"), "replace": (Path, "replace")}[what], full)
    with noting() as noted:
        assert not store.write(ONE, ["b"], vectors(["b"]))
        assert not store.write(TWO, ["c"], vectors(["c"]))
    assert ["No space left on device" in message for message in noted] == [True]
    assert leftovers(store) == []
    assert check(store, ["a", "b"]).tolist() == [True, False]


# how much there is


def test_what_is_there_is_listed(store):
    store.write(TWO, FIVE, vectors(FIVE).astype(np.float16))
    store.write(ONE, FIVE, vectors(FIVE))
    store.write(ONE, ["f"], vectors(["f"]))
    for path in shards(store):
        os.utime(path, (1e9, 1e9))
    os.utime(max((store.root / ONE.digest).glob("*.shard")), (1.5e9, 1.5e9))
    (store.root / "notes").mkdir()
    one, two = store.ls()
    assert (one.identity, one.vectors, one.dimension, one.dtype) == ("st:one?layer=6", 6, 64, "float32")
    assert (two.identity, two.vectors, two.dimension, two.dtype) == ("st:one?layer=7", 5, 64, "float16")
    assert one.bytes == sum(p.stat().st_size for p in (store.root / ONE.digest).glob("*.shard"))
    assert one.written == datetime(2017, 7, 14, 2, 40, tzinfo=UTC)  # 1.5e9 seconds
    assert two.written == datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"identity": 3}', b'{"identity": "st:two"}', b"\xff"])
def test_a_folder_that_does_not_say_whose_it_is(store, content):
    store.write(ONE, ["a"], vectors(["a"]))
    (store.root / ONE.digest / "identity.json").write_bytes(content)
    assert [e.identity for e in store.ls()] == [ONE.digest]
    assert check(store, ["a"]).all()
    Store(store.root).write(ONE, ["b"], vectors(["b"]))
    assert [e.identity for e in store.ls()] == [str(ONE)]


def test_the_oldest_shards_go_first_whosever_they_are(store):
    for i, (identity, text) in enumerate([(ONE, "a"), (TWO, "b"), (ONE, "c"), (TWO, "d")]):
        before = set(shards(store))
        store.write(identity, [text], vectors([text]))
        (path,) = set(shards(store)) - before
        os.utime(path, (1e9 - i, 1e9 - i))  # the last written is the oldest
    size = shards(store)[0].stat().st_size
    assert size == 128 + 64 * 4
    assert Store(store.root).evict() == 0
    assert Store(store.root, limit=4 * size).evict() == 0
    assert Store(store.root, limit=4 * size - 1).evict() == size
    assert check(store, ["d", "b"], identity=TWO).tolist() == [False, True]
    assert check(store, ["c", "a"]).tolist() == [True, True]
    assert Store(store.root, limit=size).evict() == 2 * size
    assert check(store, ["a", "c"]).tolist() == [True, False]
    assert Store(store.root, limit=0).evict() == size
    assert shards(store) == []
    assert store.ls() == []


def test_the_limit_holds_after_every_write(tmp_path):
    store = Store(tmp_path, limit=2000)  # five shards of 384 bytes
    for i in range(12):
        assert store.write(ONE, [str(i)], vectors([str(i)]))
        os.utime(shards(store)[-1], (1e9 + i, 1e9 + i))
        assert sum(p.stat().st_size for p in shards(store)) <= 2000
    assert check(store, list(map(str, range(12)))).tolist() == [False] * 7 + [True] * 5


def test_more_than_the_limit_at_once_is_not_kept_and_displaces_nothing(tmp_path):
    store = Store(tmp_path, limit=2000)
    store.write(ONE, ["a"], vectors(["a"]))
    with noting() as noted:
        assert not store.write(ONE, FIVE * 2, vectors(FIVE * 2))
        assert not store.write(ONE, FIVE * 2, vectors(FIVE * 2))
    assert ["is limited to 2000 bytes, and one write was larger" in message for message in noted] == [True]
    assert store.write(ONE, ["b"], vectors(["b"]))
    assert check(store, ["a", "b", "c"]).tolist() == [True, True, False]


def test_unfinished_files_stay_for_a_day(tmp_path):
    store = Store(tmp_path, limit=10_000)
    store.write(ONE, ["a"], vectors(["a"]))
    young, old = (shards(store)[0].with_suffix(f".{name}.part") for name in ("young", "old"))
    for path in (young, old):
        path.write_bytes(bytes(50_000))
    os.utime(old, (time.time() - 90_000, time.time() - 90_000))
    assert store.evict() == 0
    assert leftovers(store) == [young]
    assert check(store, ["a"]).all()


def test_a_limit_below_nothing_is_refused(tmp_path):
    with pytest.raises(UsageError, match="-1 bytes"):
        Store(tmp_path, limit=-1)


def test_the_place_of_the_store_can_be_set(monkeypatch, tmp_path):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path))
    assert default_root() == tmp_path / "store"
    monkeypatch.setenv("SENTPROBE_CACHE", "")
    assert default_root().parts[-2:] == ("sentprobe", "store")
    assert list(tmp_path.iterdir()) == []


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        reported, unfinished = kill_writers(Path(folder), int(sys.argv[1]))
    sys.stdout.write(f"{reported} batches reported, all right; {unfinished} files left unfinished\n")


def test_a_shard_of_a_later_version_is_left_alone(tmp_path):
    store = Store(tmp_path)
    identity = Identity.of("test", "versions")
    store.write(identity, ["one"], np.ones((1, 2), np.float32))
    (shard,) = tmp_path.rglob("*.shard")
    later = shard.with_name("later.shard")
    head = b"sprobe\0\2" + shard.read_bytes()[8 : HEADER.size]
    later.write_bytes(head + zlib.crc32(head).to_bytes(4, "little") + shard.read_bytes()[HEADER.size + 4 :])
    store = Store(tmp_path)
    assert store.read(identity, ["one"])[0].tolist() == [True]
    store.write(identity, ["two"], np.ones((1, 2), np.float32))
    assert later.exists()
