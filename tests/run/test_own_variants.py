"""A control and a measure of another package: one file each, found by its entry point, and shown like the built-in "
"ones."""

import sys

import pytest

from sonde.cli import main
from sonde.errors import UsageError
from sonde.report import Report
from sonde.run import Run, evaluate
from sonde.run.control import CONTROLS
from sonde.run.measure import MEASURES
from tests.run.sets import Knowing, dataset

CONTROL = '''
"""The first dimension alone."""
from sonde.run.control import Control

control = Control(
    name="first", interpretation="The score from the first dimension alone.", table=lambda table, texts,
    seed: table[:, :1],
)
'''
MEASURE = '''
"""The share of the training rows that have the most frequent label."""
from dataclasses import replace

import numpy as np

from sonde.run.measure import Measure, empty_result
from sonde.run.parts import has_train_test_split
from sonde.run.variant import CellText, VariantColumn


def compute(unit):
    labels = unit.parts.train.labels
    share = float(np.bincount(labels).max() / len(labels))
    return [
        (replace(empty_result(cell, unit.parts), score=share, interval=(share, share), scores={"labels": 2.0}), {},
        None)
        for cell in unit.cells
    ]


measure = Measure(
    name="modal", interpretation="The share of the most frequent label.", applies_to=has_train_test_split,
    compute=compute,
    columns=(VariantColumn(("modal", "label"), lambda v: CellText(f"{v.value:.4f}", note=f"of "
    f"{v.scores['labels']:.0f}")),),
)
'''
ENTRIES = """[sonde.controls]
own = own_control:control
[sonde.measures]
own = own_measure:measure
broken = own_broken
"""


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package that offers a control, a measure, and one that does not load."""
    home = tmp_path / "site"
    (home / "own-1.0.dist-info").mkdir(parents=True)
    (home / "own-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
    (home / "own-1.0.dist-info" / "entry_points.txt").write_text(ENTRIES)
    (home / "own_control.py").write_text(CONTROL)
    (home / "own_measure.py").write_text(MEASURE)
    (home / "own_broken.py").write_text("import there_is_no_such_module\n")
    monkeypatch.syspath_prepend(str(home))
    yield home
    for name in ("own_control", "own_measure", "own_broken"):
        sys.modules.pop(name, None)


@pytest.mark.filterwarnings("ignore:The measure 'broken' of own cannot be loaded")
def test_one_file_is_enough(package, tmp_path, capsys, monkeypatch):
    run = evaluate(
        {"py:fair": Knowing(noise=1.5, name="fair")}, dataset(), tmp_path / "run", baselines=["majority"],
        controls=["first", "norm"], measures="modal",
    )  # fmt: skip
    found = {r.cell.variant: r for r in run.extras}
    assert set(found) == {"first", "norm", "modal"}
    assert found["first"].dimension == 1
    frame = run.frame()
    assert set(frame.variant.dropna()) == {"first", "norm", "modal"}
    assert frame.variant.isna().sum() == len(run)
    assert frame.loc[frame.variant == "modal", "labels"].tolist() == [2.0]
    # the same command again does nothing anew, and a signature repeats it
    again = evaluate(
        {"py:fair": Knowing(noise=1.5, name="fair")}, dataset(), tmp_path / "run", baselines=["majority"],
        controls=["first", "norm"], measures="modal",
    )  # fmt: skip
    assert [r.key for r in again.extras] == [r.key for r in run.extras]
    assert "variant=first" in found["first"].signature
    page = Report.of(Run.load(tmp_path / "run")).html()
    assert "The score from the first dimension alone." in page
    assert "The share of the most frequent label." in page
    assert f"{found['modal'].score:.4f}" in page
    monkeypatch.setattr(sys, "argv", ["sonde", "show", str(tmp_path / "run")])
    with pytest.raises(SystemExit):
        main()
    out = capsys.readouterr().out
    assert "modal" in out
    assert f"{found['modal'].score:.4f}" in out


def test_without_the_package_its_results_are_still_shown(package, tmp_path, monkeypatch):
    with pytest.warns(UserWarning, match="cannot be loaded: .*there_is_no_such_module"):
        evaluate({"py:fair": Knowing(noise=1.5, name="fair")}, dataset(), tmp_path / "run", measures="modal")
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(package)])
    assert "modal" not in MEASURES
    run = Run.load(tmp_path / "run")
    assert [r.cell.variant for r in run.extras] == ["modal"]
    assert "modal" in Report.of(run).html()
    with pytest.raises(UsageError, match="There is no measure 'modal'"):
        evaluate({"py:fair": Knowing(noise=1.5, name="fair")}, dataset(), tmp_path / "run", measures="modal")


def test_built_in_ones_are_in_order_and_say_how_to_be_read():
    for kind in (CONTROLS, MEASURES):
        assert [part.order for part in kind.parts().values()] == sorted(part.order for part in kind.parts().values())
        assert all(part.interpretation.endswith(".") and part.columns for part in kind.parts().values())
