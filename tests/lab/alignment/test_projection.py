"""Words in two dimensions: components against an eigendecomposition, and which words are chosen."""

import numpy as np
import pytest

from sentprobe.errors import UsageError
from sentprobe.lab.alignment.maps import SideMap, WordMap
from sentprobe.lab.alignment.projection import components, content_pairs, mutual_pairs, pairs_of_words, project_words
from sentprobe.lab.alignment.space import Space


def rotation(dim, seed=0):
    return np.linalg.qr(np.random.default_rng(seed).standard_normal((dim, dim)))[0].astype(np.float32)


def planted(n=60, dim=10, seed=1):
    """A space, its rotation with a shuffled vocabulary, and the map; word i of one is word order[i] of the other."""
    rng = np.random.default_rng(seed)
    vectors = rng.standard_normal((n, dim)).astype(np.float32)
    turn, order = rotation(dim), rng.permutation(n)
    target = np.empty_like(vectors)
    target[order] = vectors @ turn
    one = Space("one.vec", [f"word{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(n)], vectors, "a")
    two = Space("two.vec", [f"mot{chr(97 + i // 26)}{chr(97 + i % 26)}" for i in range(n)], target, "b")
    return one, two, WordMap(SideMap(matrix=turn), SideMap()), order


def test_components_have_the_largest_variances_and_a_sign():
    vectors = np.random.default_rng(0).standard_normal((50, 6)).astype(np.float32) * np.arange(1, 7, dtype=np.float32)
    found = components(vectors)
    values = np.linalg.eigvalsh(np.cov(vectors.T))
    assert np.allclose(np.cov(found.T), np.diag(values[-1:-3:-1]), rtol=1e-5, atol=1e-5)
    assert np.allclose(found, components(vectors), atol=0)
    assert np.allclose(components(-vectors), -found, atol=1e-5)
    assert components(vectors[:1]).tolist() == [[0.0, 0.0]]
    assert components(vectors[:, :1])[:, 1].tolist() == [0.0] * 50


def test_mutual_pairs_of_a_rotation_are_all_pairs():
    one, two, found, order = planted()
    rows = mutual_pairs(one.vectors, two.vectors, found)
    assert rows.tolist() == [[i, order[i]] for i in range(60)]


def test_translations_are_at_the_same_place_after_mapping_and_not_before():
    one, two, found, order = planted()
    drawn = project_words(one, two, found)
    assert sorted(map(tuple, drawn.rows.tolist())) == [(i, order[i]) for i in range(60)]
    apart = [float(np.abs(places[0] - places[1]).max()) for places in (drawn.before, drawn.after)]
    assert apart[1] < 1e-5 < 0.3 < apart[0]
    for places in (drawn.before, drawn.after):
        assert places.shape == (2, 60, 2)
        flat = places.reshape(-1, 2)
        assert np.allclose((flat.min(0), flat.max(0)), ((0, 0), (1, 1)))


def test_words_that_say_little_come_last():
    words = ["of", "three", "2019", "paris", "house", "water"]
    one = Space("one.vec", ["x"] * 300 + words, np.zeros((306, 2), np.float32), "a")
    two = Space("two.vec", ["y"] * 300 + ["de", "trois", "2019", "Paris", "maison", "eau"], one.vectors, "b")
    rows = np.stack([np.arange(299, 306)] * 2, axis=1)
    said = [one.words[row] for row in content_pairs(one, two, rows)[:, 0]]
    # function words, short ones, numbers and identical ones are last, otherwise in order; eau is short
    assert said == ["three", "house", "x", "of", "2019", "paris", "water"]


def test_given_words_have_the_nearest_as_translation():
    one, two, found, order = planted()
    drawn = project_words(one, two, found, ["wordab", "wordaa", "wordab"])
    assert drawn.rows.tolist() == [[1, order[1]], [0, order[0]]]
    with pytest.raises(UsageError, match=r"one.vec has no vector of 'wordzb'\. Did you mean wordcb or wordbz"):
        pairs_of_words(one, two, found, ["wordzb"])
