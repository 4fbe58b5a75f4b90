"""Servers of three protocols on loopback: order, shared limits and pauses, prices, and vectors that are kept."""

import json
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from sentprobe.core.network import Gate
from sentprobe.encoders import load
from sentprobe.encoders.embed import embed
from sentprobe.encoders.encoding_plan import plan_encoding
from sentprobe.encoders.store import Store
from sentprobe.errors import EncoderError, SentProbeWarning, UsageError
from tests.command_line import sentprobe
from tests.encoders.test_openai import _bare_environment, encoder, naps, right, says, server, servers, vector, well

TEXTS = [f"text number {i} {'x' * (i % 7)}" for i in range(40)]
__all__ = ["_bare_environment", "encoder", "naps", "server", "servers"]  # fixtures


def counted(handler, body):
    """As OpenAI's servers, with a token per word."""
    rows = [{"index": i, "embedding": vector(text)} for i, text in enumerate(body["input"])]
    tokens = sum(len(text.split()) for text in body["input"])
    handler.say(200, json.dumps({"data": rows, "usage": {"total_tokens": tokens}}).encode())


def inference(handler, body):
    """As Text Embeddings Inference."""
    handler.say(200, json.dumps([vector(text) for text in body["inputs"]]).encode())


def ollama(handler, body):
    content = {"model": body["model"], "embeddings": [vector(text) for text in body["input"]], "prompt_eval_count": 9}
    handler.say(200, json.dumps(content).encode())


def address(server, path):
    return f"{server.base.removesuffix('/v1')}{path}"


# protocols


def test_text_embeddings_inference(server):
    server.always = inference
    made = load(f"{address(server, '/embed')}?truncate=true&batch=16")
    assert np.array_equal(made(TEXTS), right(TEXTS))
    assert [(path, len(body["inputs"]), body["truncate"]) for path, _, body in server.seen] == [
        ("/embed", 16, True), ("/embed", 16, True), ("/embed", 8, True),
    ]  # fmt: skip


def test_ollama(server):
    server.always = ollama
    made = load(f"{address(server, '/api/embed')}?model=nomic-embed-text")
    assert np.array_equal(made(TEXTS), right(TEXTS))
    body = server.seen[0][2]
    assert (body["model"], body["truncate"], len(body["input"])) == ("nomic-embed-text", False, 32)
    assert made.usage.tokens == 18


def test_a_server_with_the_protocol_of_openai(server):
    made = load(f"{address(server, '/v1/embeddings')}?model=small&dimensions=3")
    assert np.array_equal(made(TEXTS), right(TEXTS, 3))
    assert server.seen[0][2]["dimensions"] == 3


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("http://localhost:80/", r"does not say what the server speaks: expected an address that ends in /api/embed"),
        ("http://localhost:80/embed?model=x", r"a server of Text Embeddings Inference needs no model="),
        ("http://localhost:80/api/embed", r"a server of Ollama needs model="),
        ("http://localhost:80/embed?dimensions=3", r"do not have dimensions="),
        ("http://localhost:80/v1/embeddings?model=x&truncate=true", r"do not have truncate="),
        ("http://example.org/embed", r"texts would be sent to another machine unencrypted"),
        ("http:localhost", r"expected http\(s\)://host"),
        ("http://localhost:80/embed?concurrency=65", "concurrency=65; expected an integer from 1 to 64"),
        ("http://localhost:80/embed?price=cheap", "price=cheap; expected the price of a million tokens"),
    ],
)
def test_wrong_use_is_named(typed, message):
    with pytest.raises(UsageError, match=message):
        load(typed)


def test_an_encrypted_address_is_another_scheme():
    assert load("https://example.org/embed?version=1").url == "https://example.org/embed"
    assert str(load("https://Example.org/embed?version=1").identity) == "https:example.org/embed?empty=space&version=1"


def test_the_answer_of_another_kind_of_server_is_shown(server):
    server.always = says(200, b'{"vectors": []}')
    made = load(address(server, "/embed"))
    with pytest.raises(EncoderError, match=r"but not with embeddings .*Is that a server of Text Embeddings Inference"):
        made(["a"])


# several requests at the same time


def test_requests_are_in_flight_together_and_vectors_in_order(server, encoder):
    together, most, lock = [0], [0], threading.Lock()
    barrier = threading.Barrier(4)

    def slow(handler, body):
        with lock:
            together[0] += 1
            most[0] = max(most[0], together[0])
        barrier.wait(10)  # passes only if four requests are in flight
        with lock:
            together[0] -= 1
        well(handler, body)

    server.always = slow
    made = encoder("openai:small?batch=5&concurrency=4")
    assert made.batch_size == 20
    assert np.array_equal(made(TEXTS), right(TEXTS))
    assert most[0] == 4
    assert len(server.seen) == 8


def test_base64_with_concurrency_and_a_prompt(server, encoder):
    made = encoder("openai:small?batch=3&concurrency=3&encoding=base64&prompt=query:%20")
    assert np.array_equal(made(TEXTS), right([f"query: {text}" for text in TEXTS]))
    assert all(text.startswith("query: ") for _, _, body in server.seen for text in body["input"])
    assert made.stored_as != encoder("openai:small?encoding=base64").stored_as


def test_what_one_request_is_told_to_wait_all_wait():
    slept = []

    def sleep(seconds):
        slept.append(seconds)
        time.sleep(seconds)

    gate = Gate(sleep)
    gate.hold(0.05)
    gate.hold(0.01)  # does not shorten it
    begun = time.monotonic()
    threads = [threading.Thread(target=gate.wait) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert time.monotonic() - begun >= 0.04
    assert len(slept) >= 3


def test_a_limit_of_the_rate_is_shared_by_all_requests(server):
    times, lock, told = [], threading.Lock(), []

    def limited(handler, body):
        with lock:
            times.append(time.monotonic())
            is_first = not told
            told.append(times[-1])
        if is_first:
            handler.say(429, b"slow down", [("Retry-After", "0.4")])
        else:
            well(handler, body)

    server.always = limited
    made = replace(load("openai:small?batch=1&concurrency=2"), jitter=lambda: -1.0)  # no wait of its own
    assert np.array_equal(made(TEXTS[:12]), right(TEXTS[:12]))
    late = [at for at in times if at > times[0] + 0.35]
    assert len(late) >= 10  # all but the first and what was in flight with it
    assert len(times) == 13


def test_a_server_that_takes_fewer_texts_gets_fewer_from_all(server, encoder):
    def few(handler, body):
        handler.say(413, b"too many") if len(body["input"]) > 4 else well(handler, body)

    server.always = few
    assert np.array_equal(encoder("openai:small?batch=16&concurrency=2")(TEXTS), right(TEXTS))
    assert sum(len(body["input"]) <= 4 for _, _, body in server.seen) >= 10


def test_an_error_of_one_request_ends_the_others(server, encoder):
    server.always = lambda handler, body: (
        handler.say(400, b"no") if "number 7" in body["input"][0] else well(handler, body)
    )
    with pytest.raises(EncoderError, match=r"answered 400 to a request for 'small': 'no'"):
        encoder("openai:small?batch=1&concurrency=2")(TEXTS)
    assert len(server.seen) < 15


@pytest.mark.parametrize("half", [b'{"data": [{"index": 0, "embed', b'{"data": [{"index": 0, "embedding": "AAA"}]}'])
def test_half_an_answer_is_no_answer(server, encoder, half):
    server.always = says(200, half)
    with pytest.raises(EncoderError, match="answered, but not with embeddings"):
        encoder("openai:small?concurrency=2&batch=1")(["a", "b"])


# what is paid for is kept


def test_a_failure_loses_nothing_that_came_before(server, tmp_path):
    sent = []

    def breaks(handler, body):
        sent.extend(body["input"])
        handler.say(400, b"no") if len(sent) > 20 else well(handler, body)

    server.always = breaks
    store = Store(tmp_path)
    with pytest.raises(EncoderError, match="answered 400"):
        embed(load("openai:small?batch=5"), TEXTS, store=store)
    server.always, server.seen[:] = well, []
    embeddings = embed(load("openai:small?batch=5"), TEXTS, store=store)
    assert embeddings.identity is None
    assert embeddings.encoded == 20
    assert np.array_equal(embeddings.vectors, right(TEXTS))
    assert sum(len(body["input"]) for _, _, body in server.seen) == 20 + 3  # three are sent again, to compare


def test_vectors_of_other_weights_are_not_mixed_with_those_that_were_kept(server, tmp_path):
    store = Store(tmp_path)
    embed(load("openai:small"), TEXTS[:30], store=store)

    def changed(handler, body):
        rows = [{"index": i, "embedding": vector(text)[::-1]} for i, text in enumerate(body["input"])]
        handler.say(200, json.dumps({"data": rows}).encode())

    server.always = changed
    with pytest.warns(SentProbeWarning, match="gives other vectors than those that are stored: it has changed"):
        embeddings = embed(load("openai:small"), TEXTS, store=store)
    assert embeddings.encoded == len(TEXTS)
    assert np.array_equal(embeddings.vectors, right(TEXTS)[:, ::-1])
    assert embed(load("openai:small"), TEXTS, store=store).encoded == 0


# tokens and prices


def test_tokens_are_counted_and_priced(server):
    server.always = counted
    made = load("openai:small?batch=10&price=0.5")
    made(TEXTS)
    tokens = sum(len(text.split()) for text in TEXTS)
    assert made.usage.tokens == tokens
    sentence = made.usage.sentence(made.price)
    assert (
        sentence
        == f"sent 40 texts in 4 requests, {tokens} tokens, which cost {tokens * 0.5 / 1e6:.2g} at 0.5 per million"
    )
    assert made.stored_as == load("openai:small").stored_as  # neither moves a vector


def test_a_plan_sends_nothing(server, tmp_path):
    store = Store(tmp_path)
    embed(load("openai:small"), TEXTS[:10], store=store)
    server.seen.clear()
    plan = plan_encoding("openai:small?price=2", [*TEXTS, *TEXTS], store)
    assert (plan.texts, plan.missing) == (40, 30)
    assert plan.tokens == sum(len(text.encode()) // 4 + 1 for text in TEXTS[10:])
    assert server.seen == []
    assert plan_encoding("static:", TEXTS, store).tokens is None


def test_a_dry_run_prints_texts_tokens_and_cost(server, tmp_path):
    rows = [f"{split}\t{label}\tword {i} {label}" for split in ("tr", "va", "te") for i in range(20) for label in "ab"]
    path, options = tmp_path / "set.txt", ("-e", "openai:small?price=1000", "--dry-run")
    path.write_text("\n".join(rows) + "\n")
    done = sentprobe("run", *options, "-d", path, "-o", tmp_path / "run")
    assert done.returncode == 0, done.stderr
    assert "40" in done.stdout
    assert "about 0." in done.stdout
    assert server.seen == []
    assert not (tmp_path / "run").exists()
    encoded = sentprobe("encode", *options, path)
    assert encoded.returncode == 0, encoded.stderr
    assert encoded.stdout == done.stdout
    assert server.seen == []
    partly = sentprobe("run", *options, "-d", path, "-o", tmp_path / "run", "-e", "npy:nothing")
    assert (partly.returncode, partly.stdout) == (2, done.stdout)
    assert "would not be encoded: npy:nothing: " in partly.stderr


def test_a_failure_loses_nothing_that_was_in_flight_with_it(server, tmp_path):
    both = threading.Barrier(4, timeout=20)

    def breaks(handler, body):
        both.wait()  # four are in flight
        if TEXTS[3] in body["input"]:
            return handler.say(400, b"no")
        time.sleep(0.1)  # the others are answered after that
        return well(handler, body)

    server.always = breaks
    store, name = Store(tmp_path), "openai:small?batch=2&concurrency=4&version=1"
    with pytest.raises(EncoderError, match="answered 400"):
        embed(load(name), TEXTS[:8], store=store)
    server.always, server.seen[:] = well, []
    embeddings = embed(load(name), TEXTS[:8], store=store)
    assert (embeddings.encoded, sum(len(body["input"]) for _, _, body in server.seen)) == (2, 2)
    assert np.array_equal(embeddings.vectors, right(TEXTS[:8]))


def test_one_vector_that_is_none_does_not_lose_the_others(server, tmp_path):
    def undefined(handler, body):
        rows = [{"index": i, "embedding": vector(text)} for i, text in enumerate(body["input"])]
        rows[0]["embedding"] = [float("nan")] * 4
        handler.say(200, json.dumps({"data": rows}).encode())

    server.always = undefined
    store, name = Store(tmp_path), "openai:small?batch=4&version=1"
    with pytest.raises(EncoderError, match="NaN or infinite numbers for 1 of 4 texts"):
        embed(load(name), TEXTS[:4], store=store, half=True)
    server.always = well
    assert embed(load(name), TEXTS[:4], store=store, half=True).encoded == 1


def test_an_interrupted_call_waits_for_no_retries_and_keeps_what_came(server, tmp_path, monkeypatch):
    server.always = lambda handler, body: (
        handler.say(429, b"later", [("Retry-After", "200")]) if body["input"] == ["two"] else well(handler, body)
    )

    def interrupted(futures):
        while len(server.seen) < 2 or not any(future.done() for future in futures):
            time.sleep(0.01)
        raise KeyboardInterrupt

    monkeypatch.setattr("sentprobe.encoders.server.wait", interrupted)
    store, name, begun = Store(tmp_path), "openai:small?batch=1&concurrency=2&version=1", time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        embed(load(name), ["one", "two"], store=store)
    assert time.monotonic() - begun < 60
    assert Store(tmp_path).read(load(name).identity, ["one", "two"])[0].tolist() == [True, False]


def test_half_of_a_pair_of_surrogates_is_not_sent(server):
    server.always = inference
    load(address(server, "/embed"))(["corn \ud83d mill"])
    (_, _, body), *_ = server.seen
    assert body["inputs"] == ["corn \ufffd\ufffd\ufffd mill"]


def test_a_version_that_users_type_is_not_what_vectors_without_one_are_stored_under(server):
    unknown = load("openai:small").stored_as
    assert unknown not in {load(f"openai:small?version={version}").identity for version in ("verified", "by vectors")}
