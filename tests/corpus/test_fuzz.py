"""Mutilated files: whatever is in them, a reader yields sentences or raises a SentProbeError, and comes to an end."""

import bz2
import gzip
import lzma
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sentprobe.corpus import Corpus
from sentprobe.corpus.files import detect_format
from sentprobe.errors import CorpusError, SentProbeError

CONLLU = """\
# newdoc id = d
# sent_id = a
# text = Vom Haus kam niemand.
1-2\tVom\t_\t_\t_\t_\t_\t_\t_\t_
1\tVon\tvon\tADP\tAPPR\t_\t3\tcase\t_\t_
2\tdem\tder\tDET\tART\tCase=Dat|Number=Sing\t3\tdet\t_\t_
3\tHaus\tHaus\tNOUN\tNN\tCase=Dat\t4\tobl\t_\t_
4\tkam\tkommen\tVERB\tVVFIN\tTense=Past\t0\troot\t_\t_
4.1\tleer\tleer\tADJ\t_\t_\t_\t_\t4:xcomp\t_
5\tniemand\tniemand\tPRON\tPIS\t_\t4\tnsubj\t_\tSpaceAfter=No
6\t.\t.\tPUNCT\t$.\t_\t4\tpunct\t_\t_

# newdoc
1\tÄh\täh\tINTJ\t_\t_\t0\troot\t_\t_
"""
BRACKETS = """\
( (S (NP-SBJ (-NONE- *T*-1)) (NP (DT The) (NN côté))
     (VP (VBZ is) (ADJP (-LRB- -LRB-) (JJ open) (-RRB- -RRB-))) (. .)))

doc\t(ROOT (INTJ (UH Oh)))
(TOP (FRAG (`` ``) (NN end) ('' '')))
"""
PLAIN = "First, a “line” – naïve.\n\nSecond line's here!\r\nनमस्ते\n"
SEEDS = {".conllu": CONLLU, ".mrg": BRACKETS, ".txt": PLAIN}
PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}
ODD = [
    b"\x00",
    b"\xff",
    b"\n",
    b"\n\n",
    b"\r",
    b"\t",
    b" ",
    b"(",
    b")",
    b"#",
    b"-",
    b"1-9",
    b"99999999999",
    b"\xe2\x80\xa8",
    b"_",
]
ODD += [
    b"1" * 5000,
    b"\xef\xbb\xbf",
    b"SpaceAfter=No",
    b"=",
    b"|",
    "٣".encode(),
    "²".encode(),
    b"# newdoc\n",
    b"# sent_id\n",
]


@st.composite
def mutated(draw, text):
    data = text.encode()
    for _ in range(draw(st.integers(1, 5))):
        lines = data.split(b"\n")
        at = draw(st.integers(0, len(lines) - 1))
        place = draw(st.integers(0, len(data)))
        match draw(st.sampled_from(["drop", "double", "swap", "column", "cut", "insert", "replace", "noise"])):
            case "drop":
                del lines[at]
                data = b"\n".join(lines)
            case "double":
                lines.insert(at, lines[at])
                data = b"\n".join(lines)
            case "swap":
                other = draw(st.integers(0, len(lines) - 1))
                lines[at], lines[other] = lines[other], lines[at]
                data = b"\n".join(lines)
            case "column":
                cells = lines[at].split(b"\t")
                cell = draw(st.integers(0, len(cells) - 1))
                if draw(st.booleans()):
                    del cells[cell]
                else:
                    cells[cell] = draw(st.sampled_from([b"", b"_", b"0", b"3", b"7", b"-1", b"1-2", b"2.1", *ODD]))
                lines[at] = b"\t".join(cells)
                data = b"\n".join(lines)
            case "cut":
                data = data[:place]
            case "insert":
                data = data[:place] + draw(st.sampled_from(ODD)) + data[place:]
            case "replace":
                data = data[:place] + draw(st.sampled_from(ODD)) + data[place + 1 :]
            case "noise":
                data = data[:place] + draw(st.binary(max_size=8)) + data[place:]
    return data


def check(path):
    """Read a file strictly and leniently; return the faults."""
    corpus = Corpus.read(path)
    faults: list[CorpusError] = []
    kept = list(corpus.sentences(on_error=faults.append))
    if faults:
        with pytest.raises(CorpusError) as caught:
            list(corpus)
        assert str(caught.value) == str(faults[0])
    else:
        assert list(corpus) == kept
    for s in kept:
        n = len(s.forms)
        assert n
        assert all(c is None or len(c) == n for c in (s.lemmas, s.upos, s.xpos, s.feats, s.heads, s.deprels))
        assert s.space_after is not None
        assert len(s.space_after) == n
        assert s.id
        assert all(0 <= a < b <= n for a, b, _ in s.mwts)
        assert all(b <= c for (_, b, _), (c, _, _) in pairwise(s.mwts))
        if s.heads is not None:
            assert all(_climbs(s.heads, i) for i in range(n))
        if s.tree is not None:
            assert tuple(word for _, word in s.tree.leaves()) == s.forms
    if Path(path).suffix in SEEDS:
        lines = Path(path).read_bytes().count(b"\n") + 1
        assert all(1 <= e.line <= lines for e in faults)
    return faults


def _climbs(heads, at):
    for _ in heads:
        at = heads[at]
        if at == -1:
            return True
    return False


FUZZ = settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@pytest.mark.parametrize("suffix", SEEDS)
@FUZZ
@given(data=st.data())
def test_mutated_files_give_sentences_or_corpus_errors(tmp_path, suffix, data):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(data.draw(mutated(SEEDS[suffix])))
    check(str(path))


@pytest.mark.parametrize("suffix", SEEDS)
def test_the_seeds_of_the_mutations_are_valid(tmp_path, suffix):
    path = tmp_path / f"x{suffix}"
    path.write_text(SEEDS[suffix], encoding="utf-8", newline="")
    assert check(str(path)) == []


@pytest.mark.parametrize("suffix", SEEDS)
@settings(FUZZ, max_examples=100)
@given(content=st.binary(max_size=300))
def test_noise_gives_sentences_or_corpus_errors(tmp_path, suffix, content):
    path = tmp_path / f"x{suffix}"
    path.write_bytes(content)
    check(str(path))


@pytest.mark.parametrize("packing", PACKERS)
@settings(FUZZ, max_examples=60)
@given(data=st.data())
def test_cut_and_altered_compressed_files_give_sentences_or_corpus_errors(tmp_path, packing, data):
    suffix = data.draw(st.sampled_from(list(SEEDS)))
    whole = bytearray(PACKERS[packing](SEEDS[suffix].encode() * 20))
    if data.draw(st.booleans()):
        del whole[data.draw(st.integers(0, len(whole))) :]
    else:
        whole[data.draw(st.integers(0, len(whole) - 1))] ^= data.draw(st.integers(1, 255))
    path = tmp_path / f"x{suffix}{packing}"
    path.write_bytes(whole)
    check(str(path))


@settings(FUZZ, max_examples=60)
@given(content=mutated(CONLLU) | mutated(BRACKETS) | st.binary(max_size=60))
def test_files_of_unknown_name_are_told_apart_or_refused(tmp_path, content):
    path = tmp_path / "unknown"
    path.write_bytes(content)
    try:
        found = detect_format(str(path))
    except SentProbeError as error:
        found = str(error)
    assert found in ("conllu", "brackets") or str(path) in found


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("x.mrg", b"(" * 200_000),
        ("x.mrg", b")" * 200_000),
        ("x.mrg", b"(X\n" * 50_000),
        ("x.mrg", b"(X (Y z)\n" * 3_000),
        ("x.conllu", b"1\t" * 200_000),
        ("x.conllu", b"1-99999999\ta\t_\t_\t_\t_\t_\t_\t_\t_\n1\ta\ta\tX\t_\t_\t0\troot\t_\t_\n"),
        ("x.conllu", b"\n" * 500_000),
        ("x.conllu", b"#\n" * 200_000),
        ("x.conllu", b"# text" + b" " * 100_000 + b"\n" + b"#" + b"\t" * 100_000 + b"sent_id\n"),
        ("x.conllu", b"1\ta\ta\tX\t_\t" + b"A=b|" * 50_000 + b"\t0\troot\t_\t_\n"),
        ("x.txt", b"a'" * 100_000),
    ],
    ids=lambda v: v if isinstance(v, str) else repr(v[:8]),
)
def test_large_and_hostile_files_come_to_an_end(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    check(str(path))
