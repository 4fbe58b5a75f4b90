"""Which columns make a curve: over the size of the vectors, and over how long an encoder was trained."""

from dataclasses import replace

import pytest

from sentprobe.report import summarise
from sentprobe.report.curves import curves
from sentprobe.report.types import Curves
from sentprobe.results.log import open_log
from sentprobe.results.run import Run
from tests.report.runs import SHIFT, SUBJ, beside, result, written


def sized(encoder, dimension, dataset=SUBJ, **more):
    record, arrays = result(encoder, dataset, **more)
    return replace(record, dimension=dimension), arrays


def of(folder, *records, kind="dimension"):
    return getattr(curves(summarise(written(folder, *records))), kind)


def test_sizes_of_one_encoder(tmp_path):
    names = {"static:?dim=64": 64, "static:": 256, "static:other": 256, "static:?dim=128": 128}
    records = [sized(name, size, s) for name, size in names.items() for s in (SUBJ, SHIFT)]
    run = written(tmp_path / "run", *records, *beside())
    summary = summarise(run)
    found = curves(summary).dimension
    assert [(p.series, p.x, p.column, p.set) for p in found] == [
        ("static:", x, column, s) for s in (0, 1) for x, column in ((64, 0), (128, 3), (256, 1))
    ]
    for p in found:
        score = summary.sets[p.set].cells[p.column].score
        assert (p.value, p.low, p.high) == (score.value, score.low, score.high)


@pytest.mark.parametrize(
    ("names", "series"),
    [
        (["vec:glove.6B.50d.txt", "vec:glove.6B.300d.txt"], "vec:glove.6B.*d.txt"),
        (["openai:m?dimensions=50", "openai:m?batch=9&dimensions=300"], None),
        (["openai:m?batch=9", "openai:m?batch=9&dimensions=300"], "openai:m?batch=9"),
        (["st:v1500", "st:v300"], None),
        (["st:a", "st:b"], None),
    ],
)
def test_where_a_name_says_its_size(tmp_path, names, series):
    found = of(tmp_path / "run", *(sized(name, size) for name, size in zip(names, (50, 300), strict=True)))
    assert {p.series for p in found} == ({series} if series else set())
    assert [p.x for p in found] == ([50, 300] if series else [])


def test_probes_and_samples_are_series_of_their_own(tmp_path):
    asked = [{}, {"probe": "mlp"}, {"limit": 200}]
    records = [sized(name, x, **more) for name, x in (("static:?dim=64", 64), ("static:", 256)) for more in asked]
    found = of(tmp_path / "run", *records)
    assert {p.series for p in found} == {
        "static:, linear", "static:, mlp", "static:, linear, partial, 200 rows a split",
    }  # fmt: skip
    assert len(found) == 6


@pytest.mark.parametrize(
    ("dataset", "probe", "size"),
    [
        ("STSBenchmark", "linear", 512),
        ("STSBenchmark", "linear?pairs=four", 1024),
        ("MRPC", "linear", 1024),
        ("MRPC", "mlp?pairs=two", 512),
        ("MRPC", "probe_of_a_later_version", 1024),
        ("own/words", "linear", 600),
    ],
)
def test_the_size_is_that_of_the_vectors_and_not_of_what_is_made_of_a_pair(tmp_path, dataset, probe, size):
    records = [sized(name, x, dataset, probe=probe) for name, x in (("static:?dim=64", size // 4), ("static:", size))]
    run = written(tmp_path / "run", *records)
    with open_log(run.folder) as log:
        log.describe(datasets=[{"name": dataset, "digest": "0" * 16}])
    summary = summarise(Run.load(run.folder))
    (own,) = summary.sets
    summary = replace(summary, sets=(replace(own, inputs=("second",)),))
    found = curves(summary).dimension
    # twice the vector for relatedness, four times for classes; of words there is no telling
    assert [p.x for p in found] == ([] if dataset == "own/words" else [64, 256])
    summary = replace(summary, sets=(replace(own, inputs=("second",), scored_by="spearman"),))
    assert [p.x for p in curves(summary).dimension] == [size // 4, size]


def test_cells_that_failed_or_were_not_run_are_no_points(tmp_path):
    records = [sized("static:?dim=64", 64), sized("static:", 256), sized("static:", 256, SHIFT)]
    found = of(tmp_path / "run", *records)
    assert [(p.x, p.set) for p in found] == [(64, 0), (256, 0), (256, 1)]


@pytest.mark.parametrize(
    ("names", "series", "xs"),
    [
        (["hf:m/checkpoint-500", "hf:m/checkpoint-1000"], {"hf:m/checkpoint-*"}, [500, 1000]),
        (["hf:pythia@step1", "hf:pythia@step512"], {"hf:pythia@step*"}, [1, 512]),
        (["st:m_Epoch03/model", "st:m_Epoch10/model"], {"st:m_Epoch*/model"}, [3, 10]),
        (["py:m.py?epoch=1", "py:m.py?epoch=2", "py:m.py"], {"py:m.py?epoch=*"}, [1, 2]),
        (["st:epoch=0-step=90.ckpt", "st:epoch=1-step=180.ckpt"], {"st:epoch=*-step=*.ckpt"}, [0, 1]),
        (["st:epoch1-step5", "st:epoch1-step9"], {"st:epoch*-step*"}, [5, 9]),
        (
            ["st:epoch1-step1", "st:epoch1-step2", "st:epoch2-step1", "st:epoch2-step2"],
            {"st:epoch*-step1", "st:epoch*-step2"},
            [1, 2, 1, 2],
        ),
        (["st:one/epoch1", "st:two/epoch2"], set(), []),
        (["st:misstep1", "st:misstep2"], set(), []),
        (["st:v1", "st:v2"], set(), []),
    ],
)
def test_how_long_an_encoder_was_trained(tmp_path, names, series, xs):
    found = of(tmp_path / "run", *(result(name) for name in names), kind="epoch")
    assert {p.series for p in found} == series
    assert [p.x for p in found] == xs


def test_without_columns(tmp_path):
    assert curves(summarise(written(tmp_path / "run"))) == Curves()
