"""UDPipe: a model trained here, and a server on loopback that does as the source of UDPipe 2's server says."""

import json
import sys
from functools import partial
from urllib.parse import parse_qsl

import pytest

from sentprobe.annotate import http_annotator
from sentprobe.annotate.annotator import load_annotator
from sentprobe.core.network import Endpoint
from sentprobe.errors import AnnotatorError, CorpusError, NotInstalled, UsageError
from tests.annotate.servers import says, serving, udpipe_service

TEXT = "The dogs sleep. I don't know the teacher."


@pytest.fixture(scope="module")
def loaded(udpipe_model):
    return load_annotator(f"udpipe:{udpipe_model}")


@pytest.fixture
def server():
    with serving(udpipe_service) as started:
        yield started


def test_a_model_file(loaded, udpipe_model):
    model = loaded.model
    assert model.name == "english-builtin-ud-2.5-191206.udpipe"
    assert model.software.startswith("UDPipe 1.")
    assert (model.language, model.licence, model.universal, model.splits) == ("en", "CC BY-NC-SA 4.0", True, True)
    assert set(model.columns) == {"lemmas", "upos", "xpos", "feats", "heads", "deprels"}
    assert len(model.version) == 16


def test_sentences_words_and_multi_word_tokens(loaded):
    (one, two), none, three = loaded.annotate([TEXT, "", "She sleeps"], False)
    assert [one.text, two.text, none] == ["The dogs sleep.", "I don't know the teacher.", []]
    assert one.forms == ("The", "dogs", "sleep", ".")
    assert one.space_after == (True, True, False, True)
    assert two.forms[:4] == ("I", "do", "n't", "know")
    assert two.mwts == ((1, 3, "don't"),)
    assert two.upos[:4] == ("PRON", "AUX", "PART", "NOUN")
    assert "PronType=Prs" in two.feats[0]
    assert two.heads.count(-1) == 1
    assert two.deprels[two.heads.index(-1)] == "root"
    assert [s.text for s in three] == ["She sleeps"]


def test_a_sentence_that_is_split_is_not_split_further(loaded):
    ((one,),) = loaded.annotate([TEXT], True)
    assert one.text == TEXT
    assert len(one) == 11


def test_files_that_are_not_models(tmp_path):
    pytest.importorskip("ufal.udpipe")
    with pytest.raises(UsageError, match=r"There is no UDPipe model '.*none\.udpipe'.*hdl\.handle\.net/11234/1-3131"):
        load_annotator(f"udpipe:{tmp_path / 'none.udpipe'}")
    bad = tmp_path / "bad.udpipe"
    bad.write_bytes(b"no model")
    with pytest.raises(UsageError, match="is not a model of UDPipe 1"):
        load_annotator(f"udpipe:{bad}")
    with pytest.raises(UsageError, match="needs a model file, or the address of a server"):
        load_annotator("udpipe:")
    with pytest.raises(UsageError, match="'model', which is for servers"):
        load_annotator(f"udpipe:{bad}?model=x")


def test_without_the_package(tmp_path, monkeypatch):
    (tmp_path / "bad.udpipe").write_bytes(b"no model")
    monkeypatch.setitem(sys.modules, "ufal", None)
    with pytest.raises(NotInstalled, match=r"pip install .*\[annotate\]"):
        load_annotator(f"udpipe:{tmp_path / 'bad.udpipe'}")


def test_a_server(server):
    loaded = load_annotator(f"udpipe:{server.address}/api?model=french")
    model = loaded.model
    assert model.name == "french-sequoia-ud-2.12-230717"
    assert (model.version, model.language, model.licence) == ("ud-2.12-230717", "fr", "CC BY-NC-SA")
    assert model.columns == ("upos", "heads", "deprels")
    assert model.notes == (f"Texts are sent to {server.address}/api/process.",)
    found = list(loaded.annotate(["Un chat. Un chien.", "", "Oui."], False))
    assert [[s.text for s in some] for some in found] == [["Un chat.", "Un chien."], [], ["Oui."]]
    ((one,),) = loaded.annotate(["Un chat. Un chien."], True)
    assert one.text == "Un chat. Un chien."
    path, kind, body = server.seen[-1]
    assert (path, kind) == ("/api/process", "application/x-www-form-urlencoded")
    assert dict(parse_qsl(body.decode(), keep_blank_values=True)) == {
        "model": "french", "tokenizer": "presegmented", "tagger": "", "parser": "", "data": "Un chat. Un chien."
    }  # fmt: skip


def test_the_address_may_end_in_process_and_the_default_model_is_the_servers(server):
    assert load_annotator(f"udpipe:{server.address}/api/process").model.name == "czech-pdt-ud-2.12-230717"


def test_texts_are_normalised_as_servers_do(server):
    loaded = load_annotator(f"udpipe:{server.address}/api")
    ((one,),) = loaded.annotate(["e\u0301te\u0301"], False)
    assert one.text == "été"


def test_texts_are_sent_in_batches(server):
    loaded = load_annotator(f"udpipe:{server.address}/api?batch=10")
    server.seen.clear()
    texts = ["a b c.", "d.", "e f g h i j k.", "l."]
    assert [[s.text for s in some] for some in loaded.annotate(texts, False)] == [[text] for text in texts]
    sent = [dict(parse_qsl(body.decode(), keep_blank_values=True))["data"] for _, _, body in server.seen]
    assert sent == ["a b c.\n\nd.", "e f g h i j k.", "l."]


def test_a_model_that_a_server_does_not_have(server):
    with pytest.raises(UsageError, match=r"has no model 'frensh'\. Did you mean french.* It has 2: czech-pdt"):
        load_annotator(f"udpipe:{server.address}/api?model=frensh")


def result(conllu):
    return says(200, json.dumps({"model": "m", "result": conllu}).encode())


WORD = "1\ta\t_\tX\t_\t_\t0\troot\t_\t_\n"


@pytest.mark.parametrize(
    ("plan", "error", "message"),
    [
        (result("1\ta\n\n"), CorpusError, r"response of http://127\.0\.0\.1:\d+/api/process:1: got 2 columns"),
        (result(WORD + "\n" + WORD.replace("a", "c") + "\n"), CorpusError, r":3: got the token 'c'; expected"),
        (result(WORD + "\n"), CorpusError, r":1: got the end; expected the text 'b'"),
        (result(""), CorpusError, r":1: got the end; expected the text 'a b'"),
        (says(200, b'{"model": "m", "result": "x'), AnnotatorError, "not with JSON that is complete"),
        (says(200, b'{"model": "m"}'), AnnotatorError, "answered without a result"),
        (says(200, b"[]"), AnnotatorError, "not with JSON"),
        (says(400, b"no such model"), AnnotatorError, r"answered 400: 'no such model'\.$"),
        (says(413, b"large"), AnnotatorError, r"answered 413: 'large'\. Send less at once: batch=5000"),
        (says(307, b"", Location="http://example.org/"), AnnotatorError, "redirects to 'http://example.org/'"),
    ],
)  # fmt: skip
def test_what_a_server_answers_is_checked(server, plan, error, message):
    loaded = load_annotator(f"udpipe:{server.address}/api")
    server.plans.append(plan)
    with pytest.raises(error, match=message):
        list(loaded.annotate(["a b"], False))


def test_a_large_response_is_refused(server, monkeypatch):
    loaded = load_annotator(f"udpipe:{server.address}/api")
    monkeypatch.setattr(http_annotator, "MAX_RESPONSE_BYTES", 10)
    with pytest.raises(AnnotatorError, match="more than 0 MiB"):
        list(loaded.annotate(["a b"], False))


def test_a_server_that_is_busy_is_asked_again(server, monkeypatch):
    naps = []
    monkeypatch.setattr(http_annotator, "Endpoint", partial(Endpoint, sleep=naps.append))
    server.plans += [says(503, b"busy")]
    loaded = load_annotator(f"udpipe:{server.address}/api")
    assert loaded.model.name
    assert len(naps) == 1


@pytest.mark.parametrize(
    ("plan", "message"),
    [(says(200, b"{}"), "does not list models"), (says(404, b"nothing here"), "answered 404: 'nothing here'")],
)
def test_a_server_that_is_not_udpipes(server, plan, message):
    server.plans.append(plan)
    with pytest.raises(AnnotatorError, match=message):
        load_annotator(f"udpipe:{server.address}/api")


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("udpipe:http://example.org/api", "texts would be sent to another machine unencrypted"),
        ("udpipe:http://127.0.0.1:1/api?timeout=0", "has timeout=0; expected a number of seconds"),
        ("udpipe:http://127.0.0.1:1/api?batch=0", "has batch=0; expected characters, from 1"),
        ("udpipe:http://127.0.0.1:1/api?insecure=yes", "has insecure=yes; expected 0 or 1"),
        ("udpipe:http://user:secret@127.0.0.1/", "without a user name or key"),
        ("udpipe:http://127.0.0.1/?modell=x", "has the option 'modell'"),
    ],
)
def test_what_was_typed_is_checked(typed, message):
    with pytest.raises(UsageError, match=message):
        load_annotator(typed)
