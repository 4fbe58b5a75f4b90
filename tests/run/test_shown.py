"""How runs, results and comparisons are shown: one line as text, a small table in notebooks."""

import sys
from dataclasses import replace

import pytest

from sentprobe.core.table import in_html
from sentprobe.errors import NotInstalled, UsageError
from sentprobe.results.compare import compare, ties
from sentprobe.results.result import MAX_ROWS, scores_html
from sentprobe.run import Run, evaluate
from tests.run.sets import Knowing, dataset


def small(folder, **more):
    encoders = {"<b>good</b>": Knowing(noise=0.1), "fair": Knowing(noise=1.5)}
    return evaluate(encoders, [dataset()], folder, resample=0, **more)


def test_a_run_and_its_results_are_one_line(tmp_path):
    run = small(tmp_path, baselines=["majority"], controls="norm")
    assert repr(run) == f"Run({str(tmp_path)!r}: 3 results + 2 of controls and measures, 3 encoders × 1 set)"
    good, _, majority = run.results
    low, high = good.range
    name, sizes = good.cell.dataset, "/".join(str(good.n[split]) for split in ("tr", "va", "te"))
    assert repr(good) == (
        f"Result(<b>good</b> on {name}: accuracy {good.score:.3f} [{low:.3f}, {high:.3f}], "
        f"probe=linear, n={sizes}, seed=1111)"
    )
    assert "[" not in repr(majority)  # fixed by the test rows
    assert "variant=norm" in repr(run.extras[0])
    about_encoder = replace(good, encoder_interval=(0.25, 0.75))
    assert "[0.250, 0.750]" in repr(about_encoder)
    failed = Run(tmp_path, failures=(None,))
    assert repr(failed).endswith("0 results, 0 encoders × 0 sets, 1 failure)")


def test_a_run_is_a_table_in_notebooks(tmp_path):
    run = small(tmp_path, baselines=["majority"])
    table = run._repr_html_()
    assert table.count("<tr>") == 1 + len(run)
    assert "&lt;b&gt;good&lt;/b&gt;" in table
    assert "<b>" not in table
    assert f"<td>{100 * run.results[0].score:.1f}</td>" in table
    partial = replace(run.results[0], cell=replace(run.results[0].cell, limit=10, encoder="lone \ud800"))
    assert f"<td>{100 * partial.score:.1f}*</td>" in scores_html([partial], "one")
    scores_html([partial], "one").encode()  # as a notebook saves it
    many = scores_html([partial] * (MAX_ROWS + 2), "many")
    assert many.count("<tr>") == 1 + MAX_ROWS
    assert "2 more results" in many


def test_a_result_is_a_table_in_notebooks(tmp_path):
    good = small(tmp_path, baselines=["majority"]).results[0]
    table = good._repr_html_()
    assert table.count("<tr>") == 2
    assert f"<td>{100 * good.score:.1f}</td>" in table
    assert f"majority {100 * good.baselines['majority']:.1f}" in table
    assert in_html(good.signature) in table
    assert "<b>" not in table


LIBRARIES = ("pandas", "polars", "arrow")


@pytest.mark.parametrize("library", LIBRARIES)
def test_frames_have_a_row_per_result(tmp_path, library):
    module = pytest.importorskip("pyarrow" if library == "arrow" else library)
    run = small(tmp_path, baselines=["majority"], controls="norm", measures="online")
    frame = run.frame(library)
    assert isinstance(frame, module.Table if library == "arrow" else module.DataFrame)
    names = frame.column_names if library == "arrow" else list(frame.columns)
    columns = {name: frame[name].to_pylist() if library == "arrow" else list(frame[name]) for name in names}
    results = [*run.results, *run.extras]
    assert columns["encoder"] == [result.cell.encoder for result in results]
    assert columns["score"] == [result.score for result in results]
    assert columns["n_te"] == [result.n["te"] for result in results]
    compression = [result.scores.get("compression") for result in results]
    assert any(compression)
    pairs = zip(columns["compression"], compression, strict=True)
    assert all(got == value or (value is None and (got is None or got != got)) for got, value in pairs)
    assert run.frame(library).shape == (len(results), len(names))


def test_frames_of_no_results_and_of_no_library(tmp_path):
    assert Run(tmp_path).frame("arrow").num_rows == 0
    with pytest.raises(UsageError, match="expected pandas, polars or arrow"):
        Run(tmp_path).frame("spark")


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_a_library_that_is_missing_is_named(tmp_path, library, monkeypatch):
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(NotInstalled, match=f"needs {library}: pip install .*frames"):
        Run(tmp_path).frame(library)


def test_comparisons_are_one_line(tmp_path):
    run = small(tmp_path, baselines=[])
    (found,) = compare(run, "<b>good</b>", "fair")
    assert repr(found) == (
        f"Comparison({found.dataset}: {found.first:.3f} - {found.second:.3f} = {found.difference:+.3f} "
        f"[{found.low:+.3f}, {found.high:+.3f}], p = {found.p_holm:.3f}, n = {found.n})"
    )
    (tied,) = ties(run, ["fair", "<b>good</b>"])
    assert repr(tied).startswith(
        f"TieGroups({found.dataset}: <b>good</b> {found.first:.3f} a, fair {found.second:.3f} "
    )
