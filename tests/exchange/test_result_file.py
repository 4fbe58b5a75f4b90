import json

import numpy as np
import pytest

from sentprobe.core.seal import seal_document
from sentprobe.errors import DataError, RunError, UsageError
from sentprobe.exchange.result_file import ResultFile, export_results, opened_run
from sentprobe.results.compare import compare
from tests.report.runs import SHIFT, SUBJ, beside, result, written


@pytest.fixture
def run(tmp_path):
    records = [result("static:", p=0.8, forms=40), result("mine", p=0.7, forms=40), result("static:", SHIFT, p=0.6)]
    return written(tmp_path / "run", *records, *beside())


def test_what_comes_back_is_what_was_written(run, tmp_path):
    path = export_results(run, tmp_path / "a.json", by="Lab A")
    with opened_run(path) as read:
        assert [r.signature for r in read] == [r.signature for r in run]
        assert [(r.score, r.interval, r.cluster_interval) for r in read] == [
            (r.score, r.interval, r.cluster_interval) for r in run
        ]
        for mine, theirs in zip(run, read, strict=True):
            assert np.array_equal(run.correct(mine), read.correct(theirs))
        # rows that share a target form are clustered in tests, although no form is in the file
        assert compare(read, "static:", "mine") == compare(run, "static:", "mine")
        assert read.damaged == ()


def test_no_sentence_and_no_path_leaves(run, tmp_path):
    text = export_results(run, tmp_path / "a.json", by="Lab A").read_text()
    rows = {row.text for row in run.rows(run.results[0])}
    assert rows
    assert not [row for row in rows if f'"{row}"' in text]
    assert str(tmp_path) not in text


def test_a_changed_file_is_refused(run, tmp_path):
    path = export_results(run, tmp_path / "a.json", by="Lab A")
    document = json.loads(path.read_text())
    document["results"][0]["result"]["score"] = 0.99
    path.write_text(json.dumps(document))
    with pytest.raises(DataError, match=r"a\.json has changed since"):
        ResultFile.read(path)


def test_a_changed_score_with_a_new_seal_does_not_agree_with_its_predictions(run, tmp_path):
    path = export_results(run, tmp_path / "a.json", by="Lab A")
    document = json.loads(path.read_text())
    document["results"][0]["result"]["score"] = 0.99
    path.write_bytes(seal_document(document))
    with opened_run(path) as read, pytest.raises(RunError, match=r"expected accuracy 0\.9900"):
        read.predictions(read.results[0])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("{", "is not a results file"),
        ("[]", "is not a results file"),
        ("{}", "is not a results file"),
        ('{"kind": "sentprobe results", "format": 99}', "has the format 99"),
    ],
)
def test_other_files_are_refused(tmp_path, content, message):
    path = tmp_path / "other.json"
    path.write_text(content)
    with pytest.raises(DataError, match=message):
        ResultFile.read(path)


def test_chosen_encoders_keep_the_baselines(run, tmp_path):
    file = ResultFile.read(export_results(run, tmp_path / "a.json", by="Lab A", encoders=["mine"]))
    names = {r.cell.encoder for r in file.results()}
    assert "mine" in names
    assert "nb-uni" in names
    assert "static:" not in names


def test_what_cannot_be_exported_is_said(run, tmp_path):
    with pytest.raises(UsageError, match=r"ends with \.json"):
        export_results(run, tmp_path / "a.txt", by="Lab A")
    with pytest.raises(UsageError, match="the name of a person"):
        export_results(run, tmp_path / "a.json", by=" ")
    baselines = written(tmp_path / "baselines", *beside((SUBJ,)))
    with pytest.raises(UsageError, match="other than those of baselines"):
        export_results(baselines, tmp_path / "a.json", by="Lab A")
