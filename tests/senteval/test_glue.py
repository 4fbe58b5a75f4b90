"""GLUE as in florianmai's copy: files, keys, and numbers that its code gives."""

import logging

import numpy as np
import pytest

import sentprobe.senteval as senteval
from sentprobe.errors import DataError
from sentprobe.senteval import glue
from tests.senteval.sets import batcher, put, sentence

CLASSIFIER = {"nhid": 0, "optim": "adam,lr=0.05", "batch_size": 16, "tenacity": 3, "epoch_size": 1}
SIZES = {"train": 60, "dev": 20, "test": 20}
NLI = ("neutral", "entailment", "contradiction")


def write(root):
    """GLUE's files with our own sentences, and a few lines that lack something."""
    draw, folder = np.random.RandomState(3), root / "glue_data"

    def rows(split, classes):
        return [(i, i % classes, sentence(draw, i % classes), sentence(draw)) for i in range(SIZES[split])]

    for split in ("train", "dev"):
        put(folder / f"CoLA/{split}.tsv", [f"gj04\t{y}\t\t{one}" for _, y, one, _ in rows(split, 2)])
        lines = [f"{i}\t1\t2\t{one}\t{two}\t{y}" for i, y, one, two in rows(split, 2)]
        put(folder / f"QQP/{split}.tsv", ["id\tqid1\tqid2\tquestion1\tquestion2\tis_duplicate", *lines])
        for name, labels in (("RTE", glue._YES_NO), ("QNLI", glue._YES_NO), ("WNLI", "01")):
            lines = [f"{i}\t{one}\t{two}\t{list(labels)[y]}" for i, y, one, two in rows(split, 2)]
            put(folder / f"{name}/{split}.tsv", ["index\ts1\ts2\tlabel", *lines, "61\tno second\t\t"])
    put(folder / "CoLA/test.tsv", ["index\tsentence", *(f"{i}\t{one}" for i, _, one, _ in rows("test", 2))])
    for name in ("QQP", "RTE", "QNLI", "WNLI"):
        put(folder / f"{name}/test.tsv", ["index\ts1\ts2", *(f"{i}\t{a}\t{b}" for i, _, a, b in rows("test", 2))])
    for name, dev in (("MNLI", "both"), ("ANLI", "matched")):
        for split, file in (("train", "train"), ("dev", f"dev_{dev}")):
            lines = [f"{NLI[y]}\t\t\t\t\t{one}\t{two}" for _, y, one, two in rows(split, 3)]
            put(folder / f"{name}/multinli_1.0_{file}.txt", ["gold_label", *lines, "-\t\t\t\t\tno gold .\tlabel ."])
    for file in ("mnli_matched", "mnli_mismatched", "diagnostic"):
        lines = [f"{i}\t{one}\t{two}\t{NLI[y]}" for i, y, one, two in rows("test", 3)]
        put(folder / f"MNLI/{file}_test_ans.tsv", ["index\ts1\ts2\tlabel", *reversed(lines)])
    lines = [f"0\t1\t2\t3\t4\t5\t{one}\t{two}\t{NLI[y]}" for _, y, one, two in rows("test", 3)]
    put(folder / "ANLI/adversarial_nli.tsv", ["header", *lines])


NAN = float("nan")
UPSTREAM = {
    "CoLA": {
        "devacc": 89.47,
        "devmcc": 0.8050764858994133,
        "acc": NAN,
        "mcc": NAN,
        "preds": "01010101111101010100",
        "ndev": 19,
        "ntest": 20,
    },
    "QQP": {
        "devacc": 80.0,
        "devf1": 81.82,
        "acc": NAN,
        "f1": NAN,
        "preds": "01100101100111010100",
        "ndev": 20,
        "ntest": 20,
    },
    "RTE": {
        "devacc": 75.0,
        "acc": NAN,
        "preds": "10100100000100010001",
        "ndev": 20,
        "ntest": 20,
    },
    "QNLI": {
        "devacc": 80.0,
        "acc": NAN,
        "preds": "00010110010111010101",
        "ndev": 20,
        "ntest": 20,
    },
    "WNLI": {
        "devacc": 80.0,
        "acc": NAN,
        "preds": "01001111111010111100",
        "ndev": 20,
        "ntest": 20,
    },
    "MNLI": {
        "devacc": 75.0,
        "matched_acc": 45.0,
        "preds": "00000100000201000002",
        "mismatched_acc": 50.0,
        "mismatched_preds": "02020201211200102000",
        "diagnostic_acc": 55.0,
        "diagnostic_preds": "20101201001200000111",
        "ndev": 20,
        "ntest": 20,
    },
    "ANLI": {
        "devacc": 55.0,
        "acc": 60.0,
        "preds": "01001112001000000012",
        "ndev": 20,
        "ntest": 20,
    },
}
"""What the classes of florianmai/SentEval (ed2cc8d) return for these files, without CUDA, with NLTK's rules for words
alone, predictions as one string, and nan for scores on labels that are not public, which are zeros there."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    root = tmp_path_factory.mktemp("glue")
    write(root)
    return root


def start(data, **more):
    params = {"task_path": data, "classifier": dict(CLASSIFIER), "glue_tokeniser": "treebank", **more}
    return senteval.engine.SE(params, batcher)


@pytest.mark.parametrize("task", UPSTREAM)
def test_results_are_those_of_the_copy(data, task, caplog):
    caplog.set_level(logging.DEBUG)
    found = start(data).eval(task)
    predictions = {key: "".join(map(str, value)) for key, value in found.items() if key.endswith("preds")}
    expected = dict(UPSTREAM[task])
    if task == "ANLI":  # in the order of the file, there in that of encoding
        assert sorted(predictions.pop("preds")) == sorted(expected.pop("preds"))
        del found["preds"]
    assert {**found, **predictions} == pytest.approx(expected, nan_ok=True)
    assert f"Dev acc : {found['devacc']} " in caplog.text
    assert ("rows without a sentence or a label are left out" in caplog.text) == (task not in ("CoLA", "QQP"))


def test_sentences_are_cut_and_prepared_in_order(data):
    seen = []
    se = senteval.engine.SE(
        {"task_path": data, "classifier": dict(CLASSIFIER), "max_seq_len": 3, "glue_tokeniser": "treebank"},
        batcher,
        lambda params, samples: seen.extend(samples),
    )
    se.eval("WNLI")
    assert {len(sentence) for sentence in seen} == {3}
    assert len(seen) == 2 * sum(SIZES.values())


def test_what_is_missing_is_said(data, tmp_path):
    with pytest.raises(DataError, match="glue_data/RTE"):
        start(tmp_path).eval("RTE")
    for split in ("train", "dev", "test"):
        put(tmp_path / f"glue_data/RTE/{split}.tsv", ["index\ts1\ts2\tlabel"])
    with pytest.raises(DataError, match=r"train\.tsv has no rows"):
        start(tmp_path).eval("RTE")


def test_sentences_are_tokenised_by_nltk_unless_otherwise_requested(data, monkeypatch):
    requested = []
    monkeypatch.setattr(glue, "tokeniser", lambda name: requested.append(name) or str.split)
    expected = start(data, glue_tokeniser="space").eval("WNLI")
    assert repr(start(data, glue_tokeniser=None).eval("WNLI")) == repr(expected)
    assert requested == ["space", "nltk"]


def test_scripts_import_the_list_of_tasks():
    assert senteval.engine.GLUE_TASKS[:4] == ["SST2", "MRPC", "STSBenchmark", "CoLA"]
    assert set(glue.GLUE_TASKS) < set(senteval.engine.SE({}, batcher).list_tasks)


def test_matthews_correlation_is_scikit_learns():
    metrics = pytest.importorskip("sklearn.metrics")
    draw = np.random.RandomState(0)
    for share in (0.0, 0.2, 0.5, 0.9):
        gold, predicted = draw.rand(50) < 0.4, draw.rand(50) < share
        expected = metrics.matthews_corrcoef(gold, predicted)
        assert glue._matthews(gold.astype(int), predicted.astype(int)) == pytest.approx(expected, abs=1e-12)
    assert np.isnan(glue._matthews(np.ones(3), np.array([np.nan] * 3)))
