"""Labels that look alike: found, refused by runs, and merged on request."""

import json
from collections import Counter
from dataclasses import replace
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.audit import audit_set
from sentprobe.data.lookalike_labels import lookalike_labels, merge_labels, plain_label
from sentprobe.data.sources import find_sets
from sentprobe.errors import DataError, UsageError
from sentprobe.results.result import Signature
from sentprobe.run import Run, evaluate
from sentprobe.run.inputs import probing_splits
from tests.audit.plants import sound
from tests.command_line import sentprobe
from tests.run.sets import Knowing, dataset

ALIKE = [
    (normalize("NFC", "café"), normalize("NFD", "café")),
    ("1", "1.0", "01", "+1", "１", "1.00", "1e0"),
    ("Yes", "yes", "YES", "yes ", "\u00a0yes", "yes\u200b", "\ufeffyes"),
    ("not ok", "not\u00a0ok", "not  ok", "Not\tok"),
    ("True", "true", "1"),
    ("False", "0", "-0", "0.0"),
    ("ﬁne", "fine"),
]
DISTINCT = ["a", "b", "1", "2", "-1", "1.5", "10", "yes", "no", "notok", "not ok", "NP_VP", "NP_VP_.", "Maße", "Masse",
            "+", "-", "nan", "inf", "class1", "class2", "é", "e", "", "true story", "1,5"]  # fmt: skip


@pytest.mark.parametrize(
    ("one", "other", "alike"),
    [
        ("100", "1e2", True), ("-0", "0.00", True), ("1e999999999", "10e999999998", True), ("1_0", "10", False),
        ("1" * 40, "1" * 39 + "2", False), ("-1", "1", False), ("inf", "infinity", False), ("0.10", ".1", True),
    ],
)  # fmt: skip
def test_numbers_are_compared_exactly_and_in_little_memory(one, other, alike):
    assert (plain_label(one) == plain_label(other)) == alike


@pytest.mark.parametrize("group", ALIKE, ids=lambda group: ascii(group[0]))
def test_labels_that_look_alike_are_found(group):
    assert len({plain_label(label) for label in group}) == 1
    counts = dict.fromkeys(group, 3) | {group[1]: 5, "other": 9}
    (found,) = lookalike_labels(counts)
    assert found[0] == group[1]  # the most frequent first
    assert set(found) == set(group)
    assert lookalike_labels(counts, declared=group) == []


def test_other_labels_are_not():
    assert lookalike_labels(dict.fromkeys(DISTINCT, 1)) == []


@given(st.text(max_size=8))
def test_a_plain_label_looks_like_itself(label):
    assert plain_label(plain_label(label)) == plain_label(label)


def spelled(**spellings):
    """A set some of whose labels are spelled otherwise in a split."""
    given = dataset("own/mood")
    rows = {
        split: [row._replace(label=spellings.get(split, {}).get(row.label, row.label)) for row in found]
        for split, found in given.rows.items()
    }
    return replace(given, rows=rows, labels=tuple(sorted({row.label for found in rows.values() for row in found})))


def test_the_audit_lists_them():
    given = spelled(te={"c0": "C0"}, va={"c1": "c1\u200b"})
    (found,) = audit_set(given).errors
    assert (found.code, found.count) == ("lookalike-labels", 30 + 20)  # half of test, and half of dev
    assert "'c0' (80 rows) and 'C0' (30 rows)" in found.message
    assert "'c1' (90 rows) and 'c1\\u200b' (20 rows)" in found.message
    assert audit_set(sound()).errors == ()


@pytest.mark.parametrize("limit", [None, 40])
def test_a_run_refuses_them_and_merges_them_on_request(tmp_path, limit):
    given = spelled(te={"c0": "C0"})
    with pytest.raises(UsageError, match=r"look alike.*'c0' \(80 rows\) and 'C0' \(30 rows\).*--merge-labels"):
        evaluate({"k": Knowing()}, given, tmp_path / "run", limit=limit, resample=0)
    found = evaluate({"k": Knowing()}, merge_labels(given), tmp_path / "run", limit=limit, resample=0)
    assert {r.score for r in found if r.cell.encoder == "k"} == {1.0}
    plain = evaluate({"k": Knowing()}, dataset("own/mood"), tmp_path / "plain", limit=limit, resample=0)
    assert [r.score for r in found] == [r.score for r in plain]  # as if the labels had been right
    assert {Signature.parse(r.signature).labels for r in found} == {"merged"}
    assert {Signature.parse(r.signature).labels for r in plain} == {None}
    (described,) = json.loads((tmp_path / "run/run.json").read_text())["datasets"]
    assert described["merged_labels"] == {"C0": "c0"}
    assert described["labels"] == ["c0", "c1"]


def test_sets_without_them_are_not_changed():
    given = dataset()
    assert merge_labels(given) is given
    scores = replace(given, rows={s: [r._replace(label="5.0" if i % 2 else "5") for i, r in enumerate(rows)]
                                  for s, rows in given.rows.items()}, manifest={"protocol": "relatedness"})  # fmt: skip
    assert "lookalike-labels" not in {f.code for f in audit_set(scores).findings}  # scores are no classes


def test_on_the_command_line(tmp_path):
    given = spelled(te={"c0": "C0"})
    lines = [f"{split}\t{row.label}\t{' '.join(row.tokens)}\n" for split, row in given]
    (tmp_path / "mood.txt").write_text("".join(lines))
    words = ("run", tmp_path / "mood.txt", "-e", "baseline:length", "--no-store", "--resample", "0")
    done = sentprobe(*words, "-o", tmp_path / "run")
    assert done.returncode == 1
    assert "labels that look alike are separate classes: 'c0' (80 rows) and 'C0' (30 rows)" in done.stderr
    assert sentprobe(*words, "-o", tmp_path / "run", "--merge-labels").returncode == 0
    run = Run.load(tmp_path / "run")
    assert len(next(iter(run)).labels) == 2
    (described,) = run.info["datasets"]
    assert described["source"]["merge_labels"] is True
    signature = next(r.signature for r in run if r.cell.encoder == "baseline:length")
    assert "|labels=merged|" in signature
    for more in (("--run", tmp_path / "run"), ("--data", tmp_path / "mood.txt")):
        repeated = sentprobe("repeat", signature, *more)
        assert repeated.returncode == 0, repeated.stderr


def test_a_source_merges_when_it_is_read(tmp_path):
    (tmp_path / "mood.txt").write_text("tr\tYes\ta b\ntr\tno\tb\nva\tyes\tc\nte\tyes\td\nte\tNO\te\n")
    (plain,), (merging,) = (find_sets([tmp_path / "mood.txt"], merge_labels=merge) for merge in (False, True))
    assert Counter(row.label for _, row in merging.load()) == {"yes": 3, "NO": 2}
    assert merging.load().labels == ("NO", "yes")
    assert plain.load().digest != merging.load().digest
    read = plain.load()
    with pytest.raises(DataError, match=r"'yes' \(2 rows\) and 'Yes' \(1 rows\)"):
        probing_splits(read)
