"""The server: what it answers, what it refuses, and that it writes nothing."""

import hashlib
import http.client
import socket
import threading
from dataclasses import replace
from http import HTTPStatus

import msgspec
import pytest

from sentprobe.errors import RunError, UsageError
from sentprobe.results.log import open_log
from sentprobe.results.result import Failure
from sentprobe.serve import Server
from sentprobe.serve.server import MAX_BODY_BYTES
from tests.serve.runs import run, running

JSON = {"Content-Type": "application/json"}
OK = msgspec.json.encode({"sentences": ["the boats in a"]})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return run(tmp_path_factory.mktemp("served") / "run").folder


@pytest.fixture(scope="module")
def server(folder):
    with running(folder) as found:
        yield found


def ask(server, method, path, body=None, headers=None, hosts=None):
    """The status, the headers and the body of an answer."""
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=60)
    connection.putrequest(method, path, skip_host=True, skip_accept_encoding=True)
    for host in [f"127.0.0.1:{server.server_port}"] if hosts is None else hosts:
        connection.putheader("Host", host)
    given = headers or {}
    if body is not None and "Content-Length" not in given and "Transfer-Encoding" not in given:
        given = {**given, "Content-Length": str(len(body))}
    for name, value in given.items():
        connection.putheader(name, value)
    connection.endheaders(body)
    response = connection.getresponse()
    found = response.status, dict(response.getheaders()), response.read()
    connection.close()
    return found


def refused(server, status, *args, **more):
    met, headers, body = ask(server, *args, **more)
    assert met == status, body
    assert headers["Content-Type"] == "application/json"
    said = msgspec.json.decode(body, type=dict[str, str])
    assert list(said) == ["error"]
    assert said["error"]
    return said["error"]


def files(folder):
    return {p: hashlib.blake2b(p.read_bytes()).hexdigest() for p in sorted(folder.rglob("*")) if p.is_file()}


def test_the_page(server):
    status, headers, body = ask(server, "GET", "/")
    page = body.decode()
    assert status == 200
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in headers["Content-Security-Policy"]
    assert "Access-Control-Allow-Origin" not in headers
    assert headers["Server"].strip() == "sentprobe"
    assert '<section id="try"' in page
    assert "connect-src &#39;self&#39;" in page or "connect-src 'self'" in page
    stamp = msgspec.json.decode(ask(server, "GET", "/status")[2])["stamp"]
    assert f'data-stamp="{stamp}" data-results="8" data-failures="0"' in page
    assert "@STAMP@" not in page


def test_the_status(server):
    status, headers, body = ask(server, "GET", "/status")
    found = msgspec.json.decode(body)
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert (found["results"], found["failures"]) == (8, 0)
    assert [(e["name"], e["baseline"]) for e in found["encoders"]] == [
        ("static:", False), ("static:?dim=64", False), ("baseline:hash", True)
    ]  # fmt: skip


def test_a_reading(server):
    status, headers, body = ask(server, "POST", "/read", OK, JSON)
    found = msgspec.json.decode(body)
    assert (status, headers["Content-Type"]) == (200, "application/json")
    assert [cell["label"] for cell in found["sentences"][0]["sets"][1]["cells"]] == ["boats", "boats"]


@pytest.mark.parametrize("host", ["127.0.0.1:{}", "LOCALHOST:{}", "localhost:{}"])
def test_names_of_this_machine(server, host):
    assert ask(server, "GET", "/status", hosts=[host.format(server.server_port)])[0] == 200


@pytest.mark.parametrize(
    "hosts",
    [
        [], [""], ["evil.example"], ["evil.example:{}"], ["127.0.0.1.evil.example:{}"], ["localhost:1"],
        ["localhost"], ["0.0.0.0:{}"],
        ["[::1]:{}"], ["127.0.0.1:{}", "evil.example"], ["user@127.0.0.1:{}"], ["127.1:{}"],
    ],
)  # fmt: skip
def test_foreign_hosts_are_refused(server, hosts):
    given = [host.format(server.server_port) for host in hosts]
    for method, path, body in (("GET", "/", None), ("GET", "/status", None), ("POST", "/read", OK)):
        assert "127.0.0.1" in refused(server, 403, method, path, body, JSON, hosts=given)


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:1", "file://"])
def test_foreign_pages_are_refused(server, origin):
    refused(server, 403, "POST", "/read", OK, {**JSON, "Origin": origin})


def test_its_own_page_may_ask(server):
    own = {**JSON, "Origin": f"http://localhost:{server.server_port}"}
    assert ask(server, "POST", "/read", OK, own)[0] == 200


@pytest.mark.parametrize(
    "path",
    [
        "/run.json", "/results.jsonl", "/../run.json", "/%2e%2e/run.json", "//etc/passwd", "/status/", "/Status",
        "/read", "/status?x=1", "http://127.0.0.1/", "*", "/\\..\\x", "/favicon.ico", "/" + "a" * 5000,
    ],
)  # fmt: skip
def test_there_is_nothing_else_to_get(server, path):
    refused(server, 404, "GET", path)


@pytest.mark.parametrize("path", ["/", "/status", "/read/", "/read?x"])
def test_there_is_nothing_else_to_post_to(server, path):
    refused(server, 404, "POST", path, OK, JSON)


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "BREW"])
def test_other_methods(server, method):
    assert method in refused(server, HTTPStatus.NOT_IMPLEMENTED, method, "/read", b"", JSON)


@pytest.mark.parametrize("kind", [None, "text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_only_json_is_read(server, kind):
    refused(server, 415, "POST", "/read", OK, {} if kind is None else {"Content-Type": kind})


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"null", b"[]", b'"x"', b"{}", b'{"sentences": "x"}', b'{"sentences": [1]}', b"\xff\xfe",
        b"\x00" * 9, b'{"sentences": ["x"], "folder": "/"}', b'{"sentences": ["x"], "layers": {"static:": 3}}',
        b"[" * 5000, b'{"sentences": ["x"], "encoders": [null]}', b'{"sentences": ["x"], "compare": "yes"}',
        b'{"sentences": [NaN]}',
        b'{"sentences": ["\xed\xa0\x80"]}',
    ],
)  # fmt: skip
def test_what_is_no_request(server, body):
    assert "Expected JSON such as" in refused(server, 400, "POST", "/read", body, JSON)


@pytest.mark.parametrize(
    ("asked", "why"),
    [
        ({"sentences": []}, "Type a sentence"),
        ({"sentences": ["x"] * 21}, "at most 20"),
        ({"sentences": ["x" * 2001]}, "at most 2,000"),
        ({"sentences": ["x"], "encoders": []}, "No encoder was selected"),
        ({"sentences": ["x"], "encoders": ["../x"]}, "no stored probe of '../x'"),
        ({"sentences": ["x"], "layers": {"static:": "1"}}, "no layer '1'"),
        ({"sentences": ["x", "y", "z"], "compare": True}, "got 3"),
    ],
)
def test_requests_that_cannot_be_met(server, asked, why):
    assert why in refused(server, 400, "POST", "/read", msgspec.json.encode(asked), JSON)


def test_half_a_character_is_refused(server):
    refused(server, 400, "POST", "/read", rb'{"sentences": ["\ud83d"]}', JSON)


def test_long_requests_are_refused(server):
    error = refused(server, 413, "POST", "/read", b" " * (MAX_BODY_BYTES + 1), JSON)
    assert "524,288 bytes" in error
    assert ask(server, "POST", "/read", OK + b" " * (MAX_BODY_BYTES - len(OK)), JSON)[0] == 200
    longest = msgspec.json.encode({"sentences": ["x" * 2000] * 20})
    assert ask(server, "POST", "/read", longest, JSON)[0] == 200


@pytest.mark.parametrize("length", ["", "-1", "x", "1e3", "٣"])
def test_lengths_that_are_none(server, length):
    headers = {**JSON, "Content-Length": length.encode("utf-8").decode("latin-1")}
    refused(server, 411, "POST", "/read", OK, headers)


def test_a_body_in_pieces_is_refused(server):
    refused(server, 411, "POST", "/read", None, {**JSON, "Transfer-Encoding": "chunked"})


@pytest.mark.parametrize(
    "junk", [b"\x16\x03\x01\x02\x00\r\n\r\n", b"GET /\r\n\r\n", b"\r\n" * 9, b"", b"POST /read HTTP/1.1\r\nHost"]
)
def test_junk_does_no_harm(server, junk):
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as line:
        line.sendall(junk)
        line.shutdown(socket.SHUT_WR)
        while line.recv(1 << 12):
            pass
    assert ask(server, "GET", "/status")[0] == 200


def test_those_who_leave_early_do_no_harm(server):
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10) as line:
        lines = (
            "POST /read HTTP/1.1",
            "Host: localhost",
            "Content-Type: application/json",
            f"Content-Length: {len(OK)}",
        )
        line.sendall("\r\n".join((*lines, "", "")).encode() + OK[:5])
    with socket.create_connection(("127.0.0.1", server.server_port), timeout=10):
        assert ask(server, "POST", "/read", OK, JSON)[0] == 200  # while another one says nothing


def test_two_at_once_get_their_own_answers(server):
    words = ["boats", "clouds", "gardens", "rivers", "towers", "boats"]
    found = {}

    def one(i, word):
        body = msgspec.json.encode({"sentences": [f"the {word} of a"]})
        found[i] = msgspec.json.decode(ask(server, "POST", "/read", body, JSON)[2])["sentences"][0]

    threads = [threading.Thread(target=one, args=pair) for pair in enumerate(words)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [found[i]["text"] for i in range(6)] == [f"the {word} of a" for word in words]
    assert [found[i]["sets"][1]["cells"][0]["label"] for i in range(6)] == words


def test_a_run_that_grows_while_it_is_served(tmp_path):
    own = run(tmp_path / "run", ["static:?dim=64"])
    with running(own.folder) as server:
        first = ask(server, "GET", "/")[2]
        assert ask(server, "GET", "/")[2] == first
        before = msgspec.json.decode(ask(server, "GET", "/status")[2])
        assert (before["results"], before["changed"]) == (6, False)
        result = own.results[0]
        with open_log(own.folder) as log:
            cell = replace(result.cell, seed=7)
            log.add(replace(result, key=cell.key, cell=cell), own.predictions(result))
            lost = replace(result.cell, encoder="gone:")
            log.add(Failure(key=lost.key, cell=lost, error="no such file", kind="OSError"))
            with (own.folder / "results.jsonl").open("ab") as out:  # a line that is being written is no result yet
                out.write(b'{"result": {"key"')
        after = msgspec.json.decode(ask(server, "GET", "/status")[2])
        assert (after["results"], after["failures"], after["changed"]) == (7, 1, True)
        assert after["stamp"] != before["stamp"]
        second = ask(server, "GET", "/")[2].decode()
        assert f'data-stamp="{after["stamp"]}" data-results="7" data-failures="1"' in second
        assert not msgspec.json.decode(ask(server, "GET", "/status")[2])["changed"]
        run(own.folder, ["static:"])  # another process would, and the torn line is cut off
        names = [e["name"] for e in msgspec.json.decode(ask(server, "GET", "/status")[2])["encoders"]]
        assert names == ["static:?dim=64", "static:", "baseline:hash"]


@pytest.mark.filterwarnings("ignore::sentprobe.errors.CorruptionWarning")  # which goes to the console
def test_a_run_that_is_altered_is_told(tmp_path):
    own = run(tmp_path / "run", ["static:?dim=64"])
    with running(own.folder) as server:
        path = own.folder / "results.jsonl"
        path.write_bytes(b"{]\n" + path.read_bytes().partition(b"\n")[2])
        assert msgspec.json.decode(ask(server, "GET", "/status")[2])["results"] == len(own) - 1
        assert b"results.jsonl:1: this line is damaged" in ask(server, "GET", "/")[2]


def test_a_fault_is_told(server, monkeypatch):
    def broken(*_):
        raise ZeroDivisionError("caf\udce9")

    monkeypatch.setattr(server.site.predictor, "predict", broken)
    assert refused(server, 500, "POST", "/read", OK, JSON) == "Internal error: ZeroDivisionError: caf\\udce9"


def test_nothing_is_written(tmp_path):
    own = run(tmp_path / "run")
    before = files(own.folder)
    with running(own.folder) as server:
        ask(server, "GET", "/")
        ask(server, "GET", "/status")
        ask(server, "POST", "/read", OK, JSON)
    assert files(own.folder) == before


def test_it_is_reached_from_this_machine_only(server):
    assert server.server_address[0] == "127.0.0.1"
    assert server.url == f"http://127.0.0.1:{server.server_port}/"
    with pytest.raises(TypeError):
        Server(server.site.folder, host="0.0.0.0")


def test_ports(server, folder):
    with pytest.raises(UsageError, match=rf"Port {server.server_port} cannot be used: .*Choose another one"):
        Server(folder, server.server_port)
    for port in (-1, 65536):
        with pytest.raises(UsageError, match="expected 1 to 65535"):
            Server(folder, port)


def test_what_is_no_run(tmp_path):
    with pytest.raises(RunError, match="is not a run"):
        Server(tmp_path)


def test_two_hundred_requests_at_once_are_answered(server):
    crowd = 200
    ready, answers = threading.Barrier(crowd), [None] * crowd

    def one(i):
        asked = ("POST", "/read", OK, JSON) if i % 2 else ("GET", "/status")
        ready.wait()
        try:
            status, *_, said = ask(server, *asked)
            answers[i] = status if status == HTTPStatus.OK else said
        except OSError as e:
            answers[i] = e

    threads = [threading.Thread(target=one, args=(i,)) for i in range(crowd)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [answer for answer in answers if answer != HTTPStatus.OK] == []
