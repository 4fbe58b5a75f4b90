"""The transfer tasks as cells of the loop: folds, pairs, relatedness, similarity, retrieval."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from sklearn.metrics import f1_score

from sentprobe.encoders import Identity
from sentprobe.errors import UsageError
from sentprobe.report.summary import summarise
from sentprobe.results.compare import compare
from sentprobe.results.sides import untested_sets
from sentprobe.run import evaluate
from sentprobe.tasks import Example
from tests.run.sets import Knowing, dataset

TRANSFER = {"suite": "transfer"}


def only(run, encoder, task):
    return next(r for r in run if r.cell.encoder == encoder and r.cell.task == task)


def folded(name, protocol, n=(80, 0, 60)):
    given = dataset(name, n=n, protocol=protocol, inputs=[], **TRANSFER)
    return given if protocol != "nested" else replace(given, rows={"tr": [], "va": [], "te": given.rows["te"]})


class Counting:
    """Two numbers of a text: how many a's and how many b's."""

    identity = Identity.of("py", "counting")

    def __call__(self, texts):
        return np.array([[t.count("a"), t.count("b"), 1.0] for t in texts])


def pairs(n, seed, label):
    """Pairs of texts of a's and b's, with what ``label`` says of the two counts of a's and b's."""
    rng = np.random.default_rng(seed)
    rows = []
    for i in range(n):
        (a, b), (c, d) = rng.integers(1, 9, (2, 2))
        one, two = f"{'a' * a}{'b' * b}", f"{'a' * c}{'b' * d}"
        rows.append(Example(label((a, b), (c, d)), (one,), one, stratum=f"part{i % 2}", extra=(("sentence2", two),)))
    return rows


def related(one, two):
    return f"{5 - 4 * (abs(one[0] - two[0]) + abs(one[1] - two[1])) / 14:.2f}"


def alike(one, two):
    u, v = np.array([*one, 1.0]), np.array([*two, 1.0])
    return f"{5 * u @ v / np.linalg.norm(u) / np.linalg.norm(v):.6f}"


def pair_set(name, protocol, label, n):
    rows = {split: pairs(k, i, label) for i, (split, k) in enumerate(zip(("tr", "va", "te"), n, strict=True))}
    return replace(
        dataset(name), rows=rows, labels=(), manifest={**TRANSFER, "protocol": protocol, "inputs": ["sentence2"]}
    )


def test_paraphrases_have_the_f1_of_scikit_learn(tmp_path):
    run = evaluate({"k": Knowing(noise=1.0)}, [folded("MRPC", "kfold")], tmp_path / "run", baselines=())
    (r,) = run
    kept = run.predictions(r)
    assert 0.5 < r.score < 1
    assert r.scores["f1"] == pytest.approx(f1_score(kept["truth"], kept["predicted"]))


@pytest.mark.parametrize("protocol", ["nested", "kfold", "split"])
@pytest.mark.parametrize("limit", [None, 60, 100])
def test_no_constant_answer_is_better_than_the_best_baseline(tmp_path, protocol, limit):
    """Classes of unequal size, one of which cannot fill its share of a balanced sample, and others in test than in
    train."""

    def rows(split, sizes):
        labels = [name for name, n in zip(("c0", "c1", "c2"), sizes, strict=True) for _ in range(n)]
        return [Example(label, (split, str(i), "x" * (i % 7)), f"{split} {i}") for i, label in enumerate(labels)]

    splits = {"tr": rows("tr", (60, 140, 130)), "va": rows("va", (10, 40, 20)), "te": rows("te", (9, 30, 90))}
    if protocol == "nested":
        splits = {"tr": [], "va": [], "te": [row for found in splits.values() for row in found]}
    given = replace(dataset("CDSEntailment", protocol=protocol, inputs=[]), rows=splits, labels=("c0", "c1", "c2"))
    run = evaluate({"k": Counting()}, given, tmp_path / "run", limit=limit, resample=0)
    truth = run.predictions(only(run, "majority", "CDSEntailment"))["truth"]
    constant = max(np.bincount(truth)) / len(truth)
    assert only(run, "majority", "CDSEntailment").score == pytest.approx(constant, abs=1e-3)  # folds differ in size
    share = max(Counter(row.label for row in splits["te"]).values()) / len(splits["te"])
    assert constant == pytest.approx(share, abs=0.02)  # a sample is like the set
    (own,) = summarise(run).sets
    best = own.cells[0].against
    assert best.value >= constant - 1e-3


@pytest.mark.parametrize("probe", ["linear", "senteval?passes=8&rate=0.05"])
def test_folds(tmp_path, probe):
    run = evaluate(
        {"k": Knowing()}, [folded("MR", "nested"), folded("TREC", "kfold")], tmp_path / "run", probes=[probe]
    )
    assert run.failures == ()
    nested, kfold = only(run, "k", "MR"), only(run, "k", "TREC")
    assert (nested.score, nested.interval_kind, nested.n) == (1.0, "nadeau-bengio", {"tr": 54, "va": 0, "te": 60})
    assert len(nested.tried) == 10
    assert (kfold.score, kfold.interval_kind, kfold.n) == (1.0, "wilson", {"tr": 80, "va": 0, "te": 60})
    assert len(run.correct(nested)) == len(run.rows(nested)) == 60
    assert run.correct(nested).all()
    assert only(run, "majority", "MR").score == pytest.approx(0.5, abs=0.05)
    assert {r.cell.encoder for r in run if r.cell.task == "MR"} == {"k", "majority", "length", "nb-uni", "nb-bi"}
    found = summarise(run).transfer[0]
    assert found.tasks == ("MR", "TREC")
    assert found.macro == found.micro == 1.0
    assert found.rows == 60 + 80


def test_a_worse_encoder_has_an_interval_that_covers_its_score(tmp_path):
    run = evaluate({"k": Knowing(noise=1.5)}, [folded("MR", "nested", n=(0, 0, 200))], tmp_path / "run", baselines=[])
    result = only(run, "k", "MR")
    assert result.interval[0] < result.score < result.interval[1]
    assert result.score == pytest.approx(run.correct(result).mean(), abs=0.01)


def test_pairs_are_combined_in_four_blocks_for_classes_and_in_two_for_relatedness(tmp_path):
    same = pair_set(
        "SICKEntailment", "split", lambda one, two: str(int(one == two or one[0] == two[0])), (300, 100, 100)
    )
    run = evaluate({"c": Counting()}, [same], tmp_path / "run", baselines=["majority"])
    result = only(run, "c", "SICKEntailment")
    assert result.dimension == 4 * 3
    assert result.score > only(run, "majority", "SICKEntailment").score + 0.1
    other = replace(same, name="SNLI", task="SNLI")
    assert only(evaluate({"c": Counting()}, [other], tmp_path / "run", baselines=[]), "c", "SNLI").dimension == 4 * 3


def test_relatedness_and_similarity_are_correlations(tmp_path):
    sets = [
        pair_set("SICKRelatedness", "relatedness", related, (300, 60, 80)),
        pair_set("STS14", "similarity", alike, (0, 0, 60)),
    ]
    run = evaluate({"c": Counting()}, sets, tmp_path / "run")
    assert run.failures == ()
    sick, sts = only(run, "c", "SICKRelatedness"), only(run, "c", "STS14")
    assert (sick.metric, sts.metric) == ("pearson", "spearman")
    assert sick.score > 0.8
    assert sts.score == pytest.approx(1.0, abs=1e-3)
    assert sick.interval[0] <= sick.score <= sick.interval[1]
    assert {"spearman", "mse"} <= sick.scores.keys()
    assert {"pearson", "spearman_mean", "spearman part0", "spearman part1"} <= sts.scores.keys()
    assert run.predictions(sick)["predicted"].shape == (80,)
    assert sick.baselines == {}
    with pytest.raises(UsageError, match="scored by pearson"):
        run.correct(sick)
    assert [(c.dataset, c.metric, c.difference, c.p) for c in compare(run, "c", "c")] == [
        ("STS14", "spearman", 0.0, 1.0)
    ]
    assert untested_sets(run, ["c"]) == ("SICKRelatedness (Pearson)",)
    assert {s.scored_by for s in summarise(run).sets} == {"pearson", "spearman"}


def test_vectors_that_are_all_alike_have_no_correlation(tmp_path):
    given = pair_set("STS14", "similarity", alike, (0, 0, 60))
    run = evaluate({"flat": lambda texts: np.ones((len(texts), 2))}, [given], tmp_path / "run")
    assert "the same score" in run.failures[0].error


def test_a_label_that_is_not_a_number_is_named(tmp_path):
    given = pair_set("STS14", "similarity", lambda one, two: "much", (0, 0, 60))
    with pytest.raises(
        UsageError, match=r"None of the sets can be used\. STS14: expected a number as the label of .*, got 'much'"
    ):
        evaluate({"c": Counting()}, [given], tmp_path / "run")


def test_captions_find_their_images(tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    counts = {
        split: rng.permutation([(a, b) for a in range(1, 9) for b in range(1, 9)]) for split in ("tr", "va", "te")
    }
    rows = {
        split: [
            Example(str(i), (t,), t)
            for i, (a, b) in enumerate(found)
            for t in ("a" * a + "b" * b, "b" * b + "a" * a, "b" * b + "-" + "a" * a)
        ]
        for split, found in counts.items()
    }
    pictures = {split: np.float32([[a, b, a * b, 1] for a, b in found]) for split, found in counts.items()}
    monkeypatch.setattr("sentprobe.data.splits.images", lambda dataset, split: pictures[split])
    given = replace(
        dataset("ImageCaptionRetrieval"), rows=rows, manifest={**TRANSFER, "protocol": "retrieval", "inputs": []}
    )
    run = evaluate({"c": Counting()}, [given], tmp_path / "run")
    assert run.failures == ()
    result = only(run, "c", "ImageCaptionRetrieval")
    assert result.metric == "recall@1"
    assert result.scores["image r10"] > 0.3  # chance is ten of sixty-four
    assert result.scores["image r10"] >= result.scores["image r1"] == pytest.approx(result.score)
    with pytest.raises(UsageError, match="cannot be sampled"):
        evaluate({"c": Counting()}, [given], tmp_path / "sampled", limit=5)
