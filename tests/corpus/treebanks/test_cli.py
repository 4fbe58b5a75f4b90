"""`sentprobe make ud:…`, as a user meets it."""

import json

import pytest

from sentprobe import Corpus
from sentprobe.corpus.conllu import parse_conllu
from sentprobe.errors import UsageError
from tests.command_line import sentprobe
from tests.corpus.treebanks import mill

MAKE = ("--suite", "universal2019", "-t", "sentence_length", "--sizes", "70/21/21")


def manifest(folder):
    return json.loads((folder / "universal2019/sentence_length/manifest.json").read_text())


def make(*words, cwd):
    return sentprobe("make", *words, *MAKE, cwd=cwd)


def test_sets_are_made_from_a_treebank_by_name(ud, tmp_path, monkeypatch):
    mill.publish(ud, licence="CC BY-NC-SA 4.0")
    done = make("ud:UD_Millish-Mill", "-o", "probes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "UD_Millish-Mill r2.16, Millish: CC BY-NC-SA 4.0, non-commercial use only; 576 sentences" in done.stderr
    assert "1 set from 576 sentences of qmi_mill, written to probes/" in done.stderr
    found = manifest(tmp_path / "probes")
    assert found["language"] == "qmi"
    assert found["corpus"]["sentences"] == 576
    (treebank,) = found["corpus"]["treebanks"]
    files = treebank["files"]
    assert {name: value for name, value in treebank.items() if name != "files"} == {
        "treebank": "UD_Millish-Mill", "release": "r2.16", "language": "Millish", "licence": "CC BY-NC-SA 4.0",
        "genres": ["news", "fiction"], "address": f"{ud.address}/UD_Millish-Mill/r2.16", "sentences": 576,
        "tokens": found["corpus"]["words"] - 576, "words": found["corpus"]["words"],
        "verified": ["git checksums", "counts of stats.xml"],
    }  # fmt: skip
    assert [(one["name"], one["bytes"], one["git_blob"]) for one in files] == [
        (f"qmi_mill-ud-{split}.conllu", len(content), mill.blob(content)) for split, content in mill.DATA.items()
    ]
    # the same again, without the network
    monkeypatch.setenv("SENTPROBE_OFFLINE", "1")
    requests = len(ud.asked)
    again = make("ud:qmi_mill@r2.16", "-o", "again", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert "CC BY" not in again.stderr
    assert manifest(tmp_path / "again")["digest"] == found["digest"]
    assert manifest(tmp_path / "again")["corpus"] == found["corpus"]
    assert len(ud.asked) == requests


def test_treebanks_and_files_may_be_combined(ud, tmp_path):
    other = {"test": mill.conllu(1000, 48)}
    ud.table["UD_Millish-Water"] = mill.row(other, name="UD_Millish-Water", prefix="qmi_water")
    mill.publish(ud)
    mill.publish(ud, other, name="UD_Millish-Water", prefix="qmi_water")
    (tmp_path / "own.conllu").write_bytes(mill.conllu(2000, 24))
    done = make("ud:UD_Millish-Mill", "own.conllu", "ud:UD_Millish-Water", "-o", "probes", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    facts = manifest(tmp_path / "probes")["corpus"]
    assert facts["sentences"] == 576 + 24 + 48
    assert [one["treebank"] for one in facts["treebanks"]] == ["UD_Millish-Mill", "UD_Millish-Water"]


def test_python_reads_them_as_well(ud, capsys):
    mill.publish(ud)
    corpus = Corpus.read("ud:UD_Millish-Mill")
    assert (corpus.name, corpus.language) == ("qmi_mill", "qmi")
    expected = [s.forms for content in mill.DATA.values() for _, s in parse_conllu(content, "mill")]
    assert [s.forms for s in corpus] == expected
    assert "CC BY-SA 4.0" in capsys.readouterr().err
    with pytest.raises(UsageError, match="'ud:qmi' is a language; name one of its treebanks: UD_Millish-Mill"):
        Corpus.read("ud:qmi")


def test_an_annotator_is_scored_on_a_treebank_by_name(ud, tmp_path):
    mill.publish(ud)
    (tmp_path / "rules.py").write_text(
        "from sentprobe import Sentence\n"
        "def annotate(texts, is_split):\n"
        "    words = [text.split() for text in texts]\n"
        "    return [[Sentence('', t, tuple(w), upos=('NOUN',) * len(w))] for t, w in zip(texts, words)]\n"
        "annotate.columns = ('upos',)\n"
        "annotate.universal = True\n"
    )
    done = sentprobe("annotate", "--evaluate", "ud:UD_Millish-Mill", "-w", "py:rules.py:annotate", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "on ud:UD_Millish-Mill@r2.16: 576 sentences, 9,504 words" in done.stderr


def test_a_language_lists_its_treebanks_and_downloads_nothing(ud, tmp_path):
    ud.table["UD_Millish-Hidden"] = mill.row(name="UD_Millish-Hidden", text="no", licence="CC BY-NC 4.0")
    ud.table["UD_Millish-New"] = mill.row(
        name="UD_Millish-New", release="r2.18", sentences=None, words=None, licence="", text="", genres="", files={}
    )
    done = sentprobe("make", "ud:qmi", "-o", "my probes", cwd=tmp_path)
    assert done.returncode == 0
    rows = [line.split() for line in done.stdout.splitlines()]
    assert rows[0] == ["treebank", "release", "code", "sentences", "words", "genres", "licence"]
    assert [row[0] for row in rows[1:]] == ["UD_Millish-Hidden", "UD_Millish-Mill", "UD_Millish-New"]
    assert "CC BY-NC 4.0, non-commercial use only; without its text, not usable" in done.stdout
    assert rows[3][1:] == ["r2.18", "qmi", "unknown", "unknown", "unknown", "unknown"]
    assert "To make sets, name a treebank: sentprobe make ud:UD_Millish-Mill -o 'my probes'" in done.stderr
    assert ud.asked == []
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("ud:UD_Millish-Mill", "ud:UD_Millish-Mil"),
            "There is no treebank 'UD_Millish-Mil'. Did you mean UD_Millish-Mill?",
        ),
        (("ud:UD_Millish-Mill", "gone.conllu"), "there is no file or directory 'gone.conllu'"),
        (("ud:UD_Millish-Mill", "-t", "pasive"), "There is no task 'pasive'. Did you mean passive?"),
        (("ud:UD_Millish-Mill", "--with", "py:x.py:f"), "ud:UD_Millish-Mill is annotated already: leave --with out"),
        (("ud:UD_Millish-Mill", "-o", "file"), "is a file; name another folder"),
    ],
)
def test_mistakes_are_reported_before_anything_is_downloaded(ud, tmp_path, words, message):
    mill.publish(ud)
    (tmp_path / "file").write_text("")
    done = sentprobe("make", *words, cwd=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr
    assert ud.asked == []
