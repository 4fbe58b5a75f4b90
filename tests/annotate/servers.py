"""Servers on loopback that do as they are told, and remember what they were asked."""

import json
import threading
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl

from sentprobe import Sentence
from sentprobe.corpus.conllu import conllu_rows


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.seen.append((self.path, self.headers["Content-Type"], body))
        plan = self.server.plans.pop(0) if self.server.plans else self.server.always
        status, content, headers = plan(self.path, body)
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if "Content-Length" not in headers:
            self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, always):
        super().__init__(("127.0.0.1", 0), Handler)
        self.always, self.plans, self.seen = always, [], []

    @property
    def address(self):
        return f"http://127.0.0.1:{self.server_port}"


@contextmanager
def serving(always):
    """A server that answers with what ``always`` makes of a path and a body, or with the next of its ``plans``."""
    server = Server(always)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def says(status, content=b"", **headers):
    return lambda path, body: (status, content, {k.replace("_", "-"): v for k, v in headers.items()})


def annotated(text):
    """CoNLL-U of a text: a paragraph is split after full stops, every word is the head of the next."""
    return "".join(
        conllu_rows(parsed(sentence))
        for paragraph in text.split("\n\n")
        for sentence in paragraph.replace(". ", ".\n").split("\n")
        if sentence
    )


def parsed(text):
    forms = tuple(text.replace(".", " .").split())
    space = tuple(i + 1 == len(forms) or forms[i + 1] != "." for i in range(len(forms)))
    upos = tuple("PUNCT" if form == "." else "NOUN" for form in forms)
    deprels = tuple("dep" if i else "root" for i in range(len(forms)))
    return Sentence("", text, forms, None, upos, None, None, tuple(range(-1, len(forms) - 1)), deprels, space)


def conllu_service(path, body):
    """What ``conllu-server:`` expects."""
    return 200, annotated(body.decode()).encode(), {"Content-Type": "text/plain"}


MODELS = {"french-sequoia-ud-2.12-230717": ["tokenizer", "tagger", "parser"], "czech-pdt-ud-2.12-230717": ["tokenizer"]}


def udpipe_service(path, body):
    """What a server of UDPipe 2 does, after its source."""
    if path == "/api/models":
        return 200, json.dumps({"models": MODELS, "default_model": "czech-pdt-ud-2.12-230717"}).encode(), {}
    fields = dict(parse_qsl(body.decode(), keep_blank_values=True))
    if path != "/api/process" or not {"data", "model", "tokenizer", "tagger", "parser"} <= set(fields):
        return 400, b"The parameter 'data' is required.", {}
    full = next((name for name in MODELS if f"{name}-".startswith(f"{fields['model']}-")), None)
    if full is None:
        return 400, f"The requested model '{fields['model']}' does not exist.".encode(), {}
    data = fields["data"]
    if fields["tokenizer"] == "presegmented":
        result = "".join(conllu_rows(parsed(line)) for line in data.split("\n") if line)
    else:
        result = annotated(data)
    head = f"# generator = UDPipe 2\n# udpipe_model = {full}\n# udpipe_model_licence = CC BY-NC-SA\n"
    return 200, json.dumps({"model": full, "acknowledgements": [], "result": head + result}).encode(), {}
