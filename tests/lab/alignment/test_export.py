"""Exported spaces: all words, in the common space, as ``vec:`` reads them."""

from dataclasses import replace

import numpy as np
import pytest

from sentprobe import load_encoder
from sentprobe.encoders.wordvectors import read_vectors
from sentprobe.errors import DataError
from sentprobe.lab.alignment.align import align
from sentprobe.lab.alignment.export import write_mapped
from sentprobe.lab.alignment.folder import open_alignment
from sentprobe.lab.alignment.maps import SideMap
from sentprobe.lab.alignment.request import make_request
from tests.lab.alignment.planted import clustered, rotation, write_planted, write_vectors


@pytest.mark.parametrize(("export", "suffix"), [("text", ".vec"), ("binary", ".bin")])
def test_all_words_are_exported_in_the_common_space(tmp_path, monkeypatch, export, suffix):
    monkeypatch.chdir(tmp_path)
    write_planted(tmp_path)
    request = make_request("a.vec", "b.vec", dictionary=["ab.txt"], words=150, steps=["unit", "center"], export=export)
    folder = align(request, tmp_path / "out")
    found = folder.map()
    for side, name, of in (("source", "a.vec", found.source), ("target", "b.vec", found.target)):
        raw, mapped = read_vectors(tmp_path / name), read_vectors(tmp_path / "out" / f"{side}{suffix}")
        assert mapped.words == raw.words
        assert len(mapped.words) == 200
        np.testing.assert_allclose(mapped.matrix, of.apply(np.asarray(raw.matrix)), rtol=1e-5, atol=1e-6)
    encoder = load_encoder(f"vec:out/source{suffix}")
    one, two = np.asarray(encoder(["s3 s7"])), np.asarray(load_encoder(f"vec:out/target{suffix}")(["t3 t7"]))
    np.testing.assert_allclose(one, two, atol=0.05)
    again = {f: f.stat().st_mtime_ns for f in (tmp_path / "out").glob(f"*{suffix}")}
    align(request, tmp_path / "out")
    assert again == {f: f.stat().st_mtime_ns for f in (tmp_path / "out").glob(f"*{suffix}")}


def test_a_damaged_vector_of_a_rare_word_is_found_before_anything_is_computed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_planted(tmp_path)
    lines = (tmp_path / "a.vec").read_text().splitlines()
    lines[-1] = " ".join(["rare", *["nan"] * (len(lines[-1].split()) - 1)])
    (tmp_path / "a.vec").write_text("\n".join(lines) + "\n")
    request = make_request("a.vec", "b.vec", dictionary=["ab.txt"], words=150)
    align(request, tmp_path / "used")  # which does not need it
    with pytest.raises(DataError, match=r"a\.vec:201: got 'nan'; expected a word and 10 finite numbers"):
        align(replace(request, export="text"), tmp_path / "out")
    assert not (tmp_path / "out" / "map.npz").exists()
    assert not list((tmp_path / "out").glob("*.jsonl"))


def test_binary_refuses_words_with_spaces(tmp_path):
    write_vectors(tmp_path / "a.vec", ["ice cream", "b"], clustered(2, 3))
    with pytest.raises(DataError, match="'ice cream' has a space"):
        write_mapped(tmp_path / "a.vec", SideMap(matrix=rotation(3)), tmp_path / "a.bin", binary=True)
    assert not (tmp_path / "a.bin").exists()
    write_mapped(tmp_path / "a.vec", SideMap(matrix=rotation(3)), tmp_path / "b.vec", binary=False)
    assert read_vectors(tmp_path / "b.vec").words == ["ice cream", "b"]


def test_an_export_can_be_requested_later(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write_planted(tmp_path)
    for export in ("none", "binary"):
        align(make_request("a.vec", "b.vec", dictionary=["ab.txt"], export=export), tmp_path / "out")
    assert open_alignment("out").config["request"]["export"] == "none"
    assert (tmp_path / "out" / "target.bin").stat().st_size > 200 * 4 * 10
