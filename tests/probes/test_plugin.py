"""A kind of probe in another package's file is fitted, saved, shown and reported like those that are built in."""

import re
from pathlib import Path

import numpy as np
import pytest

from sentprobe.cli import app
from sentprobe.errors import DataError, SentProbeWarning, UsageError
from sentprobe.probes import Features, Probe, fit, named, parse
from sentprobe.probes.fitting import from_arrays, leave_groups_out, refit, to_arrays
from sentprobe.probes.kind import PROBE_KINDS, kind_of
from sentprobe.run import Run, evaluate
from sentprobe.transfer.protocols import ProbeEvaluation
from tests.run.sets import Knowing, dataset

DOCS = Path(__file__).parent.parent.parent / "docs/probes.md"
FILE = re.search(r'^```python title="nearest_mean.py"\n(.*?)^```$', DOCS.read_text("utf-8"), re.M | re.S)[1]
"""The example of the docs."""


def install(folder, name, content, monkeypatch):
    """A package with one module that offers it as a kind of probe."""
    about = folder / f"{name}-1.0.dist-info"
    about.mkdir(parents=True)
    (folder / f"{name}.py").write_text(content, "utf-8")
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[sentprobe.probes]\n{name} = {name}:probe\n")
    monkeypatch.syspath_prepend(str(folder))


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    install(tmp_path / "plugin", "nearest_mean", FILE, monkeypatch)


def printed(capsys, *words):
    """What a command prints."""
    capsys.readouterr()
    assert app([str(word) for word in words], result_action="return_value", exit_on_error=False) in (None, 0)
    return capsys.readouterr().out


def clouds(classes=3, n=60, d=4, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(n) % classes
    vectors = rng.normal(size=(n, d)).astype(np.float32)
    vectors[:, :classes] += 4 * np.eye(classes, dtype=np.float32)[labels]
    return Features.of(vectors), labels


def test_it_is_one_of_the_kinds(plugin):
    assert {"convex", "network"} < set(PROBE_KINDS)
    assert list(PROBE_KINDS)[-1] == "nearest_mean"
    text, probe = parse("nearest_mean")
    assert (text, probe) == ("nearest_mean", Probe(kind="nearest_mean"))
    with pytest.raises(UsageError, match="changes l2, which has no effect: this kind of probe does not read it"):
        parse("nearest_mean?l2=1")
    with pytest.raises(UsageError, match="kind must be convex or network or nearest_mean, got 'magic'"):
        Probe(kind="magic")


def test_what_a_kind_does_not_bring_is_done_for_it(plugin):
    features, labels = clouds()
    probe = named("nearest_mean")
    (found,) = fit(probe, features, labels, features, labels, 3)
    rounds = np.array([np.arange(60) // 3 % 2])
    first, second = leave_groups_out(probe, found, features, labels, features, labels, 3, rounds)
    rows = features.take(slice(None))
    for model, group in ((first, 0), (second, 1)):
        kept = rounds[0] != group
        expected = [rows[kept & (labels == k)].mean(axis=0) for k in range(3)]
        np.testing.assert_allclose(model.means, expected)
    np.testing.assert_array_equal(refit(probe, features, labels, 3, seed=1).means, found.model.means)
    assert ProbeEvaluation(probe, 3, seed=1).nested(features, labels, k=3).test > 90
    assert kind_of(probe).select_best(probe, [0.5, 0.7, 0.7], [1.0, 1.0, 0.5]) == 1


def test_its_models_are_saved_with_the_name_of_the_kind(plugin, monkeypatch):
    features, labels = clouds()
    model = fit(named("nearest_mean"), features, labels, features, labels, 3)[0].model
    arrays = to_arrays(model)
    assert set(arrays) == {"means", "kind"}
    again = from_arrays(arrays)
    assert again.shape == (3, 4)
    np.testing.assert_array_equal(again.scores(features), model.scores(features))
    monkeypatch.undo()  # the package is gone
    with pytest.raises(DataError, match="kind 'nearest_mean'; expected one of convex, network"):
        from_arrays(arrays)


def test_a_run_with_it_from_end_to_end(plugin, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    encoder = Knowing(2, noise=0.4)
    run = evaluate({"py:own": encoder}, [dataset()], tmp_path / "run", probes=["nearest_mean", "linear"], baselines=[])
    found = {r.cell.probe: r for r in run}
    result = found["nearest_mean"]
    assert 0.7 < result.score < 1
    assert result.dev_score > 0.7
    assert (result.resamples, result.chosen) == (kind_of(named("nearest_mean")).resamples, {})
    assert result.encoder_interval[0] < result.score < result.encoder_interval[1]

    # the model that was saved makes the predictions that were saved
    run = Run.load(tmp_path / "run")
    texts = [example.text for example in dataset().rows["te"]]
    model = run.model(result)
    assert model.shape == (2, 3)
    predicted = model.scores(Features.of(encoder(texts))).argmax(axis=1)
    np.testing.assert_array_equal(predicted, run.predictions(result)["predicted"])

    assert "nearest_mean" in printed(capsys, "show", tmp_path / "run")
    assert "the class whose mean vector is nearest" in printed(capsys, "ls", "probes")


def test_it_is_on_the_page(plugin, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    run = evaluate(
        {"py:own": Knowing(2, noise=0.4)}, [dataset()], tmp_path / "run", probes=["nearest_mean"], baselines=[]
    )
    (result,) = run
    printed(capsys, "report", tmp_path / "run", "-o", tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    assert "nearest_mean" in page
    assert f"{100 * result.score:.1f}" in page


def test_a_run_can_be_read_without_the_package(plugin, tmp_path, capsys, monkeypatch):
    monkeypatch.setenv("SENTPROBE_CACHE", str(tmp_path / "cache"))
    evaluate({"py:own": Knowing(2)}, [dataset()], tmp_path / "run", probes=["nearest_mean"], baselines=[])
    monkeypatch.undo()
    run = Run.load(tmp_path / "run")
    assert [r.cell.probe for r in run] == ["nearest_mean"]
    assert "nearest_mean" in printed(capsys, "show", tmp_path / "run")


def test_a_preset_whose_name_is_taken_is_left_out(tmp_path, monkeypatch):
    taken = FILE.replace('Preset(name="nearest_mean"', 'Preset(name="linear"').replace(
        'name="nearest_mean"', 'name="own"'
    )
    install(tmp_path / "plugin", "own_probe", taken, monkeypatch)
    with pytest.warns(SentProbeWarning, match="The probe 'linear' of the kind own is left out: the name is taken"):
        assert named("linear").kind == "convex"


def test_a_kind_that_reads_a_setting_that_no_probe_has_is_refused(tmp_path, monkeypatch):
    install(tmp_path / "plugin", "odd_probe", FILE.replace("settings=()", 'settings=("neighbours",)'), monkeypatch)
    with pytest.raises(UsageError, match="The probe kind nearest_mean reads 'neighbours', which is not a setting of"):
        named("nearest_mean")
