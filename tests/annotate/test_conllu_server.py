from dataclasses import replace

import pytest

from sentprobe import Corpus
from sentprobe.annotate.annotator import load_annotator
from sentprobe.annotate.request import AnnotationRequest, find_inputs
from sentprobe.annotate.run import annotate_corpus
from sentprobe.errors import AnnotatorError, CorpusError, DataError, Offline, UsageError
from tests.annotate.servers import annotated, conllu_service, says, serving


@pytest.fixture
def server():
    with serving(conllu_service) as started:
        yield started


def test_texts_go_out_as_paragraphs_and_come_back_as_sentences(server):
    loaded = load_annotator(f"conllu-server:{server.address}/parse?language=fi&version=3&licence=MIT")
    model = loaded.model
    assert (model.name, model.version, model.language, model.licence) == (f"{server.address}/parse", "3", "fi", "MIT")
    assert model.columns == ("upos", "heads", "deprels")
    assert model.universal
    assert model.notes == (f"Texts are sent to {server.address}/parse.",)
    found = list(loaded.annotate(["Kissa nukkuu. Se on musta.", "Talo."], False))
    assert [[s.text for s in some] for some in found] == [["Kissa nukkuu.", "Se on musta."], ["Talo."]]
    assert found[0][0].heads == (-1, 0, 1)
    path, kind, body = server.seen[-1]
    assert (path, kind) == ("/parse", "text/plain; charset=utf-8")
    assert body.decode() == "Kissa nukkuu. Se on musta.\n\nTalo."


def test_heads_that_are_no_tree_are_passed_on(server):
    loaded = load_annotator(f"conllu-server:{server.address}")
    server.plans.append(says(200, annotated("a b").replace("\t0\troot", "\t2\tdep").encode()))
    ((one,),) = loaded.annotate(["a b"], False)
    assert one.heads == (1, 0)


def test_relations_that_are_not_universal_are_noticed(server):
    server.plans.append(lambda path, body: (200, annotated(body.decode()).replace("dep", "SBJ").encode(), {}))
    assert not load_annotator(f"conllu-server:{server.address}").model.universal
    assert not load_annotator(f"conllu-server:{server.address}?universal=0").model.universal
    with pytest.raises(UsageError, match="has universal=maybe; expected 0 or 1"):
        load_annotator(f"conllu-server:{server.address}?universal=maybe")


@pytest.mark.parametrize(
    ("plan", "error", "message"),
    [
        (says(200, b"<html>"), CorpusError, r"response of http://127\.0\.0\.1:\d+:1: got 1 column"),
        (says(200, annotated("a c").encode()), CorpusError, ":1: got the token 'c'; expected the text 'b'"),
        (says(200, annotated("a").encode()), CorpusError, ":1: got the end; expected the text 'b'"),
        (says(200, b"1\t\xff\n\n"), CorpusError, ":1: got the bytes ff, which are not UTF-8"),
        (says(200, annotated("a b").replace("\t1\t", "\t999\t").encode()), CorpusError, ":2: got the HEAD 999"),
        (says(404), AnnotatorError, "answered 404"),
    ],
)  # fmt: skip
def test_what_a_server_answers_is_checked(server, plan, error, message):
    loaded = load_annotator(f"conllu-server:{server.address}")
    server.plans.append(plan)
    with pytest.raises(error, match=message):
        list(loaded.annotate(["a b"], False))


def test_comments_and_line_ends_of_a_server_do_not_matter(server):
    loaded = load_annotator(f"conllu-server:{server.address}")
    content = "# a banner\n\n# sent_id = 7\n# text = something else\n" + annotated("a b").replace("\t_\n", "\t_|\n")
    server.plans.append(says(200, b"\xef\xbb\xbf" + content.replace("\n", "\r\n").encode()))
    ((one,),) = loaded.annotate(["a  b"], False)
    assert (one.text, one.forms) == ("a  b", ("a", "b"))


def test_no_server():
    with serving(conllu_service) as started:
        address = started.address
    with pytest.raises(Offline, match=r"cannot be reached: .*Is the server running, and the address right\?"):
        load_annotator(f"conllu-server:{address}")
    with pytest.raises(UsageError, match="expected the address of a service"):
        load_annotator("conllu-server:parser")


def test_a_text_that_a_server_changes_can_be_skipped(server, tmp_path):
    def lower(path, body):
        return 200, annotated(body.decode().replace("Talo", "talo")).encode(), {}

    server.always = lower
    (tmp_path / "t.txt").write_text("Kissa nukkuu.\n\nTalo on suuri.\n\nSe on musta.\n")
    request = AnnotationRequest(f"conllu-server:{server.address}", find_inputs([str(tmp_path / "t.txt")]))
    with pytest.raises(DataError, match=r"fails on 'Talo on suuri\.'.*got the token 'talo'.*--skip-bad"):
        annotate_corpus(request, tmp_path / "a.conllu", progress=lambda *_: None)
    annotate_corpus(replace(request, skip_bad=True), tmp_path / "b.conllu", progress=lambda *_: None)
    assert [s.text for s in Corpus.read(tmp_path / "b.conllu")] == ["Kissa nukkuu.", "Se on musta."]
