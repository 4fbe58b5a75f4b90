"""Measures on some of the training rows: which rows, that the result says how many, and that it can be repeated."""

from dataclasses import replace

import numpy as np
import pytest

from sentprobe.data.sources import find_sets
from sentprobe.data.splits import Split, splits_of
from sentprobe.errors import UsageError
from sentprobe.report.reproduction import reproduction
from sentprobe.run import Run, evaluate, measure
from sentprobe.run.measure import MAX_MEASURE_ROWS, MEASURES
from sentprobe.run.repeat import repeat
from sentprobe.run.variants import Subsamples, subsample
from tests.command_line import sentprobe
from tests.run.sets import Knowing, dataset

SUBSAMPLED = ("capacity", "erasure", "inlp", "mix")


def part(labels, texts=None):
    texts = [f"text {i}" for i in range(len(labels))] if texts is None else texts
    return Split(
        texts, {"word": [text[-1] for text in texts]}, np.array(labels), [None] * len(labels), lengths=[2] * len(labels)
    )


def test_classes_keep_their_shares_and_rows_their_order():
    given = part([0] * 600 + [1] * 300 + [2] * 100)
    found = subsample(given, 100)
    assert np.bincount(found.labels).tolist() == [60, 30, 10]
    places = [given.texts.index(text) for text in found.texts]
    assert places == sorted(places)
    assert list(found.inputs["word"]) == [text[-1] for text in found.texts]
    assert len(found.keys) == len(found.lengths) == 100
    assert places[:60] != list(range(60))  # not the first ones


def test_a_rare_class_keeps_a_row():
    assert np.bincount(subsample(part([0] * 500 + [1] * 499 + [2]), 10).labels).tolist()[2] == 1


def test_the_sample_does_not_depend_on_the_order_of_the_rows():
    labels = np.random.default_rng(0).integers(3, size=400)
    given, order = part(labels), np.random.default_rng(1).permutation(400)
    other = part(labels[order], [given.texts[i] for i in order])
    assert set(subsample(given, 50).texts) == set(subsample(other, 50).texts)
    assert set(subsample(given, 50).texts) < set(subsample(given, 120).texts)


def test_as_many_rows_as_there_are_stay_as_they_are():
    parts, made = splits_of(dataset()), Subsamples()
    assert made.of(parts, 120) is parts
    assert made.of(parts, 60) is made.of(parts, 60)
    assert len(made.of(parts, 60).train) == 60
    assert made.of(parts, 60).test is parts.test


def test_measures_of_where_a_property_is_say_how_many_rows_they_use():
    assert tuple(name for name in MEASURES if MEASURES[name].max_rows == MAX_MEASURE_ROWS) == SUBSAMPLED
    for name in MEASURES:
        assert ("at most 10,000 training rows" in MEASURES[name].interpretation) == (name in SUBSAMPLED)


@pytest.fixture(scope="module")
def sampled(tmp_path_factory):
    """All measures of two sets, on 80 of 160 training rows."""
    folder = tmp_path_factory.mktemp("sampled") / "run"
    sets = [dataset("own/one", n=(160, 40, 60)), dataset("own/two", n=(160, 40, 60), classes=3)]
    return evaluate(
        {"k": Knowing(3, noise=0.3)}, sets, folder, baselines=(), resample=0, measures=["all"], measure_rows=80
    ), sets  # fmt: skip


def test_a_result_says_how_many_rows_it_was_computed_on(sampled):
    run, _ = sampled
    assert run.failures == ()
    assert {r.n["tr"] for r in run} == {160}
    for r in run.extras:
        where = r.cell.variant in SUBSAMPLED or r.cell.variant.startswith("erased:")
        assert r.n["tr"] == (80 if where else 160)
        assert f"n={r.n['tr']}/40/60" in r.signature


def test_a_sample_is_measured_like_a_set_of_these_rows(sampled, tmp_path):
    run, sets = sampled
    fewer = []
    for given in sets:
        kept = set(subsample(splits_of(given).train, 80).texts)
        rows = {**given.rows, "tr": [row for row in given.rows["tr"] if row.text in kept]}
        fewer.append(replace(given, rows=rows))
    names = ["capacity", "erasure", "inlp"]
    alone = evaluate({"k": Knowing(3, noise=0.3)}, fewer, tmp_path / "run", baselines=(), resample=0, measures=names)

    def facts(of):
        return {
            (r.cell.dataset, str(r.cell.variant).partition("#")[0]): (r.score, dict(r.scores), dict(r.chosen))
            for r in of.extras
            if r.cell.variant in names or str(r.cell.variant).startswith("erased:")
        }

    assert facts(run) == facts(alone)


def test_another_number_of_rows_is_computed_again_and_the_same_is_not(tmp_path, monkeypatch):
    given, computed, original = dataset(n=(160, 40, 60)), [], measure.plain_probe

    def counted(job, *rest):
        computed.append(len(job.splits.train))
        return original(job, *rest)

    for name in ("capacity", "inlp"):
        monkeypatch.setattr(f"sentprobe.run.measures.{name}.plain_probe", counted)

    def run(rows):
        computed.clear()
        found = evaluate(
            {"k": Knowing(noise=0.3)}, given, tmp_path / "run", baselines=(), resample=0, measures=["capacity", "inlp"],
            measure_rows=rows,
        )  # fmt: skip
        assert len(found.extras) == 2
        return {r.n["tr"] for r in found.extras}, list(computed)

    assert run(80) == ({80}, [80, 80])
    assert run(80) == ({80}, [])
    assert run(None) == ({160}, [160, 160])
    assert run(1000) == ({160}, [])


def test_the_probe_of_a_sample_is_fitted_once_for_all_measures(tmp_path, monkeypatch):
    fitted, original = [], measure.fit

    def counted(probe, train, *rest, **more):
        fitted.append(len(train))
        return original(probe, train, *rest, **more)

    monkeypatch.setattr(measure, "fit", counted)
    options = {"baselines": (), "resample": 0, "measures": ["capacity", "hidden", "inlp", "erasure", "learning"]}
    evaluate({"k": Knowing(noise=0.3)}, dataset(n=(160, 40, 60)), tmp_path / "all", **options)
    assert fitted == []  # the plain probe serves
    evaluate({"k": Knowing(noise=0.3)}, dataset(n=(160, 40, 60)), tmp_path / "some", measure_rows=80, **options)
    assert fitted == [80]


def test_a_measure_of_a_sample_is_repeated_on_the_same_rows(tmp_path):
    lines = [f"{s}\t{row.label}\t{row.text}\n" for s, rows in dataset(n=(160, 40, 60)).rows.items() for row in rows]
    (tmp_path / "own.txt").write_text("".join(lines))
    words = ["-e", "baseline:hash?dim=16", "-d", "own.txt", "-o", "run", "--no-store", "--resample", "0"]
    more = ["--measures", "capacity,inlp", "--measure-rows", "80"]
    assert sentprobe("run", *words, *more, cwd=tmp_path).returncode == 0
    run = Run.load(tmp_path / "run")
    assert {(r.cell.variant, r.n["tr"]) for r in run.extras} >= {("capacity", 80), ("inlp", 80)}
    for r in run.extras:
        if r.cell.encoder == "baseline:hash?dim=16":
            again = repeat(r.signature, run=run, paths=[tmp_path / "own.txt"])
            assert again.same
            assert again.notes == ()


@pytest.mark.parametrize("rows", [1, 0, -5, 2.5])
def test_a_number_of_rows_is_a_number_of_rows(tmp_path, rows):
    with pytest.raises(UsageError, match="number of rows for measures"):
        evaluate({"k": Knowing()}, dataset(), tmp_path / "run", measure_rows=rows)


def test_what_was_erased_by_fewer_rows_of_another_set_is_computed_again(tmp_path):
    sets = [dataset("own/small", n=(60, 40, 60)), dataset("own/large", n=(160, 40, 60), classes=3)]

    def erased(folder, rows):
        run = evaluate(
            {"k": Knowing(3, noise=0.3)}, sets, tmp_path / folder, baselines=(), resample=0, measures=["erasure"],
            measure_rows=rows,
        )  # fmt: skip
        found = {(r.cell.dataset, r.cell.variant): r for r in run.extras}
        return {key: (r.score, dict(r.scores)) for key, r in found.items()}

    first, again, alone = erased("one", 80), erased("one", 120), erased("two", 120)
    assert again == alone
    large = next(key for key in again if key[0] == "own/small" and "own/large" in key[1])
    assert (first[large][1]["erased_rows"], again[large][1]["erased_rows"]) == (80, 120)


@pytest.mark.parametrize("rows", [40, 160, None])
def test_the_command_of_a_run_from_python_asks_for_as_many_rows(tmp_path, monkeypatch, rows):
    monkeypatch.chdir(tmp_path)
    lines = (f"{split}\t{row.label}\t{row.text}\n" for split, row in dataset(n=(120, 40, 60)))
    (tmp_path / "one.txt").write_text("".join(lines), "utf-8")
    run = evaluate(
        "baseline:words", find_sets(["one.txt"]), "run", baselines=(), resample=0, measures=["inlp"], measure_rows=rows
    )
    (command,) = reproduction(run, {}).commands
    assert ("--measure-rows 40" in command) == (rows == 40)
    assert ("--measure-rows" in command) == (rows == 40)  # 160 is more than there are, as the default is
