"""Baselines against scikit-learn, and the answers that they must give."""

import math
from dataclasses import FrozenInstanceError, replace
from itertools import pairwise
from random import Random

import numpy as np
import pytest
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import MultinomialNB

from sentprobe.audit import naive_bayes as bayes
from sentprobe.data.dataset import Dataset
from sentprobe.data.splits import splits_of
from sentprobe.errors import DataError, UsageError
from sentprobe.probes.baselines import BASELINES
from sentprobe.probes.baselines.length import L2_STRENGTHS
from sentprobe.probes.baselines.naive_bayes import ALPHAS, top_features
from sentprobe.probes.baselines.predict import Baselines, baseline
from sentprobe.tasks import LENGTH_BINS, Example

WORDS = [f"{a}{b}{c}" for a in "bdgklmst" for b in "aeiou" for c in "nrs"]
"""A hundred and twenty words of no language."""


def row(label, words, **extra):
    return Example(label, tuple(words), " ".join(words), extra=tuple(extra.items()))


def dataset(task="unheard-of", **splits):
    labels = tuple(sorted({r.label for rows in splits.values() for r in rows}))
    return Dataset(f"own/{task}", task, 1, None, labels, {"tr": [], "va": [], "te": [], **splits})


def leaning(n, classes, seed):
    """Sentences whose words lean towards their class, of 4 to 14 words, some with a capital."""
    rng = np.random.default_rng(seed)
    lean = np.random.default_rng(classes).dirichlet(np.full(len(WORDS), 0.4), size=classes)
    rows = []
    for i in range(n):
        words = rng.choice(WORDS, size=rng.integers(4, 15), p=0.3 * lean[i % classes] + 0.7 / len(WORDS)).tolist()
        rows.append(row(f"c{i % classes:02}", [words[0].capitalize(), *words[1:]]))
    return rows


def uneven(n, classes, seed):
    """The same with the later half of the classes left out of half of the rows."""
    return [r for i, r in enumerate(leaning(n, classes, seed)) if i % 2 or int(r.label[1:]) < classes / 2]


@pytest.fixture(params=[2, 5, 30], ids="{} classes".format)
def leaned(request):
    k = request.param
    return dataset(tr=uneven(600, k, 1), va=leaning(200, k, 2), te=leaning(300, k, 3))


def texts(rows):
    return [r.text for r in rows]


def labels(rows):
    return [r.label for r in rows]


# scikit-learn


def features(rows, *, pairs=False, inputs=()):
    """What naive Bayes looks at, for scikit-learn: it is given features, not texts."""
    out = []
    for r in rows:
        found = []
        for name, text in [("", r.text), *((n, v) for n, v in r.extra if n in inputs)]:
            words = text.lower().split()
            found += [(name, w) for w in words]
            found += [(name, *pair) for pair in pairwise(words)] if pairs else []
        out.append(found)
    return out


def oracle(data, alpha, split="te", **options):
    """Labels predicted by scikit-learn, and by how much the best log probability exceeds the next."""
    weigh = TfidfVectorizer(analyzer=lambda found: found)
    train = data.rows["tr"] or data.rows["va"]
    model = MultinomialNB(alpha=alpha).fit(weigh.fit_transform(features(train, **options)), labels(train))
    scores = model.predict_joint_log_proba(weigh.transform(features(data.rows[split], **options)))
    ranked = np.sort(scores, axis=1)
    return model.classes_[scores.argmax(axis=1)].tolist(), (ranked[:, -1] - ranked[:, -2]).min()


def accuracy(predicted, rows):
    return sum(a == r.label for a, r in zip(predicted, rows, strict=True)) / len(rows)


@pytest.mark.parametrize("pairs", [False, True], ids=["nb-uni", "nb-bi"])
def test_naive_bayes_predicts_what_scikit_learn_predicts(leaned, pairs, monkeypatch):
    monkeypatch.setattr(bayes, "MAX_BAYES_CELLS", 1000)  # in several pieces
    found = baseline("nb-bi" if pairs else "nb-uni", leaned)
    on_va = [accuracy(oracle(leaned, alpha, "va", pairs=pairs)[0], leaned.rows["va"]) for alpha in ALPHAS]
    best = ALPHAS[on_va.index(max(on_va))]
    expected, margin = oracle(leaned, best, pairs=pairs)
    assert margin > 1e-9  # no ties that rounding would decide
    assert found.settings["alpha"] == best
    assert list(found.labels) == expected
    assert found.accuracy == accuracy(expected, leaned.rows["te"])


def test_words_and_pairs_are_those_of_scikit_learns_own_ngrams(leaned):
    weigh = TfidfVectorizer(tokenizer=str.split, token_pattern=None, ngram_range=(1, 2))  # lower-cases by default
    matrix = weigh.fit_transform(texts(leaned.rows["tr"]))
    found = baseline("nb-bi", replace(leaned, rows={**leaned.rows, "va": []}))
    model = MultinomialNB(alpha=ALPHAS[0]).fit(matrix, labels(leaned.rows["tr"]))
    assert list(found.labels) == model.predict(weigh.transform(texts(leaned.rows["te"]))).tolist()
    assert found.settings["features"] == matrix.shape[1]


@pytest.mark.parametrize("strength", L2_STRENGTHS)
def test_length_predicts_what_scikit_learns_logistic_regression_predicts(strength, monkeypatch):
    rng = Random(3)

    def rows(n):
        """Three classes that overlap in length, one of them rare."""
        centre = {"long": 20, "middle": 12, "short": 7}
        drawn = rng.choices(list(centre), weights=[4, 1, 3], k=n)
        return [row(label, ["w"] * max(1, round(rng.gauss(centre[label], 4)))) for label in drawn]

    data = dataset(tr=rows(400), te=rows(200))
    monkeypatch.setattr("sentprobe.probes.baselines.length.L2_STRENGTHS", (strength,))
    sizes = {split: np.array([[len(r.tokens)] for r in data.rows[split]], float) for split in ("tr", "te")}
    mean, deviation = sizes["tr"].mean(), sizes["tr"].std()
    model = LogisticRegression(C=strength, tol=1e-8, max_iter=10_000)
    model.fit((sizes["tr"] - mean) / deviation, labels(data.rows["tr"]))
    expected = model.predict((sizes["te"] - mean) / deviation).tolist()
    found = baseline("length", data)
    assert list(found.labels) == expected
    assert len(set(expected)) > 1
    assert found.settings["C"] == strength


# Known answers


def binned(n, seed):
    """Sentences of 5 to 28 words with the released length bins as labels, each as frequent as the others."""
    rng, rows = Random(seed), []
    for i in range(n):
        low, high = LENGTH_BINS[i % len(LENGTH_BINS)]
        rows.append(row(str(i % len(LENGTH_BINS)), rng.choices(WORDS, k=rng.randint(low, high))))
    return rows


@pytest.mark.parametrize("n", [300, 3000])
@pytest.mark.parametrize("chosen", [True, False], ids=["with va", "without va"])
def test_length_solves_sentence_length(n, chosen):
    data = dataset("sentence_length", tr=binned(n, 1), va=binned(120, 2) if chosen else [], te=binned(600, 3))
    assert baseline("length", data).accuracy == 1.0


def containing(n, classes, seed):
    """Each sentence has one of the target words, once, and that is its label."""
    rng, rows = Random(seed), []
    for i in range(n):
        words = rng.choices(WORDS[classes:], k=rng.randint(5, 12))
        words.insert(rng.randrange(len(words)), WORDS[i % classes])
        rows.append(row(WORDS[i % classes], words))
    return rows


def test_words_solve_word_content_and_length_does_not():
    data = dataset("word_content", tr=containing(1200, 40, 1), va=containing(200, 40, 2), te=containing(400, 40, 3))
    assert baseline("nb-uni", data).accuracy >= 0.99
    assert baseline("nb-bi", data).accuracy >= 0.95
    assert near_chance(baseline("length", data), 1 / 40)


def near_chance(found, chance):
    """Within four standard errors, which chance leaves once in 16,000 times."""
    return abs(found.accuracy - chance) <= 4 * math.sqrt(chance * (1 - chance) / found.rows)


def shifted(n, seed):
    """Words in alphabetical order, or two neighbours exchanged: only pairs can tell."""
    rng, rows = Random(seed), []
    for i in range(n):
        words = sorted(rng.sample(WORDS[:40], k=12))
        at = rng.randrange(11)
        if i % 2:
            words[at : at + 2] = words[at + 1], words[at]
        rows.append(row("IO"[i % 2 == 0], words))
    return rows


def test_only_pairs_see_that_two_words_changed_places():
    data = dataset("bigram_shift", tr=shifted(3000, 1), va=shifted(500, 2), te=shifted(1000, 3))
    assert near_chance(baseline("nb-uni", data), 0.5)
    assert near_chance(baseline("length", data), 0.5)
    assert baseline("nb-bi", data).accuracy >= 0.9


@pytest.mark.parametrize("k", [2, 3, 8])
def test_majority_on_balanced_classes_is_one_of_k(k):
    rows = [row(f"c{i % k}", ["w"]) for i in range(12 * k)]
    found = baseline("majority", dataset(tr=rows, va=rows, te=rows))
    assert found.accuracy == pytest.approx(1 / k)
    assert set(found.labels) == {"c0"}  # of several as frequent, the first by name
    assert found.settings == {"trained_on": "tr", "label": "c0", "share": 1 / k}


def test_no_constant_answer_is_better_than_the_majority():
    data = dataset(tr=[row(c, "w") for c in "abb"], te=[row(c, "w") for c in "aaabcccc"])
    found = baseline("majority", data)  # c cannot be learned: it is not in train
    assert (found.labels, found.accuracy, found.rows) == (("a",) * 8, 3 / 8, 8)
    even = dataset(tr=[row(c, "w") for c in "abb"], te=[row(c, "w") for c in "ab"])
    assert baseline("majority", even).labels == ("b", "b")  # of equally good ones the more frequent in train


def test_of_classes_that_length_cannot_tell_apart_the_first_by_name_is_predicted():
    sizes = {"d": (3, 9), "b": (5, 7), "c": (4, 8), "a": (1, 1)}  # three means of six, and equal counts
    rows = [row(label, "w" * n) for label, both in sizes.items() for n in both]
    assert baseline("length", dataset(tr=rows, te=[row("c", "w" * 9), row("a", "w")])).labels == ("b", "a")


# Further inputs


def word_rows(n, seed):
    """The word input, not the sentence, determines the label."""
    rng = Random(seed)
    return [row("01"[i % 2], rng.choices(WORDS, k=8), word=WORDS[2 * rng.randrange(60) + i % 2]) for i in range(n)]


@pytest.mark.parametrize("name", ["nb-uni", "nb-bi"])
def test_further_inputs_are_features_of_their_own(name):
    data = dataset("word_presence", tr=word_rows(3000, 1), va=word_rows(300, 2), te=word_rows(400, 3))
    found = baseline(name, data)
    assert found.settings["inputs"] == ["word"]
    assert found.accuracy >= 0.9
    expected, margin = oracle(data, found.settings["alpha"], pairs=name == "nb-bi", inputs=("word",))
    assert margin > 1e-9
    assert list(found.labels) == expected


def test_columns_that_the_probe_is_not_given_are_not_looked_at():
    data = dataset("odd_man_out", tr=word_rows(1000, 1), te=word_rows(1000, 3))
    found = baseline("nb-uni", data)
    assert found.settings["inputs"] == []
    assert near_chance(found, 0.5)


def test_the_manifest_tells_what_the_inputs_are():
    data = replace(dataset("unheard-of", tr=word_rows(3000, 1), te=word_rows(200, 3)), manifest={"inputs": ["word"]})
    assert baseline("nb-uni", data).accuracy >= 0.9


# Splits, names and odd sets


def test_without_tr_va_is_learned_from_and_nothing_is_chosen(leaned):
    moved = replace(leaned, rows={"tr": [], "va": leaned.rows["tr"], "te": leaned.rows["te"]})
    without = replace(leaned, rows={"tr": leaned.rows["tr"], "va": [], "te": leaned.rows["te"]})
    for name in BASELINES:
        found, same = baseline(name, moved), baseline(name, without)
        assert found.labels == same.labels
        assert (found.settings["trained_on"], same.settings["trained_on"]) == ("va", "tr")
        assert found.settings.get("chosen_on") is None
    assert baseline("nb-uni", moved).settings["alpha"] == ALPHAS[0]
    assert baseline("length", moved).settings["C"] == L2_STRENGTHS[0]


@pytest.mark.parametrize("name", BASELINES)
def test_a_missing_split_is_named(name):
    rows = [row("a", "w"), row("b", "v")]
    with pytest.raises(DataError, match="own/unheard-of has no test rows"):
        baseline(name, dataset(tr=rows, va=rows))
    with pytest.raises(DataError, match="own/unheard-of has neither train"):
        baseline(name, dataset(te=rows))
    with pytest.raises(DataError, match="no test rows"):
        baseline(name, replace(dataset(tr=rows), rows={"tr": rows}))


def test_an_unknown_baseline_is_refused_with_a_hint():
    rows = [row("a", "w")]
    with pytest.raises(UsageError, match=r"no baseline 'nb-tri'\. Did you mean nb-bi\?.*majority, length, nb-uni"):
        baseline("nb-tri", dataset(tr=rows, te=rows))


@pytest.mark.parametrize("name", BASELINES)
def test_each_row_is_predicted_for_itself(leaned, name):
    order = list(range(len(leaned.rows["te"])))
    Random(5).shuffle(order)
    mixed = replace(leaned, rows={**leaned.rows, "te": [leaned.rows["te"][i] for i in order]})
    found = baseline(name, leaned).labels
    assert baseline(name, mixed).labels == tuple(found[i] for i in order)


@pytest.mark.parametrize("name", ["length", "nb-uni", "nb-bi"])
@pytest.mark.parametrize("leaned", [2, 5], indirect=True)  # of thirty classes, some are alike in length: a tie
def test_other_names_for_the_classes_change_nothing_else(leaned, name):
    other = {label: f"x{99 - int(label[1:]):02}" for label in leaned.labels}  # sorts the other way round
    rows = {split: [r._replace(label=other[r.label]) for r in rows] for split, rows in leaned.rows.items()}
    renamed = replace(leaned, labels=tuple(sorted(other.values())), rows=rows)
    assert baseline(name, renamed).labels == tuple(other[label] for label in baseline(name, leaned).labels)


@pytest.mark.parametrize("name", BASELINES)
def test_odd_sets_survive(name):
    one = dataset(tr=[row("a", "wv")] * 3, va=[row("a", "w")], te=[row("a", "u"), row("b", "w")])
    assert baseline(name, one).labels == ("a", "a")  # a single class, and one that is not in train
    assert baseline(name, one).accuracy == 0.5
    empty = dataset(tr=[row("a", ()), row("b", ()), row("b", ())], te=[row("b", ()), row("a", "w")])
    assert baseline(name, empty).labels == ("b", "b")  # nothing to see: the more frequent class
    spaced = dataset(tr=[row("a", ["1 000", "w"]), row("b", ["v", ""])], te=[row("a", ["000"])])
    if name.startswith("nb"):
        assert baseline(name, spaced).labels == ("a",)  # what a space sets off is a word, as in SentEval's files


def test_case_is_not_looked_at(leaned):
    loud = {s: [r._replace(tokens=tuple(map(str.upper, r.tokens))) for r in rows] for s, rows in leaned.rows.items()}
    for name in BASELINES:
        assert baseline(name, replace(leaned, rows=loud)) == baseline(name, leaned)


def test_a_prediction_cannot_be_altered(leaned):
    with pytest.raises(FrozenInstanceError):
        baseline("majority", leaned).accuracy = 1.0


def test_a_thousand_classes_are_held_sparsely():
    """Dense, the classes times the features alone would be 0.8 GB here."""
    import tracemalloc

    rng = Random(1)
    tr = [row(f"t{i % 1000}", [f"t{i % 1000}", *(f"w{rng.randrange(10**7)}" for _ in range(100))]) for i in range(1000)]
    data = dataset("word_content", tr=tr, te=tr[:200])
    tracemalloc.start()
    found = baseline("nb-uni", data)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.settings["features"] * 1000 * 8 > 0.78e9
    assert peak < 0.13e9
    assert found.accuracy == 1.0


# what is most telling


def test_the_most_telling_features_are_those_of_scikit_learn(leaned):
    alpha = baseline("nb-uni", leaned).settings["alpha"]
    tr = leaned.rows["tr"]
    weigh = TfidfVectorizer(analyzer=lambda r: [w.lower() for w in r.tokens])
    x, y = weigh.fit_transform(tr), np.array(labels(tr))
    words = weigh.get_feature_names_out()
    found = top_features(leaned, top=5)
    assert list(found) == sorted(set(labels(tr)))
    for label, best in found.items():
        odds = MultinomialNB(alpha=alpha).fit(x, y == label).feature_log_prob_
        expected = dict(zip(words, odds[1] - odds[0], strict=True))
        assert len(best) == 5
        assert [odd for _, odd in best] == pytest.approx(sorted(expected.values(), reverse=True)[:5], rel=1e-6)
        assert all(odd == pytest.approx(expected[word], rel=1e-6) for word, odd in best)


def test_only_features_that_indicate_a_label_are_listed():
    tr = [row("a", ["yes", "so"]), row("b", ["no", "so"]), row("a", ["yes", "so"]), row("b", ["no", "so"])]
    data = dataset(tr=tr, te=tr)
    assert {label: [word for word, _ in best] for label, best in top_features(data).items()} == {
        "a": ["yes"],
        "b": ["no"],
    }
    pairs = {label: [word for word, _ in best] for label, best in top_features(data, "nb-bi").items()}
    assert pairs == {"a": ["yes", "yes so"], "b": ["no", "no so"]}


def test_further_inputs_are_prefixed_with_their_name():
    tr = [row("1", ["w"], word="in"), row("0", ["w"], word="out")] * 3
    assert [word for word, _ in top_features(dataset("word_presence", tr=tr, te=tr))["1"]] == ["word\tin"]


def test_the_majority_has_nothing_to_tell(leaned):
    with pytest.raises(UsageError, match="Expected nb-uni or nb-bi, got 'majority'"):
        top_features(leaned, "majority")


@pytest.mark.parametrize("name", ["length", "nb-uni", "nb-bi"])
def test_a_baseline_trained_without_a_group_is_the_one_of_a_set_without_it(name):
    train, dev, test = (leaning(n, 3, seed) for n, seed in ((120, 1), (60, 2), (90, 3)))
    whole = Baselines(splits_of(dataset(tr=train, va=dev, te=test)))
    setting = {"length": "C"}.get(name, "alpha")
    chosen = whole.predict(name).settings[setting]
    assigned = np.random.default_rng(0).permutation(120)[None] % 4
    draws = np.ones((3, 60), np.int64)
    retrained = whole.retrain(name, assigned, draws)
    assert (retrained.groups, retrained.trained.shape) == (4, (4, 90))
    truth = np.array([r.label for r in test])
    np.testing.assert_array_equal(retrained.chosen, [np.array(whole.predict(name).labels) == truth] * 3)
    for group, correct in enumerate(retrained.trained):
        part = [r for r, number in zip(train, assigned[0], strict=True) if number != group]
        smaller = Baselines(splits_of(dataset(tr=part, va=dev, te=test))).predict(name)
        if smaller.settings[setting] == chosen:  # otherwise dev chooses another setting for fewer rows
            np.testing.assert_array_equal(correct, np.array(smaller.labels) == truth)


def test_dev_rows_that_are_drawn_choose_the_setting_of_a_baseline():
    train, dev, test = (leaning(n, 3, seed) for n, seed in ((120, 1), (60, 2), (90, 3)))
    whole = Baselines(splits_of(dataset(tr=train, va=dev, te=test)))
    assigned = np.arange(120)[None] % 4
    draws = np.eye(60, dtype=np.int64)[:10]  # each of ten dev rows alone
    chosen = whole.retrain("nb-uni", assigned, draws).chosen
    truth = np.array([r.label for r in test])
    for i, correct in enumerate(chosen):
        alone = Baselines(splits_of(dataset(tr=train, va=dev[i : i + 1], te=test))).predict("nb-uni")
        np.testing.assert_array_equal(correct, np.array(alone.labels) == truth)


def test_a_class_that_a_group_has_all_rows_of_is_not_predicted_without_it():
    rows = [row("ab"[i % 2], ["w"] * (3 + 5 * (i % 2))) for i in range(40)]
    whole = Baselines(splits_of(dataset(tr=rows, va=rows[:10], te=rows[:20])))
    assigned = np.array([[i % 2 for i in range(40)]])
    retrained = whole.retrain("length", assigned, np.ones((2, 10), np.int64))
    np.testing.assert_array_equal(retrained.trained, [[i % 2 == 1 for i in range(20)], [i % 2 == 0 for i in range(20)]])
