import numpy as np
import pytest

from sentprobe.probes.baselines import PAIR_BASELINES
from sentprobe.probes.baselines.text_pairs import TextSimilarities, words_of

TEXTS = ["The cat sees the dog.", "The dog sees the cat.", "A cat sleeps, soundly.", "Nobody came", "?!"]


def test_words_are_lower_case_without_punctuation_and_characters_where_there_are_no_spaces():
    assert words_of(["The cat, (don't) !", "猫坐着。"]) == [["the", "cat", "don't"], ["猫", "坐", "着"]]


def test_tfidf_is_that_of_scikit_learn():
    text = pytest.importorskip("sklearn.feature_extraction.text")
    vectors = text.TfidfVectorizer(analyzer=lambda t: words_of([t])[0]).fit(TEXTS).transform(TEXTS).toarray()
    similarities = TextSimilarities(TEXTS)
    for i in range(len(TEXTS)):
        expected = [vectors[i] @ vector for vector in vectors]
        met = similarities.similar("tf-idf", [TEXTS[i]] * len(TEXTS), TEXTS)
        np.testing.assert_allclose(met, expected, atol=1e-11)


def test_known_answers():
    similarities = TextSimilarities(TEXTS)

    def compare(name, i, j):
        return similarities.similar(name, [TEXTS[i]], [TEXTS[j]])[0]

    assert compare("overlap", 0, 1) == 1.0  # the same words in another order
    assert compare("tf-idf", 0, 1) == 1.0
    assert compare("overlap", 0, 2) == pytest.approx(1 / 8)  # cat, of five words and three others
    assert compare("length", 0, 3) == -3
    assert compare("overlap", 4, 4) == 0.0  # no words
    assert {compare("chance", i, j) for i in range(5) for j in range(5)} == {0.0}
    assert set(PAIR_BASELINES) == {"chance", "length", "overlap", "tf-idf"}
