"""The front door: parameters, names of tasks, folders, and what a batcher may return."""

import gzip
import logging
import re
import shutil
from pathlib import Path

import numpy as np
import pytest

import sentprobe.senteval as senteval
from sentprobe.errors import CorpusError, DataError, ShapeError, UsageError
from sentprobe.senteval import engine
from tests.senteval.sets import DIMENSIONS, PROBING, QUICK, batcher, put

UPSTREAM = """CR MR MPQA SUBJ SST2 SST5 TREC MRPC SICKRelatedness SICKEntailment STSBenchmark SNLI
ImageCaptionRetrieval STS12 STS13 STS14 STS15 STS16 Length WordContent Depth TopConstituents BigramShift Tense
SubjNumber ObjNumber OddManOut CoordinationInversion""".split()
"""The names of SentEval's tasks, in its order, at commit 5d6dc11."""


def start(data, given=batcher, prepare=None, **more):
    return senteval.engine.SE({"task_path": data, "kfold": 2, "classifier": dict(QUICK), **more}, given, prepare)


def test_parameters_have_defaults_and_are_copied(data):
    given = {"task_path": data, "encoder": object()}
    se = senteval.SE(given, batcher)
    assert list(given) == ["task_path", "encoder"]
    expected = {"usepytorch": True, "seed": 1111, "batch_size": 128, "nhid": 0, "kfold": 5, "classifier": {"nhid": 0}}
    assert {key: se.params[key] for key in expected} == expected
    assert se.params.encoder is given["encoder"]
    assert se.batcher is batcher
    assert se.prepare(se.params, []) is None
    assert senteval.SE({**given, "classifier": {}}, batcher).params.classifier == {"nhid": 0}


def test_parameters_are_attributes_too():
    params = senteval.utils.dotdict({"a": 1})
    params.b = 2
    del params.a
    assert params == {"b": 2}
    assert params.a is None
    assert params.b == params["b"] == 2


def test_what_prepare_leaves_stays_for_the_instance_and_not_for_the_caller(data):
    seen = []

    def prepare(params, samples):
        seen.append((params.current_task, params.left))
        params.left = params.current_task

    given = {"task_path": data, "kfold": 2, "classifier": dict(QUICK)}
    se = senteval.SE(given, batcher, prepare)
    found = se.eval(["TREC", "Depth"])
    assert seen == [("TREC", None), ("Depth", "TREC")]
    assert "left" not in given
    assert list(found) == ["TREC", "Depth"]
    assert se.results is found
    assert se.eval("Depth") == found["Depth"]
    assert isinstance(se.evaluation, senteval.probing.DepthEval)


@pytest.mark.parametrize("device", [-1, 0, "cuda:0", True, object()])
def test_a_device_is_the_client_s_own(data, device):
    seen = []

    def prepare(params, samples):
        seen.append(params["device"])

    assert start(data, prepare=prepare, device=device).eval("Depth") == start(data).eval("Depth")
    assert seen == [device]


def test_hidden_units_must_be_said(data):
    with pytest.raises(AssertionError, match="nhid"):
        start(data, classifier={"optim": "adam"})


def test_the_tasks_are_senteval_s_and_more(data):
    tasks = start(data).list_tasks
    assert tasks[: len(UPSTREAM)] == UPSTREAM
    simcse = ["SICKRelatedness-finetune", "STSBenchmark-finetune", "STSBenchmark-fix"]
    assert tasks[len(UPSTREAM) :] == [*simcse, *engine.FORKS, "of_our_own"]


@pytest.mark.parametrize(("name", "hint"), [("SubjNum", "SubjNumber"), ("sts12", "STS12"), (("MR", "CR"), None)])
def test_an_unknown_name_is_an_assertion_error(data, name, hint):
    with pytest.raises(AssertionError, match="is not one of the tasks") as met:
        start(data).eval(name)
    assert "CoordinationInversion" in str(met.value)
    assert (f"Did you mean {hint}?" in str(met.value)) == (hint is not None)


def test_paths_may_be_paths_and_have_no_downstream(data, tmp_path):
    shutil.copytree(Path(data) / "downstream" / "TREC", tmp_path / "TREC")
    expected = start(data).eval("TREC")
    assert start(tmp_path).eval("TREC") == expected
    assert start(f"{data}/").eval("TREC") == expected
    assert start(str(Path(data) / "downstream")).eval("TREC") == expected


def test_files_may_be_compressed(data, tmp_path):
    (tmp_path / "probing").mkdir()
    content = (Path(data) / "probing" / "past_present.txt").read_bytes()
    (tmp_path / "probing" / "past_present.txt.gz").write_bytes(gzip.compress(content))
    assert start(tmp_path).eval("Tense") == start(data).eval("Tense")


def test_a_probing_file_is_a_task_by_its_own_name(data):
    assert start(data).eval("past_present") == start(data).eval("Tense")
    found = start(data).eval("of_our_own")
    assert set(found) == {"devacc", "acc", "ndev", "ntest"}


def test_what_is_missing_is_said_with_where_to_get_it(data, tmp_path):
    with pytest.raises(DataError, match="sentprobe data get MR"):
        start(tmp_path).eval("MR")
    with pytest.raises(DataError, match=r"past_present\.txt"):
        start(tmp_path).eval("Tense")
    with pytest.raises(UsageError, match="task_path"):
        senteval.SE({}, batcher).eval("MR")


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setattr(engine, "_registered", {})


@pytest.mark.usefixtures("registered")
def test_tasks_are_registered_by_class_or_by_file(data):
    class Twice(senteval.binary.MREval):
        """A set in another folder."""

        def __init__(self, task_path, seed=1111):
            super().__init__(f"{task_path}/downstream/MR", seed)
            self.samples, self.labels = self.samples * 2, self.labels * 2
            self.n_samples = len(self.samples)

    senteval.register_task("MR2", Twice)
    senteval.register_task("Tense_RU", Path(data) / "probing" / "past_present.txt")
    se = start(data)
    assert se.list_tasks[-3:] == ["MR2", "Tense_RU", "of_our_own"]
    assert se.eval("MR2")["ntest"] == 88
    assert se.eval("Tense_RU") == se.eval("Tense")


def test_evaluations_are_built_on(data):
    class Mine(senteval.probing.PROBINGEval):
        """As forks write a task of their own."""

        def __init__(self, task_path, seed=1111):
            senteval.probing.PROBINGEval.__init__(self, "Mine", task_path, seed)

    mine = Mine(Path(data) / "probing" / "of_our_own.txt")
    params = start(data).params
    params.current_task = "Mine"
    mine.do_prepare(params, lambda params, samples: None)
    assert mine.run(params, batcher) == start(data).eval("of_our_own")
    assert mine.tok2label == {"10": 0, "5": 1, "7": 2}


def returned(kind):
    """What a batcher may return, of all kinds."""

    def given(params, batch):
        found = batcher(params, batch).astype(np.float32)
        if kind == "list":
            return list(found)
        if kind == "lists":
            return found.tolist()
        if kind == "flat" and len(batch) == 1:
            return found[0]
        if kind.startswith("torch"):
            import torch

            tensor = torch.tensor(found, requires_grad=kind == "torch with gradients")
            return list(tensor) if kind == "torch list" else tensor
        return found

    return given


@pytest.mark.parametrize("kind", ["list", "lists", "flat", "torch", "torch with gradients", "torch list"])
def test_batchers_return_what_they_like(data, kind):
    if kind.startswith("torch"):
        pytest.importorskip("torch")
    for task in ("TREC", "STS13"):
        expected = start(data, returned("array"), batch_size=11).eval(task)
        found = start(data, returned(kind), batch_size=11).eval(task)
        if task == "TREC":
            assert found == expected
        else:
            assert found["all"]["spearman"] == pytest.approx(expected["all"]["spearman"])


def broken(how):
    calls = []

    def given(params, batch):
        calls.append(batch)
        found = batcher(params, batch)
        return how(found) if len(calls) == 2 else found

    return given


@pytest.mark.parametrize("task", ["MR", "TREC", "MRPC", "SNLI", "STS12", "SICKRelatedness", "Tense"])
def test_a_row_too_few_is_said_with_task_and_batch(data, task):
    with pytest.raises(ShapeError, match=rf"{task}, batch [12] .*\(\d, d\), one row for each sentence"):
        start(data, broken(lambda found: found[:-1]), batch_size=9).eval(task)


@pytest.mark.parametrize("task", ["MR", "TREC", "MRPC", "SNLI", "Tense", "STSBenchmark", "SICKRelatedness-finetune"])
@pytest.mark.parametrize("usepytorch", [True, False])
def test_nan_is_said_with_task_and_batch_and_what_is_learned_is_nan(data, task, usepytorch, caplog):
    def spoil(found):
        found[3, 1] = np.nan
        return found

    found = start(data, broken(spoil), batch_size=9, usepytorch=usepytorch).eval(task)
    assert re.search(rf"{task}, batch [12] .* sentence 3", caplog.text)
    learned = [
        found[key] for key in ("acc", "devacc", "f1", "pearson", "devpearson", "devspearman", "mse") if key in found
    ]
    assert len(learned) > 1
    assert np.isnan(learned).all()
    expected = start(data).eval(task)
    assert set(found) == set(expected)
    assert all(found[key] == expected[key] for key in ("ndev", "ntest"))


def test_nan_in_one_task_does_not_lose_the_others(data):
    def sometimes(params, batch):
        vectors = batcher(params, batch)
        return vectors * np.nan if params.current_task == "TREC" else vectors

    found = start(data, sometimes).eval(["MR", "TREC", "Tense"])
    assert np.isnan(found["TREC"]["acc"])
    expected = start(data).eval(["MR", "Tense"])
    assert {task: found[task] for task in expected} == expected


def test_an_error_in_one_task_does_not_lose_those_before_it(data):
    def fails(params, batch):
        if params.current_task == "TREC":
            raise RuntimeError("out of memory")
        return batcher(params, batch)

    se = start(data, fails)
    with pytest.raises(RuntimeError, match="out of memory") as met:
        se.eval(["Tense", "TREC", "MR"])
    expected = start(data).eval(["Tense"])
    assert se.results == expected
    assert str(expected) in met.value.__notes__[0]


def test_no_matrix_and_another_dimension_are_said(data):
    with pytest.raises(ShapeError, match="TREC, batch 2"):
        start(data, broken(lambda found: [row[:i] for i, row in enumerate(found)]), batch_size=9).eval("TREC")
    with pytest.raises(ShapeError, match=f"4 dimensions, and of {DIMENSIONS} before"):
        start(data, broken(lambda found: found[:, :4]), batch_size=9).eval("TREC")
    with pytest.raises(ShapeError, match="returned 8 rows for 9 sentences"):
        start(data, broken(lambda found: found[:8]), batch_size=9, similarity=np.dot).eval("STS12")


def test_broken_lines_are_said_with_their_place(tmp_path):
    put(tmp_path / "probing" / "odd.txt", ["tr\tA\tsome words", "xx\tA\tsome words"])
    with pytest.raises(CorpusError, match=r"odd\.txt:2: .*tr, va or te"):
        start(tmp_path).eval("odd")
    put(tmp_path / "TREC" / "train_5500.label", ["NUM:x How many ?", "", "WHAT:x Is it ?"])
    with pytest.raises(CorpusError, match=r"label:3: "):
        start(tmp_path).eval("TREC")
    put(tmp_path / "SST" / "fine" / "sentiment-train", ["3 some words"])
    with pytest.raises(AssertionError, match="highest label must be 4"):
        start(tmp_path).eval("SST5")


def test_pairs_without_a_gold_label_are_left_out_and_others_must_be_known(tmp_path):
    for part in ("train", "dev", "test"):
        for side in ("s1", "s2"):
            put(tmp_path / "SNLI" / f"{side}.{part}", ["a b c", "a b", "a"])
        put(tmp_path / "SNLI" / f"labels.{part}", ["neutral", "-", "entailment"])
    found = senteval.snli.SNLIEval(tmp_path / "SNLI")
    assert found.data["valid"] == ([["a"], ["a", "b", "c"]], [["a"], ["a", "b", "c"]], ["entailment", "neutral"])
    put(tmp_path / "SNLI" / "labels.test", ["neutral", "maybe", "-"])
    with pytest.raises(DataError, match="maybe"):
        start(tmp_path).eval("SNLI")
    put(tmp_path / "SNLI" / "labels.test", ["neutral"])
    with pytest.raises(DataError, match="3, 3 and 1 lines"):
        start(tmp_path).eval("SNLI")


def test_a_label_that_is_new_in_test_is_a_miss(tmp_path, caplog):
    kinds = [("tr", "A", 10), ("tr", "B", 10), ("va", "A", 4), ("va", "B", 4), ("te", "A", 2), ("te", "C", 2)]
    lines = [f"{part}\t{label}\tword{label} x" for part, label, n in kinds for _ in range(n)]
    put(tmp_path / "probing" / "new.txt", lines)
    found = start(tmp_path, classifier={"nhid": 0, "optim": "sgd,lr=1"}).eval("new")
    assert found["devacc"] == 100
    assert found["acc"] == 50
    assert "labels that no training row has: C" in caplog.text


def test_word_content_has_no_hidden_units(data, caplog, capsys):
    caplog.set_level(logging.INFO, "senteval")
    found = start(data, classifier={**QUICK, "nhid": 5}).eval("WordContent")
    assert found == start(data).eval("WordContent")
    assert "without hidden units" in caplog.text
    assert capsys.readouterr().out == ""
    assert {name for name, *_ in caplog.record_tuples} == {"senteval"}


def test_the_dictionary_begins_with_the_marks():
    words, places = senteval.utils.create_dictionary([["a", "b"], ["b", "c", "b"]])
    assert words == ["<s>", "</s>", "<p>", "b", "a", "c"]
    assert places == {word: i for i, word in enumerate(words)}


def test_every_probing_task_has_its_class():
    assert len(PROBING) == 10
    for name in PROBING:
        assert issubclass(getattr(senteval.probing, f"{name}Eval"), senteval.probing.PROBINGEval)


def test_files_that_are_no_latin_1_are_read_as_senteval_reads_them(tmp_path, caplog):
    put(tmp_path / "MR" / "rt-polarity.pos", ["an Åland film .", "fine"])
    put(tmp_path / "MR" / "rt-polarity.neg", ["dull"])
    found = senteval.binary.MREval(tmp_path / "MR")
    assert found.samples == [["an", "Ã"], ["land", "film", "."], ["fine"], ["dull"]]
    assert found.labels == [1, 1, 1, 0]
    assert "its 2 lines are read as 3 sentences" in caplog.text
