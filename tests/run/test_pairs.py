"""`evaluate_pairs`: scores against oracles and planted answers, ties, resuming, failures, layers, repeating."""

import csv
import math

import numpy as np
import pytest

from sentprobe import ContrastSet, Run, ScoredPairs, compare, evaluate_pairs, ties
from sentprobe.errors import EncoderError, SentProbeError, SentProbeWarning, TooFewError, UsageError
from sentprobe.probes.baselines import PAIR_BASELINES
from sentprobe.report.answer import answer
from sentprobe.report.comparison import comparison_sentence
from sentprobe.report.summary import summarise
from sentprobe.results.metric import metric_named
from sentprobe.results.scores import score_difference
from sentprobe.run.info import read_diagnoses
from sentprobe.run.pair_scores import SIMILARITIES, similarities
from sentprobe.run.repeat import repeat

NAMES = ["Kim", "Lee", "Mia", "Tom", "Ann", "Bob"]


def triplets():
    pairs = [(a, b) for a in NAMES for b in NAMES if a < b]
    roles = [(f"{a} saw {b} .", f"{b} was seen by {a} .", f"{b} saw {a} .", "roles", "", "", a) for a, b in pairs]
    negation = [
        (f"Today {a} met {b} .", f"{a} met {b} today .", f"Today {a} did not meet {b} .", "negation", "", "", a)
        for a, b in pairs
    ]
    return ContrastSet.from_rows([*roles, *negation], name="mine", language="en")


def by_meaning(texts):
    """Equal for sentences with the same meaning, up to a little that differs between texts."""
    vectors = []
    for text in texts:
        words = text.replace(".", "").split()
        named = [NAMES.index(word) for word in words if word in NAMES]
        agent, patient = reversed(named) if "was" in words else named
        meaning = np.zeros(13)
        meaning[agent] = meaning[6 + patient] = 1
        meaning[12] = 2 * ("not" in words)
        vectors.append(meaning + 0.01 * len(text))
    return np.array(vectors)


def by_words(texts):
    """A bag of words."""
    words = sorted({word.lower() for text in texts for word in text.split()} | {name.lower() for name in NAMES})
    vocabulary = ["today", "saw", "seen", "was", "by", "met", "meet", "did", "not", ".", *map(str.lower, NAMES)]
    assert set(words) <= set(vocabulary)
    return np.array([[text.lower().split().count(word) for word in vocabulary] for text in texts], np.float32)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pairs") / "run"
    return evaluate_pairs({"meaning": by_meaning, "words": by_words}, triplets(), folder)


def score(run, encoder, dataset):
    return next(r for r in run if (r.cell.encoder, r.cell.dataset) == (encoder, dataset))


def test_planted_answers(run):
    assert {(r.cell.dataset, r.n["te"]) for r in run} == {("mine", 30), ("mine/roles", 15), ("mine/negation", 15)}
    assert score(run, "meaning", "mine/roles").score == 1.0
    assert score(run, "meaning", "mine").score == 1.0
    # a bag of words cannot tell the contrast from the anchor, and the passive has other words
    assert score(run, "words", "mine/roles").score == 0.0
    assert score(run, "words", "mine/negation").score == 1.0
    assert score(run, "overlap", "mine/roles").score == 0.0
    chance = score(run, "chance", "mine/roles")
    assert (chance.score, chance.constant, chance.scores["ties"]) == (0.5, True, 15)
    assert not run.failures


def random_vectors(texts, dimension=5):
    """A normal vector for each text, the same whenever it is asked for."""
    seeds = [sum(ord(c) * 31**i for i, c in enumerate(text)) for text in texts]
    return np.array([np.random.default_rng(seed).normal(size=dimension) for seed in seeds], np.float32)


ROWS = [(f"a{i}", f"p{i}", f"c{i}", "even" if i % 2 else "odd") for i in range(60)]


def test_scores_are_those_of_the_triplet_evaluator(tmp_path):
    # sentence-transformers' own numbers, of the same vectors, without a model
    evaluation = pytest.importorskip("sentence_transformers.sentence_transformer.evaluation")

    class Evaluator(evaluation.TripletEvaluator):
        def embed_inputs(self, model, texts, **_):
            return random_vectors(texts)

        def store_metrics_in_model_card_data(self, *_):
            pass

    columns = [list(column) for column in list(zip(*ROWS, strict=True))[:3]]
    names = ["cosine", "dot", "euclidean"]
    expected = Evaluator(*columns, similarity_fn_names=names)(None)
    run = evaluate_pairs({"v": random_vectors}, ROWS, tmp_path / "run", similarity=",".join(names))
    for name in names:
        result = next(r for r in run if (r.cell.probe, r.cell.dataset) == (name, "contrasts"))
        assert result.score == pytest.approx(expected[f"{name}_accuracy"], abs=1e-6)
        further = {other: result.scores[other] for other in names if other != name}
        assert further == pytest.approx({other: expected[f"{other}_accuracy"] for other in further}, abs=1e-6)


def test_ties_count_one_half_and_rounding_makes_none(tmp_path):
    rows = [(f"x {i} y .", f"y {i} x .", f"{i} x y .") for i in range(20)]

    def sums(texts):
        vectors = {word: random_vectors([word], 64)[0] for text in texts for word in text.split()}
        return np.array([np.sum([vectors[word] for word in text.split()], axis=0, dtype=np.float32) for text in texts])

    a, p, c = (sums(column) for column in zip(*rows, strict=True))
    raw = np.einsum("ij,ij->i", a, p) - np.einsum("ij,ij->i", a, c)
    assert (raw != 0).any()  # the same words, added in another order
    for name in SIMILARITIES:
        positive, contrast = similarities(name, [np.float64(a), np.float64(p), np.float64(c)])
        assert (positive == contrast).all()
    run = evaluate_pairs({"sums": sums}, rows, tmp_path / "run")
    assert (run.results[0].score, run.results[0].scores["ties"]) == (0.5, 20)
    assert run.row_scores(run.results[0]).tolist() == [0.5] * 20
    assert not run.correct(run.results[0]).any()


def test_encoders_are_compared_row_by_row_over_groups(run):
    comparisons = compare(run, "meaning", "words")
    sentence = comparison_sentence(comparisons, ["meaning", "words"], ["meaning", "words"])
    assert sentence == "meaning and words do not differ significantly on either set."  # two kinds, and not the whole
    by_set = {c.dataset: c for c in comparisons}
    roles = by_set["mine/roles"]
    assert (roles.difference, roles.better(), roles.metric, roles.only_first) == (1.0, None, "triplet_accuracy", 15)
    assert roles.clusters == 5  # of the first name, which is too few
    assert roles.p == 2 / 2**5  # all signs are equal in 2 of 32 flips
    assert score(run, "meaning", "mine/roles").cluster_interval is not None
    groups = {group.dataset: group.letters for group in ties(run, ["meaning", "words"])}
    assert groups["mine/negation"] == {"meaning": "a", "words": "a"}


def test_tables_frames_rows_and_folders_give_the_same_results(tmp_path):
    contrasts = triplets()
    path = tmp_path / "mine.csv"
    names = ("anchor", "positive", "contrast", "kind", "positive_kind", "id", "group")
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([names, *contrasts])
    contrasts.save(tmp_path / "set")
    frame = {name: list(column) for name, column in zip(names, zip(*contrasts, strict=True), strict=True)}
    scores = []
    for number, pairs in enumerate([contrasts, path, [str(path)], tmp_path / "set", frame, list(contrasts)]):
        run = evaluate_pairs({"words": by_words}, pairs, tmp_path / f"run{number}")
        scores.append([(r.cell.data, r.cell.encoder, r.score, r.interval) for r in run])
    assert all(each == scores[0] for each in scores)


def test_the_same_call_resumes_and_what_is_missing_is_computed(tmp_path):
    calls = []

    class Counting:
        from sentprobe.encoders import Identity

        identity = Identity("test", "counting")

        def __call__(self, texts):
            calls.append(len(texts))
            return by_words(texts)

    folder = tmp_path / "run"
    first = evaluate_pairs({"c": Counting()}, triplets(), folder)
    lines = (folder / "results.jsonl").read_bytes()
    n = len(calls)
    assert [r.score for r in evaluate_pairs({"c": Counting()}, triplets(), folder)] == [r.score for r in first]
    assert len(calls) == n
    assert (folder / "results.jsonl").read_bytes() == lines
    more = evaluate_pairs({"c": Counting()}, triplets(), folder, similarity=("cosine", "dot"))
    assert len(calls) > n
    assert {r.cell.probe for r in more} == {"cosine", "dot", None}


def test_what_fails_is_recorded_and_the_others_continue(tmp_path):
    def broken(texts):
        raise ValueError("no such layer")

    run = evaluate_pairs({"broken": broken, "words": by_words}, triplets(), tmp_path / "run")
    assert [failure.cell.encoder for failure in run.failures] == ["broken"]
    assert "no such layer" in run.failures[0].error
    assert score(run, "words", "mine/roles").score == 0.0
    with pytest.raises(SentProbeError, match="no such layer"):
        evaluate_pairs({"broken": broken}, triplets(), tmp_path / "alone")
    assert set(evaluate_pairs({}, triplets(), tmp_path / "none").encoders) == set(PAIR_BASELINES)


def test_every_layer_is_a_system_of_its_own(tmp_path):
    def layers(texts):
        return np.stack([by_words(texts), np.pad(by_meaning(texts), ((0, 0), (0, 3)))])

    run = evaluate_pairs({"two": layers}, triplets(), tmp_path / "run")
    assert score(run, "two, layer 0", "mine/roles").score == 0.0
    assert score(run, "two, layer 1", "mine/roles").score == 1.0
    again = evaluate_pairs({"two": layers}, triplets(), tmp_path / "run")
    for summary in map(summarise, (run, again)):
        assert not summary.missing  # nothing is called two
        assert [column.encoder for column in summary.columns] == ["two, layer 0", "two, layer 1"]


def test_broken_encoders_are_diagnosed_as_in_runs_of_probes(tmp_path):
    def constant(texts):
        return np.ones((len(texts), 4))

    def layers(texts):
        return np.stack([np.ones((len(texts), 16)), by_words(texts)])

    run = evaluate_pairs({"constant": constant, "two": layers, "words": by_words}, triplets(), tmp_path / "run")
    codes = {d.name: [symptom.code for symptom in d.symptoms] for d in read_diagnoses(run)}
    assert "equal-vectors" in codes["constant"]
    assert "dead-layers" in codes["two, layer 0"]
    assert codes["two, layer 0"] == codes["two, layer 1"]
    assert answer(summarise(run))[-1].startswith("constant (identical vectors for different texts) is broken")


def test_an_encoder_of_another_language_gets_a_warning(tmp_path):
    french = ContrastSet("mine", triplets().rows, "fr")
    with pytest.warns(SentProbeWarning, match="static"):
        run = evaluate_pairs("static:", french, tmp_path / "run")
    (diagnosis,) = read_diagnoses(run)
    assert "wrong-language" in [symptom.code for symptom in diagnosis.symptoms]


def test_results_of_a_function_that_may_have_changed_are_not_mixed(tmp_path):
    evaluate_pairs({"v": by_words}, triplets(), tmp_path / "run", similarity="dot")
    run = evaluate_pairs({"v": by_meaning}, triplets(), tmp_path / "run")
    assert {r.cell.probe for r in run if r.cell.encoder == "v"} == {"cosine"}


def test_a_baseline_without_a_correlation_is_left_out(tmp_path):
    rows = [("a b", "c d", 1.0), ("e f", "e g", 2.5), ("h i", "h i", 3.0), ("j k", "l k", 2.0)]
    run = evaluate_pairs({"letters": lambda texts: [[ord(t[0]), ord(t[2])] for t in texts]}, rows, tmp_path / "run")
    assert not run.failures
    assert set(run.encoders) == {"letters", "overlap", "tf-idf"}  # all have two words


def test_scores_that_are_strings_are_scores(tmp_path):
    rows = [("a b", "a c", "1.0"), ("d e", "d e", "4.5"), ("f g", "h i", "0.5")]
    run = evaluate_pairs({"letters": lambda texts: [[ord(t[0]), ord(t[2])] for t in texts]}, rows, tmp_path / "run")
    assert {r.metric for r in run} == {"spearman"}


def test_encoders_that_cannot_be_loaded_are_refused_before_anything_is_computed(tmp_path):
    with pytest.raises(UsageError, match="2 encoders cannot be loaded, and nothing was computed"):
        evaluate_pairs(["trained:none", "trained:nor-this"], triplets(), tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_kinds_with_a_slash_are_no_parts_of_others(tmp_path):
    rows = [(*row[:3], "a/b" if i % 2 else "c") for i, row in enumerate(ROWS)]
    run = evaluate_pairs({"v": random_vectors}, rows, tmp_path / "run")
    assert {r.cell.dataset for r in run} == {"contrasts", "contrasts/a-b", "contrasts/c"}
    by_set = {r.cell.dataset: r.n["te"] for r in run}
    assert by_set["contrasts/a-b"] == by_set["contrasts/c"] == 30
    same = [("x", "y", f"z{i}", kind) for i, kind in enumerate(["a/b", "a/b", "a-b", "a-b"])]
    with pytest.raises(UsageError, match="Two sets are called contrasts/a-b"):
        evaluate_pairs({"v": random_vectors}, same, tmp_path / "same")


def test_usage_errors(tmp_path):
    with pytest.raises(UsageError, match="Did you mean cosine"):
        evaluate_pairs(by_words, triplets(), tmp_path / "run", similarity="cosin")
    with pytest.raises(UsageError, match="overlap is the name of a baseline"):
        evaluate_pairs({"overlap": by_words}, triplets(), tmp_path / "run")
    with pytest.raises(TooFewError, match="contrasts has 1 row; expected 2 or more"):
        evaluate_pairs(by_words, triplets_named(1), tmp_path / "run")
    with pytest.raises(TooFewError, match="pairs has 2 rows; expected 3 or more"):
        evaluate_pairs(by_words, [("a", "b", 1.0), ("c", "d", 2.0)], tmp_path / "run")
    with pytest.raises(UsageError, match="empty list"):
        evaluate_pairs(by_words, [], tmp_path / "run")
    with pytest.raises(UsageError, match="columns text, label; expected anchor, positive and contrast"):
        evaluate_pairs(by_words, [{"text": "a", "label": "b"}], tmp_path / "run")
    with pytest.raises(UsageError, match="Two sets are called contrasts"):
        evaluate_pairs(by_words, [triplets_named(3), triplets_named(4)], tmp_path / "run")
    assert not (tmp_path / "run").exists()


def triplets_named(n):
    return ContrastSet.from_rows(ROWS[:n])


# pairs with scores and labels


def scored(labels=False):
    rng = np.random.default_rng(5)
    rows = [(f"first {i // 2}", f"second {i}", float(rng.integers(2) if labels else rng.normal())) for i in range(80)]
    return ScoredPairs.from_rows(rows, name="sts")


def noisy(noise):
    """Vectors whose cosine follows the score of a pair, with noise."""
    gold = {row.second: row.score for row in scored()} | {row.second + "l": row.score for row in scored(labels=True)}

    def encode(texts, suffix=""):
        angles = []
        for text in texts:
            draw = random_vectors([text + str(noise)], 1)[0, 0]
            angles.append(0.0 if text.startswith("first") else math.pi / 2 - 0.2 * gold[text + suffix] + noise * draw)
        return np.array([[math.cos(angle), math.sin(angle)] for angle in angles])

    return encode


def test_scored_pairs_have_the_correlations_of_scipy(tmp_path):
    stats = pytest.importorskip("scipy.stats")
    run = evaluate_pairs({"good": noisy(0.1), "bad": noisy(2.0)}, scored(), tmp_path / "run")
    for encoder, noise in (("good", 0.1), ("bad", 2.0)):
        result = score(run, encoder, "sts")
        encode = noisy(noise)
        cosines = np.einsum("ij,ij->i", encode([r.first for r in scored()]), encode([r.second for r in scored()]))
        gold = [row.score for row in scored()]
        assert result.metric == "spearman"
        assert result.score == pytest.approx(stats.spearmanr(cosines, gold).statistic)
        assert result.scores["pearson"] == pytest.approx(stats.pearsonr(cosines, gold).statistic)
        assert result.interval[0] < result.score < result.interval[1]
    (comparison,) = compare(run, "good", "bad")
    assert (comparison.better(), comparison.about, comparison.metric) == ("first", "system", "spearman")
    assert math.isnan(comparison.only_first)
    # on ranks, so that the scale of the cosines of an encoder does not matter
    results = {name: [score(run, name, "sts")] for name in ("good", "bad")}
    test = score_difference(run, results["good"], results["bad"], metric_named("spearman"))
    assert test.p == comparison.p
    parts = metric_named("spearman").row_parts(run.predictions(results["good"][0]))
    assert parts.mean() == pytest.approx(results["good"][0].score)  # of which the test swaps
    assert "chance" not in run.encoders


def test_labelled_pairs_have_the_auc_and_average_precision_of_scikit_learn(tmp_path):
    metrics = pytest.importorskip("sklearn.metrics")
    pairs = scored(labels=True)
    run = evaluate_pairs({"v": lambda texts: noisy(0.3)(texts, "l")}, pairs, tmp_path / "run")
    result = score(run, "v", "sts")
    truth, predicted = (run.predictions(result)[name] for name in ("truth", "predicted"))
    assert result.metric == "roc_auc"
    assert result.score == pytest.approx(metrics.roc_auc_score(truth, predicted))
    assert result.scores["average_precision"] == pytest.approx(metrics.average_precision_score(truth, predicted))
    assert score(run, "chance", "sts").score == 0.5
    assert metric_named("roc_auc").row_parts(run.predictions(result)).mean() == pytest.approx(result.score)
    tied = {"truth": np.array([1, 0, 1, 0, 1]), "predicted": np.array([0.5, 0.5, 0.5, 0.1, 0.9])}
    for name, function in (("roc_auc", metrics.roc_auc_score), ("average_precision", metrics.average_precision_score)):
        assert metric_named(name).score(tied) == pytest.approx(function(tied["truth"], tied["predicted"]))


def test_the_folders_of_senteval_are_read(tmp_path):
    folder = tmp_path / "STS" / "STS14-en-test"
    folder.mkdir(parents=True)
    genres = ("deft-forum", "deft-news", "headlines", "images", "OnWN", "tweet-news")
    for name in genres:
        pairs = [f"{name} {i} is here .\t{name} {i} {'is' if i % 3 else 'was not'} there .\n" for i in range(6)]
        (folder / f"STS.input.{name}.txt").write_text("".join(pairs))
        (folder / f"STS.gs.{name}.txt").write_text("".join(f"{i % 3}.5\n" for i in range(6)))
    letters = {"letters": lambda texts: [[len(text), text.count("n"), text.count(" ")] for text in texts]}
    run = evaluate_pairs(letters, tmp_path, tmp_path / "run")
    assert {(r.cell.dataset, r.metric, r.n["te"]) for r in run} == {
        ("STS14", "spearman", 36),
        *((f"STS14/{name}", "spearman", 6) for name in genres),
    }
    with pytest.raises(SentProbeError, match="holds no pairs"):
        evaluate_pairs(by_words, tmp_path / "run" / "probes", tmp_path / "none")


# repeating


def test_a_result_is_repeated_by_its_signature(tmp_path):
    path = tmp_path / "mine.jsonl"
    rows = [dict(zip(("anchor", "positive", "contrast", "kind"), row[:4], strict=True)) for row in triplets()]
    path.write_text("".join(f"{row}\n".replace("'", '"') for row in rows))
    run = evaluate_pairs("baseline:hash?dim=32", path, tmp_path / "run", similarity="dot")
    for encoder in ("baseline:hash?dim=32", "tf-idf", "chance"):
        reproduction = repeat(score(run, encoder, "mine/roles").signature, run=run)
        assert reproduction.same, encoder
        assert not reproduction.notes
    path.write_text(path.read_text().replace("Kim", "Kit"))
    with pytest.raises(UsageError, match=r"The set mine/roles#\w+ was not found in"):
        repeat(score(run, "tf-idf", "mine/roles").signature, run=run)
    assert Run.load(tmp_path / "run").results == run.results


def test_an_encoder_that_returns_other_sizes_is_an_error(tmp_path):
    with pytest.raises((EncoderError, UsageError), match="expected"):
        evaluate_pairs(lambda texts: np.ones(len(texts)), triplets(), tmp_path / "run")
