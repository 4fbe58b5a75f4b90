"""Probing sets against transfer sets, over encoders."""

import math
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sentprobe.errors import UsageError
from sentprobe.published import TRANSFER, published
from sentprobe.report.correlations import (
    ADJUSTMENTS,
    MIN_ENCODERS_SIGNIFICANT,
    comparable_columns,
    correlations,
    required_encoders,
)
from sentprobe.report.types import CorrelationMatrix
from sentprobe.stats import benjamini_hochberg, holm
from sentprobe.tasks import SUITES
from tests.report.summaries import cell, column, set_summary
from tests.report.summaries import summary as written_summary

TASKS = SUITES["conneau2018"]


def make_set(name, values, language="en"):
    """A set with these scores, None where there is none."""
    cells = [None if value is None else cell(value, value, value) for value in values]
    return set_summary(name, cells, task=name.split("/")[-1], language=language)


def make_summary(sets=(), columns=None):
    if columns is None:
        columns = [column(f"st:{i}") for i in range(len(sets[0].cells) if sets else 0)]
    return written_summary(sets, columns)


def of_conneau():
    """Tables 2 and 5 of Conneau et al. (2018) as a summary: the encoders that are in both, word vectors among them."""
    tables = {"2": {}, "5": {}}
    for task in (*TASKS, *TRANSFER):
        for row in published(task):
            if row.paper == "conneau2018" and row.table in tables:
                tables[row.table].setdefault(task, {})[row.model] = row.value
    probing, transfer = tables["2"], tables["5"]
    models = [m for m in probing[TASKS[0]] if any(m in values for values in transfer.values())]
    sets = [make_set(task, [v.get(m) for m in models]) for task, v in (probing | transfer).items()]
    return make_summary(sets, [column(m, probe="mlp") for m in models])


@pytest.fixture(scope="module")
def conneau():
    found = correlations(of_conneau())
    return found, {
        (row.label, head.label): cell
        for row, line in zip(found.rows, found.cells, strict=True)
        for head, cell in zip(found.columns, line, strict=True)
    }


def test_the_tables_of_conneau_2018_correlate_as_they_do(conneau):
    # Spearman recomputed from tables 2 and 5 with other code: 25 shared models; word content is positive on all 11
    # transfer tasks, sentence length negative on 10 of 11, with TREC at +0.02; the largest of odd man out is +0.26
    found, cells = conneau
    assert found.n == 25
    assert (len(found.rows), len(found.columns)) == (10, 11)
    content = [cell.value for (task, _), cell in cells.items() if task == "word_content"]
    length = {other: cell.value for (task, other), cell in cells.items() if task == "sentence_length"}
    assert min(content) > 0
    assert sum(value < 0 for value in length.values()) == 10
    assert round(length["TREC"], 2) == 0.02
    assert round(max(cell.value for (task, _), cell in cells.items() if task == "odd_man_out"), 2) == 0.26


def test_what_is_drawn_is_significant_over_the_whole_matrix(conneau):
    found, cells = conneau
    every = list(cells.values())
    assert [c.adjusted for c in every] == pytest.approx(holm([c.p for c in every]))
    assert {c.significant for c in every} == {True, False}
    assert all(c.significant == (c.adjusted <= 0.05) for c in every)  # 25 are enough
    assert all(c.low <= c.value <= c.high for c in every)
    assert found.required == 10
    assert "25 encoders with the probe mlp" in found.description
    assert "adjusted by Holm over 110 pairs of sets, significant up to 5 %" in found.description
    assert found.adjust == "holm"
    assert msgspec.json.decode(msgspec.json.encode(found), type=CorrelationMatrix) == found


def test_other_adjustments_go_by_their_names():
    few = of_conneau()
    kept = ("word_content", "tree_depth", "obj_number", "MR", "TREC", "SICKEntailment")
    few = replace(few, sets=tuple(s for s in few.sets if s.task in kept))
    found = {name: correlations(few, name) for name in ADJUSTMENTS}
    cells = {name: [cell for line in matrix.cells for cell in line] for name, matrix in found.items()}
    p = [cell.p for cell in cells["holm"]]
    expected = {"holm": holm(p), "bonferroni": np.minimum(1, 9 * np.array(p)), "bh": benjamini_hochberg(p), "none": p}
    words = {"holm": "Holm", "bonferroni": "Bonferroni", "bh": "Benjamini and Hochberg", "none": "not adjusted"}
    for name, values in expected.items():
        assert [cell.adjusted for cell in cells[name]] == pytest.approx(list(values))
        assert words[name] in found[name].description
        assert words[name] in found[name].caption
    drawn = {name: sum(cell.significant for cell in some) for name, some in cells.items()}
    assert drawn["bonferroni"] <= drawn["holm"] <= drawn["bh"] <= drawn["none"]
    assert drawn["holm"] < drawn["none"]
    with pytest.raises(UsageError, match="no adjustment 'fdr'; expected holm, bonferroni, bh, none"):
        correlations(few, "fdr")


def test_with_few_encoders_nothing_is_drawn_however_perfect():
    few, enough = (np.linspace(0.5, 0.9, n).tolist() for n in (MIN_ENCODERS_SIGNIFICANT - 1, MIN_ENCODERS_SIGNIFICANT))
    for values, drawn in ((few, False), (enough, True)):
        (cell,) = correlations(make_summary([make_set("tree_depth", values), make_set("MR", values)])).cells[0]
        assert cell.value == pytest.approx(1)
        assert cell.adjusted < 0.001
        assert cell.significant is drawn
    assert "fewer than 10" in correlations(make_summary([make_set("tree_depth", few), make_set("MR", few)])).description


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
        column("st:a", probe="mlp"),
        column("st:b"),
        column("st:b", probe="mlp"),
        column("st:c"),
        column("st:c", limit=100),
        column("st:a"),  # as it was before its weights changed
        column("baseline:words"),
    ]
    assert comparable_columns(columns) == [0, 2, 4]
    values = [0.1, 0.9, 0.2, 0.9, 0.3, 0.9, 0.9, 0.9]
    (cell,) = correlations(make_summary([make_set("tree_depth", values), make_set("MR", values)], columns)).cells[0]
    assert cell.n == 3


def test_languages_that_differ_are_not_put_together():
    values = [0.1, 0.2, 0.3]
    sets = [
        make_set("tree_depth", values, "pl"),
        make_set("MR", values, "en"),
        make_set("CDSEntailment", values, "pl"),
        make_set("SST2", values, None),
    ]
    found = correlations(make_summary(sets))
    assert [c.label for c in found.columns] == ["MR", "CDSEntailment", "SST2"]
    assert [cell is None for cell in found.cells[0]] == [True, False, False]


def test_a_cell_without_numbers_that_vary_is_empty():
    sets = [
        make_set("tree_depth", [0.1, 0.2, 0.3]),
        make_set("subj_number", [0.5, 0.5, 0.5]),
        make_set("passive", [0.5, 0.6, None]),
        make_set("MR", [0.3, 0.4, 0.2]),
    ]
    found = correlations(make_summary(sets))
    assert [line[0] is None for line in found.cells] == [False, True, True]
    assert correlations(make_summary(sets[1:])) is None


@pytest.mark.parametrize(
    "sets",
    [
        [make_set("tree_depth", [0.1, 0.2, 0.3]), make_set("subj_number", [0.1, 0.2, 0.3])],
        [make_set("MR", [0.1, 0.2, 0.3]), make_set("CR", [0.1, 0.2, 0.3])],
        [make_set("tree_depth", [0.1, 0.2]), make_set("MR", [0.1, 0.2])],
    ],
    ids=["no transfer", "no probing", "two encoders"],
)
def test_there_may_be_nothing_to_correlate(sets):
    assert correlations(make_summary(sets)) is None


def test_nor_in_a_run_without_results():
    assert correlations(make_summary()) is None
