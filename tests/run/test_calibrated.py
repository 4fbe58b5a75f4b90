"""Bits after calibration: the temperature is that of dev, and of nothing else."""

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from sentprobe.probes import Features
from sentprobe.run import evaluate
from sentprobe.stats import log2_loss
from tests.run.test_variants import Reading, keyed, noise, of_label

ROWS = keyed("own/sure", n=(160, 240, 400))
SURE = "linear?l2=1e-05"
"""Hardly a penalty: 60 dimensions of noise and 160 rows make a probe that is sure and often wrong."""


def weak():
    """A hint of the label among numbers that say nothing."""

    def read(words):
        drawn = noise(words, 61)
        return [0.8 * of_label(words)[0] + drawn[0], *drawn[1:]]

    return Reading("weak", read)


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    return evaluate({"k": weak()}, [ROWS], tmp_path_factory.mktemp("sure") / "run", probes=[SURE], baselines=())


def features(rows):
    read = weak().read
    return Features.of(np.array([read(row.text.split()) for row in rows], np.float32))


def labels(rows):
    return np.array([int(row.label[1]) for row in rows])


def test_a_probe_that_is_too_sure_costs_more_than_a_coin_only_before_calibration(run):
    (r,) = run
    assert r.log2_loss > 1.3
    assert r.log2_loss_calibrated == r.scores["log2_loss_calibrated"] <= 1.02
    assert r.scores["temperature"] > 2
    assert r.scores["information"] == pytest.approx(r.scores["entropy"] - r.log2_loss_calibrated, abs=1e-4)


def test_the_temperature_is_that_of_scipy_on_dev(run):
    (r,) = run
    dev, test = (run.model(r).scores(features(ROWS.rows[split])).astype(np.float64) for split in ("va", "te"))
    truth = labels(ROWS.rows["va"])

    def loss(power):  # on the rows, and on one more that has each label as often
        found = -log_softmax(dev / math.exp(power), axis=1)
        return (found[np.arange(len(truth)), truth].sum() + found.mean()) / (len(truth) + 1)

    oracle = minimize_scalar(loss, bounds=(-5, 5), method="bounded", options={"xatol": 1e-7})
    assert r.scores["temperature"] == pytest.approx(math.exp(oracle.x), rel=1e-3)
    calm = log_softmax(test / math.exp(oracle.x), axis=1)
    assert r.log2_loss_calibrated == pytest.approx(log2_loss(calm, labels(ROWS.rows["te"])), abs=1e-4)
    assert r.log2_loss == pytest.approx(log2_loss(log_softmax(test, axis=1), labels(ROWS.rows["te"])), abs=1e-4)


def test_test_labels_have_no_part_in_the_temperature(run, tmp_path):
    """With other test labels the temperature is the same to the last bit, and with other dev labels it is not."""
    (r,) = run

    def turned(split):
        rows = [row._replace(label=f"c{1 - int(row.label[1])}") for row in ROWS.rows[split]]
        other = replace(ROWS, rows={**ROWS.rows, split: rows})
        (found,) = evaluate({"k": weak()}, [other], tmp_path / split, probes=[SURE], baselines=())
        return found.scores

    assert turned("te")["temperature"] == r.scores["temperature"]
    assert turned("te")["log2_loss_calibrated"] > 1.02 > r.log2_loss_calibrated
    assert turned("va")["temperature"] > 10 * r.scores["temperature"]  # the probe is worse than a coin there


def test_what_a_row_adds_to_another_encoder_is_at_the_temperature_of_dev(tmp_path):
    """With other labels of half the test rows, the other half are given what they were given, to the last bit."""

    def pointwise(rows, name):
        found = replace(ROWS, rows={**ROWS.rows, "te": rows})
        run = evaluate({"k": weak()}, [found], tmp_path / name, measures=["given:length"], baselines=())
        return run.predictions(run.extras[0])["pointwise"]

    rows = list(ROWS.rows["te"])
    turned = [*rows[:200], *(row._replace(label=f"c{1 - int(row.label[1])}") for row in rows[200:])]
    one, two = pointwise(rows, "plain"), pointwise(turned, "turned")
    assert (one[:200] == two[:200]).all()
    assert (one[200:] != two[200:]).all()


def test_what_is_kept_of_each_row_agrees_with_the_mean(run):
    (r,) = run
    kept = run.predictions(r)
    assert -kept["log2_calibrated"].mean(dtype=float) == pytest.approx(r.log2_loss_calibrated, abs=1e-5)
    assert -kept["log2"].mean(dtype=float) == pytest.approx(r.log2_loss, abs=1e-5)
    row = run.frame().iloc[0]
    assert (row["log2_loss"], row["log2_loss_calibrated"]) == (r.log2_loss, r.log2_loss_calibrated)


def test_rows_that_were_learned_from_are_not_calibrated(tmp_path):
    found = evaluate({"k": weak()}, [ROWS], tmp_path / "run", controls=["memorise"], baselines=())
    (control,) = found.extras
    assert "log2_loss" in control.scores
    assert not {"log2_loss_calibrated", "temperature"} & control.scores.keys()
