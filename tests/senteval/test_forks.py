"""Scripts for copies of SentEval, written here as theirs are: names of tasks, options, modules, and what logs say."""

import csv
import json
import logging
import re
import subprocess
import sys

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr

import sentprobe.senteval as senteval
from sentprobe.errors import DataError, UsageError
from sentprobe.senteval.install import install
from tests.senteval.sets import QUICK, batcher


def start(data, **more):
    return senteval.engine.SE({"task_path": data, "kfold": 2, "classifier": dict(QUICK), **more}, batcher)


def cosines(rows):
    u, v = (batcher(None, [row[side].split() for row in rows]) for side in (0, 1))
    return (u * v).sum(axis=1) / np.linalg.norm(u, axis=1) / np.linalg.norm(v, axis=1)


def test_the_dev_pairs_alone(data, rows):
    """As in `evaluation.py --mode dev` of copies of SimCSE."""
    dev = rows["STSBenchmark"]["dev"]
    results = {task: start(data).eval(task) for task in ["STSBenchmark-dev"]}
    score = results["STSBenchmark-dev"]["dev"]["spearman"][0] * 100
    assert score == pytest.approx(100 * spearmanr(cosines(dev), [row[2] for row in dev])[0])
    assert set(results["STSBenchmark-dev"]) == {"dev", "all"}
    assert results["STSBenchmark-dev"]["dev"] == start(data, sts_mode="cosine").eval("STSBenchmark")["dev"]


@pytest.mark.parametrize("suffix", ["Cosin", "Unsupervised"])
@pytest.mark.parametrize("task", ["STSBenchmark", "SICKRelatedness"])
def test_cosines_of_the_test_pairs(data, rows, task, suffix):
    """As in BERT-whitening's `eval_without_whitening.py`."""
    tasks = ["STS12", f"{task}{suffix}"]
    results = start(data, batch_size=5).eval(tasks)
    table = [
        [name, results[name]["all"]["spearman"]["wmean"] if name == "STS12" else results[name]["spearman"]]
        for name in tasks
    ]
    test = rows[task]["test"]
    scores = [row[2] for row in test]
    assert table[1][1] == pytest.approx(spearmanr(cosines(test), scores)[0])
    expected = {"pearson": pearsonr(cosines(test), scores)[0], "ntest": len(test)}
    expected |= {"spearman": table[1][1], "mse": np.mean((cosines(test) - scores) ** 2)}
    assert results[tasks[1]] == pytest.approx(expected)
    json.dumps(results)


def test_the_entry_point_of_2017(data):
    params = senteval.utils.dotdict({"usepytorch": True, "task_path": f"{data}/downstream", "seed": 1111, "kfold": 2})
    quick = dict(QUICK)
    results = senteval.SentEval(params, batcher, lambda params, samples: None).eval(["SST", "TREC"])
    se = start(data, classifier={"nhid": 0})
    assert results == {"SST": se.eval("SST2"), "TREC": se.eval("TREC")}
    mlp = senteval.SentEval(senteval.utils.dotdict({**params, "classifier": "MLP", "nhid": 3}), batcher)
    assert mlp.params.classifier == {"nhid": 3}
    assert senteval.SentEval({**params, "classifier": quick}, batcher).params.classifier == quick
    with pytest.raises(UsageError, match=r"expected SentEval\(params, batcher, prepare\)"):
        senteval.SentEval(batcher, None, params)
    for wrong in ({"classifier": "MLP"}, {"classifier": "SVM"}):
        with pytest.raises(AssertionError, match="MLP"):
            senteval.SentEval({**params, **wrong}, batcher)


CLASSIFIED = ("MR", "TREC", "SST2", "MRPC", "SICKEntailment", "SNLI", "Tense")


@pytest.mark.parametrize("task", CLASSIFIED)
@pytest.mark.parametrize("usepytorch", [True, False])
def test_predictions_give_the_accuracy(data, task, usepytorch):
    plain = start(data, usepytorch=usepytorch).eval(task)
    found = start(data, usepytorch=usepytorch, predictions=True).eval(task)
    assert {key: value for key, value in found.items() if key in plain} == plain
    assert set(found) - set(plain) == {"indexes", "targets", "predictions"}
    assert sorted(found["indexes"]) == list(range(plain["ntest"]))
    assert found["predictions"].dtype.kind == "i"
    accuracy = 100 * np.mean(found["predictions"] == found["targets"])
    # of folds, accuracies are averaged: they are of equal size here
    assert accuracy == pytest.approx(plain["acc"], abs=0.011)


def test_indexes_are_those_of_the_file(data, rows):
    found = start(data, predictions=True).eval("TREC")
    labels = [label for _, label in rows["TREC"]["test"]]
    assert [labels[i] for i in found["indexes"]] == found["targets"].tolist()
    relatedness = start(data, predictions=True).eval("SICKRelatedness")
    scores = [row[2] for row in rows["SICKRelatedness"]["test"]]
    assert [scores[i] for i in relatedness["indexes"]] == relatedness["targets"].tolist()
    assert relatedness["predictions"].tolist() == relatedness["yhat"].tolist()
    sts = start(data, predictions=True).eval("STS13")
    for name in ("FNWN", "headlines", "OnWN"):
        gold = [row[2] for row in rows["STS13"][name] if row[2] != ""]
        assert [float(gold[i]) for i in sts[name]["indexes"]] == sts[name]["targets"]
        assert spearmanr(sts[name]["predictions"], sts[name]["targets"])[0] == sts[name]["spearman"][0]


@pytest.mark.parametrize("task", ["MR", "SNLI", "STS12", "SICKRelatedness", "Tense"])
def test_vectors_are_saved_and_read_by_the_next_script(data, task, tmp_path, caplog):
    """`save_emb` is a prefix, whose last part changes from job to job."""
    calls = []

    def counted(params, batch):
        calls.append(len(batch))
        return batcher(params, batch)

    def run(encoder, part):
        params = {
            "task_path": data,
            "kfold": 2,
            "classifier": dict(QUICK),
            "save_emb": str(tmp_path / f"bert_l=2_t={part}"),
        }
        return senteval.engine.SE(params, encoder).eval(task)

    first = run(counted, 0)
    assert [path.name for path in tmp_path.iterdir()] == [f"bert_l=2_{task}.npz"]
    n_calls = len(calls)
    second = run(counted, 1)
    assert len(calls) == n_calls > 0
    assert repr(second) == repr(first)
    assert repr(start(data, predictions=True).eval(task)) == repr(first)


def test_saved_vectors_of_other_sentences_are_not_used(data, tmp_path, caplog):
    params = {"task_path": data, "kfold": 2, "classifier": dict(QUICK), "save_emb": str(tmp_path / "x_0")}
    senteval.engine.SE(params, batcher).eval("Tense")
    (tmp_path / "x_Tense.npz").rename(tmp_path / "x_Depth.npz")
    assert repr(senteval.engine.SE(params, batcher).eval("Depth")) == repr(start(data, predictions=True).eval("Depth"))
    assert "vectors of other sentences" in caplog.text
    (tmp_path / "x_Depth.npz").write_bytes(b"damaged")
    with pytest.raises(DataError, match="cannot be read as saved vectors"):
        senteval.engine.SE(params, batcher).eval("Depth")
    np.savez(tmp_path / "x_Depth.npz", sentences=np.zeros(3, np.uint64), vectors=np.zeros((2, 4), np.float32))
    with pytest.raises(DataError, match=r"vectors of shape \(2, 4\) for 3 sentences"):
        senteval.engine.SE(params, batcher).eval("Depth")


@pytest.fixture
def captions(tmp_path):
    draw = np.random.RandomState(0)
    folder = tmp_path / "downstream/CocoCXC"
    folder.mkdir(parents=True)
    words = "dog cat tree river man book".split()
    pairs, images = [], []
    for image in range(20):
        scores = []
        for k in range(draw.randint(1, 4)):
            one, two = (" ".join(draw.choice(words, 4)) for _ in range(2))
            ids = (f"sentid:{image}{k}", f"sentid:{image}{k}b")
            pairs.append([*ids, f"{draw.rand() * 5:.3f}", "c2c", one, two])
            scores.append([*ids, 1.0, "c2c"])
        images.append({"split": "test", "cxc_scores": scores})
    images.append({"split": "train", "cxc_scores": [["sentid:none", "sentid:none", 1.0]]})
    with (folder / "cxc-sts-test.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([["caption1", "caption2", "agg_score", "sampling_method", "sent1", "sent2"], *pairs])
    (folder / "dataset_coco_with_cxc.json").write_text(json.dumps({"images": images}), "utf-8")
    return str(tmp_path), pairs


def test_captions_without_rated_images_are_explained(captions, tmp_path):
    data, _ = captions
    (tmp_path / "downstream/CocoCXC/dataset_coco_with_cxc.json").write_text('{"images": []}', "utf-8")
    with pytest.raises(DataError, match="has no test image with `cxc_scores`"):
        start(data).eval("CocoCXC")


def test_crisscrossed_captions(captions, caplog):
    """As in PromCSE's `evaluation.py --task_set cococxc`."""
    caplog.set_level(logging.DEBUG)
    data, pairs = captions
    result = start(data).eval("CocoCXC")
    scores = [float(pair[2]) for pair in pairs]
    assert result["test"]["spearman"].correlation == pytest.approx(
        spearmanr(cosines([p[4:] for p in pairs]), scores)[0]
    )
    # from `STSEval.run` of YJiangcm/PromCSE (f1a26ad), run on these files with this batcher
    assert result["test"]["bootstrap"] == pytest.approx(BOOTSTRAP, abs=1e-9)
    assert f"test : bootstrap spearman = {BOOTSTRAP['spearman']:.3f}, std = {BOOTSTRAP['std']:.3f}" in caplog.messages
    with pytest.raises(DataError, match="Crisscrossed"):
        senteval.cxc.CocoCXCEval(f"{data}/elsewhere")


BOOTSTRAP = {"spearman": 0.11831359405545536, "std": 0.34219885365870445}

UPSTREAM_MODULES = {
    "engine": "SE CREval MREval MPQAEval SUBJEval SNLIEval TRECEval SICKRelatednessEval SICKEntailmentEval MRPCEval "
    "STS12Eval STS13Eval STS14Eval STS15Eval STS16Eval STSBenchmarkEval SSTEval ImageCaptionRetrievalEval LengthEval "
    "WordContentEval PROBINGEval utils",
    "tools.validation": "get_classif_name InnerKFoldClassifier KFoldClassifier SplitClassifier MLP",
    "tools.classifier": "PyTorchClassifier MLP",
    "tools.relatedness": "RelatednessPytorch",
    "tools.ranking": "ImageSentenceRankingPytorch COCOProjNet PairwiseRankingLoss",
    "sts": "STSEval STS12Eval STSBenchmarkEval SICKRelatednessEval",
    "sick": "SICKRelatednessEval SICKEntailmentEval RelatednessPytorch SplitClassifier",
    "binary": "BinaryClassifierEval CREval InnerKFoldClassifier",
    "utils": "create_dictionary cosine dotdict get_optimizer",
}
"""Names that the modules have at commit 5d6dc11, those that they import included."""


def test_modules_have_the_names_of_senteval_s(tmp_path):
    pytest.importorskip("torch")
    install(tmp_path)
    lines = [f"from senteval.{module} import {', '.join(names.split())}" for module, names in UPSTREAM_MODULES.items()]
    script = "\n".join(
        ["import sys", f"sys.path.insert(0, {str(tmp_path)!r})", *lines, "import senteval; senteval.SentEval"]
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_the_network_of_captions():
    torch = pytest.importorskip("torch")
    from sentprobe.senteval.tools.ranking import COCOProjNet, PairwiseRankingLoss

    torch.manual_seed(1)
    model = COCOProjNet({"imgdim": 3, "sentdim": 4, "projdim": 5})
    img, sent, imgc, sentc = torch.randn(6, 3), torch.randn(6, 4), torch.randn(6, 2, 3), torch.randn(6, 2, 4)
    with torch.no_grad():
        anchor1, anchor2, to_sentences, to_images = (scores.numpy() for scores in model(img, sent, imgc, sentc))
        expected = np.empty((4, 6, 2))
        for i in range(6):
            u, v = model.imgproj(img[i]), model.sentproj(sent[i])
            for k in range(2):
                pairs = (u, v), (v, u), (u, model.sentproj(sentc[i, k])), (v, model.imgproj(imgc[i, k]))
                expected[:, i, k] = [float(a @ b / a.norm() / b.norm()) for a, b in pairs]
        np.testing.assert_allclose([anchor1, anchor2, to_sentences, to_images], expected.reshape(4, 12), atol=1e-6)
        loss = PairwiseRankingLoss(0.2)(*map(torch.from_numpy, (anchor1, anchor2, to_sentences, to_images)))
        lacking = np.maximum(0, 0.2 - expected[0] + expected[2]) + np.maximum(0, 0.2 - expected[1] + expected[3])
        assert float(loss) == pytest.approx(lacking.sum(), rel=1e-5)


N, R = r"\d+\.\d+", r"-?\d\S*"
GAP = " " * 12
MEANS = f"Pearson = -?{N},{GAP} Spearman = -?{N}"
LOGGED = {
    "CR": [r"\*{5} Transfer task : CR \*{5}\n\n", f"Dev acc : {N} Test acc : {N}\n"],
    "SST5": [
        r"\*{5} Transfer task : SST Fine-Grained classification \*{5}\n\n",
        f"\nDev acc : {N} Test acc : {N} for {GAP}SST Fine-Grained classification\n",
    ],
    "TREC": [
        r"\*{5} Transfer task : TREC \*{5}\n\n",
        "Computed train embeddings",
        f"\nDev acc : {N} Test acc : {N} {GAP}for TREC\n",
    ],
    "MRPC": [
        "Computing embedding for train",
        "Computed test embeddings",
        rf"Dev acc : {N} Test acc {N}; Test F1 {N} for MRPC\.\n",
    ],
    "SICKEntailment": [
        r"\*{5} Transfer task : SICK-Entailment\*{5}\n\n",
        f"\nDev acc : {N} Test acc : {N} for {GAP}{GAP[1:]}SICK entailment\n",
    ],
    "SICKRelatedness": [
        r"\*{5} Transfer task : SICK-Relatedness\*{5}\n\n",
        f"Dev : Pearson {R}",
        f"Test : Pearson {R} Spearman {R} MSE {R}{GAP}{GAP}for SICK Relatedness\n",
    ],
    "STSBenchmark-finetune": [r"\n\n\*{5} Transfer task : STSBenchmark\*{5}\n\n", f"Dev : Spearman {R}"],
    "STS13": [
        r"\*{5} Transfer task : STS13 \(-SMT\) \*{5}\n\n",
        f"FNWN : pearson = -?{N}, spearman = -?{N}",
        f"ALL : {MEANS}",
        rf"ALL \(weighted average\) : {MEANS}",
        rf"ALL \(average\) : {MEANS}\n",
    ],
    "SNLI": [r"\*{5} Transfer task : SNLI Entailment\*{5}\n\n", f"Dev acc : {N} Test acc : {N} for SNLI\n"],
    "SubjNumber": [
        r"\*{5} \(Probing\) Transfer task : SUBJNUMBER classification \*{5}",
        "Loaded 30 train - 12 dev - 12 test for SubjNumber",
        f"\nDev acc : {N} Test acc : {N} for SUBJNUMBER classification\n",
    ],
}
"""From SentEval at 5d6dc11 and SimCSE's copy at 49fa580: their formats, with numbers as patterns."""


@pytest.mark.parametrize("task", LOGGED)
def test_the_log_is_senteval_s_word_for_word(data, task, caplog):
    caplog.set_level(logging.DEBUG)
    start(data).eval(task)
    for pattern in LOGGED[task]:
        assert any(re.fullmatch(pattern, message) for message in caplog.messages), (pattern, caplog.messages)


def test_the_log_has_what_was_tried(data, caplog):
    caplog.set_level(logging.INFO)
    found = {task: start(data).eval(task) for task in ("CR", "TREC", "Tense")}
    for kind, task, gap in (("Cross-validation", "TREC", ("", " " * 12)), ("Validation", "Tense", (" " * 12, ""))):
        (line,) = [m for m in caplog.messages if m.startswith(f"{kind} : best")]
        chosen = re.fullmatch(rf"{kind} : best param found is reg = (\S+){gap[1]} with score {gap[0]}(\S+)", line)
        assert float(chosen[2]) == found[task]["devacc"]
        tried = [m for m in caplog.messages if m.startswith("[('reg:1e-05', ")]
        assert any(f"('reg:{chosen[1]}', {chosen[2]})" in m for m in tried)
    fold = rf"Best param found at split [12]: l2reg = \S+ {GAP}    with score \S+"
    assert sum(re.fullmatch(fold, message) is not None for message in caplog.messages) == 2
    assert caplog.messages.count("Evaluating...") == 2
