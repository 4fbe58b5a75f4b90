"""Against a real server on loopback, which does as it is told and remembers what it was asked."""

import base64
import json
import socket
import struct
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.core.network import MAX_ATTEMPTS
from sentprobe.encoders import load
from sentprobe.encoders.server import MAX_REQUEST_TOKENS, within_budget
from sentprobe.errors import EncoderError, Offline, ShapeError, UsageError

KEY = "sk-a-secret-that-nobody-may-see"
TEXTS = ["one", "two words", "", "Żółw", "a\nb"]


def vector(text, d=4):
    """Any vector that tells texts apart."""
    return [float(len(text)), float(sum(map(ord, text)) % 1000), 0.25, -1.0][:d]


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.seen.append((self.path, self.headers, body))
        plan = self.server.plans.pop(0) if self.server.plans else self.server.always
        plan(self, body)

    def do_GET(self):
        self.server.seen.append((self.path, self.headers, None))
        self.say(200, b"{}")

    def say(self, status, body, headers=(), length=None):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(length or len(body)))
        self.end_headers()
        self.wfile.write(body)


# what a server may do


def well(handler, body):
    rows = []
    for i, text in enumerate(body["input"]):
        numbers = vector(text, body.get("dimensions", 4))
        if body.get("encoding_format") == "base64":
            numbers = base64.b64encode(struct.pack(f"<{len(numbers)}f", *numbers)).decode()
        rows.append({"object": "embedding", "index": i, "embedding": numbers})
    handler.say(200, json.dumps({"object": "list", "data": rows, "model": body["model"]}).encode())


def rows(change):
    """Answer with the rows that ``change`` makes of the right ones."""

    def plan(handler, body):
        right = [{"index": i, "embedding": vector(text)} for i, text in enumerate(body["input"])]
        handler.say(200, json.dumps({"data": change(right)}).encode())

    return plan


def says(status, body=b"", *headers):
    return lambda handler, _: handler.say(status, body, headers)


def stalls(handler, _):
    handler.server.over.wait(60)


def stalls_halfway(handler, _):
    handler.say(200, b'{"data"', length=1000)
    handler.server.over.wait(60)


def resets(handler, _):
    handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    handler.connection.close()


def hangs_up(handler, _):
    handler.connection.shutdown(socket.SHUT_RDWR)


def breaks_off(handler, _):
    handler.say(200, b'{"data": [', length=1000)


def takes_at_most(n, status=413, words=b"batch size is larger than allowed"):
    return lambda handler, body: handler.say(status, words) if len(body["input"]) > n else well(handler, body)


@pytest.fixture
def servers():
    """Starts servers, and stops them in the end."""
    started = []

    def start():
        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.plans, server.always, server.seen, server.over = [], well, [], threading.Event()
        server.base = f"http://127.0.0.1:{server.server_port}/v1"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        started.append((server, thread))
        return server

    yield start
    for server, thread in started:
        server.over.set()
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(autouse=True)
def _bare_environment(monkeypatch):
    for name in ("openai_base_url", "openai_api_key", "http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)


@pytest.fixture
def server(servers, monkeypatch):
    started = servers()
    monkeypatch.setenv("OPENAI_BASE_URL", started.base)
    return started


@pytest.fixture
def naps():
    """The seconds that would have been slept."""
    return []


@pytest.fixture
def encoder(server, naps):
    def make(spec="openai:small", **changes):
        return replace(load(spec), sleep=naps.append, jitter=lambda: 1.0, **changes)

    return make


def right(texts, d=4):
    return np.array([vector(text or " ", d) for text in texts], dtype=np.float32)


# what is asked and what comes back


def test_texts_become_vectors_in_one_request(server, encoder):
    found = encoder()(TEXTS)
    assert found.dtype == np.float32
    assert np.array_equal(found, right(TEXTS))
    [(path, headers, body)] = server.seen
    assert path == "/v1/embeddings"
    assert body == {"model": "small", "input": ["one", "two words", " ", "Żółw", "a\nb"]}
    assert headers["Content-Type"] == "application/json"
    assert headers["User-Agent"].startswith("sentprobe/")
    assert headers["Authorization"] is None


def test_nothing_is_asked_about_no_texts(server, encoder):
    assert encoder()([]).shape == (0, 0)
    assert encoder("openai:small?dimensions=3")([]).shape == (0, 3)
    assert server.seen == []


def test_the_key_is_sent_if_there_is_one_and_shown_nowhere(server, encoder, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", f" {KEY}\n")
    made = encoder()
    made(["a"])
    assert server.seen[0][1]["Authorization"] == f"Bearer {KEY}"
    assert KEY not in repr(made)
    assert KEY not in str(made.identity)


def test_dimensions_and_encoding_are_asked_for(server, encoder):
    assert np.array_equal(encoder("openai:small?dimensions=2&encoding=base64")(TEXTS), right(TEXTS, 2))
    body = server.seen[0][2]
    assert (body["dimensions"], body["encoding_format"]) == (2, "base64")
    assert np.array_equal(encoder("openai:small?encoding=float")(TEXTS), right(TEXTS))
    assert "encoding_format" not in server.seen[1][2]


def test_floats_are_taken_from_a_server_that_does_not_know_base64(server, encoder):
    server.plans = [rows(lambda right: right)]
    assert np.array_equal(encoder("openai:small?encoding=base64")(["a", "b"]), right(["a", "b"]))


def test_rows_are_put_where_their_index_says(server, encoder):
    server.plans = [rows(lambda right: right[::-1])]
    assert np.array_equal(encoder()(TEXTS[:2]), right(TEXTS[:2]))


def test_texts_are_sent_in_batches(server, encoder):
    texts = [f"text {i}" for i in range(10)]
    made = encoder("openai:small?batch=4")
    assert made.batch_size == 4
    assert np.array_equal(made(texts), right(texts))
    assert [len(body["input"]) for _, _, body in server.seen] == [4, 4, 2]


@given(
    st.lists(st.sampled_from([1, 100, MAX_REQUEST_TOKENS, 3 * MAX_REQUEST_TOKENS, 4 * MAX_REQUEST_TOKENS]), max_size=8)
)
def test_a_request_stays_within_the_budget_of_tokens_unless_it_is_one_text(sizes):
    texts = ["x" * size for size in sizes]
    while texts:
        part = within_budget(texts)
        assert part == texts[: len(part)] != []
        assert len(part) == 1 or sum(len(text) for text in part) <= 3 * MAX_REQUEST_TOKENS
        texts = texts[len(part) :]


def test_a_long_text_goes_into_a_request_of_its_own(server, encoder):
    texts = ["short", "x" * (2 * MAX_REQUEST_TOKENS), "猫" * (MAX_REQUEST_TOKENS - 10), "short again"]
    assert np.array_equal(encoder()(texts), right(texts))
    assert [len(body["input"]) for _, _, body in server.seen] == [2, 2]


# trying again


@pytest.mark.parametrize("status", [429, 500, 502, 503, 504])
def test_a_server_in_trouble_is_asked_again_after_longer_and_longer_waits(server, encoder, naps, status):
    server.plans = [says(status, b"not now")] * 3
    assert np.array_equal(encoder()(TEXTS), right(TEXTS))
    assert naps == [1, 2, 4]
    assert len(server.seen) == 4


def test_waits_are_spread_so_that_clients_do_not_come_back_together(server, encoder, naps):
    server.plans = [says(500)] * 3
    drawn = iter((0.0, 0.5, 1.0, 0.0))
    replace(encoder(), jitter=lambda: next(drawn))(["a"])
    assert naps == [0.5, 1.5, 4.0]


def test_retry_after_is_honoured(server, encoder, naps):
    date = format_datetime(datetime.now(UTC) + timedelta(seconds=200), usegmt=True)
    past = format_datetime(datetime.now(UTC) - timedelta(seconds=200), usegmt=True)
    headers = ["17", "0.5", "0", date, past, "soon"]
    server.plans = [says(429, b"slow down", ("Retry-After", value)) for value in headers]
    encoder()(["a"])
    assert naps[:3] == [17, 2, 4]
    assert 100 < naps[3] <= 200  # of 200, less what the test itself has taken
    assert naps[4:] == [16, 32]


def test_a_server_that_wants_to_be_left_alone_for_long_is_given_up_at_once(server, encoder, naps):
    server.plans = [says(429, b"daily limit", ("Retry-After", "86400"))]
    with pytest.raises(EncoderError, match=r"429 .*'daily limit'\. It asks to wait 86400 seconds"):
        encoder()(["a"])
    assert naps == []


@pytest.mark.parametrize("plan", [resets, hangs_up, breaks_off, stalls, stalls_halfway])
def test_a_broken_or_stalled_connection_is_tried_again(server, encoder, naps, plan):
    server.plans = [plan, plan]
    assert np.array_equal(encoder(timeout=1.0)(TEXTS), right(TEXTS))
    assert naps[:2] == [1, 2]


def test_giving_up_says_what_the_server_said_last(server, encoder, naps):
    server.always = says(503, json.dumps({"error": {"message": "the model is loading " + "." * 1000}}).encode())
    with pytest.raises(
        EncoderError, match=rf"answered 503.*'the model is loading \.+…'\. Given up after {MAX_ATTEMPTS} attempts"
    ):
        encoder()(["a"])
    assert len(server.seen) == MAX_ATTEMPTS
    assert naps == [2.0**i for i in range(MAX_ATTEMPTS - 1)]


def test_giving_up_on_a_server_that_hangs_up_says_so(server, encoder):
    server.always = hangs_up
    with pytest.raises(EncoderError, match=rf"broke the connection\. Given up after {MAX_ATTEMPTS} attempts"):
        encoder()(["a"])


def test_giving_up_on_a_stalled_server_names_the_timeout(server, encoder):
    server.always = stalls
    with pytest.raises(EncoderError, match=r"did not answer within 0\.05 seconds \(timeout=\)\. Given up"):
        encoder(timeout=0.05)(["a"])


def test_an_empty_purse_is_not_waited_for(server, encoder, naps):
    server.plans = [says(429, b'{"error": {"message": "You have no credit", "code": "insufficient_quota"}}')]
    with pytest.raises(EncoderError, match=r"429 .*'You have no credit'"):
        encoder()(["a"])
    assert naps == []


# refusals


@pytest.mark.parametrize(
    ("status", "hint"),
    [
        (400, ""),
        (401, "Is OPENAI_API_KEY the key for this server?"),
        (403, "may it use this model?"),
        (404, "Is that the name of an embedding model there"),
        (405, ""),
        (422, ""),
        (501, ""),
    ],
)
def test_a_refusal_is_told_at_once(server, encoder, naps, status, hint):
    server.plans = [says(status, b'{"error": {"message": "no such thing"}}')]
    with pytest.raises(EncoderError) as caught:
        encoder()(["a"])
    assert f"{server.base}/embeddings answered {status} to a request for 'small': 'no such thing'." in str(caught.value)
    assert hint in str(caught.value)
    assert len(server.seen) == 1
    assert naps == []


@pytest.mark.parametrize("status", [401, 500])
def test_a_key_that_the_server_repeats_is_not_shown(server, encoder, monkeypatch, status):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    # at the very place where the message is cut off, too
    for before in (b"wrong key ", b"x" * 290):
        server.always = says(status, before + KEY.encode())
        with pytest.raises(EncoderError) as caught:
            encoder()(["a"])
        assert KEY[:8] not in str(caught.value)
        assert caught.value.__cause__ is None


@pytest.mark.parametrize(
    "refusal",
    [
        (413, b""),
        (413, b"length limit"),
        (400, b'{"error": {"message": "batch size is invalid, it should not be larger than 3"}}'),
        (422, b'{"error": "batch size 10 > maximum allowed batch size 3"}'),
        (400, b"too many inputs"),
    ],
)
def test_fewer_texts_are_sent_to_a_server_that_takes_fewer(server, encoder, naps, refusal):
    server.always = takes_at_most(3, *refusal)
    texts = [f"text {i}" for i in range(10)]
    assert np.array_equal(encoder()(texts), right(texts))
    assert [len(body["input"]) for _, _, body in server.seen] == [10, 5, 2, 2, 2, 2, 2]
    assert naps == []


def test_a_single_text_that_is_too_long_is_named(server, encoder):
    def plan(handler, body):
        long = any(len(text) > 1000 for text in body["input"])
        handler.say(400, b"maximum context length is 8 tokens") if long else well(handler, body)

    server.always = plan
    with pytest.raises(EncoderError, match=r"'maximum context length is 8 tokens'\. .* a single text, '(long ){12}…'"):
        encoder()(["a", "b", "long " * 300, "c"])


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed_and_the_key_stays(server, servers, encoder, monkeypatch, status):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    other = servers()
    server.plans = [says(status, b"", ("Location", f"{other.base}/embeddings"))]
    with pytest.raises(EncoderError, match=rf"answered {status}.*It redirects to '{other.base}/embeddings'"):
        encoder()(["a"])
    assert other.seen == []
    assert len(server.seen) == 1


# answers that are none


@pytest.mark.parametrize(
    "answer",
    [
        b"<html>Welcome</html>",
        b"",
        b"[]",
        b'{"data": [{"index": 0, "embed',
        b'{"error": {"message": "out of cheese"}}',
        b'{"data": [{"embedding": [1, 2]}]}',
        b'{"data": [{"index": 0, "embedding": [1, null]}]}',
        b'{"data": [{"index": 0, "embedding": [[1, 2]]}]}',
        b'{"data": [{"index": 0, "embedding": "not base64!"}]}',
        b'{"data": [{"index": 0, "embedding": "AAAA"}]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=str,
)
def test_an_answer_that_is_no_embeddings_is_shown(server, encoder, naps, answer):
    server.plans = [says(200, answer)]
    with pytest.raises(
        EncoderError, match=r"answered, but not with embeddings \(.*Is OPENAI_BASE_URL the right address"
    ):
        encoder()(["a"])
    assert naps == []


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows[:-1], r"returned 1 vectors for 2 texts\. None has the index 1, of the text 'second'"),
        (lambda rows: [], r"returned 0 vectors for 2 texts\. None has the index 0, of the text 'first'"),
        (lambda rows: [rows[0], rows[0]], r"returned 2 vectors for 2 texts\. None has the index 1"),
        (lambda rows: [*rows, rows[0]], r"returned 3 vectors for 2 texts"),
        (lambda rows: [rows[0], {**rows[1], "index": 2}], r"None has the index 1"),
        (lambda rows: [rows[0], {**rows[1], "index": -1}], r"None has the index 1"),
        (
            lambda rows: [rows[0], {"index": 1, "embedding": [1]}],
            "a vector of 1 numbers for 'second'; expected 4, as for",
        ),
    ],
)
def test_vectors_that_do_not_fit_the_texts_are_refused(server, encoder, change, message):
    server.plans = [rows(change)]
    with pytest.raises(ShapeError, match=message):
        encoder()(["first", "second"])


def test_vectors_must_be_as_long_in_every_batch_and_as_long_as_asked_for(server, encoder):
    server.plans = [well, rows(lambda right: [{"index": 0, "embedding": [1, 2]}])]
    with pytest.raises(ShapeError, match="a vector of 2 numbers for 'second'; expected 4, as for the first text"):
        encoder("openai:small?batch=1")(["first", "second"])
    server.plans = [rows(lambda right: right)]
    with pytest.raises(ShapeError, match="4 numbers for 'first'; expected 3, as dimensions= says"):
        encoder("openai:small?dimensions=3")(["first"])


def test_what_is_not_finite_is_for_the_caller_to_report(server, encoder):
    server.plans = [says(200, b'{"data": [{"index": 0, "embedding": [NaN, Infinity, 1e300]}]}')]
    assert not np.isfinite(encoder()(["a"])).any()


# where it may go


def test_a_server_that_is_not_there_is_told_at_once(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound but not listening: connections are refused, and nobody else gets the port
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://127.0.0.1:{taken.getsockname()[1]}/v1")
        with pytest.raises(Offline, match=r"cannot be reached: .*Is the server running"):
            load("openai:small")(["a"])


def test_what_speaks_no_http_is_told_at_once(server, encoder):
    def babble(handler, _):
        handler.wfile.write(b"220 mail.example ESMTP\r\n")

    server.plans = [babble]
    with pytest.raises(EncoderError, match="cannot be used: BadStatusLine"):
        encoder()(["a"])


def test_https_to_a_server_without_it_is_told_at_once(server, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", server.base.replace("http:", "https:"))
    with pytest.raises(EncoderError, match="agree on http or https"):
        load("openai:small")(["a"])


def test_another_machine_needs_a_key_and_encryption(monkeypatch):
    with pytest.raises(UsageError, match=r"model on api\.openai\.com, which needs a key: set OPENAI_API_KEY"):
        load("openai:small")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert load("openai:small").url == "https://api.openai.com/v1/embeddings"
    for host in (
        "example.org",
        "127.0.0.1.example.org",
        "localhost.example.org",
        "10.0.0.1",
        "[2001:db8::1]",
        "0.0.0.0",
    ):
        monkeypatch.setenv("OPENAI_BASE_URL", f"http://{host}/v1")
        with pytest.raises(UsageError, match="unencrypted"):
            load("openai:small")
        assert load("openai:small?insecure=1").url == f"http://{host}/v1/embeddings"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.9.9.9:80", "[::1]:8080", "LOCALHOST:1"])
def test_this_machine_needs_neither(monkeypatch, host):
    monkeypatch.setenv("OPENAI_BASE_URL", f"http://{host}/v1/")
    assert load("openai:small").url == f"http://{host.lower()}/v1/embeddings"


def test_a_proxy_is_used_for_other_machines_and_not_for_this_one(server, servers, encoder, monkeypatch):
    proxy = servers()
    monkeypatch.setenv("http_proxy", proxy.base)
    encoder()(["a"])
    assert (len(server.seen), len(proxy.seen)) == (1, 0)
    monkeypatch.setenv("OPENAI_BASE_URL", "http://example.invalid/v1")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    assert np.array_equal(encoder("openai:small?insecure=1")(["a"]), right(["a"]))
    assert proxy.seen[0][0] == "http://example.invalid/v1/embeddings"


@pytest.mark.parametrize(
    "base",
    [
        "example.org/v1", "ftp://example.org/v1", "file:///etc/passwd", "https://", "https://:80/v1", "http://[::1/v1",
        "https://me:secret@example.org/v1", "https://secret@localhost", "https://example.org/v1?key=secret",
        "https://example.org/v1#secret", "https://example.org:port/v1", "https://example.org\\@localhost/v1",
        "https://exam ple.org/v1", "https://exämple.org/v1",
    ],
)  # fmt: skip
def test_an_address_that_is_none_is_refused_without_its_secrets(monkeypatch, base):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("OPENAI_BASE_URL", base)
    with pytest.raises(UsageError, match=r"OPENAI_BASE_URL is .*; expected http\(s\)://host") as caught:
        load("openai:small")
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("key", ["two words", "sk-\nX-Evil: 1", "sk-ä", "sk-\x7f"])
def test_a_key_that_is_none_is_refused_and_not_shown(monkeypatch, key):
    monkeypatch.setenv("OPENAI_API_KEY", key)
    with pytest.raises(UsageError, match="OPENAI_API_KEY contains a space or a character that no key has") as caught:
        load("openai:small")
    assert key not in str(caught.value)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("openai:", "names no model"),
        ("openai:m?batch=0", "has batch=0; expected an integer from 1 to 2048"),
        ("openai:m?batch=2049", "from 1 to 2048"),
        ("openai:m?batch=1.5", "expected an integer"),
        ("openai:m?dimensions=-1", "dimensions=-1; expected an integer"),
        ("openai:m?dimensions=0", "dimensions=0; expected an integer"),
        ("openai:m?dimensions=٣", "expected an integer"),
        ("openai:m?timeout=0", "timeout=0; expected a number of seconds above 0"),
        ("openai:m?timeout=nan", "timeout=nan; expected a number of seconds above 0"),
        ("openai:m?encoding=int8", "encoding=int8; expected float or base64"),
        ("openai:m?insecure=yes", "insecure=yes; expected 0 or 1"),
        ("openai:m?retries=3", "has the option 'retries'; openai: takes batch, concurrency, dim"),
    ],
)
def test_wrong_use_is_named(server, spec, message):
    with pytest.raises(UsageError, match=message):
        load(spec)


# identity


def test_the_identity_is_what_can_move_a_vector(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    plain = load("openai:text-embedding-3-small").identity
    assert str(plain) == "openai:text-embedding-3-small?base=api.openai.com/v1&empty=space"
    same = ("batch=7", "timeout=1.5", "insecure=0", "encoding=float")
    assert {load(f"openai:text-embedding-3-small?{option}").identity for option in same} == {plain}
    moving = ("dimensions=256", "version=2", "encoding=base64")
    assert len({plain, *(load(f"openai:text-embedding-3-small?{option}").identity for option in moving)}) == 4
    monkeypatch.setenv("OPENAI_BASE_URL", "https://API.openai.com/v1/")
    assert load("openai:text-embedding-3-small").identity == plain
    monkeypatch.setenv("OPENAI_BASE_URL", "https://api.openai.com/v2")
    assert load("openai:text-embedding-3-small").identity != plain


def test_a_model_may_have_slashes_and_an_at_sign(server, encoder):
    encoder("openai:BAAI/bge-m3@latest")(["a"])
    assert server.seen[0][2]["model"] == "BAAI/bge-m3@latest"
    assert load("openai:BAAI/bge-m3@latest?version=1").identity.name == "BAAI/bge-m3@latest"


def test_a_server_on_this_machine_has_an_identity_only_with_a_version(server, encoder):
    assert encoder("openai:model").identity is None
    assert dict(encoder("openai:model?version=3").identity.facts)["version"] == "3"


def test_a_missing_key_is_said_before_anything_is_computed(monkeypatch):
    from sentprobe.encoders.diagnosis import check_encoders

    for name in ("OPENAI_API_KEY", "OPENAI_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match=r"^openai:x is a model on api\.openai\.com, which needs a key: set"):
        check_encoders(["openai:x", "static:"])
