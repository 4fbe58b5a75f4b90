"""What is taken from a run: which results make a cell, what stands beside it, and what is kept apart."""

from dataclasses import FrozenInstanceError, replace

import msgspec
import numpy as np
import pytest
from scipy.stats import t as student

from sentprobe.errors import CorruptionWarning, UsageError
from sentprobe.report import summarise
from sentprobe.report.legend import legend
from sentprobe.report.result_grid import missing_line
from sentprobe.report.types import Score, Seconds, Summary
from sentprobe.results.log import open_log
from sentprobe.results.result import Cell
from sentprobe.results.run import Run, join
from sentprobe.tasks import TASKS, load_task
from tests.report.runs import BASELINES, FIXED, SETS, SHIFT, SUBJ, beside, cell, failure, number, result, written


def cells(summary, dataset=SUBJ):
    """The cells of a set by the label of their column."""
    row = next(said for said in summary.sets if said.name == dataset)
    return {c.name: found for c, found in zip(summary.columns, row.cells, strict=True)}


def test_a_run_without_results(tmp_path):
    summary = summarise(written(tmp_path / "run"))
    assert summary.sets == summary.columns == summary.baselines == summary.layers == ()
    assert summary.seconds == Seconds(encode=0, fit=0, score=0)


def test_it_is_frozen_and_survives_json(tmp_path):
    run = written(tmp_path / "run", result("st:a"), *beside(), failure(cell("st:b")))
    summary = summarise(run)
    assert msgspec.json.decode(msgspec.json.encode(summary), type=Summary) == summary
    assert summary.version == 6
    with pytest.raises(FrozenInstanceError):
        summary.notes = ()


def test_a_cell_says_what_the_result_says(tmp_path):
    run = written(tmp_path / "run", result("st:a", forms=30), *beside())
    (own,) = (r for r in run if r.cell.encoder == "st:a")
    found = cells(summarise(run))["st:a"]
    assert (found.accuracy, found.low, found.high) == (own.accuracy, *own.range)
    assert found.score == Score(own.accuracy, found.low, found.high, None)
    assert found.interval == "cluster"
    assert found.macro_f1 == own.macro_f1
    assert found.log2_loss == own.log2_loss
    assert found.signatures == (own.signature,)
    assert found.chosen == ({"l2": 1e-4},)
    assert (found.dimension, found.train_n, found.edge) == (8, own.n["tr"], None)
    assert not found.partial


@pytest.mark.parametrize(
    ("probe", "l2", "edge"),
    [
        ("linear", 1e-5, "weakest"),
        ("linear", 1.0, "strongest"),
        ("linear", 0.1, None),
        ("linear?l2=0.1,1", 1.0, None),
        ("linear?l2=0.1,0.1,1", 1.0, None),
        ("linear?l2=10,0.1,1", 10.0, "strongest"),
        ("of a later version", 1.0, None),
        (None, 1.0, None),
    ],
)
def test_an_l2_at_the_end_of_its_grid_is_told(tmp_path, probe, l2, edge):
    first, others = result("st:a", probe=probe, seed=1), result("st:a", probe=probe, seed=2)
    records = [(replace(first[0], chosen={"l2": l2}), first[1]), others]
    assert cells(summarise(written(tmp_path / "run", *records)))["st:a"].edge == edge


def test_baselines_are_columns_of_their_own_in_the_order_of_the_papers(tmp_path):
    run = written(tmp_path / "run", *beside(), result("st:a"))
    summary = summarise(run)
    assert [c.encoder for c in summary.columns] == ["st:a"]
    assert [c.encoder for c in summary.baselines] == [*BASELINES, *FIXED]
    assert all(found.letters is None for said in summary.sets for found in said.baselines)


def test_the_strongest_baseline_stands_beside_each_number(tmp_path):
    run = written(tmp_path / "run", result("st:good", p=0.95), result("st:poor", p=0.68), *beside())
    found = cells(summarise(run))
    strongest = max(r.accuracy for r in run if r.cell.encoder in {*BASELINES, *FIXED})
    good, poor = found["st:good"].against, found["st:poor"].against
    assert (good.baseline, good.value, good.verdict) == ("baseline:hash", strongest, "above")
    assert poor.verdict != "above"
    assert good.tests == poor.tests == 2


def test_sets_and_encoders_stand_in_the_order_in_which_they_were_asked_for(tmp_path):
    names = ["st:z", "st:a", "st:m"]
    run = written(tmp_path / "run", *(result(e, s) for s in reversed(SETS) for e in names))
    summary = summarise(run)
    assert [c.encoder for c in summary.columns] == names
    assert [said.name for said in summary.sets] == list(reversed(SETS))


def test_what_is_known_about_a_set(tmp_path):
    run = written(tmp_path / "run", result("st:a", synthetic=True), result("st:a", "own/colour"))
    subject, own = summarise(run).sets
    assert (subject.task, subject.language, subject.classes, subject.n["te"]) == (
        "subj_number",
        "en",
        2,
        400,
    )
    assert subject.question == "What about subj_number?"
    assert (subject.synthetic, own.synthetic) == (True, False)
    assert all(said.human is said.printed_for is None and not said.published for said in (subject, own))
    others = summarise(run, published=True).sets
    # Conneau et al. (2018), table 2, column SubjNum
    assert others[0].human.accuracy == 0.88
    assert [said.printed_for for said in others] == ["another set", None]
    assert others[1].human is None


def test_numbers_printed_for_english_are_not_shown_beside_another_language(tmp_path):
    (said,) = summarise(written(tmp_path / "run", result("st:a", language="pl")), published=True).sets
    assert (said.human, said.published, said.printed_for) == (None, (), None)


def test_seeds_are_averaged_and_widen_the_interval(tmp_path):
    results = [result("st:a", seed=seed, p=p) for seed, p in ((1, 0.7), (2, 0.8), (3, 0.9))]
    run = written(tmp_path / "run", *results)
    found = cells(summarise(run))["st:a"]
    values = [r.accuracy for r, _ in results]
    assert found.accuracy == pytest.approx(np.mean(values))
    assert found.sd == pytest.approx(np.std(values, ddof=1))
    assert found.seeds == 3
    assert len(found.signatures) == 3
    assert found.high - found.low > max(r.range[1] - r.range[0] for r, _ in results)


def test_the_layer_is_chosen_on_dev_for_each_set_and_the_first_of_several(tmp_path):
    best = {SUBJ: {"0": 0.6, "1": 0.9, "10": 0.9}, SHIFT: {"0": 0.7, "1": 0.6, "10": 0.5}}
    records = [
        result("hf:b", s, layer=layer, seed=seed, dev=dev, p=0.9 if layer == "10" else 0.7)
        for s, layers in best.items() for layer, dev in layers.items() for seed in (1, 2)
    ]  # fmt: skip
    summary = summarise(written(tmp_path / "run", *records))
    assert [len(summary.columns), len(summary.layers)] == [1, 1]
    assert [said.cells[0].layer for said in summary.sets] == ["1", "0"]
    assert summary.sets[0].cells[0].layers == 3
    (found,) = summary.layers
    assert found.names == ("0", "1", "10")
    assert [[one.by_dev for one in row] for row in found.cells] == [[False, True], [True, False], [False, False]]
    assert found.cells[1][0].accuracy == summary.sets[0].cells[0].accuracy
    assert found.cells[1][0].low < found.cells[1][0].accuracy < found.cells[1][0].high


def test_probes_samples_versions_devices_and_identities_are_kept_apart(tmp_path):
    asked = [
        {}, {"probe": "mlp"}, {"limit": 200}, {"sentprobe": "0.2.0"}, {"device": "cuda"}, {"identity": "other weights"},
    ]  # fmt: skip
    run = written(tmp_path / "run", *(result("st:a", **more) for more in asked))
    summary = summarise(run)
    labels = [tuple(c.label) for c in summary.columns]
    assert len(set(labels)) == len(asked)
    assert sum("partial, 200 rows a split" in label for label in labels) == 1
    assert [found.seeds for found in cells(summary).values()] == [1] * len(asked)
    partial = [found for found in cells(summary).values() if found.partial]
    assert [found.n for found in partial] == [200]


def test_one_name_for_two_sets_makes_two_rows(tmp_path):
    run = written(tmp_path / "run", result("st:a"), result("st:a", data="f" * 16))
    assert [said.label for said in summarise(run).sets] == [
        f"{SUBJ} #{number(SUBJ):016x}"[: len(SUBJ) + 10],
        f"{SUBJ} #ffffffff",
    ]


def test_letters_are_of_columns_on_the_same_rows(tmp_path):
    records = [result(e, p=p) for e, p in (("st:a", 0.9), ("st:b", 0.89), ("st:c", 0.6))]
    run = written(tmp_path / "run", *records, result("st:a", limit=200), *beside())
    found = cells(summarise(run))
    assert {name: (one.letters, one.best) for name, one in found.items()} == {
        "st:a": ("a", True), "st:b": ("a", True), "st:c": ("b", False),
        "st:a, partial, 200 rows a split": (None, False),
    }  # fmt: skip
    assert list(found)[:2] == ["st:a", "st:a, partial, 200 rows a split"]


def test_letters_need_predictions_and_their_lack_is_told(tmp_path):
    run = written(tmp_path / "run", result("st:a"), result("st:b"))
    for path in (run.folder / "predictions").iterdir():
        path.unlink()
    with pytest.warns(CorruptionWarning, match="2 prediction files are missing, such as"):
        summary = summarise(Run.load(run.folder))
    assert [one.letters for one in cells(summary).values()] == [None, None]
    lost, letters = summary.notes
    assert "prediction files are missing" in lost
    assert f"The letters of {SUBJ} are missing" in letters


def test_failures_stand_in_place_of_numbers(tmp_path):
    run = written(
        tmp_path / "run", result("st:a"), failure(cell("st:a", SHIFT), "too large"), failure(cell("st:c"), ""),
        failure(Cell(task="", version=0, dataset="", data="", encoder="st:gone"), "not there", "EncoderError"),
        failure(Cell(task="x", version=0, dataset="x/y", data="", encoder=""), "no te rows", "DataError"),
    )  # fmt: skip
    summary = summarise(run)
    assert [said.name for said in summary.sets] == list(SETS)
    assert [c.encoder for c in summary.columns] == ["st:a", "st:c"]
    assert cells(summary, SHIFT) == {"st:a": None, "st:c": None}
    assert [s.failed for s in summary.sets] == [{1: ""}, {0: "too large"}]
    assert [s.failed_baselines for s in summary.sets] == [{}, {}]
    assert {(f.encoder, f.dataset, f.error) for f in summary.failures} == {
        ("st:a", SHIFT, "too large"), ("st:c", SUBJ, ""), ("st:gone", None, "not there"), (None, "x/y", "no te rows"),
    }  # fmt: skip


def test_what_was_asked_for_and_is_not_there_is_told(tmp_path):
    run = written(tmp_path / "run", result("st:a"))
    with open_log(run.folder) as log:
        log.describe(encoders=["st:b"], datasets=[{"digest": "0", "name": "x/y"}])
    summary = summarise(Run.load(run.folder))
    assert "st:b, x/y" in summary.notes[0]
    assert summary.notes[0] in legend(summary)
    with open_log(tmp_path / "begun") as log:
        log.describe(encoders=["st:b"])
    begun = summarise(Run.load(tmp_path / "begun"))
    assert legend(begun) == list(begun.notes) != []


def test_the_time_to_encode_counts_once(tmp_path):
    run = written(tmp_path / "run", *(result("hf:b", layer=str(i), seed=s) for i in range(3) for s in (1, 2)))
    assert summarise(run).seconds == Seconds(encode=2.0, fit=6.0, score=1.5)


def test_versions_are_all_there(tmp_path):
    run = written(tmp_path / "run", result("st:a"), result("st:a", sentprobe="0.2.0"))
    assert summarise(run).versions == {"sentprobe": ("0.1.0", "0.2.0"), "numpy": ("2.0",)}


def test_another_metric(tmp_path):
    run = written(tmp_path / "run", result("st:a", p=0.95), result("st:b"), *beside())
    own = next(r for r in run if r.cell.encoder == "st:a")
    f1, loss = (cells(summarise(run, metric=m))["st:a"] for m in ("macro_f1", "log2_loss"))
    assert f1.score.value == own.macro_f1
    assert f1.score.low < own.macro_f1 < f1.score.high
    assert (f1.against.verdict, f1.against.tests) == ("above", 2)
    assert loss.score.low < own.log2_loss < loss.score.high
    assert loss.against is None
    calibrated = cells(summarise(run, metric="log2_loss_calibrated"))["st:a"]
    assert (calibrated.against.baseline, calibrated.against.verdict) == ("baseline:hash", "above")
    hashed = next(r for r in run if r.cell.encoder == "baseline:hash")
    assert calibrated.against.value == pytest.approx(hashed.log2_loss_calibrated)
    assert loss.calibrated.low < own.log2_loss_calibrated < loss.calibrated.high
    assert loss.calibrated.value == loss.log2_loss_calibrated == f1.log2_loss_calibrated
    assert f1.calibrated is None
    calm = cells(summarise(run, metric="log2_loss_calibrated"))["st:a"]
    assert (calm.score, calm.calibrated) == (loss.calibrated, None)
    assert calm.against.verdict == "above"  # lower is better
    assert f1.letters is loss.letters is None
    assert f1.accuracy == loss.accuracy == own.accuracy
    words = summarise(run, metric="log2_loss").sets[0].baselines[0]
    assert words.score.value is None
    with pytest.raises(UsageError, match="expected accuracy, balanced_accuracy, macro_f1, mcc, auc, log2_loss"):
        summarise(run, metric="f1")


def test_information_and_temperature_are_of_all_seeds(tmp_path):
    """The first seed is one of several, and which one comes first must not matter."""
    found = []
    for seed, bits in ((1, 0.3), (2, 0.5), (3, 0.1)):
        r, arrays = result("st:a", seed=seed)
        more = {"information": bits, "information_low": bits - 0.1, "information_high": bits + 0.1, "entropy": 1.0}
        found.append((replace(r, scores={**r.scores, **more, "temperature": 10 * bits}), arrays))
    run = written(tmp_path / "run", *found)
    said = cells(summarise(run))["st:a"]
    assert said.information.bits == pytest.approx(0.3)
    # variances of rows, whose half width is 0.1, and of seeds; Satterthwaite's degrees of freedom (scipy's quantile)
    rows, seeds = (0.1 / 1.959964) ** 2, 0.2**2 / 3
    half = student.ppf(0.975, (rows + seeds) ** 2 / (seeds**2 / 2)) * np.sqrt(rows + seeds)
    assert said.information.high - 0.3 == pytest.approx(half)
    assert said.information.low + said.information.high == pytest.approx(0.6)
    assert said.temperature == pytest.approx(3.0)
    turned = cells(summarise(replace(run, results=run.results[::-1])))["st:a"]
    assert turned.information.bits == pytest.approx(said.information.bits)
    assert turned.information.low == pytest.approx(said.information.low)


def test_cells_that_were_requested_and_are_not_there(tmp_path):
    records = [result("st:a", SUBJ), result("st:a", SHIFT), result("st:b", SUBJ), failure(cell("st:c", SUBJ))]
    run = written(tmp_path / "run", *records, *beside())
    with open_log(run.folder) as log:
        log.describe(encoders=["st:d"], aliases=[["D", "st:d"], ["B", "st:b"]])
    found = summarise(Run.load(run.folder))
    assert [(each.encoder, each.sets, each.requested) for each in found.missing] == [
        ("st:b", (SHIFT,), 2), ("st:c", (SHIFT,), 2), ("st:d", (SUBJ, SHIFT), 2),
    ]  # fmt: skip
    line = missing_line(found)
    assert line.startswith("4 requested cells have no result. Missing: B on bigram_shift, st:c on bigram_shift and")
    assert "D on all sets." in line
    assert f"There are no results of B for {SHIFT}: " in found.notes[1]
    complete = summarise(written(tmp_path / "complete", result("st:a", SUBJ), *beside([SUBJ])))
    assert (complete.missing, missing_line(complete), complete.notes) == ((), "", ())


def test_baselines_are_not_missing_where_they_cannot_be_run(tmp_path):
    """Similarities have no labels, and other transfer sets no split: no baseline is run on them."""
    found, arrays = result("st:a", "STS14")
    scored = replace(found, metric="spearman", trained_on="nothing", chosen_on="nothing")
    folds, predicted = result("st:a", "MR")
    records = [(scored, arrays), (replace(folds, trained_on="folds", chosen_on="inner folds"), predicted)]
    assert summarise(written(tmp_path / "run", *records, *beside([SUBJ]), result("st:a", SUBJ))).missing == ()


def test_runs_that_are_joined_lack_nothing_of_each_other(tmp_path):
    one = written(tmp_path / "one", result("st:a", SUBJ), *beside([SUBJ]))
    two = written(tmp_path / "two", result("st:b", SHIFT), *beside([SHIFT]))
    assert summarise(join([one, two])).missing == ()


def test_the_days_of_a_run_are_known(tmp_path):
    run = written(tmp_path / "run", result("st:a"))
    assert summarise(run).days == ()
    with open_log(run.folder) as log:
        log.begin(["st:a"])
        log.describe(days=["2026-01-02"])
    days = summarise(Run.load(run.folder)).days
    assert days == tuple(sorted(days))
    assert days[0] == "2026-01-02"
    assert len(days) == 2


def test_labels_that_are_codes_have_names(tmp_path):
    sets = summarise(written(tmp_path / "run", result("st:a", SUBJ), result("st:a", "own/thing"))).sets
    assert [s.label_names for s in sets] == [{"NN": "singular", "NNS": "plural"}, {}]
    for name in TASKS:
        task = load_task(name)
        assert set(task.label_names) <= set(task.labels)
