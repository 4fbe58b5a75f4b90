"""What comes back: the keys and types of SentEval's results and of SimCSE's copy, and what the numbers are."""

import json

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

import sentprobe.senteval as senteval
from sentprobe.errors import UsageError
from tests.senteval.sets import BINARY, PROBING, QUICK, STS, batcher, vector

LEARNT = {"devpearson", "pearson", "spearman", "mse", "yhat", "ndev", "ntest"}
LIKENED = {"train", "dev", "test", "all"}


def evaluate(data, task, given=batcher, **more):
    params = {"task_path": data, "kfold": 2, "classifier": dict(QUICK), **more}
    return senteval.SE(params, given).eval(task)


@pytest.fixture(scope="module")
def both(data):
    """STSBenchmark, learnt and compared."""
    return evaluate(data, "STSBenchmark")


def test_nested_folds_count_every_row_twice(data):
    found = evaluate(data, "MR", classifier={**QUICK, "optim": "sgd,lr=1"})
    assert list(found) == ["devacc", "acc", "ndev", "ntest"]
    assert type(found["devacc"]) is type(found["acc"]) is np.float64
    assert found["ndev"] == found["ntest"] == 44
    assert found["devacc"] > 60
    assert set(BINARY) < set(senteval.SE({"task_path": data}, batcher).list_tasks)


@pytest.mark.parametrize(
    ("task", "ndev"), [("SST2", 12), ("SNLI", 12), ("SICKEntailment", 12), ("Tense", 12), ("TREC", 36)]
)
def test_given_parts_are_counted_as_they_are(data, task, ndev):
    found = evaluate(data, task)
    assert list(found) == ["devacc", "acc", "ndev", "ntest"]
    assert type(found["devacc"]) is np.float64
    assert type(found["acc"]) is float
    assert (found["ndev"], found["ntest"]) == (ndev, 12)
    assert 0 <= found["acc"] <= 100


def test_paraphrases_have_f1(data):
    found = evaluate(data, "MRPC")
    assert set(found) == {"devacc", "acc", "f1", "ndev", "ntest"}
    assert (found["ndev"], found["ntest"]) == (30, 12)
    assert 0 <= found["f1"] <= 100


def test_f1_is_scikit_learns():
    from sklearn.metrics import f1_score

    from sentprobe.senteval.mrpc import f1_of

    draw = np.random.RandomState(0)
    for _ in range(20):
        labels, found = draw.randint(2, size=(2, 15))
        assert f1_of(labels, found[:, None].astype(float)) == pytest.approx(f1_score(labels, found, zero_division=0))


@pytest.mark.parametrize("task", STS)
def test_similarity_has_both_kinds_of_means(data, rows, task):
    found = evaluate(data, task)
    assert set(found) == {*STS[task], "all"}
    everything = []
    for name, pairs in rows[task].items():
        mine, gold = [], []
        for one, two, score in sorted(pairs, key=lambda row: (len(row[0].split()), len(row[1].split()), row[2])):
            u, v = (np.mean([vector(word) for word in text.split()], axis=0) for text in (one, two))
            mine.append(np.dot(u, v) / (np.linalg.norm(u) * np.linalg.norm(v)))  # rounded alike, as ties count
            gold.append(score)
        everything += zip(mine, gold, strict=True)
        assert found[name]["nsamples"] == len(pairs) == 9
        assert found[name]["pearson"][0] == pytest.approx(pearsonr(mine, gold)[0])
        assert found[name]["spearman"].correlation == pytest.approx(spearmanr(mine, gold)[0])
        value, chance = found[name]["pearson"]
        assert (value, chance) == tuple(found[name]["pearson"])
    for kind, correlation in (("pearson", pearsonr), ("spearman", spearmanr)):
        said = found["all"][kind]
        assert said["mean"] == pytest.approx(np.mean([found[name][kind][0] for name in STS[task]]))
        assert said["wmean"] == pytest.approx(said["mean"])  # all sets are of one size here
        assert said["all"] == pytest.approx(correlation(*zip(*everything, strict=True))[0])


def test_one_result_serves_both_dialects(both, rows):
    assert set(both) == LEARNT | LIKENED
    assert both["yhat"].shape == (12,)
    assert (both["ndev"], both["ntest"]) == (12, 12)
    gold = [
        row[2]
        for row in sorted(rows["STSBenchmark"]["test"], key=lambda r: (len(r[0].split()), len(r[1].split()), r[2]))
    ]
    assert both["pearson"] == pytest.approx(pearsonr(both["yhat"], gold)[0])
    assert both["spearman"] == pytest.approx(spearmanr(both["yhat"], gold)[0])
    assert both["mse"] == pytest.approx(np.mean((both["yhat"] - gold) ** 2))
    assert both["test"]["spearman"].correlation == both["test"]["spearman"][0]
    assert both["all"]["spearman"]["all"] > 0.3


@pytest.mark.parametrize("task", ["STSBenchmark", "SICKRelatedness", "STSBenchmark-fix"])
def test_a_mode_asks_for_one_of_them(data, both, task):
    cosines = evaluate(data, task, sts_mode="cosine")
    assert set(cosines) == LIKENED
    if task != "SICKRelatedness":
        assert cosines["test"]["pearson"][0] == pytest.approx(both["test"]["pearson"][0])


def test_what_is_learnt_alone(data, both):
    learnt = evaluate(data, "STSBenchmark", sts_mode="supervised")
    assert set(learnt) == LEARNT
    assert np.array_equal(learnt["yhat"], both["yhat"])


def test_an_unknown_mode_is_refused(data):
    with pytest.raises(UsageError, match="both, supervised, cosine"):
        evaluate(data, "STSBenchmark", sts_mode="unsupervised")


@pytest.mark.parametrize("task", ["SICKRelatedness-finetune", "STSBenchmark-finetune"])
def test_the_names_of_simcse_watch_spearman(data, task):
    found = evaluate(data, task)
    assert set(found) == LEARNT - {"devpearson"} | {"devspearman"}


def test_the_order_of_what_is_predicted_is_that_of_the_data_afterwards(data):
    se = senteval.SE({"task_path": data, "classifier": dict(QUICK), "sts_mode": "supervised"}, batcher)
    found = se.eval("SICKRelatedness")
    gold = se.evaluation.sick_data["test"]["y"]
    assert found["pearson"] == pytest.approx(pearsonr(found["yhat"], gold)[0])


def test_a_similarity_of_ones_own_sees_what_the_batcher_returned(data):
    class Words(list):
        """No matrix: a list of words for each sentence."""

    def sets(params, batch):
        return Words(set(words) for words in batch)

    def overlap(one, two):
        assert isinstance(one, set)
        return len(one & two) / len(one | two)

    found = evaluate(data, "STS12", sets, similarity=overlap)
    assert found["all"]["pearson"]["mean"] > 0.5
    cosines = evaluate(data, "SICKRelatedness", sets, similarity=overlap, sts_mode="cosine")
    assert -1 <= cosines["test"]["pearson"][0] <= 1


def test_nan_counts_as_nothing_in_a_cosine(data):
    def gaps(params, batch):
        found = batcher(params, batch)
        found[0] = np.nan
        return found

    def zeros(params, batch):
        found = batcher(params, batch)
        found[0] = 0
        return found

    one, two = (evaluate(data, "STS13", given) for given in (gaps, zeros))
    assert one["all"] == two["all"]


def test_results_can_be_written_as_json(data, both):
    found = {"STS12": evaluate(data, "STS12"), "TREC": evaluate(data, "TREC"), "STSBenchmark": dict(both)}
    found["STSBenchmark"].pop("yhat")
    again = json.loads(json.dumps(found))
    assert again["TREC"]["ndev"] == 36
    assert len(again["STS12"]["MSRvid"]["pearson"]) == 2


def test_the_fast_mode_says_so(data):
    fast = {**QUICK, "fast": True}
    for task in ("CR", "TREC", "SST2", "MRPC", "SNLI", "SICKEntailment", *list(PROBING)[:1]):
        assert evaluate(data, task, classifier=fast)["protocol"] == "senteval, l2 1e-05 only"
    assert "protocol" not in evaluate(data, "TREC")


def test_the_fast_mode_is_senteval_with_one_penalty(data, caplog):
    pytest.importorskip("torch")  # of adamax
    caplog.set_level("INFO", "senteval")
    for task in ("CR", "TREC", "SST2"):
        evaluate(data, task, classifier={**QUICK, "fast": True})
        evaluate(data, task, classifier={**QUICK, "nhid": 3, "optim": "adamax", "fast": True})
    chosen = [record.args[-2] for record in caplog.records if "aram found" in record.msg]
    assert len(chosen) >= 4
    assert set(chosen) == {1e-5}
