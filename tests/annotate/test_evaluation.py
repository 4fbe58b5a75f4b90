"""Scores by the rules of the CoNLL 2018 shared task.

The cases of ``WORDS`` are those that the shared task's own script, conll18_ud_eval.py 1.2, tests itself with; the other
constants were computed by that script on the same sentences.
"""

from dataclasses import replace

import pytest

from sentprobe import Corpus, Sentence
from sentprobe.annotate.evaluation import METRICS, evaluate
from sentprobe.errors import DataError


def written(words):
    """A sentence from words; ``"abc a b c"`` is a multi-word token with its words."""
    forms, mwts = [], []
    for word in words:
        token, *parts = word.split(" ")
        if parts:
            mwts.append((len(forms), len(forms) + len(parts), token))
        forms += parts or [token]
    heads = (-1, *(0 for _ in forms[1:]))
    return Sentence("s", "", tuple(forms), heads=heads, deprels=("_",) * len(forms), mwts=tuple(mwts))


WORDS = [
    (["a"], ["a"], 1),
    (["a", "b", "c"], ["a", "b", "c"], 3),
    (["abc a b c"], ["a", "b", "c"], 3),
    (["a", "bc b c", "d"], ["a", "b", "c", "d"], 4),
    (["abcd a b c d"], ["ab a b", "cd c d"], 4),
    (["abc a b c", "de d e"], ["a", "bcd b c d", "e"], 5),
    (["abcd"], ["a", "b", "c", "d"], 0),
    (["abc", "d"], ["a", "b", "c", "d"], 1),
    (["a", "bc", "d"], ["a", "b", "c", "d"], 2),
    (["a", "bc b c", "d"], ["a", "b", "cd"], 2),
    (["abc a BX c", "def d EX f"], ["ab a b", "cd c d", "ef e f"], 4),
    (["ab a b", "cd bc d"], ["a", "bc", "d"], 2),
    (["a", "bc b c", "d"], ["ab AX BX", "cd CX a"], 1),
]


@pytest.mark.parametrize(("gold", "system", "correct"), WORDS)
def test_words_are_aligned_as_the_script_does(gold, system, correct):
    one, two = written(gold), written(system)
    score = evaluate([one], [two]).scores["Words"]
    assert (score.correct, score.gold, score.system) == (correct, len(one), len(two))
    assert score.precision == correct / len(two)
    assert score.recall == correct / len(one)
    assert score.f1 == 2 * correct / (len(one) + len(two))


def test_other_characters_are_an_error():
    with pytest.raises(DataError, match=r"got 'b' after '', expected 'a' \(all without spaces\)"):
        evaluate([written(["a"])], [written(["b"])])
    with pytest.raises(DataError, match="got '' after 'a', expected 'b'"):
        evaluate([written(["a", "b"])], [written(["a"])])


def test_spaces_inside_words_do_not_count():
    score = evaluate([written(["10\u00a0000"])], [Sentence("s", "10 000", ("10 000",))]).scores["Words"]
    assert score.f1 == 1


GOLD = Sentence(
    "g", "On parle du chat noir.", ("On", "parle", "de", "le", "chat", "noir", "."),
    lemmas=("on", "parler", "de", "le", "_", "noir", "."),
    upos=("PRON", "VERB", "ADP", "DET", "NOUN", "ADJ", "PUNCT"),
    xpos=("a", "b", "c", "d", "e", "f", "g"),
    feats=("Person=3", "Tense=Pres", "_", "Definite=Def", "Number=Sing|Typo=Yes", "Number=Sing", "_"),
    heads=(1, -1, 4, 4, 1, 4, 1),
    deprels=("nsubj", "root", "case", "det", "obl:arg", "amod", "punct"),
    mwts=((2, 4, "du"),),
)  # fmt: skip
SYSTEM = Sentence(
    "s", "On parle du chat noir.", ("On", "parle", "du", "chat", "noir", "."),
    lemmas=("on", "parler", "du", "chien", "noire", "."),
    upos=("PRON", "VERB", "ADP", "NOUN", "NOUN", "PUNCT"),
    xpos=("a", "b", "c", "e", "e", "g"),
    feats=("Person=3", "Tense=Past", "_", "Number=Sing", "Number=Sing", "_"),
    heads=(1, -1, 3, 1, 1, 1),
    deprels=("nsubj:pass", "root", "case", "obl", "amod", "obj"),
)  # fmt: skip
COUNTS = {
    "Tokens": (6, 6, 6), "Sentences": (1, 1, 1), "Words": (5, 7, 6), "UPOS": (4, 7, 6), "XPOS": (4, 7, 6),
    "UFeats": (4, 7, 6), "AllTags": (3, 7, 6), "Lemmas": (4, 7, 6), "UAS": (4, 7, 6), "LAS": (3, 7, 6),
    "CLAS": (3, 4, 5), "MLAS": (1, 4, 5), "BLEX": (3, 4, 5),
}  # fmt: skip


def test_every_score_on_a_sentence():
    scores = evaluate([GOLD], [SYSTEM]).scores
    assert {name: (s.correct, s.gold, s.system) for name, s in scores.items()} == COUNTS
    assert scores["LAS"].aligned == 5
    assert scores["LAS"].interval is None


def test_scores_whose_columns_are_missing_are_left_out():
    plain = replace(SYSTEM, xpos=None, lemmas=None)
    assert set(METRICS) - set(evaluate([GOLD], [plain]).scores) == {"XPOS", "AllTags", "Lemmas", "BLEX"}
    assert set(evaluate([replace(GOLD, heads=None, deprels=None)], [plain]).scores) == {
        "Tokens", "Sentences", "Words", "UPOS", "UFeats"
    }  # fmt: skip


def test_a_sentence_that_is_split_differently():
    two = Sentence("1", "a b", ("a", "b"), heads=(-1, 0)), Sentence("2", "c d", ("c", "d"), heads=(1, -1))
    one = Sentence("1", "a b c d", ("a", "b", "c", "d"), heads=(-1, 0, 3, 0))
    scores = evaluate(two, [one]).scores
    assert (scores["Sentences"].correct, scores["Sentences"].gold, scores["Sentences"].system) == (0, 2, 1)
    assert (scores["Words"].correct, scores["UAS"].correct) == (4, 3)


def test_a_perfect_annotator_and_its_interval():
    gold = list(Corpus.synthetic(40))
    found = evaluate(gold, gold)
    assert found.sentences == 40
    assert found.words == sum(map(len, gold))
    assert {name: (s.f1, s.interval) for name, s in found.scores.items()} == dict.fromkeys(METRICS, (1, (1, 1)))


def test_the_interval_is_over_sentences():
    gold = list(Corpus.synthetic(60))
    wrong = [s if i % 3 else replace(s, upos=("X",) * len(s)) for i, s in enumerate(gold)]
    score = evaluate(gold, wrong).scores["UPOS"]
    low, high = score.interval
    assert low < score.f1 < high
    # sentences are right or wrong as a whole: about as wide as 2 of 3 in 60 independent trials, not in 900
    assert 0.15 < high - low < 0.35
    assert evaluate(gold, wrong).scores["UPOS"].interval == score.interval
