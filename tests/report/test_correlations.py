"""Probing sets against transfer sets, over encoders."""

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sonde.errors import UsageError
from sonde.published import TRANSFER, published
from sonde.report.correlations import (
    ADJUSTMENTS,
    MIN_ENCODERS_SIGNIFICANT,
    comparable_columns,
    correlations,
    required_encoders,
)
from sonde.stats import benjamini_hochberg, holm
from sonde.tasks import SUITES

TASKS = SUITES["conneau2018"]


def column(encoder, probe="linear", limit=None, sonde="0.1.0"):
    return {"encoder": encoder, "probe": probe, "limit": limit, "sonde": sonde, "label": [encoder]}


def one_set(task, values, language="en"):
    cells = [None if v is None else {"score": {"value": v, "low": v, "high": v}} for v in values]
    return {"name": task, "label": task, "task": task, "language": language, "cells": cells}


def summary(sets, columns=None):
    encoders = range(len(sets[0]["cells"]))
    return {"columns": columns or [column(f"st:{i}") for i in encoders], "sets": sets}


def of_conneau():
    """Tables 2 and 5 of Conneau et al. (2018) as a summary: the encoders that are in both, word vectors among them."""
    tables = {"2": {}, "5": {}}
    for task in (*TASKS, *TRANSFER):
        for row in published(task):
            if row.paper == "conneau2018" and row.table in tables:
                tables[row.table].setdefault(task, {})[row.model] = row.value
    probing, transfer = tables["2"], tables["5"]
    models = [m for m in probing[TASKS[0]] if any(m in values for values in transfer.values())]
    sets = [one_set(task, [v.get(m) for m in models]) for task, v in (probing | transfer).items()]
    return summary(sets, [column(m, "mlp") for m in models])


@pytest.fixture(scope="module")
def conneau():
    found = correlations(of_conneau())
    return found, {
        (row["label"], head["label"]): cell
        for row, line in zip(found["rows"], found["cells"], strict=True)
        for head, cell in zip(found["columns"], line, strict=True)
    }


def test_the_tables_of_conneau_2018_correlate_as_they_do(conneau):
    # Spearman recomputed from tables 2 and 5 with other code: 25 shared models; word content is positive on all 11
    # transfer tasks, sentence length negative on 10 of 11, with TREC at +0.02; the largest of odd man out is +0.26
    found, cells = conneau
    assert found["n"] == 25
    assert (len(found["rows"]), len(found["columns"])) == (10, 11)
    content = [cell["value"] for (task, _), cell in cells.items() if task == "word_content"]
    length = {other: cell["value"] for (task, other), cell in cells.items() if task == "sentence_length"}
    assert min(content) > 0
    assert sum(value < 0 for value in length.values()) == 10
    assert round(length["TREC"], 2) == 0.02
    assert round(max(cell["value"] for (task, _), cell in cells.items() if task == "odd_man_out"), 2) == 0.26


def test_what_is_drawn_is_significant_over_the_whole_matrix(conneau):
    found, cells = conneau
    every = list(cells.values())
    assert [c["adjusted"] for c in every] == pytest.approx(holm([c["p"] for c in every]))
    assert {c["drawn"] for c in every} == {True, False}
    assert all(c["drawn"] == (c["adjusted"] <= 0.05) for c in every)  # 25 are enough
    assert all(c["low"] <= c["value"] <= c["high"] for c in every)
    assert found["least"] == 10
    assert "25 encoders with the probe mlp" in found["how"]
    assert "adjusted by Holm over 110 pairs of sets, significant up to 5 %" in found["how"]
    assert found["adjust"] == "holm"
    json.dumps(found, allow_nan=False)


def test_other_adjustments_go_by_their_names():
    few = of_conneau()
    kept = ("word_content", "tree_depth", "obj_number", "MR", "TREC", "SICKEntailment")
    few["sets"] = [said for said in few["sets"] if said["task"] in kept]
    found = {name: correlations(few, name) for name in ADJUSTMENTS}
    cells = {name: [cell for line in said["cells"] for cell in line] for name, said in found.items()}
    p = [cell["p"] for cell in cells["holm"]]
    expected = {"holm": holm(p), "bonferroni": np.minimum(1, 9 * np.array(p)), "bh": benjamini_hochberg(p), "none": p}
    words = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini and Hochberg", "none": "not adjusted"}
    for name, values in expected.items():
        assert [cell["adjusted"] for cell in cells[name]] == pytest.approx(list(values))
        assert words[name] in found[name]["how"]
        assert words[name] in found[name]["caption"]
    drawn = {name: sum(cell["drawn"] for cell in some) for name, some in cells.items()}
    assert drawn["bonferroni"] <= drawn["holm"] <= drawn["bh"] <= drawn["none"]
    assert drawn["holm"] < drawn["none"]
    with pytest.raises(UsageError, match="no adjustment 'fdr'; expected holm, bonferroni, bh, none"):
        correlations(few, "fdr")


def test_with_few_encoders_nothing_is_drawn_however_perfect():
    few, enough = (np.linspace(0.5, 0.9, n).tolist() for n in (MIN_ENCODERS_SIGNIFICANT - 1, MIN_ENCODERS_SIGNIFICANT))
    for values, drawn in ((few, False), (enough, True)):
        (cell,) = correlations(summary([one_set("tree_depth", values), one_set("MR", values)]))["cells"][0]
        assert cell["value"] == pytest.approx(1)
        assert cell["adjusted"] < 0.001
        assert cell["drawn"] is drawn
    assert "fewer than 10" in correlations(summary([one_set("tree_depth", few), one_set("MR", few)]))["how"]


def test_how_many_encoders_it_takes():
    quantiles = 1.959964 + 0.841621  # of 0.975 and 0.80
    assert math.ceil(3 + 1.06 * (quantiles / math.atanh(0.8)) ** 2) == MIN_ENCODERS_SIGNIFICANT
    assert required_encoders(1) == required_encoders(110) == MIN_ENCODERS_SIGNIFICANT
    # from here on a perfect correlation among ten could not be told from luck: 10! / 2 orders, at 5 %
    most = math.factorial(10) // 40
    assert (required_encoders(most), required_encoders(most + 1)) == (10, 11)


@settings(deadline=None)
@given(st.integers(1, 10**8))
def test_the_least_number_is_enough_for_a_perfect_correlation(tests):
    n = required_encoders(tests)
    assert tests * 2 / math.factorial(n) <= 0.05
    assert n == MIN_ENCODERS_SIGNIFICANT or tests * 2 / math.factorial(n - 1) > 0.05


def test_only_columns_that_differ_in_their_encoder_are_taken():
    columns = [
        column("st:a"),
        column("st:a", "mlp"),
        column("st:b"),
        column("st:b", "mlp"),
        column("st:c"),
        column("st:c", limit=100),
        column("st:a"),  # as it was before its weights changed
        column("baseline:words"),
    ]
    assert comparable_columns(columns) == [0, 2, 4]
    values = [0.1, 0.9, 0.2, 0.9, 0.3, 0.9, 0.9, 0.9]
    (cell,) = correlations(summary([one_set("tree_depth", values), one_set("MR", values)], columns))["cells"][0]
    assert cell["n"] == 3


def test_languages_that_differ_are_not_put_together():
    values = [0.1, 0.2, 0.3]
    sets = [
        one_set("tree_depth", values, "pl"),
        one_set("MR", values, "en"),
        one_set("CDSEntailment", values, "pl"),
        one_set("SST2", values, None),
    ]
    found = correlations(summary(sets))
    assert [c["label"] for c in found["columns"]] == ["MR", "CDSEntailment", "SST2"]
    assert [cell is None for cell in found["cells"][0]] == [True, False, False]


def test_a_cell_without_numbers_that_vary_is_empty():
    sets = [
        one_set("tree_depth", [0.1, 0.2, 0.3]),
        one_set("subj_number", [0.5, 0.5, 0.5]),
        one_set("passive", [0.5, 0.6, None]),
        one_set("MR", [0.3, 0.4, 0.2]),
    ]
    found = correlations(summary(sets))
    assert [line[0] is None for line in found["cells"]] == [False, True, True]
    assert correlations(summary(sets[1:])) is None


@pytest.mark.parametrize(
    "sets",
    [
        [one_set("tree_depth", [0.1, 0.2, 0.3]), one_set("subj_number", [0.1, 0.2, 0.3])],
        [one_set("MR", [0.1, 0.2, 0.3]), one_set("CR", [0.1, 0.2, 0.3])],
        [one_set("tree_depth", [0.1, 0.2]), one_set("MR", [0.1, 0.2])],
    ],
    ids=["no transfer", "no probing", "two encoders"],
)
def test_there_may_be_nothing_to_correlate(sets):
    assert correlations(summary(sets)) is None


def test_nor_in_a_run_without_results():
    assert correlations({"columns": [], "sets": []}) is None
