"""Probes by name: what is typed is what is trained, and is written in one way only."""

import doctest
import importlib
from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sentprobe.errors import UsageError
from sentprobe.probes import Probe, named, parse
from sentprobe.probes.kind import kind_of
from sentprobe.probes.probe import differences, presets


@pytest.mark.parametrize("name", presets())
def test_a_name_alone_is_the_probe(name):
    assert parse(name) == (name, named(name))


@pytest.mark.parametrize(
    ("typed", "written", "change"),
    [
        ("senteval?hidden=50,100", "senteval?hidden=50,100", {"hidden": (50, 100)}),
        ("senteval?l2=1e-3&hidden=50", "senteval?hidden=50&l2=0.001", {"hidden": (50,), "l2": (0.001,)}),
        ("linear?standardise=false", "linear?standardise=false", {"standardise": False}),
        ("senteval?optimiser=rmsprop&batch=128&every=2&patience=3",
         "senteval?batch=128&every=2&optimiser=rmsprop&patience=3",
         {"optimiser": "rmsprop", "batch": 128, "every": 2, "patience": 3}),
        ("mlp?batch=64", "mlp", {}),
        ("linear?pairs=four", "linear?pairs=four", {"pairs": "four"}),
        ("mlp?pairs=task", "mlp", {}),
    ],
)  # fmt: skip
def test_changes_are_written_in_one_way(typed, written, change):
    text, probe = parse(typed)
    assert text == written
    assert probe == replace(named(typed.split("?")[0]), **change)


@given(
    st.sampled_from(sorted(set(presets()) - {"linear"})),
    st.lists(st.integers(1, 500), min_size=1, max_size=3),
    st.lists(st.floats(0, 0.99), min_size=1, max_size=3),
    st.booleans(),
)
def test_what_is_written_is_read_again(name, hidden, dropout, standardise):
    probe = replace(named(name), hidden=tuple(hidden), dropout=tuple(dropout), standardise=standardise)
    typed = f"hidden={','.join(map(str, hidden))}&dropout={','.join(map(repr, dropout))}"
    text, read = parse(f"{name}?{typed}&standardise={str(standardise).lower()}")
    assert read == probe
    assert parse(text) == (text, probe)


@pytest.mark.parametrize(
    ("typed", "message"),
    [
        ("lnear", "Did you mean linear"), ("mlp?hiden=1", "Did you mean hidden"), ("linear?l2=x", "l2=x"),
        ("linear?l2", "setting=value"),
        ("mlp?dropout=1", "below 1"), ("mlp?batch=0", "at least 1"), ("linear?hidden=5", "no hidden layer"),
        ("mlp?l2=1&l2=2", "each once"), ("mlp?hidden=-2", "-1, 0 or more"),
        ("mlp?optimiser=adamw", "optimiser=adamw"), ("linear?pairs=three", "pairs=three"),
    ],
)  # fmt: skip
def test_what_is_not_a_probe(typed, message):
    with pytest.raises(UsageError, match=message):
        parse(typed)


def test_word_content_has_no_hidden_layer_as_in_the_papers():
    assert named("mlp").of_task("word_content").hidden == (0,)
    assert named("mlp").of_task("past_present") == named("mlp")
    assert named("senteval").of_task("word_content") == named("senteval")


def test_every_field_says_what_it_is():
    assert {f.name for f in fields(Probe)} >= {"kind", "hidden", "dropout", "l2", "watch"}
    with pytest.raises(UsageError, match="at least one value"):
        Probe(l2=())


def test_the_settings_are_those_of_the_papers():
    """SentEval's ``classifier.py`` and ``validation.py`` as released, with its ``regs`` for torch; the appendices."""
    senteval = {
        "kind": "network", "hidden": (0,), "dropout": (0.0,), "l2": (1e-5, 1e-4, 1e-3, 1e-2),
        "activation": "sigmoid", "drop": "before", "optimiser": "adam", "rate": 0.001, "batch": 64, "every": 4,
        "patience": 5, "reset": False, "passes": 200, "watch": "accuracy", "standardise": False, "reduction": "mean",
        "flat": ("word_content",), "pairs": "task", "weights": "none",
    }  # fmt: skip
    assert {f.name: getattr(named("senteval"), f.name) for f in fields(Probe)} == senteval
    assert {name: differences(probe, named("senteval")) for name, (_, probe) in presets().items()} == {
        "linear": "flat=&kind=convex&l2=1e-05,0.0001,0.001,0.01,0.1,1&standardise=true",
        "mlp": "dropout=0,0.1,0.2&every=2&hidden=50,100,200&reset=true",
        "senteval": "",
        "conneau2018": "dropout=0,0.1,0.2&hidden=50,100,200",
        "adi2017": "activation=relu&drop=after&dropout=0.8&every=1&flat=&hidden=-1&l2=0&optimiser=adagrad&passes=100"
        "&rate=0.01&reset=true&watch=loss",
        "xprobe2019": "batch=10&every=1&flat=&hidden=150&l2=0&passes=100&reset=true",
    }


@pytest.mark.parametrize(
    ("probe", "shown"),
    [
        (Probe(), "Probe()"),
        (named("linear"), "Probe(kind='convex', l2=(1e-05, 0.0001, 0.001, 0.01, 0.1, 1.0), standardise=True)"),
        (named("senteval"), "Probe(flat=('word_content',))"),
    ],
)
def test_a_probe_prints_what_differs_from_the_defaults(probe, shown):
    assert repr(probe) == shown
    assert eval(shown, {"Probe": Probe}) == probe


def test_the_examples_of_the_docstrings():
    results = doctest.testmod(importlib.import_module("sentprobe.probes.probe"))
    assert results.failed == 0
    assert results.attempted >= 5


def test_presets_read_no_setting_that_their_kind_ignores():
    for preset, probe in presets().values():
        assert set(preset.settings) <= {*kind_of(probe).settings}, preset.name
