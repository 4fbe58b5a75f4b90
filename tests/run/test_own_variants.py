"""A control and a measure of another package: one file each, found by its entry point, shown like the built-in ones."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sentprobe.cli import main
from sentprobe.errors import UsageError
from sentprobe.probes.kind import kind_of
from sentprobe.report import Report
from sentprobe.report.summary import summarise
from sentprobe.results.result import Signature
from sentprobe.run import Run, cells, evaluate
from sentprobe.run.control import CONTROLS
from sentprobe.run.measure import MEASURES
from tests.run.sets import Knowing, dataset

CONTROL = '''
"""The first dimension alone."""
from sentprobe.run.control import Control

control = Control(
    name="first", interpretation="The score from the first dimension alone.",
    table=lambda table, texts, seed: table[:, :1],
)
'''
MEASURE = '''
"""The share of the training rows that have the most frequent label."""
from dataclasses import replace

import numpy as np

from sentprobe.run.measure import Measure, empty_result
from sentprobe.data.splits import has_train_test_split
from sentprobe.run.variant import CellText, VariantColumn


def compute(job):
    labels = job.splits.train.labels
    share = float(np.bincount(labels).max() / len(labels))
    (cell,) = job.cells
    result = replace(empty_result(cell, job.splits), score=share, interval=(share, share), scores={"labels": 2.0})
    return [(result, {}, None)]


def text(v):
    return CellText(f"{v.value:.4f}", note=f"of {v.scores['labels']:.0f}")


measure = Measure(
    name="modal", interpretation="The share of the most frequent label.", applies_to=has_train_test_split,
    compute=compute, columns=(VariantColumn(("modal", "label"), text),),
)
'''
ENTRIES = """[sentprobe.controls]
own = own_control:control
[sentprobe.measures]
own = own_measure:measure
broken = own_broken
"""


@pytest.fixture
def install(tmp_path, monkeypatch):
    """Puts a package with these modules and entry points on the path."""
    home = tmp_path / "site"
    installed = []

    def install(entries, **modules):
        (home / "own-1.0.dist-info").mkdir(parents=True)
        (home / "own-1.0.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
        (home / "own-1.0.dist-info" / "entry_points.txt").write_text(entries)
        for name, content in modules.items():
            (home / f"{name}.py").write_text(content)
        installed.extend(modules)
        monkeypatch.syspath_prepend(str(home))
        return home

    yield install
    for name in installed:
        sys.modules.pop(name, None)


@pytest.fixture
def package(install):
    """A package that offers a control, a measure, and one that does not load."""
    return install(ENTRIES, own_control=CONTROL, own_measure=MEASURE, own_broken="import there_is_no_such_module\n")


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
    # the same command again computes nothing
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
    monkeypatch.setattr(sys, "argv", ["sentprobe", "show", str(tmp_path / "run")])
    with pytest.raises(SystemExit):
        main()
    out = capsys.readouterr().out
    assert "modal" in out
    assert f"{found['modal'].score:.4f}" in out


def test_a_part_with_another_version_is_computed_again(tmp_path, monkeypatch):
    def run():
        encoder = {"py:fair": Knowing(noise=1.5, name="fair")}
        return evaluate(encoder, dataset(), tmp_path / "run", baselines=[], resample=0, controls=["norm", "direction"])

    before = run()
    others = {name: replace(part, version=2) if name == "norm" else part for name, part in CONTROLS.parts().items()}
    with monkeypatch.context() as changed:
        changed.setattr(cells, "CONTROLS", others)
        after = run()
    assert [r.key for r in after.results] == [r.key for r in before.results]
    keys = {r.cell.variant: r.key for r in before.extras}
    found = {r.cell.variant: r for r in after.extras}
    assert found.keys() == keys.keys()  # the result of the first version is retracted
    assert found["direction"].key == keys["direction"]
    assert found["norm"].key != keys["norm"]
    assert found["norm"].cell.parts == "norm.v2,convex.v3"
    assert "|parts=norm.v2,convex.v3|" in found["norm"].signature
    assert {v.name for v in summarise(after).sets[0].variants[0]} == {"norm", "direction"}
    assert str(Signature.parse(found["norm"].signature)) == found["norm"].signature
    with monkeypatch.context() as changed:
        changed.setattr(cells, "kind_of", lambda probe: replace(kind_of(probe), version=4))
        last = run()
    assert {r.cell.parts for r in (*last.results, *last.extras)} == {"convex.v4"}
    assert len(last.results) == len(before.results)
    assert {r.key for r in run().results} == {r.key for r in before.results}
    assert Run.load(tmp_path / "run").damaged == ()


def test_results_are_shown_without_the_package(package, tmp_path, monkeypatch):
    with pytest.warns(UserWarning, match="cannot be loaded: .*there_is_no_such_module"):
        evaluate({"py:fair": Knowing(noise=1.5, name="fair")}, dataset(), tmp_path / "run", measures="modal")
    monkeypatch.setattr(sys, "path", [p for p in sys.path if p != str(package)])
    assert "modal" not in MEASURES
    run = Run.load(tmp_path / "run")
    assert [r.cell.variant for r in run.extras] == ["modal"]
    assert "modal" in Report.of(run).html()
    with pytest.raises(UsageError, match="There is no measure 'modal'"):
        evaluate({"py:fair": Knowing(noise=1.5, name="fair")}, dataset(), tmp_path / "run", measures="modal")


def test_built_in_ones_are_in_order_and_have_an_interpretation():
    for kind in (CONTROLS, MEASURES):
        assert [part.order for part in kind.parts().values()] == sorted(part.order for part in kind.parts().values())
        assert all(part.interpretation.endswith(".") and part.columns for part in kind.parts().values())


DOCS = Path(__file__).parents[2] / "docs"


def test_the_example_of_the_docs_runs_as_a_package(install, tmp_path):
    page = (DOCS / "your-own-measure.md").read_text("utf-8")
    files = dict(re.findall(r'^```python title="(\w+)\.py"\n(.*?)^```$', page, re.MULTILINE | re.DOTALL))
    (entries,) = re.findall(r"^```toml\n(.*?)^```$", page, re.MULTILINE | re.DOTALL)
    install(re.sub(r'project\.entry-points\."(.*)"', r"\1", entries).replace('"', ""), **files)
    run = evaluate(
        {"py:fair": Knowing(noise=1.5, name="fair")}, dataset(), tmp_path / "run", baselines=[], resample=0,
        controls="first_half", measures="centroid",
    )  # fmt: skip
    (plain,), found = run.results, {r.cell.variant: r for r in run.extras}
    assert run.failures == ()
    assert found["first_half"].dimension == plain.dimension // 2
    assert 0.5 < found["centroid"].score <= 1.0
    arrays = run.predictions(found["centroid"])
    assert found["centroid"].score == (arrays["predicted"] == arrays["truth"]).mean()
    assert "nearest centroid" in " ".join(re.sub(r"<[^>]*>", " ", Report.of(run).html()).split())


@pytest.mark.parametrize(("kind", "heading"), [(CONTROLS, "Controls"), (MEASURES, "Measures")])
def test_every_built_in_one_has_its_row_in_the_docs(kind, heading):
    page = (DOCS / "reading.md").read_text("utf-8")
    section = page.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    rows = re.findall(rf"^\| {kind.noun} \|.*\n\|[-|: ]+\n((?:\|.*\n)+)", section, re.MULTILINE)[0]
    listed = [name for row in rows.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])]
    built_in = [name for name, part in kind.parts().items() if part.order < 1000]
    assert sorted(set(listed) - {"given:ENCODER"}) == sorted(built_in)
