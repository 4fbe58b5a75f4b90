import hashlib
import os
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import ndtri

from sentprobe.core.hashing import hash_64, mix
from sentprobe.core.words import lowercase_tokens, number_tokens
from sentprobe.core.words import split_punctuation as tokens
from sentprobe.encoders import load
from sentprobe.encoders.draw import quantiles
from sentprobe.encoders.schemes.baseline import MAX_COUNT, Hash, Length, Random, Words
from sentprobe.errors import UsageError


def bag_of_vectors(dim=300, seed=0):
    return Words(Random(dim, seed, "words"))


ENCODERS = [Length(), Random(37, 5), Hash(64, 2, 1), bag_of_vectors(30, 2)]
IDS = [type(encoder).__name__ for encoder in ENCODERS]
TEXTS = ["The cat sat on the mat.", "", "Żółw (a turtle) isn't — fast…", "猫が座った", "The cat sat on the mat. " * 50]
every = pytest.mark.parametrize("encoder", ENCODERS, ids=IDS)
texts_of_words = st.lists(st.one_of(st.text(max_size=20), st.sampled_from(TEXTS)), min_size=1, max_size=12)


# all of them


@every
@given(texts=texts_of_words, data=st.data())
def test_a_text_has_one_vector_in_any_order_and_any_batch(encoder, texts, data):
    whole = encoder(texts)
    assert whole.dtype == np.float32
    assert len(whole) == len(texts)
    assert np.isfinite(whole).all()
    order = data.draw(st.permutations(range(len(texts))))
    assert np.array_equal(encoder([texts[i] for i in order]), whole[order])
    cut = data.draw(st.integers(0, len(texts)))
    assert np.array_equal(np.concatenate([encoder(texts[:cut]), encoder(texts[cut:])]), whole)


@every
def test_blocks_do_not_show(encoder):
    texts = [f"word{i} and word{i % 7}" for i in range(15_000)]
    whole = encoder(texts)
    assert np.array_equal(whole[[0, 14_141, 14_999]], encoder([texts[0], texts[14_141], texts[14_999]]))


@every
def test_nothing_becomes_nothing_of_the_right_width(encoder):
    assert encoder([]).shape == (0, encoder(["a"]).shape[1])


@every
def test_half_characters_survive(encoder):
    assert np.isfinite(encoder(["\ud800 half", "\0"])).all()


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ("baseline:length", "1246db49"),
        ("baseline:random", "a6e25207"),
        ("baseline:hash?ngrams=2", "e9d44a8d"),
        ("baseline:words", "1ce3ff2e"),
    ],
)
def test_vectors_are_what_they_were_in_the_first_version(spec, expected):
    # computed by this code when it was written; whoever changes a vector must raise the version in the identity
    found = load(spec)(TEXTS).astype("<f4").tobytes()
    assert hashlib.blake2b(found, digest_size=4).hexdigest() == expected


def test_vectors_do_not_depend_on_the_hashes_of_the_process():
    code = (
        "import hashlib; from sentprobe.encoders import load\n"
        "for spec in ('length', 'random', 'hash', 'words'):\n"
        "    print(hashlib.sha256(load('baseline:' + spec)(['a b c', 'b, d']).tobytes()).hexdigest())"
    )
    command = [sys.executable, "-c", code]
    seeds = ("1", "2")
    runs = {subprocess.check_output(command, env={**os.environ, "PYTHONHASHSEED": seed}) for seed in seeds}
    assert len(runs) == 1


# length


def test_length_classes_with_any_bounds_are_linearly_separable():
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 40, 500)
    texts = [" ".join("word" * rng.integers(1, 5) for _ in range(n)) for n in counts]
    bounds = np.array([5, 9, 13, 17, 21, 26])
    weights = np.zeros((Length()(["a"]).shape[1], len(bounds) + 1))
    weights[np.arange(MAX_COUNT + 1), np.digitize(np.arange(MAX_COUNT + 1), bounds)] = 1
    assert np.array_equal((Length()(texts) @ weights).argmax(1), np.digitize(counts, bounds))


def test_texts_of_the_same_lengths_are_the_same_to_length():
    one, other, longer = Length()(["The cat sat.", "Our dog ran!", "The cats sat."])
    assert np.array_equal(one, other)
    assert not np.array_equal(one, longer)


def test_tokens_pieces_and_characters_are_counted():
    found = Length()(["(I don't!!) go", "x " * 1000])
    assert [row.nonzero()[0].tolist() for row in found[:, :303].reshape(2 * 3, 101)] == [[3], [6], [8], *[[100]] * 3]
    assert found[0, 303:].tolist() == pytest.approx([0.03, 0.06, 0.08, 0.014, *np.sqrt([0.03, 0.06, 0.08, 0.014])])
    assert found[1, 303:307].tolist() == pytest.approx([10, 10, 10, 2])


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("cat", ["cat"]),
        ("mat.", ["mat", "."]),
        ("(don't!!)", ["(", "don't", "!!", ")"]),
        ("...", ["..."]),
        ("?!", ["?", "!"]),
        ("well-known", ["well-known"]),
        ("हिन्दी।", ["हिन्दी", "।"]),
        ("$5", ["$", "5"]),
    ],
)
def test_punctuation_at_the_ends_of_words_is_split_off(word, expected):
    assert tokens(word) == expected


# random


def test_random_vectors_are_the_stated_generator():
    # the same in whole numbers, one at a time
    table, text, dim = quantiles(), "The cat sat.", 11
    state, numbers = mix(hash_64(text) ^ hash_64("random 3")), []
    for step in range(1, 4):
        drawn = mix((state + step * 0x9E3779B97F4A7C15) % 2**64)
        numbers += [float(table[(drawn >> shift) % 2**16]) for shift in (0, 16, 32, 48)]
    assert Random(dim, 3)([text])[0].tolist() == numbers[:dim]


def test_quantiles_are_those_of_the_normal_distribution():
    table = quantiles()
    assert table.dtype == np.float32
    assert np.array_equal(table, -table[::-1])
    assert np.array_equal(table * 4096, np.rint(table * 4096))
    exact = ndtri((np.arange(1 << 16) + 0.5) / (1 << 16)) * 4096
    assert np.abs(np.abs(exact) % 1 - 0.5).min() > 1e-6  # no last bit of any machine can round one the other way
    assert table.var() == pytest.approx(1, abs=1e-3)
    assert stats.kurtosis(table) == pytest.approx(0, abs=1e-2)


def test_random_vectors_are_gaussian_and_unrelated():
    found = Random()([f"text {i}" for i in range(2000)])
    n = found.size
    assert found.shape == (2000, 512)
    assert abs(found.mean()) < 5 / np.sqrt(n)
    assert abs(found.var() - 1) < 5 * np.sqrt(2 / n) + 1e-3
    for axis in (found, found.T):
        corr = np.corrcoef(axis)[np.triu_indices(len(axis), 1)]
        assert abs(corr.mean()) < 5 / np.sqrt(len(corr) * axis.shape[1])
        assert corr.std() == pytest.approx(1 / np.sqrt(axis.shape[1]), rel=0.02)
    assert stats.kstest(found[:, ::64].ravel(), "norm").pvalue > 1e-4


def test_seeds_and_kinds_draw_different_vectors():
    vectors = [kind(256, seed)(["a"]) for kind in (Random, bag_of_vectors) for seed in (0, 1)]
    corr = np.corrcoef(np.concatenate(vectors))[np.triu_indices(4, 1)]
    assert np.abs(corr).max() < 6 / np.sqrt(256)


def test_more_dimensions_go_on_where_fewer_end():
    assert np.array_equal(Random(37)(TEXTS), Random(41)(TEXTS)[:, :37])


# bags


@given(st.permutations("the cat sat , and the dog , too , ran .".split()))
def test_bags_do_not_know_the_order_of_words_and_bigrams_do(words):
    start = "the cat sat , and the dog , too , ran ."
    text = " ".join(words)
    for bag in (Hash(), bag_of_vectors()):
        assert np.array_equal(bag([text]), bag([start]))
    bigrams = Hash(1 << 16, 2)
    same = sorted(pairwise(words)) == sorted(pairwise(start.split()))
    assert np.array_equal(bigrams([text]), bigrams([start])) == same


def test_bags_fold_case_and_see_through_punctuation():
    for bag in (Hash(), bag_of_vectors()):
        one, other = bag(["The cat (sat).", "the CAT ( sat ) ."])
        assert np.array_equal(one, other)


def test_a_hashed_bag_counts_words_and_has_length_one():
    found = Hash(1 << 16)(["cat cat dog", "", "cat"])
    assert sorted(found[0][found[0] > 0]) == pytest.approx([1 / 5**0.5, 2 / 5**0.5])
    assert np.linalg.norm(found, axis=1).tolist() == pytest.approx([1, 0, 1])
    assert found[0] @ found[2] == pytest.approx(2 / 5**0.5)


@pytest.mark.parametrize(("ngrams", "features"), [(1, 4), (2, 7), (3, 9), (5, 10)])
def test_ngrams_go_up_to_the_number_given(ngrams, features):
    assert (Hash(1 << 16, ngrams)(["a b c d"]) > 0).sum() == features


def test_words_fall_into_all_places_and_another_seed_moves_them():
    words = [f"word{i}" for i in range(20_000)]
    places = Hash(16).words(words).argmax(1)
    assert stats.chisquare(np.bincount(places, minlength=16)).pvalue > 1e-4
    assert (places == Hash(16, seed=1).words(words).argmax(1)).mean() == pytest.approx(1 / 16, abs=0.01)


def test_a_bag_of_vectors_is_the_mean_of_the_vectors_of_its_words():
    bag = bag_of_vectors()
    vectors = bag.words(["the", "cat", "sat", "."])
    mean = (2 * vectors[0].astype(np.float64) + vectors[1] + vectors[2] + vectors[3]) / 5
    assert np.allclose(bag(["The cat sat the."])[0], mean, rtol=1e-6)
    assert not bag([" \n"]).any()


def test_bags_have_vectors_of_words_and_others_do_not():
    for bag in (Hash(), bag_of_vectors()):
        assert np.array_equal(bag.words(["cat", "Dog"]), bag(["cat", "dog"]))
    assert not hasattr(Random(), "words")
    assert not hasattr(Length(), "words")


# names


def test_defaults_are_as_documented():
    assert [load(f"baseline:{name}") for name in ("length", "random", "hash", "words")] == [
        Length(), Random(512, 0), Hash(4096, 1, 0), bag_of_vectors(300, 0),
    ]  # fmt: skip
    assert load("baseline:hash?dim=10&ngrams=3&seed=7") == Hash(10, 3, 7)


def test_the_identity_holds_all_options():
    assert str(load("baseline:random").identity) == "baseline:random?dim=512&seed=0&version=1"
    assert str(load("baseline:hash?dim=10&ngrams=3").identity) == "baseline:hash?dim=10&ngrams=3&seed=0&version=1"
    assert str(load("baseline:words?seed=9").identity) == "baseline:words?dim=300&seed=9&version=1"
    assert str(load("baseline:length").identity) == "baseline:length?version=1"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("baseline:", "The baselines are length, random, hash, words"),
        ("baseline:randm", r"There is no baseline baseline:randm\. Did you mean baseline:random\?"),
        ("baseline:random@2", "There is no baseline baseline:random@2"),
        ("baseline:length?dim=3", "baseline: takes no options"),
        ("baseline:random?ngrams=3", "baseline: takes dim, seed"),
        ("baseline:random?dim=0", "has dim=0; expected an integer from 1 to 65536"),
        ("baseline:random?dim=65537", "expected an integer from 1 to 65536"),
        ("baseline:random?dim=٣", "expected an integer"),
        ("baseline:hash?ngrams=6", "expected an integer from 1 to 5"),
        ("baseline:words?seed=-1", "expected an integer from 0"),
    ],
)
def test_wrong_use_is_named(spec, message):
    with pytest.raises(UsageError, match=message):
        load(spec)


@given(texts=texts_of_words)
def test_a_sparse_bag_is_the_same_bag(texts):
    encoder = Hash(64, 2, 1)
    found = encoder.sparse_vectors(texts)
    assert found.dtype == np.float32
    assert np.array_equal(found.toarray(), encoder(texts))
    assert found.has_canonical_format  # one number for each place that is not 0
    assert (found.data > 0).all()
    words = [text.split()[0] for text in texts if text.split()]
    assert np.array_equal(encoder.sparse_words(words).toarray(), encoder.words(words))


@given(texts=texts_of_words)
def test_tokens_as_numbers_are_the_same_tokens(texts):
    known, numbers, starts = number_tokens(texts)
    assert [[known[i] for i in numbers[a:b]] for a, b in pairwise(starts)] == lowercase_tokens(texts)
    assert len(set(known)) == len(known) == len(set(numbers.tolist()))
