"""`sentprobe make TEXT --with ANNOTATOR`, and that sets say who annotated their corpus."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from sentprobe import Corpus, find_sets
from sentprobe.annotate.request import AnnotationRequest, find_inputs
from sentprobe.annotate.run import annotate_corpus
from sentprobe.corpus.conllu import write_conllu
from sentprobe.corpus.provenance import describe_provenance, read_provenance
from sentprobe.make.filters import rejection_reason
from sentprobe.report.described_sets import describe_sets
from tests.command_line import sentprobe

SIZES = ("-t", "sentence_length", "--sizes", "60/15/15")


@pytest.fixture
def book(rules):
    Path("book.txt").write_text("\n\n".join(s.text for s in Corpus.synthetic(600)), "utf-8")
    return rules


@pytest.fixture
def gold(rules):
    with Path("en_gold-ud-test.conllu").open("w", encoding="utf-8") as out:
        write_conllu(Corpus.synthetic(25), out)
    return "en_gold-ud-test.conllu"


def manifests(folder="probes"):
    return [json.loads(path.read_bytes()) for path in sorted(Path(folder).rglob("manifest.json"))]


def test_sets_from_raw_text_in_one_go(book, gold):
    words = ("make", "book.txt", "--with", book, *SIZES, "--gold", gold, "-o", "probes")
    done = sentprobe(*words)
    assert done.returncode == 0, done.stderr
    assert "writing to probes/book.conllu.gz" in done.stderr
    (first,) = manifests()
    assert first["language"] == "en"
    (annotation,) = first["corpus"]["annotation"]
    assert annotation["annotator"] == "py:rules.py:annotate"
    assert annotation["model"] == "rules.py:annotate"
    assert annotation["version"] == "1"
    assert annotation["universal"] is True
    assert "LAS" in annotation["accuracy"]
    assert "raw text) on 25 sentences of en_gold-ud-test" in annotation["accuracy"]
    for shown in (done, sentprobe("show", "probes")):
        assert "annotated by py:rules.py:annotate (rules.py:annotate 1, own function, licence CC0): UPOS " in (
            " ".join(shown.stderr.split())
        )
    (own,) = describe_sets(find_sets("probes")).sets
    assert any(name == "Annotated by" and text.startswith("py:rules.py:annotate") for name, text in own.facts)
    before = Path("probes/book.conllu.gz").stat().st_mtime_ns
    again = sentprobe(*words)
    assert again.returncode == 0
    assert "sentences are in probes/book.conllu.gz" in again.stderr
    assert Path("probes/book.conllu.gz").stat().st_mtime_ns == before
    # the corpus beside the sets disturbs no verb that reads them
    assert sentprobe("audit", "probes").returncode in (0, 1)
    assert [source.name for source in find_sets("probes")] == ["conneau2018/sentence_length"]


def test_sets_from_annotation_that_is_not_ud_are_warned_of(book):
    Path("rules.py").write_text(Path("rules.py").read_text("utf-8").replace("universal = True", "universal = False"))
    done = sentprobe("make", "book.txt", "--with", book, *SIZES, "-o", "probes")
    assert done.returncode == 0
    warning = "warning: py:rules.py:annotate is not known to annotate by Universal Dependencies"
    assert warning in " ".join(done.stderr.split())
    assert warning in " ".join(sentprobe("show", "probes").stderr.split())
    assert manifests()[0]["corpus"]["annotation"][0]["universal"] is False


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("book.txt", "--lines", "sentences"), "--lines is for raw text: add --with"),
        (("book.txt", "--with", "py:rules.py", "--suite", "universal2018"), "There is no suite 'universal2018'"),
        (("book.txt", "--with", "py:rules.py", "--tokenise", "space"), "--tokenise has no effect on raw text"),
        (("book.txt", "--with", "py:rules.py", "--sizes", "5"), "--sizes 5: expected three"),
        (("book.txt", "--with", "py:none.py"), "There is no file none.py"),
    ],
)
def test_what_is_wrong_is_said_before_the_work(book, words, message):
    done = sentprobe("make", *words, "-o", "probes")
    assert done.returncode == 1
    assert message in " ".join(done.stderr.split())
    assert not Path("probes").exists()


def test_a_treebank_that_people_annotated_has_no_annotator(rules, gold):
    assert read_provenance(gold) is None
    done = sentprobe("make", gold, "-t", "sentence_length", "--sizes", "5/1/1", "-o", "probes")
    assert "annotated by" not in done.stderr
    assert read_provenance("nothing.conllu") is None


def test_a_provenance_on_one_line():
    assert describe_provenance({"annotator": "x:y"}) == "x:y"
    assert describe_provenance({"annotator": "x:y", "model": "y", "software": "X 1", "universal": False}) == (
        "x:y (y, X 1, not UD)"
    )


def test_an_annotator_is_scored_on_a_treebank(rules, gold):
    done = sentprobe("annotate", "--evaluate", gold, "--with", rules)
    assert done.returncode == 0, done.stderr
    lines = [line.split() for line in done.stdout.splitlines()]
    assert lines[0] == ["score", "F1", "95", "%", "interval", "precision", "recall"]
    names = [line[0] for line in lines[1:]]
    assert names == ["Tokens", "Sentences", "Words", "UPOS", "UAS", "LAS", "CLAS"]
    assert "25 sentences" in done.stderr
    assert sentprobe("annotate", "--evaluate", gold, "--with", rules, "-o", "x.conllu").returncode == 1
    Path("plain.txt").write_text("He left.\n", "utf-8")
    wrong = sentprobe("annotate", "--evaluate", "plain.txt", "--with", rules)
    assert "has no annotation to compare with" in " ".join(wrong.stderr.split())


def test_gold_sentences_are_used_where_lines_are_sentences(rules, gold):
    Path("t.txt").write_text("He left. She left.\n", "utf-8")
    request = AnnotationRequest(rules, find_inputs(["t.txt"]), lines="sentences", gold=gold)
    found = annotate_corpus(request, Path("out.conllu"), progress=lambda *_: None)
    assert found.card["accuracy"]["input"] == "gold sentences"
    assert found.card["accuracy"]["f1"]["Sentences"] == 1.0
    assert "annotator_accuracy = UPOS" in Path("out.conllu").read_text("utf-8")


WRONG_TENSE = """
from sentprobe import Corpus, Sentence
from dataclasses import replace

GOLD = {s.text: s for s in Corpus.read("gold.conllu")}


def annotate(texts, is_split):
    return [[spoilt(GOLD[text])] for text in texts]


def spoilt(s):
    '''Gold, but every third past tense of a root is a present.'''
    root = s.heads.index(-1)
    feats = list(s.feats)
    number = int(s.id.rpartition("-")[2])
    if "Tense=Past" in feats[root] and number % 3 == 0:
        feats[root] = feats[root].replace("Tense=Past", "Tense=Pres")
    return replace(s, feats=tuple(feats))


annotate.language = "en"
annotate.columns = ("upos", "feats", "heads", "deprels")
annotate.universal = True
"""


def test_errors_of_labels_are_measured_class_by_class(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    sentences = [replace(s, id=f"x-{n}") for n, s in enumerate(Corpus.synthetic(900))]
    with Path("gold.conllu").open("w", encoding="utf-8") as out:
        write_conllu(sentences, out)
    Path("book.txt").write_text("\n".join(s.text for s in sentences), "utf-8")
    Path("wrong.py").write_text(WRONG_TENSE, "utf-8")
    words = ("-t", "past_present", "-s", "xprobe2019", "--sizes", "100/20/20", "--set", 'tense="root"')
    unknown = sentprobe("make", "book.txt", "--lines", "sentences", "--with", "py:wrong.py", *words, "-o", "probes")
    assert unknown.returncode == 0, unknown.stderr
    (first,) = manifests()
    assert first["label_errors"] == "not measured (py:wrong.py)"
    assert "label-errors-not-measured" in [f["code"] for f in first["audit"]]
    # a corpus that is annotated already: the annotator is named by the user, never by the file
    again = ("make", "probes/book.conllu.gz", "--gold", "gold.conllu", *words, "-o", "measured")
    assert "--gold is for raw text: add --with" in sentprobe(*again).stderr
    other = sentprobe(*again, "--with", "py:other.py")
    assert "was annotated by py:wrong.py" in other.stderr
    done = sentprobe(*again, "--with", "py:wrong.py")
    assert done.returncode == 0, done.stderr
    (second,) = manifests("measured")
    found = second["label_errors"]["labels"]
    assert found["PAST"]["other"] == found["PAST"]["none"] == 0
    past = [s for s in sentences if "Tense=Past" in s.feats[s.heads.index(-1)] and s.upos[s.heads.index(-1)] == "VERB"]
    fit = [s for s in past if 5 <= len(s.tokens) <= 28 and rejection_reason(s) is None]
    turned = sum(int(s.id[2:]) % 3 == 0 for s in fit)
    assert found["PRES"] == {"sentences": found["PRES"]["sentences"], "other": turned, "none": 0}
    assert found["PAST"]["sentences"] == len(fit) - turned
    assert "label-errors" in [f["code"] for f in second["audit"] if f["severity"] == "warning"]
    (shown,) = describe_sets(find_sets("measured")).sets
    facts = dict(shown.facts)
    assert f"PRES: another label for {turned} and none for 0 of " in facts["Errors of the annotator's labels"]
