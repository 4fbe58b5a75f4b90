"""Translators: functions, commands, servers, models; and what is said of those that fail."""

import json
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
from threading import Thread

import pytest

from sentprobe.cli import app
from sentprobe.errors import EncoderError, SentProbeError, UsageError
from sentprobe.lab.translator import translate
from tests.command_line import sentprobe

TEXTS = ["a cat", "two dogs", "a cat", "it's; $(touch x) `y`"]
UPPER = [text.upper() for text in TEXTS]
CODE = """
seen = []

def upper(texts):
    seen.append(list(texts))
    return [text.upper() for text in texts]

def short(texts):
    return texts[1:]

def odd(texts):
    return 3

def fail(texts):
    raise RuntimeError("no model")
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text(CODE)
    (tmp_path / "upper.py").write_text("import sys\nfor line in sys.stdin: sys.stdout.write(line.upper())\n")
    return tmp_path


def test_a_function(place):
    assert translate("py:mine.py:upper", TEXTS) == UPPER


def test_a_command_gets_arguments_and_no_shell(place):
    assert translate(f"command:{sys.executable} upper.py '$HOME; ls'", TEXTS) == UPPER
    assert not (place / "x").exists()
    with pytest.raises(UsageError, match="No such file"):
        translate("command:no-such-program-here", TEXTS)
    (place / "bad.py").write_text("import sys\nsys.exit('out of order')\n")
    with pytest.raises(EncoderError, match="ended with 1: out of order"):
        translate(f"command:{sys.executable} bad.py", TEXTS)


@pytest.fixture
def server():
    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            texts = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["texts"]
            if self.path == "/elsewhere":
                self.send_response(302)
                self.send_header("Location", "/translate")
                self.end_headers()
                return
            self.send_response(200 if self.path != "/broken" else 500)
            self.end_headers()
            key = "translations" if self.path == "/translate" else "text"
            self.wfile.write(json.dumps({key: [text.upper() for text in texts]}).encode())

        def log_message(self, *_):
            pass

    found = HTTPServer(("127.0.0.1", 0), Handler)
    Thread(target=found.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{found.server_port}"
    found.shutdown()
    found.server_close()


def test_a_server(server):
    assert translate(f"{server}/translate", TEXTS) == UPPER
    for path, message in (("broken", "answered 500"), ("other", "gave no translations"), ("elsewhere", "answered 302")):
        with pytest.raises(EncoderError, match=message):
            translate(f"{server}/{path}", TEXTS)
    with pytest.raises(EncoderError, match="cannot be used"):
        translate("http://127.0.0.1:1/translate", TEXTS)


@pytest.mark.parametrize(
    ("name", "message"),
    [("py:mine.py:short", "gave 2 translations of 3"), ("py:mine.py:odd", "gave int"), ("py:mine.py:fail", "no model"),
     ("nonsense", "expected py:"), ("command: ", "expected py:"), ("http:///x", "is not an address")],
)  # fmt: skip
def test_translators_that_fail(place, name, message):
    with pytest.raises(SentProbeError, match=message):
        translate(name, TEXTS)


def test_pairs_are_translated_and_scored(place):
    pytest.importorskip("sacrebleu")
    rows = [
        ("a cat sleeps on a mat", "it is not awake", "entailment"),
        ("dogs run in the park", "they sleep", "neutral"),
    ]
    (place / "test-en.tsv").write_text("".join("\t".join(row) + "\n" for row in rows))
    (place / "test-xx.tsv").write_text("".join("\t".join((a.upper(), b, c)) + "\n" for a, b, c in rows))
    command = ("data", "translate", "test-en.tsv", "--translator", "py:mine.py:upper", "--reference", "test-xx.tsv")
    done = sentprobe(*command, "-o", "out.tsv", cwd=place)
    assert (place / "out.tsv").read_text().splitlines()[0] == "A CAT SLEEPS ON A MAT\tIT IS NOT AWAKE\tentailment"
    assert "column 1: BLEU 100.00 (nrefs:1|" in done.stdout
    assert "column 2: BLEU 0.00" in done.stdout
    (place / "test-xx.tsv").write_text("A\tB\n")
    refused = sentprobe(*command, "-o", "no.tsv", cwd=place)
    assert "test-en.tsv has 2 rows and test-xx.tsv 1" in refused.stderr
    assert not (place / "no.tsv").exists()
    (place / "empty.tsv").write_text("a\t\tneutral\n")
    assert (
        "an empty sentence"
        in sentprobe(
            "data", "translate", "empty.tsv", "--translator", "py:mine.py:upper", "-o", "no.tsv", cwd=place
        ).stderr
    )


def test_a_trained_translator(tmp_path):
    pytest.importorskip("torch")
    from sentprobe.lab.training.decoder import generate
    from sentprobe.lab.training.request import make_request
    from tests.lab.training.tiny import sentences, train

    file = tmp_path / "pairs.tsv"
    file.write_text("".join(f"{text}\t{text.lower()}\n" for text in sentences(40)))
    settings = {"hidden": 8, "decoder": 8, "target_width": 8, "codes": 100}
    asked = make_request(
        "translate", "bilstm-max", settings=settings, options={"epochs": 1, "batch": 16}, width=8,
        train=(str(file),), held_out=5,
    )  # fmt: skip
    train(asked, tmp_path / "model")
    some = sentences(3)
    assert translate(f"trained:{tmp_path}/model", some) == [
        " ".join(t.split()) for t in generate(tmp_path / "model", some)
    ]


def test_the_header_of_nli_pairs_says_what_is_translated(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "upper.py").write_text("def upper(texts):\n    return [text.upper() for text in texts]\n")
    (tmp_path / "xnli.tsv").write_text("language\tgold_label\tsentence1\tsentence2\nfr\tneutral\tun chat\tun chien\n")
    words = ["data", "translate", "xnli.tsv", "--translator", "py:upper.py:upper", "-o", "out.tsv"]
    assert app(words, result_action="return_value", exit_on_error=False) == 0
    assert (tmp_path / "out.tsv").read_text() == (
        "language\tgold_label\tsentence1\tsentence2\nfr\tneutral\tUN CHAT\tUN CHIEN\n"
    )
