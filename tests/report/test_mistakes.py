"""What a probe got wrong: counted right, binned fairly, and shown so that it can be read."""

from dataclasses import replace
from itertools import pairwise

import msgspec
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from sentprobe.data.dataset import Dataset
from sentprobe.report import summarise
from sentprobe.report.error_analysis import (
    ELLIPSIS,
    MAX_BINS,
    MAX_ERRORS,
    MAX_LABELS,
    MAX_PAIRS,
    MAX_TOKEN_LENGTH,
    MAX_TOKENS_SHOWN,
    MIN_BIN_ROWS,
    _bins,
    _window,
    error_analysis,
)
from sentprobe.report.types import Bin, Confusion, SetErrors, ShownRow
from sentprobe.results.log import open_log
from sentprobe.results.result import Result
from sentprobe.run import Run, join
from sentprobe.stats.intervals import wilson
from sentprobe.tasks import Example
from tests.report.runs import SUBJ, cell


def row(label, text="a b c", **more):
    return Example(label, tuple(text.split()), text, **more)


def wrote(folder, rows, said, *, labels=None, kept=None, inputs=(), sure=None, **more):
    """A run in which each encoder of ``said`` gave the rows these labels; ``kept``: the rows it has instead."""
    labels = tuple(labels or sorted({r.label for r in rows} | {label for given in said.values() for label in given}))
    number = {label: i for i, label in enumerate(labels)}
    with open_log(folder) as log:
        log.describe(
            encoders=list(said),
            datasets=[{"name": SUBJ, "digest": cell("").data, "inputs": list(inputs), "labels": list(labels)}],
        )
        for encoder, given_labels in said.items():
            of = cell(encoder, **more)
            truth = np.array([number.get(r.label, -1) for r in rows], np.int32)
            predicted = np.array([number[label] for label in given_labels], np.int32)
            right = predicted == truth
            found = Result(
                key=of.key, cell=of, language="en", labels=labels, n={"tr": 9, "va": 9, "te": len(rows)},
                score=float(right.mean()), interval=wilson(float(right.sum()), len(rows)), chosen={"l2": 1.0},
                scores={"macro_f1": 0.5, "log2_loss": 1.0}, dev_score=0.5,
            )  # fmt: skip
            confidence = np.asarray(sure if sure is not None else np.linspace(0.5, 0.9, len(rows)), np.float16)
            te = rows if kept is None else kept
            log.save_rows(Dataset(SUBJ, of.task, 1, "en", labels, {"te": te}), of.data, of.limit)
            log.add(found, {"predicted": predicted, "truth": truth, "confidence": confidence})
    return Run.load(folder)


def found(run):
    errors, notes = error_analysis(run, summarise(run))
    return list(errors), list(notes)


def test_what_was_taken_for_what(tmp_path):
    rows = [row(label, f"s{i}") for i, label in enumerate("aabbbc")]
    (one,), notes = found(wrote(tmp_path / "run", rows, {"st:x": "abbcca", "st:y": "aabbbc"}))
    assert notes == []
    assert one.labels == ("a", "b", "c")
    first, second = one.columns
    # counted by hand: truth aabbbc, predicted abbcca
    assert first.confusion == ((1, 1, 0), (0, 1, 2), (1, 0, 0))
    assert first.pairs == (
        Confusion(truth="b", predicted="c", n=2),
        Confusion(truth="a", predicted="b", n=1),
        Confusion(truth="c", predicted="a", n=1),
    )
    assert first.label_counts == ((2, 2), (3, 2), (1, 2))
    assert second.pairs == second.errors == ()
    assert msgspec.json.decode(msgspec.json.encode(one), type=SetErrors) == one


def test_labels_that_are_numbers_stand_in_their_order(tmp_path):
    rows = [row(label, f"s{i}") for i, label in enumerate(["9", "10", "11", "5"])]
    (one,), _ = found(wrote(tmp_path / "run", rows, {"st:x": ["9", "9", "11", "5"]}))
    assert one.labels == ("5", "9", "10", "11")
    assert one.columns[0].pairs == (Confusion(truth="10", predicted="9", n=1),)


def test_the_surest_mistakes_come_first_and_a_sentence_once(tmp_path):
    rows = [row("a", text, source=str(i)) for i, text in enumerate(["one", "two", "two", "three", "four"])]
    sure = [0.6, 0.9, 0.95, 0.99, np.nan]
    (one,), _ = found(wrote(tmp_path / "run", rows, {"st:x": "bbbab"}, sure=sure))
    errors = one.columns[0].errors
    assert [(e.tokens, e.source, e.label, e.predicted) for e in errors] == [
        (("two",), "2", "a", "b"), (("one",), "0", "a", "b"),
    ]  # fmt: skip
    assert [e.confidence for e in errors] == [pytest.approx(0.95, abs=1e-3), pytest.approx(0.6, abs=1e-3)]


def test_no_more_is_shown_than_can_be_read(tmp_path):
    labels = [f"w{i:02}" for i in range(MAX_LABELS + 1)]
    rows = [row(label, f"s{i}") for i, label in enumerate(labels)]
    (one,), _ = found(wrote(tmp_path / "run", rows, {"st:x": labels[1:] + labels[:1]}))
    column = one.columns[0]
    assert column.confusion is column.label_counts is None
    assert len(column.pairs) == MAX_PAIRS
    assert len(column.errors) == MAX_ERRORS
    # the last rows were given the highest confidence
    assert [e.label for e in column.errors] == labels[: -MAX_ERRORS - 1 : -1]


def test_by_length(tmp_path):
    lengths = [5] * 40 + [9] * 40 + [20] * 40
    rows = [row("a", " ".join(["w"] * n)) for n in lengths]
    said = ["b"] * 10 + ["a"] * 30 + ["a"] * 40 + ["b"] * 40
    (one,), _ = found(wrote(tmp_path / "run", rows, {"st:x": said}))
    bins = one.columns[0].length
    assert [(b.low, b.high, b.n, b.correct) for b in bins] == [
        (5, 5, 40, 30),
        (9, 9, 40, 40),
        (20, 20, 40, 0),
    ]
    assert [(b.below, b.above) for b in bins] == [wilson(30, 40), wilson(40, 40), wilson(0, 40)]


def test_by_how_often_the_target_form_comes(tmp_path):
    keys = [f"rare{i}" for i in range(60)] + ["often"] * 60 + [None] * 5
    rows = [row("a", f"s{i}", key=key) for i, key in enumerate(keys)]
    (one,), _ = found(wrote(tmp_path / "run", rows, {"st:x": ["a"] * 90 + ["b"] * 35}))
    bins = one.columns[0].target
    assert [(b.low, b.high, b.forms, b.n, b.correct) for b in bins] == [
        (1, 1, 60, 60, 60), (60, 60, 1, 60, 30),
    ]  # fmt: skip
    (none,), _ = found(wrote(tmp_path / "none", [row("a"), row("b")], {"st:x": "bb"}))
    assert none.columns[0].target is None


def test_pairs_of_sentences_are_shown_and_counted_whole(tmp_path):
    rows = [row("a", "one two", extra=(("other", "three four five"),))]
    (one,), _ = found(wrote(tmp_path / "run", rows, {"st:x": "b"}, inputs=["other"]))
    column = one.columns[0]
    assert column.errors[0].tokens == ("one", "two", "|", "three", "four", "five")
    assert (column.length[0].low, column.length[0].high) == (5, 5)


def test_a_word_that_the_probe_is_given_is_shown_and_does_not_make_the_sentence_longer(tmp_path):
    rows = [row("a", "one two", extra=(("word", "two"), ("note", "unseen")), marks=(1,))]
    (one,), _ = found(wrote(tmp_path / "run", rows, {"st:x": "b"}, inputs=["word"]))
    column = one.columns[0]
    assert replace(column.errors[0], confidence=0) == ShownRow(
        tokens=("one", "two", "|", "two"), marks=(1,), source="", label="a", predicted="b", confidence=0
    )
    assert column.length[0].high == 2


def test_a_sentence_without_words(tmp_path):
    (one,), _ = found(wrote(tmp_path / "run", [row("a", " "), row("b", "w")], {"st:x": "bb"}))
    column = one.columns[0]
    assert column.errors[0].tokens == ()
    below, above = wilson(1, 2)
    assert column.length == (Bin(low=0, high=1, n=2, correct=1, below=below, above=above),)


def test_a_label_that_is_not_in_train_is_an_error_under_its_own_name(tmp_path):
    rows = [row("a", "s"), row("new", "t")]
    (one,), notes = found(wrote(tmp_path / "run", rows, {"st:x": "ab"}, labels=["a", "b"]))
    assert notes == []
    assert one.labels == ("a", "b", "new")
    assert one.columns[0].pairs == (Confusion(truth="new", predicted="b", n=1),)


def test_lost_predictions_leave_the_other_columns(tmp_path):
    run = wrote(tmp_path / "run", [row("a"), row("b")], {"st:x": "ba", "st:y": "bb"})
    lost, there = run.results
    (run.folder / "predictions" / f"{lost.key}.npz").unlink()
    (one,), notes = found(run)
    assert one.columns[0] is None
    assert one.columns[1].confusion == ((0, 1), (0, 1))
    assert [note for note in notes if "errors of st:x" in note] == notes[-1:]
    (run.folder / "predictions" / f"{there.key}.npz").unlink()
    assert found(run)[0] == [None]


def test_lost_rows_are_told_once(tmp_path):
    run = wrote(tmp_path / "run", [row("a"), row("b")], {"st:x": "ba", "st:y": "bb"})
    for path in (run.folder / "datasets").iterdir():
        path.unlink()
    none, notes = found(run)
    assert none == [None]
    assert sum("The errors on" in note for note in notes) == 1


def test_of_joined_runs_one_that_has_the_rows_is_enough(tmp_path):
    rows = [row("a"), row("b")]
    runs = [wrote(tmp_path / name[-1], rows, {name: "ba"}) for name in ("st:x", "st:y")]
    for path in (runs[0].folder / "datasets").iterdir():
        path.unlink()
    (one,), notes = found(join(runs))
    assert [c.confusion for c in one.columns] == [((0, 1), (1, 0))] * 2
    assert notes == []


@pytest.mark.parametrize("kept", ["a", "aba", "ba"])
def test_rows_that_are_not_those_that_were_tested_are_not_shown(tmp_path, kept):
    """As where folds test on all rows and only the te rows were kept, or where somebody changed a file."""
    run = wrote(tmp_path / "run", [row("a"), row("b")], {"st:x": "bb"}, kept=[row(label) for label in kept])
    none, notes = found(run)
    assert none == [None]
    assert "does not hold the test rows of st:x" in notes[0]


def test_predictions_of_labels_that_there_are_not(tmp_path):
    run = wrote(tmp_path / "run", [row("a"), row("b")], {"st:x": "bb"})
    with open_log(run.folder) as log:
        bad, truth = np.array([0, 7], np.int32), np.array([0, 1], np.int32)
        log.add(run.results[0], {"predicted": bad, "truth": truth, "confidence": np.ones(2, np.float16)})
    none, notes = found(Run.load(run.folder))
    assert none == [None]
    assert "labels that the set does not have" in notes[0]


def test_partial_results_have_rows_of_their_own(tmp_path):
    rows = [row("a", "one"), row("b", "one two"), row("a", "one two three")]
    wrote(tmp_path / "run", rows, {"st:x": "aaa"})
    (one,), _ = found(wrote(tmp_path / "run", rows[:2], {"st:x": "bb"}, limit=2))
    assert [c.confusion for c in one.columns] == [((2, 0), (1, 0)), ((0, 1), (0, 1))]
    assert [c.length[0].n for c in one.columns] == [3, 2]


def test_the_layer_that_is_shown_by_its_first_seed(tmp_path):
    rows = [row("a", "one"), row("b", "two")]
    wrote(tmp_path / "run", rows, {"hf:x": "ba"}, layer="0")
    wrote(tmp_path / "run", rows, {"hf:x": "ab"}, layer="1", seed=2)
    run = wrote(tmp_path / "run", rows, {"hf:x": "bb"}, layer="1", seed=1)
    best = tuple(replace(r, dev_score=0.9) if r.cell.layer == "1" else r for r in run.results)
    (one,), _ = found(replace(run, results=best))
    (column,) = one.columns
    assert column.confusion == ((0, 1), (0, 1))


def test_correlations_have_no_mistakes(tmp_path):
    run = wrote(tmp_path / "run", [row("a"), row("b")], {"st:x": "bb"})
    other = replace(run, results=tuple(replace(r, metric="pearson") for r in run.results))
    assert found(other) == ([None], [])


@settings(deadline=None)
@given(st.lists(st.integers(-1, 40), max_size=400))
@example([-1])
@example([3] * 400)
def test_every_row_is_in_one_bin_and_bins_do_not_overlap(numbers):
    of_row, bin_ends = _bins(numbers)
    ends = [end for pair in bin_ends for end in pair]
    assert ends == sorted(ends)
    assert all(high < low for (_, high), (low, _) in pairwise(bin_ends))
    assert len(bin_ends) <= max(1, min(MAX_BINS, len(numbers) // MIN_BIN_ROWS))
    assert sorted(set(of_row.tolist()) - {-1}) == list(range(len(bin_ends)))
    for value, place in zip(numbers, of_row.tolist(), strict=True):
        assert place == -1 if value < 0 else bin_ends[place][0] <= value <= bin_ends[place][1]


@settings(deadline=None)
@given(st.integers(MAX_BINS * MIN_BIN_ROWS, 600))
def test_bins_of_different_numbers_have_as_many_rows_each(n):
    sizes = np.bincount(_bins(range(n))[0])
    assert len(sizes) == MAX_BINS
    assert sizes.max() - sizes.min() <= 1


@settings(deadline=None)
@given(st.integers(0, 200), st.lists(st.integers(-5, 220), max_size=4))
@example(10_000, [9_999])
@example(200, [0, 199])
def test_a_window_has_the_marks(length, marks):
    tokens = [f"t{i}" for i in range(length)]
    shown, at = _window(tokens, marks)
    real = sorted({m for m in marks if 0 <= m < length})
    assert len(shown) <= MAX_TOKENS_SHOWN + 2
    body = [token for token in shown if token != ELLIPSIS]
    start = tokens.index(body[0]) if body else 0
    assert body == tokens[start : start + len(body)]
    assert len(body) == min(length, MAX_TOKENS_SHOWN)
    assert (shown[:1] == [ELLIPSIS]) == (start > 0)
    assert (shown[-1:] == [ELLIPSIS]) == (start + len(body) < length)
    inside = [m for m in real if start <= m < start + len(body)]
    assert [shown[i] for i in at] == [tokens[m] for m in inside]
    assert inside == real or real[-1] - real[0] >= MAX_TOKENS_SHOWN
    assert not real or real[0] in inside


def test_a_long_token_is_cut():
    (token,), _ = _window(["x" * 10_000], ())
    assert len(token) == MAX_TOKEN_LENGTH
    assert token.endswith(ELLIPSIS)
    assert _window(["x" * MAX_TOKEN_LENGTH], ())[0] == ["x" * MAX_TOKEN_LENGTH]
