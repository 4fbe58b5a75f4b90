"""Retrieval of sentences and translation word by word, against loops, MUSE's own code and sacrebleu."""

from dataclasses import replace

import numpy as np
import pytest

from sentprobe.errors import DataError, TooFewError, UsageError
from sentprobe.lab.words import WORD_EVALUATIONS
from sentprobe.lab.words.evaluations.word_by_word import bleu_of_counts, ngram_counts
from sentprobe.lab.words.sentences import WEIGHTINGS, weighting
from tests.lab.words.material import en, fr, rotation
from tests.lab.words.test_evaluations import csls, pair, run, unit, write


@pytest.fixture
def texts():
    """Sentences of random words, and their translations in another order, with punctuation and unknown words."""
    rng = np.random.default_rng(5)
    found = []
    for i in range(30):
        words = rng.integers(0, 60, int(rng.integers(2, 7))).tolist()
        other = rng.permutation(words).tolist()
        found.append((" ".join(f"En{w}" for w in words) + " .", " ".join(f"fr{w}" for w in other) + f" unheard{i} !"))
    return found


@pytest.fixture
def corpus(tmp_path, texts):
    one = write(tmp_path / "c.en", *(a for a, _ in texts), "??", "en1")
    two = write(tmp_path / "c.fr", *(b for _, b in texts), "fr1", "unknown words")
    return f"{one},{two}"


def numbers(text):
    return [int(word[2:]) for word in text.split() if word[:2].lower() in ("en", "fr") and word[2:].isdecimal()]


def means(side, texts, idf_texts, weights="muse", unit=False):
    table = side.map.apply(side.space.vectors).astype(np.float64)
    if unit:
        table /= np.linalg.norm(table, axis=1, keepdims=True)
    df = np.zeros(len(table))
    for text in idf_texts:
        for word in set(numbers(text)):
            df[word] += 1
    n = len(idf_texts)
    found = []
    for text in texts:
        words = numbers(text)
        if weights == "muse":
            words = [word for word in set(words) if df[word]]
            own = [max(1, np.log10(n / df[word])) for word in words]
        elif weights == "smooth":
            own = [np.log((1 + n) / (1 + df[word])) + 1 for word in words]
        else:
            own = [1] * len(words)
        found.append(np.average(table[words], axis=0, weights=own))
    return np.array(found) / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.mark.parametrize("scoring", ["nn", "csls"])
@pytest.mark.parametrize("idf", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("weights", ["muse", "smooth", "equal"])
def test_retrieval_is_that_of_a_loop(corpus, texts, tmp_path, scoring, idf, unit, weights):
    made = pair(noise=1.5)
    # some words are in no sentence, and of others the weights are not the least one
    other = [f"en{i} en{i // 2} en{i // 3}" for i in range(50)], [f"fr{i} fr{i // 4}" for i in range(8, 58)]
    asked = {"weights": weights, "unit": unit}
    if idf and weights != "equal":
        asked["idf"] = (str(write(tmp_path / "i.en", *other[0])), str(write(tmp_path / "i.fr", *other[1])))
    queries, found = run("retrieval", corpus, made, scoring, **asked)
    one, two = [a for a, _ in texts], [b for _, b in texts]
    a = means(made.source, one, other[0] if idf else [*one, "", "en1"], weights, unit)
    b = means(made.target, two, other[1] if idf else [*two, "fr1", ""], weights, unit)
    scores = a @ b.T if scoring == "nn" else csls(a @ b.T)
    ranks = [np.argsort(-scores[i], kind="stable").tolist().index(i) for i in range(30)]
    assert found.arrays["rank"].tolist() == [rank if rank < 10 else -1 for rank in ranks]
    assert found.score == pytest.approx(np.mean([rank == 0 for rank in ranks]))
    assert 0 < found.score < 1
    assert found.baselines["chance"] == pytest.approx(1 / 30)
    assert queries.facts == {"candidates": 30, "sentences left out": 2}


def frequent_and_rare(seed, count, language):
    """Sentences of words of which a few are in most, in which words are repeated, and with punctuation as a word."""
    rng = np.random.default_rng(seed)
    chances = 1 / np.arange(2, 61)
    drawn = [rng.choice(59, int(rng.integers(4, 12)), p=chances / chances.sum()).tolist() for _ in range(count)]
    return [" ".join(f"{language}{word}" for word in words) + " ." for words in drawn]


def translated(texts):
    """The same words of the other language, without one of three."""
    shortened = [[word for at, word in enumerate(text.split()) if at % 3 != i % 3] for i, text in enumerate(texts)]
    return [" ".join(words).replace("en", "fr") for words in shortened]


MUSE_PRECISION = {
    ("nn", False): (21.25, 52.5, 71.25),
    ("nn", True): (36.25, 71.25, 81.25),
    ("csls", False): (27.5, 56.25, 67.5),
    ("csls", True): (40.0, 75.0, 86.25),
    ("isf", False): (36.25, 58.75, 70.0),
    ("isf", True): (35.0, 80.0, 91.25),
}
"""Precision at 1, 5 and 10 in percent, by scoring and whether vectors of words have length one: that of MUSE's
``get_sent_translation_accuracy`` (methods nn, csls_knn_10 and invsm_beta_30; keys = queries = 80) with the idf of its
``get_idf``, in the released code at commit 3159355 with torch 2.13 and numpy 2.4, on the texts of the test, split at
white space. Other texts have the frequencies: 90 English and 60 French sentences."""


@pytest.mark.parametrize(("scoring", "unit"), MUSE_PRECISION)
def test_retrieval_is_that_of_muse(tmp_path, scoring, unit):
    made, files = muse_case(tmp_path)
    options = {"idf": files[2:], "tokenise": ("space",), "unit": unit}
    queries, found = run("retrieval", ",".join(files[:2]), made, scoring, **options)
    assert queries.facts == {"candidates": 80, "sentences left out": 0}
    precision = found.score, found.scores["precision@5"], found.scores["precision@10"]
    assert [100 * each for each in precision] == pytest.approx(MUSE_PRECISION[scoring, unit], abs=1e-4)


def muse_case(folder):
    """A pair whose last word is the full stop, longer than others; sentences, and others for frequencies."""
    made = pair(0.6, [*en(59), "."], [*fr(59), "."])
    lengths = np.geomspace(0.3, 3, 60).astype(np.float32)[:, None]
    sides = [replace(side, space=replace(side.space, vectors=side.space.vectors * lengths)) for side in made.sides()]
    texts = frequent_and_rare(1, 80, "en")
    columns = texts, translated(texts), frequent_and_rare(2, 90, "en"), frequent_and_rare(3, 60, "fr")
    names = ("keys.en", "keys.fr", "idf.en", "idf.fr")
    files = tuple(str(write(folder / name, *lines)) for name, lines in zip(names, columns, strict=True))
    return replace(made, source=sides[0], target=sides[1]), files


def test_weights_are_those_of_muse():
    # max(1, log10(n / df)) for n = 1000, and no weight for a word that is in no sentence
    df = np.array([1000.0, 101, 100, 50, 1, 0])
    expected = [1, 1, 1, 1.3010299957, 3, 0]
    assert weighting("muse").idf(df, 1000) == pytest.approx(expected)


def test_words_without_a_frequency_are_as_good_as_unknown(tmp_path):
    one = write(tmp_path / "a.en", "en1 en2 en9", "en3 en4", "en9", "en5")
    two = write(tmp_path / "a.fr", "fr1 fr2", "fr3 fr4 fr9", "fr9", "fr9")
    idf = tuple(str(write(tmp_path / f"i.{x}", *(f"{x}{i}" for i in range(6)))) for x in ("en", "fr"))
    queries, found = run("retrieval", f"{one},{two}", pair(noise=0.0), idf=idf)
    assert queries.facts == {"candidates": 2, "sentences left out": 2}
    assert found.arrays["cosine"] == pytest.approx([1, 1], abs=1e-6)  # without en9 and fr9, both are the same
    with pytest.raises(TooFewError, match=r"0 of the queries and 0 of the candidates have a word with"):
        run("retrieval", f"{one},{two}", pair(), idf=(str(write(tmp_path / "other", "other")),) * 2)
    assert run("retrieval", f"{one},{two}", pair(), weights="smooth", idf=idf)[0].facts["sentences left out"] == 0


def test_a_word_counts_once_or_as_often_as_it_occurs(tmp_path):
    one = write(tmp_path / "a.en", "en1 en1 En1 en2", "en3")
    two = write(tmp_path / "a.fr", "fr1 fr2", "fr3")
    made = pair(noise=0.0)
    cosines = {name: run("retrieval", f"{one},{two}", made, weights=name)[1].arrays["cosine"][0] for name in WEIGHTINGS}
    assert cosines["muse"] == pytest.approx(1, abs=1e-6)
    assert max(cosines["smooth"], cosines["equal"]) < 0.99


def test_tokens_of_a_tokeniser_are_words(tmp_path):
    made = pair(0.0, [*en(58), "en1,", "."], [*fr(58), "fr1,", "."])
    one = write(tmp_path / "a.en", "en1, en2 .", "en3 .")
    two = write(tmp_path / "a.fr", "fr1, fr2 .", "fr3 .")
    path = f"{one},{two}"
    content = {
        names: run("retrieval", path, made, tokenise=names)[0].content.means.words[0]
        for names in ((), ("space",), ("simple",), ("space", "simple"))
    }
    assert content[()] == [[1, 2], [3]]
    assert content["space",] == content["space", "simple"] == [[2, 58, 59], [3, 59]]
    assert content["simple",] == [[1, 2, 59], [3, 59]]
    other = run("retrieval", path, made, tokenise=("space", "simple"), reverse=True)[0].content.means.words[0]
    assert other == [[1, 2, 59], [3, 59]]  # of French now
    pytest.importorskip("sacrebleu")
    assert [row.text for row in run("word_by_word", path, made, tokenise=("space",))[0].rows] == ["en1, en2 .", "en3 ."]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": "mues"}, r"no weights 'mues'. Did you mean muse\? Expected one of muse, smooth, equal"),
        ({"tokenise": ("spaces",)}, r"There is no tokeniser 'spaces'.*Expected one of simple, space"),
        ({"tokenise": ("space",) * 3}, r"--tokenise space,space,space: expected a tokeniser, or one per language: A,B"),
        ({"weights": "equal", "idf": ("a", "b")}, r"--idf has no effect with --weights equal: leave one of them out"),
    ],
)
def test_what_cannot_be_is_refused(corpus, options, message):
    with pytest.raises(UsageError, match=message):
        run("retrieval", corpus, pair(), **options)


def test_a_sample_is_looked_for_and_the_rest_has_the_frequencies(corpus, texts):
    made = pair()
    queries, found = run("retrieval", corpus, made, queries=8, seed=1)
    lines = [int(row.source) - 1 for row in queries.rows]
    assert len(lines) == 8
    assert queries.facts["candidates"] == 30
    rest = [(a, b) for i, (a, b) in enumerate(texts) if i not in lines]
    a = means(made.source, [texts[i][0] for i in lines], [*(a for a, _ in rest), "", "en1"])
    b = means(made.target, [b for _, b in texts], [*(b for _, b in rest), "fr1", ""])
    best = (a @ b.T).argmax(axis=1)
    assert found.arrays["predicted"].tolist() == [int(x == y) for x, y in zip(best, lines, strict=True)]
    assert queries.inputs_key.startswith("rest ")


def test_a_sentence_that_occurs_twice_is_right_either_way(tmp_path):
    one = write(tmp_path / "a.en", "en1", "en1 en2", "en5")
    two = write(tmp_path / "a.fr", "fr1", "fr1", "fr5")
    _, found = run("retrieval", f"{one},{two}", pair(noise=0.0))
    assert found.arrays["predicted"].tolist() == [1, 1, 1]


def test_the_copy_of_a_sentence_has_most_of_its_words(tmp_path):
    one = write(tmp_path / "a.en", "en1 Paris 1789", "en2 Rome", "en3")
    two = write(tmp_path / "a.fr", "fr1 , 1789 paris", "fr2 rome", "fr3")
    queries, _ = run("retrieval", f"{one},{two}", pair())
    assert WORD_EVALUATIONS.get("retrieval").score_copy(queries).arrays["rank"].tolist() == [0, 0, -1]


def test_files_of_different_lengths_are_refused(tmp_path):
    one, two = write(tmp_path / "a.en", "en1", "en2"), write(tmp_path / "a.fr", "fr1")
    for name in ("retrieval", "word_by_word"):
        with pytest.raises(DataError, match=r"a.en has 2 lines and .*a.fr has 1 line; expected as many in each"):
            run(name, f"{one},{two}", pair())
        with pytest.raises(UsageError, match="expected two files that are aligned"):
            run(name, one, pair())
        empty = write(tmp_path / "empty")
        with pytest.raises(DataError, match="are empty; expected a sentence per line"):
            run(name, f"{empty},{empty}", pair())
        with pytest.raises(TooFewError, match="of 2 pairs of sentences"):
            run(name, f"{one},{write(tmp_path / 'b.fr', 'no', 'none')}", pair())


# word by word


def test_words_are_replaced_by_their_neighbours(tmp_path):
    sacrebleu = pytest.importorskip("sacrebleu")

    made = pair()
    rng = np.random.default_rng(2)
    lines = [rng.integers(0, 60, 8).tolist() for _ in range(25)]
    one = write(tmp_path / "a.en", *(" ".join(f"en{w}" for w in line) + " ." for line in lines), "en1 unseen", "en1")
    two = write(tmp_path / "a.fr", *(" ".join(f"Fr{w}" for w in line) + "!" for line in lines), "fr1", "unheard")
    queries, found = run("word_by_word", f"{one},{two}", made)
    best = (unit(made.source) @ unit(made.target).T).argmax(axis=1)
    outputs = [" ".join(f"fr{best[w]}" for w in line) for line in lines]
    references = [" ".join(f"fr{w}" for w in line) for line in lines]
    metric = sacrebleu.BLEU(tokenize="none", force=True)
    assert found.score == pytest.approx(metric.corpus_score(outputs, [references]).score / 100)
    assert 0 < found.score < 1
    assert found.interval[0] < found.score < found.interval[1]
    assert queries.facts == {"sentences": 25, "sentences left out": 2}
    assert (queries.rows[0].text, queries.rows[0].label) == (one.read_text().split(" .")[0], references[0])
    copied = WORD_EVALUATIONS.get("word_by_word").score_copy(queries)
    assert copied.score == 0


@pytest.mark.parametrize("seed", range(6))
def test_bleu_of_counts_is_that_of_sacrebleu(seed):
    sacrebleu = pytest.importorskip("sacrebleu")

    rng = np.random.default_rng(seed)
    texts = [rng.integers(0, 9, int(rng.integers(1, 7))).astype(str).tolist() for _ in range(12)]
    others = [rng.integers(0, 9, int(rng.integers(1, 7))).astype(str).tolist() for _ in range(12)]
    if seed == 0:
        others = [["x"] for _ in texts]
    counts = np.array([ngram_counts(a, b) for a, b in zip(texts, others, strict=True)]).sum(0, keepdims=True)
    metric = sacrebleu.BLEU(tokenize="none", force=True)
    expected = metric.corpus_score([" ".join(t) for t in texts], [[" ".join(t) for t in others]]).score
    assert 100 * bleu_of_counts(counts.astype(float))[0] == pytest.approx(expected)


def test_words_are_looked_up_whole_then_in_parts():
    from sentprobe.lab.alignment.maps import SideMap
    from sentprobe.lab.words.sentences import words_of
    from sentprobe.lab.words.systems import MappedSpace
    from tests.lab.words.material import space

    side = MappedSpace(space(["l", "homme", "aujourd'hui", "un"], rotation()[:4]), SideMap())
    assert words_of(["L'homme, (aujourd'hui) – UN x !"], side) == [[0, 1, 2, 3, -1]]
