"""Retrieval of sentences and translation word by word, against loops and sacrebleu."""

import numpy as np
import pytest

from sentprobe.errors import DataError, TooFewError, UsageError
from sentprobe.words import WORD_EVALUATIONS
from sentprobe.words.evaluations.word_by_word import _counts, bleu_of_counts
from tests.words.material import rotation
from tests.words.test_evaluations import csls, pair, run, unit, write


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


def means(side, texts, idf_texts):
    table = side.map.apply(side.space.vectors).astype(np.float64)
    df = np.zeros(len(table))
    for text in idf_texts:
        for word in set(numbers(text)):
            df[word] += 1
    idf = np.log((1 + len(idf_texts)) / (1 + df)) + 1
    found = np.array(
        [sum(idf[w] * table[w] for w in numbers(text)) / sum(idf[w] for w in numbers(text)) for text in texts]
    )
    return found / np.linalg.norm(found, axis=1, keepdims=True)


@pytest.mark.parametrize("scoring", ["nn", "csls"])
@pytest.mark.parametrize("idf", [False, True])
def test_retrieval_is_that_of_a_loop(corpus, texts, tmp_path, scoring, idf):
    made = pair(noise=1.5)
    other = [f"en{i} en{i // 2} en{i // 3}" for i in range(40)], [f"fr{i} fr{i // 4}" for i in range(25)]
    asked = {"idf": (str(write(tmp_path / "i.en", *other[0])), str(write(tmp_path / "i.fr", *other[1])))} if idf else {}
    questions, found = run("retrieval", corpus, made, scoring, **asked)
    one, two = [a for a, _ in texts], [b for _, b in texts]
    a = means(made.source, one, other[0] if idf else [*one, "", "en1"])
    b = means(made.target, two, other[1] if idf else [*two, "fr1", ""])
    scores = a @ b.T if scoring == "nn" else csls(a @ b.T)
    ranks = [np.argsort(-scores[i], kind="stable").tolist().index(i) for i in range(30)]
    assert found.arrays["rank"].tolist() == [rank if rank < 10 else -1 for rank in ranks]
    assert found.score == pytest.approx(np.mean([rank == 0 for rank in ranks]))
    assert 0 < found.score < 1
    assert found.baselines["chance"] == pytest.approx(1 / 30)
    assert questions.facts == {"candidates": 30, "sentences left out": 2}


def test_a_sample_is_looked_for_and_the_rest_has_the_frequencies(corpus, texts):
    made = pair()
    questions, found = run("retrieval", corpus, made, queries=8, seed=1)
    lines = [int(row.source) - 1 for row in questions.rows]
    assert len(lines) == 8
    assert questions.facts["candidates"] == 30
    rest = [(a, b) for i, (a, b) in enumerate(texts) if i not in lines]
    a = means(made.source, [texts[i][0] for i in lines], [*(a for a, _ in rest), "", "en1"])
    b = means(made.target, [b for _, b in texts], [*(b for _, b in rest), "fr1", ""])
    best = (a @ b.T).argmax(axis=1)
    assert found.arrays["predicted"].tolist() == [int(x == y) for x, y in zip(best, lines, strict=True)]
    assert questions.more.startswith("rest ")


def test_a_sentence_that_occurs_twice_is_right_either_way(tmp_path):
    one = write(tmp_path / "a.en", "en1", "en1 en2", "en5")
    two = write(tmp_path / "a.fr", "fr1", "fr1", "fr5")
    _, found = run("retrieval", f"{one},{two}", pair(noise=0.0))
    assert found.arrays["predicted"].tolist() == [1, 1, 1]


def test_the_copy_of_a_sentence_has_most_of_its_words(tmp_path):
    one = write(tmp_path / "a.en", "en1 Paris 1789", "en2 Rome", "en3")
    two = write(tmp_path / "a.fr", "fr1 , 1789 paris", "fr2 rome", "fr3")
    questions, _ = run("retrieval", f"{one},{two}", pair())
    assert WORD_EVALUATIONS.get("retrieval").copy(questions).arrays["rank"].tolist() == [0, 0, -1]


def test_files_of_different_lengths_are_refused(tmp_path):
    one, two = write(tmp_path / "a.en", "en1", "en2"), write(tmp_path / "a.fr", "fr1")
    for name in ("retrieval", "word_by_word"):
        with pytest.raises(DataError, match=r"a.en has 2 lines and .*a.fr has 1; expected files that are aligned"):
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
    import sacrebleu

    made = pair()
    rng = np.random.default_rng(2)
    lines = [rng.integers(0, 60, 8).tolist() for _ in range(25)]
    one = write(tmp_path / "a.en", *(" ".join(f"en{w}" for w in line) + " ." for line in lines), "en1 unseen", "en1")
    two = write(tmp_path / "a.fr", *(" ".join(f"Fr{w}" for w in line) + "!" for line in lines), "fr1", "unheard")
    questions, found = run("word_by_word", f"{one},{two}", made)
    best = (unit(made.source) @ unit(made.target).T).argmax(axis=1)
    outputs = [" ".join(f"fr{best[w]}" for w in line) for line in lines]
    references = [" ".join(f"fr{w}" for w in line) for line in lines]
    metric = sacrebleu.BLEU(tokenize="none", force=True)
    assert found.score == pytest.approx(metric.corpus_score(outputs, [references]).score / 100)
    assert 0 < found.score < 1
    assert found.interval[0] < found.score < found.interval[1]
    assert questions.facts == {"sentences": 25, "sentences left out": 2}
    assert (questions.rows[0].text, questions.rows[0].label) == (one.read_text().split(" .")[0], references[0])
    copied = WORD_EVALUATIONS.get("word_by_word").copy(questions)
    assert copied.score == 0


@pytest.mark.parametrize("seed", range(6))
def test_bleu_of_counts_is_that_of_sacrebleu(seed):
    import sacrebleu

    rng = np.random.default_rng(seed)
    texts = [rng.integers(0, 9, int(rng.integers(1, 7))).astype(str).tolist() for _ in range(12)]
    others = [rng.integers(0, 9, int(rng.integers(1, 7))).astype(str).tolist() for _ in range(12)]
    if seed == 0:
        others = [["x"] for _ in texts]
    counts = np.array([_counts(a, b) for a, b in zip(texts, others, strict=True)]).sum(0, keepdims=True)
    metric = sacrebleu.BLEU(tokenize="none", force=True)
    expected = metric.corpus_score([" ".join(t) for t in texts], [[" ".join(t) for t in others]]).score
    assert 100 * bleu_of_counts(counts.astype(float))[0] == pytest.approx(expected)


def test_words_are_looked_up_whole_then_in_parts():
    from sentprobe.alignment.maps import SideMap
    from sentprobe.words.pair import Side
    from sentprobe.words.sentences import words_of
    from tests.words.material import space

    side = Side(space(["l", "homme", "aujourd'hui", "un"], rotation()[:4]), SideMap())
    assert words_of(["L'homme, (aujourd'hui) – UN x !"], side) == [[0, 1, 2, 3, -1]]
