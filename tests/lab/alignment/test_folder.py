"""The folder of an alignment, and the spaces that are read: what is written is read, and damage is named."""

import json
import re

import numpy as np
import pytest

from sentprobe.encoders.wordvectors import read_vectors
from sentprobe.errors import CorpusError, DataError, SentProbeError, TooFewError, UsageError
from sentprobe.lab.alignment.align import align
from sentprobe.lab.alignment.folder import AlignmentFolder, MapCheckpoint, encode_map, open_alignment
from sentprobe.lab.alignment.maps import SideMap, WordMap, prepare
from sentprobe.lab.alignment.request import make_request
from sentprobe.lab.alignment.space import read_blocks, read_space
from tests.lab.alignment.planted import clustered, rotation, write_alignment, write_planted, write_vectors


def both(dim=4):
    source = prepare(clustered(20, dim), ("unit", "center", "unit", "center"))
    return WordMap(SideMap(source.steps, source.means, rotation(dim)), SideMap())


def test_a_map_is_read_as_it_was_written_and_has_the_same_bytes(tmp_path):
    found = both()
    assert encode_map(found) == encode_map(found)
    read = open_alignment(write_alignment(tmp_path, {}, found)).map()
    rows = clustered(7, 4, 1)
    np.testing.assert_array_equal(read.source.apply(rows), found.source.apply(rows))
    np.testing.assert_array_equal(read.target.apply(rows), rows)
    assert read.source.steps == ("unit", "center", "unit", "center")


@pytest.mark.parametrize("damage", [lambda b: b[: len(b) // 2], lambda b: b"{}" + b[2:], lambda b: b""])
def test_a_damaged_map_is_named(tmp_path, damage):
    file = write_alignment(tmp_path, {}, both()) / "map.safetensors"
    file.write_bytes(damage(file.read_bytes()))
    with pytest.raises(DataError, match=r"map\.safetensors has changed"):
        open_alignment(tmp_path).map()


def test_checkpoints_are_in_order(tmp_path):
    write_alignment(tmp_path, {}, maps={"result": both()})
    for one in (MapCheckpoint(1, "refine", 1), MapCheckpoint(1, "epoch", 10), MapCheckpoint(0, "round", 2)):
        job = AlignmentFolder(tmp_path).seed_job(one.seed)
        with job.writing():
            job.write({one.file: encode_map(both())})
    assert [c.name for c in AlignmentFolder(tmp_path).checkpoints()] == [
        "seed-0/round-002", "seed-1/epoch-010", "seed-1/refine-001",
    ]  # fmt: skip


def test_what_is_no_alignment_is_refused(tmp_path):
    with pytest.raises(UsageError, match="was not written by `sentprobe align`"):
        open_alignment(tmp_path)
    (tmp_path / "alignment.json").write_text(json.dumps({"other": 99}))
    with pytest.raises(DataError, match="is not of an alignment"):
        open_alignment(tmp_path).config  # noqa: B018
    (tmp_path / "alignment.json").write_text(json.dumps({"format": 1}))
    with pytest.raises(DataError, match=r"has the format 1; .* reads 4\. It was written by another version, or before"):
        open_alignment(tmp_path).config  # noqa: B018


def test_a_space_has_the_first_vector_of_a_word_that_occurs_twice(tmp_path):
    write_vectors(tmp_path / "a.vec", ["x", "y", "x"], clustered(3, 4))
    space = read_space(str(tmp_path / "a.vec"))
    assert list(space.words) == ["x", "y"]
    np.testing.assert_array_equal(space.vectors, clustered(3, 4)[:2])
    write_vectors(tmp_path / "b.vec", ["x"], clustered(1, 4))
    with pytest.raises(TooFewError, match="vectors of 1 words"):
        read_space(str(tmp_path / "b.vec"))


def test_arrays_with_a_list_of_words(tmp_path):
    vectors = clustered(30, 4).astype(np.float64)
    np.save(tmp_path / "x.npy", vectors)
    (tmp_path / "x.txt").write_text("".join(f"w{i}\n" for i in range(30)))
    space = read_space(str(tmp_path / "x.npy"), 20)
    assert list(space.words) == [f"w{i}" for i in range(20)]
    np.testing.assert_array_equal(space.vectors, vectors[:20].astype(np.float32))
    count, dim, blocks = read_blocks(str(tmp_path / "x.npy"))
    assert (count, dim, sum(len(b.words) for b in blocks)) == (30, 4, 30)
    # another list of words is noticed, though the array and its fingerprint are the same
    (tmp_path / "x.txt").write_text("".join(f"v{i}\n" for i in range(30)))
    assert read_space(str(tmp_path / "x.npy"), 20).words[0] == "v0"
    (tmp_path / "x.txt").write_text("a\n\nb\n")
    with pytest.raises(CorpusError, match=r"x\.txt:2: got an empty line"):
        read_vectors(tmp_path / "x.npy")
    (tmp_path / "x.txt").write_text("a\nb\n")
    with pytest.raises(DataError, match=r"has 2 words, and .*x\.npy has 30 vectors"):
        read_vectors(tmp_path / "x.npy")
    (tmp_path / "x.txt").unlink()
    with pytest.raises(DataError, match=r"expected them in .*x\.txt, one per line"):
        read_vectors(tmp_path / "x.npy")


@pytest.mark.parametrize("array", [np.zeros(3), np.array([["a", "b"]]), np.zeros((2, 0))])
def test_arrays_that_are_no_vectors(tmp_path, array):
    np.save(tmp_path / "x.npy", array)
    (tmp_path / "x.txt").write_text("a\nb\nc\n")
    with pytest.raises(DataError, match="a row of numbers for every word"):
        read_vectors(tmp_path / "x.npy")


def test_objects_in_an_array_are_not_loaded(tmp_path):
    np.save(tmp_path / "x.npy", np.array([[{}]], object))
    (tmp_path / "x.txt").write_text("a\n")
    with pytest.raises(DataError, match=r"x\.npy cannot be read"):
        read_vectors(tmp_path / "x.npy")


def test_a_pickle_that_is_cut_off_is_refused(tmp_path):
    (tmp_path / "model.kv").write_bytes(b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x06gensim\x94.")
    with pytest.raises(DataError, match="is not a pickle of plain data"):
        read_space(str(tmp_path / "model.kv"))


def test_a_folder_that_is_no_encoder(tmp_path):
    with pytest.raises(UsageError, match="a folder that `sentprobe train` wrote"):
        read_space(str(tmp_path))


@pytest.mark.parametrize("frozen", [True, False])
def test_the_words_of_a_trained_encoder_are_a_space(tmp_path, frozen):
    pytest.importorskip("torch")
    from tests.lab.networks.folders import WORDS, write_folder

    write_folder(tmp_path / "net", frozen=frozen)
    space = read_space(str(tmp_path / "net"))
    assert list(space.words) == [word for word in WORDS if word not in ("<s>", "</s>")]
    if frozen:
        expected = np.load(tmp_path / "net" / "vectors.npy")
    else:
        from safetensors.numpy import load_file

        weights = load_file(tmp_path / "net" / "epoch-002" / "model.safetensors")  # the best one
        expected = weights["encoder.inputs.learned.weight"]
    np.testing.assert_array_equal(space.vectors, expected[1 : len(space) + 1])
    assert len(read_space(str(tmp_path / "net"), 5)) == 5


def test_nothing_that_was_changed_becomes_a_number(tmp_path):
    write_planted(tmp_path)
    names = [str(tmp_path / name) for name in ("a.vec", "b.vec")]
    align(make_request(*names, dictionary=[str(tmp_path / "ab.txt")], refine=1), tmp_path / "out")

    def read():
        folder = open_alignment(tmp_path / "out")
        maps = [folder.map(), *(folder.map(c) for c in folder.checkpoints())]
        return folder.config, folder.history(), [(m.source.steps, m.source.matrix.tobytes()) for m in maps]

    before, rng, told = read(), np.random.default_rng(0), 0
    for name in (
        "alignment.json", "map.safetensors", "maps/seed-0/history.jsonl", "maps/seed-0/refine-001.safetensors",
    ):  # fmt: skip
        file = tmp_path / "out" / name
        content = file.read_bytes()
        for _ in range(40):
            damaged = bytearray(content)
            damaged[rng.integers(len(content) - 1)] ^= 1 << int(rng.integers(8))
            file.write_bytes(damaged)
            try:
                assert read() == before  # white space between the fields of a document, say
            except SentProbeError as e:
                told += name in str(e)
        file.write_bytes(content)
    assert told > 140


def test_numbers_edited_by_hand_are_refused(tmp_path):
    write_planted(tmp_path)
    names = [str(tmp_path / name) for name in ("a.vec", "b.vec")]
    align(make_request(*names, dictionary=[str(tmp_path / "ab.txt")], refine=1), tmp_path / "out")
    for name in ("alignment.json", "maps/seed-0/history.jsonl"):
        file = tmp_path / "out" / name
        content = file.read_text()
        file.write_text(re.sub(r'("criterion": ?)0?\.?\d+', r"\g<1>0", content, count=1))
        assert file.read_text() != content
        folder = open_alignment(tmp_path / "out")
        with pytest.raises(DataError, match="has changed"):
            (folder.history() if name.endswith("history.jsonl") else folder.config)
        file.write_text(content)
