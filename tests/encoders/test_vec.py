"""Pooled word vectors: right against plain loops, independent of the texts beside, honest about what moves them."""

import itertools
import math
import os
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe import encoders
from sentprobe.core.folders import cache_folder
from sentprobe.core.words import split_punctuation
from sentprobe.encoders.embed import embed
from sentprobe.encoders.identity import Spec
from sentprobe.encoders.schemes import vec
from sentprobe.encoders.schemes.vec import Pooled
from sentprobe.encoders.store import Store
from sentprobe.encoders.wordvectors import CacheWarning, WordVectors, read_frequencies, read_vectors
from sentprobe.errors import CorpusError, DataError, EncoderError, UsageError

WORDS = ["the", "cat", "sat", "Paris", "on", "mat", ".", "a", "NASA", "don't"]
MATRIX = np.random.default_rng(5).normal(size=(len(WORDS), 8)).astype(np.float32)
ALL = WordVectors(WORDS, MATRIX, "0" * 32, len(WORDS))
TEXTS = [
    "the cat sat on the mat .",
    "The Cat SAT",
    "PARIS paris Paris",
    "unknown words only",
    "",
    "  \t\n ",
    "nasa sat on unknown Paris",
    "cat",
    "the the the the",
    "a cat, don't (sat)!",
    "on the mat sat the cat .",
]
LENGTHY = " ".join(itertools.islice(itertools.cycle([*WORDS, "what"]), 200_000))
WORD_POOLINGS = ("mean", "max", "sum", "sif", "idf", "pe")


def made(pool="mean", texts=TEXTS, **fields):
    """An encoder, fitted if it has to be."""
    return Pooled(ALL, "v.txt", pool, **fields).fit(texts)


@pytest.fixture
def file(tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    rows = "".join(f"{w} {' '.join(repr(float(x)) for x in row)}\n" for w, row in zip(WORDS, MATRIX, strict=True))
    (tmp_path / "v.txt").write_text(rows, encoding="utf-8")
    return tmp_path / "v.txt"


def look_up(token, case):
    """The number of a token's vector, or None."""
    forms = {"as-is": [token], "lower": [token.lower()], "fallback": [token, token.lower(), token.capitalize()]}[case]
    return next((WORDS.index(form) for form in forms if form in WORDS), None)


def plain(text, pool, case, oov, fitted=TEXTS):
    """One text, word by word, as the definitions say."""
    found = [look_up(token, case) for token in text.split()]
    if oov == "skip":
        found = [n for n in found if n is not None]
    rows = [MATRIX[n].astype(float) if n is not None else np.zeros(8) for n in found]
    if not rows:
        return np.zeros(8)
    match pool:
        case "mean":
            return sum(rows) / len(rows)
        case "max":
            return np.max(rows, axis=0)
        case "sum":
            return sum(rows)
        case "sif":
            harmonic = sum(1 / r for r in range(1, len(WORDS) + 1))
            p = [0 if n is None else 1 / (n + 1) / harmonic for n in found]
            return sum(1e-3 / (1e-3 + q) * row for q, row in zip(p, rows, strict=True)) / len(rows)
        case "idf":
            unique = set(fitted)
            seen = Counter(e for t in unique for e in {_entry(w, case) for w in t.split()})
            kept = [w for w in text.split() if oov == "zero" or look_up(w, case) is not None]
            entries = [_entry(w, case) for w in kept]
            weights = [math.log((1 + len(unique)) / (1 + seen[e])) + 1 for e in entries]
            return sum(w * row for w, row in zip(weights, rows, strict=True)) / sum(weights)
        case "pe":
            n, d = len(rows), 8
            made = np.zeros(d)
            for j, k in itertools.product(range(1, n + 1), range(1, d + 1)):
                made[k - 1] += ((1 - j / n) - (k / d) * (1 - 2 * j / n)) * rows[j - 1][k - 1]
            return made


def _entry(token, case):
    found = look_up(token, case)
    return (token.lower() if case == "lower" else token) if found is None else WORDS[found]


@pytest.mark.parametrize("oov", ["skip", "zero"])
@pytest.mark.parametrize("case", ["fallback", "lower", "as-is"])
@pytest.mark.parametrize("pool", WORD_POOLINGS)
def test_pooling_is_that_of_a_plain_loop(pool, case, oov):
    vectors = made(pool, case=case, oov=oov)(TEXTS)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(TEXTS), 8)
    for text, vector in zip(TEXTS, vectors, strict=True):
        np.testing.assert_allclose(vector, plain(text, pool, case, oov), atol=1e-6)


@given(
    texts=st.lists(
        st.lists(st.sampled_from([*WORDS, "CAT", "what", "Mat"]) | st.text(max_size=4), max_size=9).map(" ".join),
        min_size=1,
        max_size=20,
    ),
    pool=st.sampled_from(WORD_POOLINGS),
    oov=st.sampled_from(["skip", "zero"]),
    tokenise=st.sampled_from(["space", "simple"]),
    seed=st.randoms(use_true_random=False),
)
def test_a_vector_depends_on_its_text_alone(texts, pool, oov, tokenise, seed):
    encoder = made(pool, oov=oov, tokenise=tokenise)
    together = encoder(texts)
    assert np.isfinite(together).all()
    for text, vector in zip(texts, together, strict=True):
        np.testing.assert_array_equal(encoder([text])[0], vector)
    order = list(range(len(texts)))
    seed.shuffle(order)
    np.testing.assert_array_equal(encoder([texts[i] for i in order]), together[order])
    np.testing.assert_array_equal(replace(encoder, batch_size=3)(texts), together)


@pytest.mark.parametrize("component", [False, True])
@pytest.mark.parametrize("pool", WORD_POOLINGS)
def test_batches_of_1_and_64_and_any_order_give_the_same_to_the_last_bit(pool, component):
    encoder = made(pool, component=component and pool == "sif")
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice([*WORDS, "what", "MAT"], rng.integers(0, 40))) for _ in range(256)]
    whole = encoder(texts)
    for size in (1, 64):
        parts = [encoder(texts[i : i + size]) for i in range(0, len(texts), size)]
        np.testing.assert_array_equal(np.concatenate(parts), whole)
    order = rng.permutation(len(texts))
    np.testing.assert_array_equal(encoder([texts[i] for i in order]), whole[order])


@pytest.mark.parametrize("pool", WORD_POOLINGS)
def test_empty_strange_and_very_long_texts_survive(pool):
    encoder = made(pool)
    vectors = encoder(["", "   ", "nothing known", LENGTHY, "x" * 1_000_000, "\ud800 \0"])
    assert not vectors[[0, 1, 2, 4, 5]].any()
    assert vectors[3].any()
    assert encoder([]).shape == (0, 8)
    np.testing.assert_allclose(made()([LENGTHY])[0], MATRIX.mean(0), atol=1e-4)


def test_a_text_of_no_known_word_is_the_zero_vector_under_both_policies():
    for oov, pool in itertools.product(("skip", "zero"), WORD_POOLINGS):
        assert not made(pool, oov=oov)(["unknown words", ""]).any()


def test_unknown_words_are_skipped_or_counted():
    skipped, counted = made()(["cat what"])[0], made(oov="zero")(["cat what"])[0]
    np.testing.assert_allclose(skipped, MATRIX[1])
    np.testing.assert_allclose(counted, MATRIX[1] / 2)
    np.testing.assert_allclose(made("max", oov="zero")(["cat what"])[0], np.maximum(MATRIX[1], 0))


def test_case_falls_back_from_exact_to_lower_to_capitalised():
    assert made().has_vector(["THE", "paris", "PARIS", "nasa", "NASA", "Nasa"]).tolist() == [1, 1, 1, 0, 1, 0]
    assert made(case="lower").has_vector(["THE", "paris", "Paris", "NASA"]).tolist() == [1, 0, 0, 0]
    assert made(case="as-is").has_vector(["THE", "the", "paris", "Paris"]).tolist() == [0, 1, 0, 1]


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("cat", ["cat"]),
        ("(cat)!", ["(", "cat", ")", "!"]),
        ("don't", ["don't"]),
        ("well...", ["well", "..."]),
        ("...", ["..."]),
        ("?!", ["?", "!"]),
        ("$3.50,", ["$", "3.50", ","]),
        ("«côté»", ["«", "côté", "»"]),
        ("नमस्ते।", ["नमस्ते", "।"]),
        ("e\u0301te\u0301,", ["e\u0301te\u0301", ","]),
        ("猫。", ["猫", "。"]),
    ],
)
def test_simple_tokens_have_punctuation_split_off(word, parts):
    assert list(split_punctuation(word)) == parts
    assert Pooled(ALL, "v", tokenise="simple").tokens([f"a {word} b"]) == list(dict.fromkeys(["a", *parts, "b"]))
    assert Pooled(ALL, "v").tokens([f"a {word}"]) == ["a", word]


@given(st.text(min_size=1))
def test_splitting_loses_nothing(word):
    assert "".join(split_punctuation(word)) == word


@given(st.lists(st.text(alphabet="ab.,!( ", max_size=12), max_size=8), st.sampled_from(["mean", "pe", "max"]))
def test_simple_tokens_are_pooled_as_if_spaces_stood_between_them(texts, pool):
    spaced = [" ".join(part for word in text.split() for part in split_punctuation(word)) for text in texts]
    np.testing.assert_array_equal(made(pool, tokenise="simple")(texts), made(pool)(spaced))


# ------------------------------------------------------------------------------------------------- fitted to texts


def test_the_component_is_the_first_singular_vector_and_is_gone():
    weighted = made("sif")(TEXTS).astype(float)
    removed = made("sif", component=True)(TEXTS)
    first = np.linalg.svd(weighted)[2][0]
    np.testing.assert_allclose(removed, weighted - np.outer(weighted @ first, first), atol=1e-6)
    np.testing.assert_allclose(removed @ first, 0, atol=1e-6)
    assert np.abs(removed - weighted).max() > 0.001


def test_a_component_of_nothing_takes_nothing_out():
    encoder = Pooled(ALL, "v", "sif", component=True).fit(["unknown", ""])
    np.testing.assert_array_equal(encoder(TEXTS), made("sif")(TEXTS))


@pytest.mark.parametrize("encoder", [Pooled(ALL, "v", "idf"), Pooled(ALL, "v", "sif", component=True)])
def test_what_needs_a_fit_says_so(encoder):
    assert encoder.needs_fit
    with pytest.raises(EncoderError, match="call fit"):
        encoder(["cat"])
    with pytest.raises(UsageError, match="zero texts"):
        encoder.fit([])
    fitted = encoder.fit(TEXTS)
    assert not fitted.needs_fit
    assert encoder.needs_fit  # it is another encoder
    assert fitted(["cat"]).any()


@pytest.mark.parametrize("encoder", [Pooled(ALL, "v", "idf"), Pooled(ALL, "v", "sif", component=True)])
def test_the_texts_of_a_fit_are_part_of_the_identity_but_not_their_order_or_number(encoder):
    one, same, other = encoder.fit(TEXTS), encoder.fit(TEXTS[::-1] + TEXTS), encoder.fit([*TEXTS, "sat"])
    assert one.identity == same.identity
    np.testing.assert_array_equal(one(TEXTS), same(TEXTS))
    assert len({encoder.identity, one.identity, other.identity}) == 3
    assert encoder.fit(["ab", "c"]).identity != encoder.fit(["a", "bc"]).identity


@pytest.mark.parametrize("pool", ["mean", "max", "sum", "sif", "pe"])
def test_other_pools_need_no_fit(pool):
    encoder = Pooled(ALL, "v", pool)
    assert not encoder.needs_fit
    assert encoder.fit(TEXTS) is encoder


def test_idf_and_the_component_do_not_depend_on_the_batch():
    for encoder in (Pooled(ALL, "v", "idf"), Pooled(ALL, "v", "sif", component=True)):
        np.testing.assert_allclose(
            replace(encoder, batch_size=2).fit(TEXTS)(TEXTS), encoder.fit(TEXTS)(TEXTS), atol=1e-6
        )


def test_frequencies_from_a_file(tmp_path):
    path = tmp_path / "freq.txt"
    path.write_text("the 60\ncat 30\nparis 10\n", encoding="utf-8")
    frequencies = read_frequencies(str(path))
    assert frequencies.share == {"the": 0.6, "cat": 0.3, "paris": 0.1}
    encoder = Pooled(ALL, "v", "sif", frequencies=frequencies)
    weights = {"The": 0.6, "Paris": 0.1, "mat": 0.0}  # Paris by its lower case, mat is not in the file
    expected = sum(1e-3 / (1e-3 + p) * MATRIX[look_up(w, "fallback")] for w, p in weights.items()) / 3
    np.testing.assert_allclose(encoder(["The Paris mat"])[0], expected, rtol=1e-5)
    path.write_text("the 60\ncat 30\nparis 11\n", encoding="utf-8")
    other = Pooled(ALL, "v", "sif", frequencies=read_frequencies(str(path)))
    assert len({other.identity, encoder.identity, Pooled(ALL, "v", "sif").identity}) == 3


@pytest.mark.parametrize("bad", ["the", "the x", "the -1", "the nan", "the inf", " 5", ""])
def test_a_malformed_line_of_frequencies_is_refused(tmp_path, bad):
    path = tmp_path / "freq.txt"
    path.write_text(f"cat 3\n{bad}\n", encoding="utf-8")
    with pytest.raises(CorpusError, match=r"freq\.txt:2"):
        read_frequencies(str(path))


def test_frequencies_of_nothing_are_refused(tmp_path):
    path = tmp_path / "freq.txt"
    for content in ("", "the 0\n"):
        path.write_text(content, encoding="utf-8")
        with pytest.raises(DataError, match="has no counts above 0"):
            read_frequencies(str(path))


# --------------------------------------------------------------------------------------------- words, vocabularies


def test_words_are_the_input_vectors_and_known_says_which_there_are():
    encoder = made()
    words = ["cat", "CAT", "what", "Paris", ""]
    np.testing.assert_array_equal(encoder.words(words), [MATRIX[1], MATRIX[1], np.zeros(8), MATRIX[3], np.zeros(8)])
    assert encoder.has_vector(words).tolist() == [True, True, False, True, False]
    assert encoder.words([]).shape == (0, 8)
    assert encoder.words(words).dtype == np.float32


@pytest.mark.parametrize("oov", ["skip", "zero"])
@pytest.mark.parametrize("pool", WORD_POOLINGS)
def test_a_restricted_encoder_gives_the_same_with_fewer_rows(pool, oov):
    encoder = made(pool, oov=oov, component=pool == "sif")
    some = TEXTS[1:4]
    small = encoder.restrict(encoder.tokens(some))
    assert sorted(small.vectors.words) == ["Paris", "cat", "sat", "the"]
    assert small.vectors.matrix.shape == (4, 8)
    assert small.identity == encoder.identity
    np.testing.assert_array_equal(small(some), encoder(some))
    np.testing.assert_array_equal(small.words(["The"]), encoder.words(["The"]))
    smaller = small.restrict(["SAT", "only"])
    np.testing.assert_array_equal(smaller(["SAT only"]), encoder(["SAT only"]))
    assert list(smaller.vectors.words) == ["sat"]


@pytest.mark.parametrize("encoder", [Pooled(ALL, "v", "idf"), Pooled(ALL, "v", "sif", component=True)])
def test_fitting_and_restricting_go_in_any_order(encoder):
    tokens = encoder.tokens(TEXTS)
    first, second = encoder.fit(TEXTS).restrict(tokens), encoder.restrict(tokens).fit(TEXTS)
    assert first.identity == second.identity
    np.testing.assert_array_equal(first(TEXTS), second(TEXTS))


def test_a_restricted_encoder_refuses_words_it_was_not_told_of():
    small = made().restrict(["cat", "what"])
    assert not small(["what"]).any()
    for strange in ("mat", "unknown"):
        with pytest.raises(EncoderError, match=strange):
            small([f"cat {strange}"])
    with pytest.raises(EncoderError, match="''"):
        small.words([""])
    nothing = made().restrict([])
    assert not nothing([""]).any()


# ------------------------------------------------------------------------------------------------------- the scheme


def test_the_scheme_reads_a_file_and_keeps_it(file, tmp_path):
    encoder = encoders.load(f"vec:{file}")
    assert isinstance(encoder, Pooled)
    np.testing.assert_allclose(encoder(TEXTS), made()(TEXTS), atol=1e-6)
    assert len(list((tmp_path / "cache" / "vectors").iterdir())) == 1
    again = encoders.load(f"vec:{file}")
    assert again.identity == encoder.identity
    np.testing.assert_array_equal(again(TEXTS), encoder(TEXTS))


def test_the_identity_names_everything_that_moves_a_vector(file, tmp_path):
    (tmp_path / "freq.txt").write_text("the 5\n", encoding="utf-8")
    options = [
        "", "?pool=max", "?pool=sum", "?pool=sif", "?pool=sif&component=1", f"?pool=sif&freq={tmp_path}/freq.txt",
        "?pool=idf", "?pool=pe", "?case=lower", "?case=as-is", "?oov=zero", "?tokenise=simple", "?limit=5",
    ]  # fmt: skip
    identities = {encoders.load(f"vec:{file}{option}").identity for option in options}
    assert len(identities) == len(options)
    defaults = encoders.load(f"vec:{file}?pool=mean&case=fallback&oov=skip&tokenise=space&limit=100")
    assert defaults.identity == encoders.load(f"vec:{file}").identity
    facts = dict(defaults.identity.facts)
    assert facts == {
        "content": read_vectors(file).digest,
        "pool": "mean",
        "case": "fallback",
        "oov": "skip",
        "tokenise": "space",
    }
    assert defaults.identity.name == "v.txt"


def test_the_identity_follows_the_content_not_the_place(file, tmp_path):
    before = encoders.load(f"vec:{file}").identity
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "v.txt").write_bytes(file.read_bytes())
    assert encoders.load(f"vec:{tmp_path}/other/v.txt").identity == before
    file.write_bytes(file.read_bytes().replace(b"mat ", b"hat "))
    assert encoders.load(f"vec:{file}").identity != before


def test_a_path_may_have_an_at_sign(file, tmp_path):
    (tmp_path / "a@b.txt").write_bytes(file.read_bytes())
    encoder = encoders.load(f"vec:{tmp_path}/a@b.txt?limit=3")
    assert list(encoder.vectors.words) == WORDS[:3]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("vec:", "names no file"),
        ("vec:{}?pool=men", "Did you mean mean"),
        ("vec:{}?case=upper", "expected fallback, lower or as-is"),
        ("vec:{}?oov=subword", "fastText .bin"),
        ("vec:{}?oov=guess", "expected skip, zero or subword"),
        ("vec:{}?tokenise=moses", "expected space or simple"),
        ("vec:{}?limit=0", "an integer, 1 or more"),
        ("vec:{}?limit=many", "an integer, 1 or more"),
        ("vec:{}?component=1", "for pool=sif"),
        ("vec:{}?pool=sif&component=2", "expected 0 or 1"),
        ("vec:{}?pool=idf&freq=x", "for pool=sif"),
        ("vec:{}?pol=max", "takes case, component"),
    ],
)
def test_a_wrong_spec_is_refused_with_what_was_expected(file, spec, message):
    with pytest.raises(UsageError, match=message):
        vec.load(Spec.parse(spec.format(file)))


def test_a_missing_file_is_named_and_a_near_one_proposed(file):
    with pytest.raises(DataError, match=r"did you mean .*v\.txt"):
        encoders.load(f"vec:{file.parent}/v.tx")


def test_the_cache_folder_is_the_one_that_was_chosen(tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "xdg"))
    monkeypatch.delenv("SENTPROBE_CACHE")
    assert cache_folder().name == "sentprobe"


# ---------------------------------------------------------------------------------------------------------- fastText


@pytest.fixture(scope="module")
def fasttext(tmp_path_factory):
    """A small model of gensim's, and the .bin file of it."""
    module = pytest.importorskip("gensim.models.fasttext")
    lines = ["the cat sat on the mat", "Paris is a city", "das Mädchen läuft über die Straße"] * 5
    model = module.FastText(
        [line.split() for line in lines], vector_size=6, min_count=1, epochs=2, seed=1, workers=1, bucket=300
    )
    path = tmp_path_factory.mktemp("fasttext") / "model.bin"
    module.save_facebook_model(model, str(path))
    return model, path


def test_unknown_words_have_vectors_of_their_ngrams(fasttext, tmp_path, monkeypatch):
    model, path = fasttext
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path))
    texts = ["the cats sat", "unheard-of Mädchenhaftigkeit", "", "Zürich 猫"]
    for encoder in (encoders.load(f"vec:{path}?case=as-is"), encoders.load(f"vec:{path}?case=as-is&oov=subword")):
        assert encoder.oov == "subword"
        for text, vector in zip(texts, encoder(texts), strict=True):
            expected = np.mean([model.wv[w] for w in text.split()], axis=0) if text else np.zeros(6)
            np.testing.assert_allclose(vector, expected, atol=1e-6)
            np.testing.assert_array_equal(encoder([text])[0], vector)
    assert encoder.has_vector(["cats", "猫", ""]).tolist() == [True, True, False]
    np.testing.assert_allclose(encoder.words(["cats"])[0], model.wv["cats"], atol=1e-6)
    small = encoder.restrict(encoder.tokens(texts))
    np.testing.assert_array_equal(small(texts), encoder(texts))
    skipping = encoders.load(f"vec:{path}?oov=skip")
    assert skipping.identity != encoder.identity
    assert not skipping(["unheard-of"]).any()


def test_a_very_long_word_has_a_vector_of_its_ngrams(fasttext, tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path))
    encoder = encoders.load(f"vec:{fasttext[1]}")
    text = "abcdefghij" * 30_000
    vectors = encoder(["the cat", text, "the mat"])
    np.testing.assert_array_equal(encoder([text])[0], vectors[1])
    assert vectors[1].any()


def test_lower_case_is_for_ngrams_too(fasttext, tmp_path, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path))
    encoder = encoders.load(f"vec:{fasttext[1]}?case=lower")
    np.testing.assert_array_equal(encoder(["CATS"]), encoder(["cats"]))


def test_signs_that_flip_in_the_cache_reach_neither_vectors_nor_store(file, tmp_path):
    before = embed(encoders.load(f"vec:{file}"), TEXTS).vectors
    (kept,) = (cache_folder() / "vectors").iterdir()
    spoiled = np.load(kept, mmap_mode="r+")
    spoiled *= -1
    spoiled.flush()
    encoder, store = encoders.load(f"vec:{file}"), Store(tmp_path / "store")
    with pytest.warns(CacheWarning, match="rebuilt from"):
        during = embed(encoder, TEXTS, store=store)
    np.testing.assert_array_equal(during.vectors, before)
    there, stored = store.read(encoder.identity, TEXTS)
    assert there.all()
    np.testing.assert_array_equal(stored, before)
    np.testing.assert_array_equal(encoders.load(f"vec:{file}")(TEXTS), before)  # and the cache is whole again


def test_another_content_of_the_file_is_another_identity(file, tmp_path):
    encoder, store = encoders.load(f"vec:{file}"), Store(tmp_path / "store")
    before = embed(encoder, TEXTS, store=store).vectors
    about = file.stat()
    file.write_text(file.read_text("utf-8").replace("cat ", "rat "), encoding="utf-8")
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    assert (file.stat().st_size, file.stat().st_mtime_ns) == (about.st_size, about.st_mtime_ns)
    other = encoders.load(f"vec:{file}")
    assert other.identity != encoder.identity
    assert not np.array_equal(embed(other, TEXTS, store=store).vectors, before)


def test_one_string_is_one_text():
    encoder = made("idf")
    np.testing.assert_array_equal(encoder("the cat"), encoder(["the cat"]))
    np.testing.assert_array_equal(encoder.words("cat"), encoder.words(["cat"]))
    assert encoder.tokens("the cat") == ["the", "cat"]
    assert encoder.has_vector("cat").tolist() == [True]
    assert Pooled(ALL, "v", "idf").fit("the cat").identity == Pooled(ALL, "v", "idf").fit(["the cat"]).identity


def test_tokens_without_a_vector_are_counted_as_they_run():
    encoder = made()
    found = encoder.missing(["the cat sat.", "The dog sat.", "sat. sat. the"])
    assert found.share == pytest.approx(5 / 9)
    assert found.most_frequent == ("sat.", "dog")
    assert encoder.with_simple_tokens().missing(["the cat sat.", "The dog sat."]).share == pytest.approx(1 / 8)
    assert encoder.missing([]).share == 0
    assert encoder.missing(["the"]).most_frequent == ()
