"""Words and bigrams as numbers: the same as counted one by one, and read once for all baselines of a set."""

from collections import Counter
from itertools import pairwise

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.data.dataset import Dataset
from sentprobe.data.splits import Split, Splits, splits_of
from sentprobe.probes.baselines.naive_bayes import SetWords, WordNumbers
from sentprobe.probes.baselines.predict import Baselines
from sentprobe.tasks import Example

tokens = st.lists(st.sampled_from(["The", "the", "ΟΔΟΣ", "ΣΑΣ", "a b", "  ", "", "İ", "it's", "x"]), max_size=6)
examples = st.lists(st.tuples(tokens, st.sampled_from(["", "The word", "x"]), st.booleans()), max_size=5)


def rows(drawn):
    return [
        Example("y", tuple(words), "", extra=(("word", more), ("unused", "z")) if given else ())
        for words, more, given in drawn
    ]


def features(row, inputs, pairs):
    """What a row has, one after the other."""
    for mark, text in [("", " ".join(row.tokens)), *((f"{n}\t", v) for n, v in row.extra if n in inputs)]:
        words = [mark + word for word in text.lower().split(" ") if word]
        yield from words
        if pairs:
            yield from (" ".join(pair) for pair in pairwise(words))


@given(examples, examples, examples, st.booleans(), st.sampled_from([(), ("word",)]))
def test_counts_are_those_of_counting_one_by_one(train, choose, test, pairs, inputs):
    three = [rows(drawn) for drawn in (train, choose, test)]
    splits = [Split.of(some, ["y"], inputs) for some in three]
    words = SetWords(Splits("own/task", "task", 1, None, "", ("y",), *splits, "tr", "va", False))
    ngrams, counts = words.counts(pairs)
    names = list(dict.fromkeys(f for row in three[0] for f in features(row, inputs, pairs)))  # as they are first seen
    assert list(ngrams.names(words.vocabulary)) == names
    assert len(ngrams) == len(names)
    for some, matrix in zip(three, counts, strict=True):
        assert matrix.shape == (len(some), max(1, len(names)))
        expected = np.zeros(matrix.shape)
        for i, row in enumerate(some):
            for feature, count in Counter(features(row, inputs, pairs)).items():
                if feature in names:
                    expected[i, names.index(feature)] = count
        np.testing.assert_array_equal(matrix.toarray(), expected)


def test_the_words_of_a_set_are_read_once_for_all_its_baselines(monkeypatch):
    read, calls = WordNumbers.read, []
    monkeypatch.setattr(WordNumbers, "read", lambda self, rows: [calls.append(len(rows)), read(self, rows)][1])
    some = [Example("ab"[i % 2], ("the", "word", str(i % 3)), "") for i in range(12)]
    dataset = Dataset("own/task", "task", 1, "en", ("a", "b"), {"tr": some, "va": some[:4], "te": some[:6]})
    given = Baselines(splits_of(dataset))
    for name in ("majority", "length"):
        given.predict(name)
    assert calls == []
    for name in ("nb-uni", "nb-bi"):
        given.predict(name)
    assert calls == [12, 4, 6]
