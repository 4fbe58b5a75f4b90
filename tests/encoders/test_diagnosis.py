"""Dead and broken encoders: each is recognised by what is wrong with it, and sound ones are left alone."""

import itertools
import re
from types import SimpleNamespace
from zlib import crc32

import numpy as np
import pytest

from sentprobe.encoders import Identity, load
from sentprobe.encoders.diagnosis import diagnose
from sentprobe.encoders.embed import embed
from sentprobe.encoders.schemes.vec import Pooled
from sentprobe.encoders.store import Store
from sentprobe.encoders.wordvectors import WordVectors

WORDS = "river dog cat milk tea boat hill moon rain song bread stone lamp road bird tree hand door fish star".split()
RNG = np.random.default_rng(11)
TEXTS = list(dict.fromkeys(" ".join(RNG.choice(WORDS, RNG.integers(3, 9))) + "." for _ in range(300)))
counter = itertools.count()


def vector(word):
    return np.random.default_rng(crc32(word.encode())).normal(size=12)


def bag(texts):
    """A sound encoder, to which the order of words, their case and their punctuation are nothing."""
    return np.array([np.mean([vector(w.strip(".,").lower()) for w in t.split()], axis=0) for t in texts])


def all_unknown(texts):
    """A tokenizer to which every word is unknown, in batches that differ in their last digits."""
    lengths = np.array([len(t.split()) for t in texts])
    noise = np.random.default_rng(len(texts)).normal(size=(len(texts), 8)) * 1e-7
    return (lengths[:, None] ** np.arange(1, 9) / 9.0) * (1 + noise)


def gaps(texts):
    found = bag(texts)
    found[[len(t) % 5 == 0 for t in texts]] = 0
    return found


def placed(texts):
    found = bag(texts)
    found[:, 0] += np.arange(len(texts))
    return found


def seen(encoder, texts=TEXTS, **options):
    return {
        s.code: s.message for s in diagnose(encoder, embed(encoder, texts, **options), half=options.get("half", False))
    }


@pytest.mark.parametrize(
    ("encoder", "code", "message"),
    [
        (all_unknown, "equal-vectors", r"300 of 300 .* texts have the same vector as another one, such as '.*' and"),
        (lambda texts: np.ones((len(texts), 3)), "equal-vectors", "its tokenizer may not know the words"),
        (lambda texts: np.zeros((len(texts), 3)), "zero-vectors", "have a zero vector, such as"),
        (lambda texts: 1e30 * bag(texts), "large-values", r"values are as large as \d+e\+3\d, .* overflow"),
        (gaps, "zero-vectors", r"\d+ of 300 texts"),
        (lambda texts: np.hstack([bag(texts), np.ones((len(texts), 2))]), "constant-columns", "^2 of 14 columns"),
        (lambda texts: bag(texts) + RNG.normal(size=(len(texts), 12)), "random-vectors", "texts have different"),
        (lambda texts: bag(texts) + next(counter), "random-vectors", "differ by"),
        (lambda texts: bag(texts) - bag(texts).mean(axis=0), "batch-dependent", "A vector depends on its batch"),
        (lambda texts: bag(texts) * max(map(len, texts)), "batch-dependent", "of their length"),
        (placed, "order-dependent", "depends on the order of the texts in the batch"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_recognised(encoder, code, message):
    found = seen(encoder)
    assert list(found) == [code]
    assert re.search(message, found[code]), found


@pytest.mark.parametrize("half", [False, True])
def test_sound_encoders_are_left_alone(half):
    assert seen(bag, half=half) == {}
    assert seen(load("static:"), half=half) == {}
    shuffled = [" ".join(sorted(t.rstrip(".").split())) for t in TEXTS]  # the same bags, as after a bigram shift
    assert seen(bag, [*TEXTS, *shuffled, *(t.upper() for t in TEXTS)], half=half) == {}


def test_noise_in_the_last_digits_is_no_symptom():
    def noisy(texts):
        return bag(texts) * (1 + 1e-5 * RNG.normal(size=(len(texts), 12)))

    assert seen(noisy) == {}


def test_a_few_odd_texts_are_no_symptom():
    odd = {*TEXTS[:2]}
    assert seen(lambda texts: np.array([bag([t])[0] * (t not in odd) for t in texts])) == {}
    assert seen(lambda texts: bag(texts), TEXTS[:1]) == {}


def test_baselines_know_nothing_by_design():
    assert seen(load("baseline:length")) == {}


def test_layers_are_named():
    class Layered:
        layers = ("0", "1", "2")

        def __call__(self, texts):
            return np.stack([np.ones((len(texts), 12)), bag(texts), all_unknown(texts)[:, :6].repeat(2, axis=1)])

    found = seen(Layered())
    assert list(found) == ["dead-layers"]
    assert found["dead-layers"].startswith("Layers 0, 2: ")


def test_vectors_of_the_store_that_are_of_another_state_are_told(tmp_path):
    class Mine:
        identity = Identity.of("py", "mine", version="1")

        def __init__(self, sign):
            self.sign = sign

        def __call__(self, texts):
            return self.sign * bag(texts)

    store = Store(tmp_path)
    assert seen(Mine(1), store=store) == {}
    assert seen(Mine(1), store=store) == {}
    found = seen(Mine(-1), store=store)
    assert list(found) == ["batch-dependent"]
    assert "Vectors in the store differ from those that it returns now" in found["batch-dependent"]


def test_a_server_is_not_asked_for_what_is_in_the_store(tmp_path):
    asked = []

    class Server:
        identity = Identity.of("openai", "model")

        def __call__(self, texts):
            asked.append(len(texts))
            return bag(texts)

    store = Store(tmp_path)
    assert seen(Server(), store=store) == {}
    before = len(asked)
    assert seen(Server(), store=store) == {}
    assert len(asked) == before


def test_trust_is_passed_on():
    class Mine:
        caveat = "On your word."

        def __call__(self, texts):
            return bag(texts)

    assert seen(Mine()) == {"trust": "On your word."}
    assert diagnose(SimpleNamespace(), embed(bag, []), []) == []


def test_texts_without_a_vector_are_not_examined():
    (symptom,) = diagnose(gaps, embed(gaps, TEXTS), [*TEXTS, "one that was not encoded", *TEXTS])
    assert symptom == diagnose(gaps, embed(gaps, TEXTS))[0]


MATRIX = np.stack([vector(word) for word in [*WORDS, "."]]).astype(np.float32)
VECTORS = WordVectors([*WORDS, "."], MATRIX, "0" * 32, len(MATRIX))


def test_unknown_tokens_name_the_way_out():
    found = seen(Pooled(VECTORS, "v"))["unknown-tokens"]
    share = sum(1 for _ in TEXTS) / sum(len(t.split()) for t in TEXTS)
    assert found.startswith(f"{share:.1%} of the running tokens have no word vector, most frequently '")
    assert "add tokenise=simple, which splits punctuation off words: 0.0% with it" in found
    assert "unknown-tokens" not in seen(Pooled(VECTORS, "v", tokenise="simple"))
    foreign = seen(Pooled(VECTORS, "v", tokenise="simple"), [f"слово номер {i} river" for i in range(30)])
    assert "may be for another language" in foreign["unknown-tokens"]
    assert "tokenise" not in foreign["unknown-tokens"]


def test_up_to_one_token_in_twenty_may_be_unknown():
    texts = [" ".join([*WORDS[:19], "strange"]), " ".join([*WORDS[1:], "odd"])]
    assert unknown(texts) is False
    assert unknown([*texts, "strange"]) is True


def unknown(texts):
    return "unknown-tokens" in seen(Pooled(VECTORS, "v"), texts)
