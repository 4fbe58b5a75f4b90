"""One alone means one, at every public function that takes several."""

import inspect
import os
import re
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import sentprobe
from sentprobe import Report, join_runs, write_figure
from sentprobe.audit.audit import audit_sources
from sentprobe.core.arguments import as_list, as_strings
from sentprobe.corpus import Corpus
from sentprobe.data.dataset import Dataset
from sentprobe.data.sources import Source, filter_by_suite, find_sets
from sentprobe.encoders import load as load_encoder
from sentprobe.encoders.embed import collect_texts
from sentprobe.errors import SentProbeError, UsageError
from sentprobe.results.compare import ties
from sentprobe.run import evaluate, join
from sentprobe.run.repeat import repeat
from sentprobe.run.variants import select_variants
from sentprobe.serve.encoders import Encoders
from sentprobe.tasks import load_task
from sentprobe.tasks.definitions import passive
from sentprobe.transfer import remote_sets
from tests.run.sets import Knowing, dataset


def lengths(texts):
    return np.array([[len(t), t.count("a")] for t in texts], float)


@pytest.fixture
def own(tmp_path):
    path = tmp_path / "probes" / "own.txt"
    path.parent.mkdir()
    path.write_text("".join(f"{split}\t{row.label}\t{row.text}\n" for split, row in dataset()))
    return path


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("probes", ["probes"]), (Path("a/b"), [str(Path("a", "b"))]), (["a", Path("b")], ["a", "b"]),
        (("a",), ["a"]), ((), []), (iter(["a", "b"]), ["a", "b"]), ({"a": 1}, ["a"]),
    ],
)  # fmt: skip
def test_texts(given, meant):
    assert as_strings(given) == meant


@pytest.mark.parametrize("given", [7, [7], None, b"abc", [b"abc"], [["a"]]])
def test_what_is_no_text_is_an_error_of_ours(given):
    with pytest.raises(UsageError, match=r"Expected a path, or several, got"):
        as_strings(given, "a path")


def test_one_that_could_be_gone_through_is_one():
    one = dataset()
    assert as_list(one, Dataset, "a set") == [one]
    assert as_list([one], Dataset, "a set") == [one]


def test_find_sets_of_a_text_or_a_path(own, monkeypatch):
    monkeypatch.chdir(own.parent.parent)
    expected = find_sets([str(own)])
    assert find_sets("probes") == [Source("own", "senteval", (str(Path("probes", "own.txt")),), None, "own")]
    assert find_sets(str(own)) == find_sets(own) == find_sets([own]) == expected


def test_an_absolute_path_does_not_search_the_disk(own, monkeypatch):
    walked = []
    walk = os.walk
    monkeypatch.setattr(os, "walk", lambda top, *more, **others: walked.append(str(top)) or walk(top, *more, **others))
    find_sets(str(own.parent))
    assert walked == [str(own.parent)]


NAMED_PIPES = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")


@NAMED_PIPES
def test_special_files_in_folders_are_passed_by(own):
    os.mkfifo(own.parent / "pipe.txt")
    (own.parent / "made").mkdir()
    os.mkfifo(own.parent / "made" / "manifest.json")
    (own.parent / "x").mkdir()
    for split in ("tr", "va", "te"):
        os.mkfifo(own.parent / "x" / f"{split}.txt")
    assert [s.name for s in find_sets(own.parent) if s.kind == "senteval"] == ["own"]


@NAMED_PIPES
@pytest.mark.parametrize("special", ["pipe", "/dev/zero", "/dev/stdin"])
def test_a_special_file_that_was_typed_is_refused(tmp_path, monkeypatch, special):
    monkeypatch.chdir(tmp_path)
    os.mkfifo("pipe")
    if not Path(special).exists():
        pytest.skip("there is none here")
    with pytest.raises(UsageError, match="neither a file nor a folder"):
        find_sets(special)


@pytest.mark.parametrize(
    ("encoders", "names"),
    [
        ("baseline:hash", ["baseline:hash"]), (lengths, ["lengths"]), (Knowing(), ["Knowing"]),
        (partial(lengths), ["lengths"]),
        ([lengths, Knowing(), "baseline:hash"], ["lengths", "Knowing", "baseline:hash"]),
        ({"mine": lengths}, ["mine"]),
    ],
)  # fmt: skip
def test_one_encoder(tmp_path, encoders, names):
    asked = {"probes": "linear", "probe_seeds": 5, "baselines": "nb-uni", "controls": "shuffled"}
    run = evaluate(encoders, dataset(), tmp_path / "run", **asked)
    assert sorted({r.cell.encoder for r in run}) == sorted({*names, "nb-uni"})
    assert {r.cell.seed for r in run if r.cell.probe} == {5}
    assert not run.failures
    assert join(run) is run


def test_encoders_that_cannot_be_meant(tmp_path):
    with pytest.raises(UsageError, match="Two encoders are called <lambda>"):
        evaluate([lambda t: t, lambda t: t], dataset(), tmp_path / "run")
    with pytest.raises(UsageError, match="Expected an encoder"):
        evaluate([7], dataset(), tmp_path / "run")
    with pytest.raises(UsageError, match="find_sets"):
        evaluate(lengths, "probes", tmp_path / "run")


def test_one_source(own, tmp_path):
    (source,) = find_sets(own)
    assert len(evaluate(lengths, source, tmp_path / "run", baselines=())) == 1
    assert len(list(audit_sources(source))) == 1
    with pytest.raises(UsageError, match="No set belongs to the suite conneau2018"):
        filter_by_suite(source, "conneau2018")
    assert collect_texts(dataset()) == collect_texts([dataset()])


def test_one_text_to_embed():
    assert sentprobe.embed_texts(lengths, "text").vectors.tolist() == [[4.0, 0.0]]


def test_select_tasks_and_make_sets():
    whole = sentprobe.select_tasks("conneau2018")
    assert [suite for suite, _, _ in whole] == ["conneau2018"] * 10
    assert sentprobe.select_tasks(["conneau2018"], []) == whole
    (one,) = sentprobe.select_tasks("conneau2018", "bigram_shift", settings="min_class=20", sizes="60/20/20")
    assert one[2].min_class == 20
    corpus = Corpus.synthetic(400)
    assert [d.name for d in sentprobe.make_sets(corpus, one)] == ["conneau2018/bigram_shift"]
    assert [d.name for d in sentprobe.make_sets(corpus, (one,))] == ["conneau2018/bigram_shift"]
    assert [d.name for d in sentprobe.make_sets(corpus, load_task("passive"))] == ["universal2019/passive"]
    for wrong in ("bigram_shift", ["bigram_shift"], 7):
        with pytest.raises(UsageError, match="as `select_tasks` returns"):
            list(sentprobe.make_sets(corpus, wrong))


def test_corpora_and_tasks_by_path(tmp_path):
    (tmp_path / "a.txt").write_text("A sentence of words .\n")
    corpus = Corpus.read(tmp_path / "a.txt")
    assert [s.text for s in corpus] == ["A sentence of words ."]
    assert len(list(Corpus.of(next(iter(corpus))))) == 1
    (tmp_path / "mine.py").write_text(Path(passive.__file__).read_text())
    assert load_task(tmp_path / "mine.py").name == "passive"


def test_names_alone(tmp_path):
    assert select_variants("all", "online") == select_variants(["all"], ["online"])
    assert Encoders("py:a.py:f").trusted == {"py:a.py:f"}
    assert [p.key for p in remote_sets.select_remote_sets("MR", remote_sets.remote_sets())] == [
        p.key for p in remote_sets.select_remote_sets(["MR"], remote_sets.remote_sets())
    ]
    run = evaluate(lengths, dataset(), tmp_path / "run")
    with pytest.raises(UsageError, match="at least two encoders"):
        ties(run, "lengths")
    assert join_runs(run).encoders == run.encoders
    summary = Report.of(run).summary
    for sets in (run.results[0].cell.dataset, [run.results[0].cell.dataset]):
        assert write_figure(summary, "intervals", tmp_path / "figure.csv", sets=sets)
    with pytest.raises(SentProbeError, match="There is no file or folder 'nowhere-at-all'"):
        repeat(next(r.signature for r in run if r.cell.encoder == "baseline:hash"), paths="nowhere-at-all")


def test_one_control_one_contrast_rule_and_one_file_of_triplets(tmp_path):
    run = evaluate(Knowing(), dataset(), tmp_path / "run", controls="shuffled", baselines=[])
    compared = [sentprobe.compare_with_controls(run, "Knowing", names) for names in ("shuffled", ["shuffled"])]
    assert compared[0] == compared[1] != []
    corpus = Corpus.synthetic(300)
    made = [sentprobe.make_contrasts(corpus, rules)[0] for rules in ("negation", ["negation"])]
    assert made[0].digest == made[1].digest
    table = tmp_path / "triplets.csv"
    table.write_text("anchor,positive,contrast\na b,a,b\nc d,c,d\n")
    folders = (tmp_path / "one", tmp_path / "several")
    runs = [sentprobe.evaluate_pairs(lengths, pairs, to) for pairs, to in zip((table, [table]), folders, strict=True)]
    assert [r.score for r in runs[0]] == [r.score for r in runs[1]]


TAKES_ONE = {
    "annotate_files", "compare_with_controls", "embed_texts", "evaluate", "evaluate_pairs", "find_sets", "join_runs",
    "make_contrasts", "make_sets", "select_tasks", "ties", "write_figure",
}  # fmt: skip
"""Public functions that take several of something or one, most of which are tried above."""
TAKES_SEVERAL = {"on_cluster"}
"""Those that take several only."""


def test_no_public_function_that_takes_several_is_forgotten():
    found = set()
    for name in sentprobe.__all__:
        what = getattr(sentprobe, name)
        if inspect.isfunction(what):
            hints = " ".join(str(p.annotation) for p in inspect.signature(what).parameters.values())
            if any(word in hints for word in ("Sequence", "Iterable", "StringsOrPaths", "list[", "Collection")):
                found.add(name)
    assert found == TAKES_ONE | TAKES_SEVERAL


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"probe_seeds": True}, "Expected a seed, or several, got True"),
        ({"limit": "50"}, "Expected a limit of 1 or more, got '50' of type str"),
        ({"limit": 2.5}, "got 2.5 of type float"),
        ({"resample": "10"}, "got '10' of type str"),
        ({"jobs": "2"}, "Expected a number of jobs of 1 or more, got '2'"),
        ({"jobs": 0}, "got 0 of type int"),
        ({"batch_size": 0}, "of 1 or more, got 0"),
        ({"half": "no"}, "half must be True or False, got 'no'"),
    ],
)
def test_numbers_that_are_none(wrong, words, tmp_path):
    with pytest.raises(UsageError, match=re.escape(words)):
        evaluate(lengths, dataset(), tmp_path / "run", **wrong)
    assert not (tmp_path / "run").exists()


def test_what_is_no_set_no_run_and_no_text(tmp_path):
    with pytest.raises(UsageError, match="got 'probes/x' of type str"):
        evaluate(lengths, "probes/x", tmp_path / "run")
    with pytest.raises(UsageError, match="Expected a run, or several, got 'run1'"):
        join("run1")
    with pytest.raises(UsageError, match="Expected a text, or several, got None"):
        sentprobe.embed_texts(lengths, None)
    with pytest.raises(UsageError, match="Expected an encoder as text"):
        load_encoder(tmp_path)


def test_an_array_that_a_run_does_not_keep(tmp_path):
    run = evaluate(lengths, dataset(), tmp_path / "run", baselines=[])
    with pytest.raises(UsageError, match="has no array predictd; expected one of predicted, truth"):
        run.predictions(run.results[0], "predictd")
