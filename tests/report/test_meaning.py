"""Controls and measures: the summary has those of the run, and tables say how to read them."""

import re
from dataclasses import replace

import msgspec
import numpy as np
import pytest

from sentprobe.core.formatting import ABSENT
from sentprobe.errors import SentProbeWarning
from sentprobe.report.charts import chart
from sentprobe.report.error_analysis import error_analysis
from sentprobe.report.page.page import render
from sentprobe.report.summary import full_summary, summarise
from sentprobe.report.tables import json_text, latex, markdown, print_table
from sentprobe.report.types import Summary, UsableInformation
from sentprobe.report.variants import UNKNOWN, interpretations, variant_tables
from sentprobe.run import evaluate, join
from sentprobe.run.control import CONTROLS
from sentprobe.run.measure import MEASURES
from sentprobe.run.variants import selectivity
from tests.run.test_measures import layered
from tests.run.test_variants import EVERY, Reading, keyed, label, named, of_label

SETS = [keyed("own/verbs"), keyed("own/nouns", n=(210, 80, 96), classes=3)]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """An encoder with everything, and one that was run before that without controls and measures."""
    folder = tmp_path_factory.mktemp("meaning") / "run"
    evaluate({"bare": label(1.0)}, SETS[:1], folder, baselines=())
    return evaluate({"k": label()}, SETS, folder, **EVERY)


@pytest.fixture(scope="module")
def summary(run):
    return summarise(run)


@pytest.fixture
def printed(monkeypatch, capsys):
    def work(summary, width=200):
        monkeypatch.setenv("COLUMNS", str(width))
        print_table(summary)
        return capsys.readouterr().out

    return work


def by_title(tables):
    """The columns of tables, by their titles."""
    return {table.title: table.columns for table in tables}


def variants_of(summary, dataset, encoder="k"):
    """The controls and measures of an encoder on a set, by name."""
    row = [s.name for s in summary.sets].index(dataset)
    column = [column.encoder for column in summary.columns].index(encoder)
    return {v.name: v for v in summary.sets[row].variants[column]}


def estimate(v):
    return v.value, v.low, v.high


def recorded(r):
    return r.score, *r.range


def changed(summary, change, dataset="own/verbs", encoder="k"):
    """The summary with variants of one cell replaced by those that ``change`` makes of them."""
    column = [column.encoder for column in summary.columns].index(encoder)
    sets = []
    for s in summary.sets:
        if s.name == dataset:
            own = tuple(found for v in s.variants[column] if (found := change(v)) is not None)
            s = replace(s, variants=(*s.variants[:column], own, *s.variants[column + 1 :]))
        sets.append(s)
    return replace(summary, sets=tuple(sets))


# In the summary


def test_controls_are_accuracies_and_not_next_to_losses(run, summary, printed):
    assert "Controls of k" in printed(summary)
    assert "Controls of k" not in printed(summarise(run, metric="log2_loss"))


def test_a_run_without_controls_and_measures_has_none(tmp_path, printed):
    bare = summarise(evaluate({"k": label()}, SETS[:1], tmp_path / "run", baselines=()))
    assert [s.variants for s in bare.sets] == [((),)]
    assert bare.interpretations == {}
    assert list(variant_tables(bare)) == interpretations(bare) == []
    for text in (markdown(bare), latex(bare), printed(bare)):
        assert "Controls" not in text
        assert "Measures" not in text


def test_sets_and_columns_are_those_of_the_summary(summary):
    assert [column.encoder for column in summary.columns] == ["bare", "k"]
    assert [len(s.variants) for s in summary.sets] == [2, 2]
    for s in summary.sets:
        bare, everything = s.variants
        assert bare == ()
        assert everything


def test_values_are_those_of_the_results(run, summary):
    for given in SETS:
        found, results = variants_of(summary, given.name), named(run, dataset=given.name)
        plain = next(r for r in run if r.cell.encoder == "k" and r.cell.dataset == given.name)
        erased = {f"erased:{s.name}#{s.data}": s.label for s in summary.sets}
        assert set(found) == {erased.get(name, name) for name in results}
        for name, r in results.items():
            v = found[erased.get(name, name)]
            assert v.of == ("erasure" if name in erased else name)
            assert v.kind == ("control" if name in CONTROLS else "measure")
            assert v.n == r.n["te"]
            assert v.scores == r.scores
            assert v.chosen == r.chosen
            assert v.points == tuple(r.tried)
            assert estimate(v) == ((r.score, None, None) if r.interval_kind == "none" else recorded(r))
            if name in CONTROLS and CONTROLS[name].same_test:
                assert v.lost == plain.score - r.score
            else:
                assert v.lost is None
        learning = found["learning"]
        assert [p["accuracy"] for p in learning.baselines["majority"]] == [p["majority"] for p in learning.points]
        assert not any(v.baselines for name, v in found.items() if name != "learning")
        for other, s in zip(SETS, summary.sets, strict=True):
            assert found[s.label].scores["rank"] == len(other.labels) - 1
            assert ("reinjected" in found[s.label].scores) == (other is given)


def test_information_is_with_the_plain_score(run, summary):
    for s in summary.sets:
        plain = next(r for r in run if r.cell.encoder == "k" and r.cell.dataset == s.name)
        assert s.cells[1].information == UsableInformation(
            bits=plain.scores["information"], low=plain.scores["information_low"],
            high=plain.scores["information_high"], entropy=plain.scores["entropy"],
        )  # fmt: skip


def test_selectivity_is_that_of_the_control(run, summary):
    for given in SETS:
        control = named(run, dataset=given.name)["key"]
        kept = run.predictions(control)
        expected = selectivity(
            kept["task_predicted"] == kept["task_truth"], kept["predicted"] == kept["truth"], kept["keys"].tolist()
        )
        scores = variants_of(summary, given.name)["key"].scores
        names = ("selectivity", "selectivity_low", "selectivity_high", "task", "control", "keys")
        found = tuple(scores[name] for name in names)
        assert found == (
            expected.value, expected.low, expected.high, expected.task, expected.control, expected.keys,
        )  # fmt: skip
        assert scores["control"] == control.score
        assert scores["selectivity_low"] > 0.2


def test_what_is_of_other_rows_is_not_subtracted(summary):
    """The key control has other splits, and memorisation is tested on training rows."""
    for given in SETS:
        found = [v for v in variants_of(summary, given.name).values() if v.kind == "control"]
        assert {v.name for v in found if v.lost is None} == {"key", "memorise"}


def test_interpretations_are_of_what_was_computed(summary, tmp_path):
    found = summary.interpretations
    assert list(found) == [*(name for name in CONTROLS if name not in ("words", "untrained")), *list(MEASURES)[:-1]]
    assert all(
        text == (CONTROLS if name in CONTROLS else MEASURES)[name].interpretation for name, text in found.items()
    )
    measures = ["given:baseline:length", "online"]
    some = evaluate({"k": label()}, SETS[:1], tmp_path / "run", controls=["norm"], measures=measures, baselines=())
    found = summarise(some).interpretations
    assert list(found) == ["norm", "online", "given:baseline:length"]
    assert "add to those of baseline:length" in found["given:baseline:length"]
    assert interpretations(summarise(some)) == [f"{name}: {text}" for name, text in found.items()]


def test_json_has_no_number_that_is_none(summary, tmp_path):
    assert msgspec.json.decode(json_text(summary), type=Summary) == summary
    zeros = Reading("zeros", lambda words: [0.0, 0.0, 0.0])
    ones = Reading("ones", of_label)  # the labels themselves
    asked = {"controls": ["key", "norm"], "measures": ["all"]}
    run = evaluate({"zeros": zeros, "ones": ones}, SETS[:1], tmp_path / "run", baselines=(), **asked)
    assert run.failures == ()
    json_text(summarise(run))
    assert variants_of(summarise(run), "own/verbs", "zeros")["online"].value == pytest.approx(1, abs=0.05)


# What is missing, and what must not be mixed up


def test_a_control_is_of_the_encoder_that_it_was_run_with(tmp_path):
    """Two encoders of one name: each has the controls of its own identity."""
    for noisy in (0.0, 3.0):
        run = evaluate({"k": label(noisy)}, SETS[:1], tmp_path / "run", controls=["direction"], baselines=())
    summary = summarise(run)
    assert len(summary.columns) == 2
    for column, (direction,) in zip(summary.columns, summary.sets[0].variants, strict=True):
        (r,) = [r for r in run.extras if r.cell.id == column.identity]
        assert direction.value == r.score
    low, high = sorted(direction.value for (direction,) in summary.sets[0].variants)
    assert high > low + 0.2


def test_a_control_is_of_the_seed_that_is_shown(tmp_path):
    for seed in (5, 6):
        run = evaluate(
            {"k": label()}, SETS[:1], tmp_path / "run", probe_seeds=[seed], controls=["shuffled"], baselines=()
        )
    by_seed = {r.cell.seed: r.score for r in run.extras}
    assert by_seed[5] != by_seed[6]
    assert variants_of(summarise(run), "own/verbs")["shuffled"].value == by_seed[5]
    # if there is no other, that of another seed will do
    later = replace(run, extras=tuple(r for r in run.extras if r.cell.seed == 6))
    assert variants_of(summarise(later), "own/verbs")["shuffled"].value == by_seed[6]


def test_measures_are_with_the_linear_probe_and_controls_with_their_own(tmp_path):
    quick = "senteval?passes=4"
    run = evaluate(
        {"k": label(2.0)}, SETS[:1], tmp_path / "run", probes=["linear", quick], controls=["direction"],
        measures=["capacity"], baselines=(),
    )  # fmt: skip
    summary = summarise(run)
    assert [column.probe for column in summary.columns] == ["linear", quick]
    one, two = ({v.name: v for v in found} for found in summary.sets[0].variants)
    assert (set(one), set(two)) == ({"direction", "capacity"}, {"direction"})
    scores = {r.cell.probe: r.score for r in run.extras if r.cell.variant == "direction"}
    assert [found["direction"].value for found in (one, two)] == [scores["linear"], scores[quick]]
    # where the linear probe was not run, they are with what was
    only = replace(run, results=tuple(r for r in run if r.cell.probe == quick))
    assert variants_of(summarise(only), "own/verbs")["capacity"] == one["capacity"]


def test_of_layers_that_which_is_shown_and_the_mix_of_all(tmp_path, printed):
    run = evaluate(
        {"deep": layered(1, 3)}, SETS[:1], tmp_path / "run", controls=["direction"], measures=["mix"], baselines=()
    )
    summary = summarise(run)
    found = variants_of(summary, "own/verbs", "deep")
    assert summary.sets[0].cells[0].layer == "h1"
    by_layer = {r.cell.layer: r for r in run.extras}
    assert found["direction"].value == by_layer["h1"].score > 0.9
    mix = by_layer[None]
    assert found["mix"].scores == mix.scores
    assert found["mix"].points == tuple(mix.tried)
    assert list(summary.interpretations) == ["direction", "mix"]
    _, _, *columns = by_title(variant_tables(summary))["Measures of deep"]
    heads = {tuple(column.heading): column.cells[0].text for column in columns}
    assert heads["centre", "of layers"] == f"{mix.scores['centre']:.1f}"
    assert heads["expected", "layer"] == f"{mix.scores['expected_layer']:.1f}"
    assert "Measures of deep" in printed(summary)


def test_joined_runs_have_the_same(run, summary, tmp_path):
    other = evaluate({"l": label(2.0)}, SETS[:1], tmp_path / "run", controls=["key"], baselines=())
    joined = summarise(join([run, other]))
    for given in SETS:
        assert variants_of(joined, given.name) == variants_of(summary, given.name)
    theirs = variants_of(joined, "own/verbs", "l")
    assert theirs == variants_of(summarise(other), "own/verbs", "l")
    assert "selectivity" in theirs["key"].scores
    assert variants_of(joined, "own/nouns", "l") == {}


def test_what_is_not_installed_is_shown_as_it_was_recorded(run, printed):
    """A run with a control, a measure and one for all layers of a package that is not there."""
    plain = next(r for r in run if r.cell.encoder == "k" and r.cell.dataset == "own/verbs")
    other = replace(plain, interval=(12.0, 13.0), cluster_interval=None)
    strange = [
        replace(other, cell=replace(plain.cell, variant="odd"), score=12.25),
        replace(other, cell=replace(plain.cell, variant="all{x}", layer=None), score=3.0),
    ]
    summary = summarise(replace(run, extras=tuple(strange)))
    found = variants_of(summary, "own/verbs")
    assert {(v.name, v.of, v.kind, v.value) for v in found.values()} == {
        ("odd", "odd", "measure", 12.25), ("all{x}", "all{x}", "measure", 3.0),
    }  # fmt: skip
    assert set(summary.interpretations.values()) == {UNKNOWN}
    ((title, columns),) = by_title(variant_tables(summary)).items()
    assert title == "Measures of k"
    shown = {tuple(column.heading): column.cells[0] for column in columns}
    assert (shown["odd",].text, shown["odd",].margin) == ("12.250", "±0.500")
    assert shown["all{x}",].text == "3.000"
    assert "12.250 ±0.500" in printed(summary)
    assert UNKNOWN in markdown(summary)


def test_learning_curves_have_those_of_baselines(tmp_path):
    run = evaluate({"k": label(1.0)}, SETS[:1], tmp_path / "run", measures=["learning"], baselines=["nb-uni"])
    for seed in (1111, 2222):  # those of another seed had other subsamples
        run = evaluate(
            {"k": label(1.0)},
            SETS[:1],
            tmp_path / "run",
            measures=["learning"],
            baselines=["nb-uni"],
            probe_seeds=[seed],
        )
    own = variants_of(summarise(run), "own/verbs")["learning"]
    bayes = {r.cell.seed: r for r in run.extras if r.cell.encoder == "nb-uni"}
    assert own.baselines["nb-uni"] == tuple(bayes[1111].tried)
    assert list(own.baselines) == ["majority", "nb-uni"]
    rows, spec = chart("learning", full_summary(run))
    assert [(row["encoder_name"], row["x"]) for row in rows] == [
        (name, p["rows"]) for name in ("k", "majority", "nb-uni") for p in own.points
    ]
    assert rows[len(own.points) - 1]["gain"] == own.value
    (line,) = spec["title"]["subtitle"]
    assert re.fullmatch(r"last doubling [+−][\d.]+ ±[\d.]+ \((still rising|no clear rise|falling)\)", line)
    page = render(full_summary(run))
    assert "Learning curves" in page
    assert 'data-chart="learning"' in page


# Tables


def test_tables_have_the_sets_the_score_and_the_variants(run, summary):
    tables = by_title(variant_tables(summary))
    assert list(tables) == [
        "Controls of k", "Measures of k", "Erasure of k: accuracy on a set (row) after a property (column) is erased",
    ]  # fmt: skip
    labels = [s.label for s in summary.sets]
    for columns in tables.values():
        names, scores = columns[:2]
        assert [words.text for words in names.cells] == labels
        assert [words.text for words in scores.cells] == [f"{100 * s.cells[1].accuracy:.1f}" for s in summary.sets]
        assert {len(column.cells) for column in columns} == {2}
    heads = [[tuple(column.heading) for column in columns[2:]] for columns in tables.values()]
    controls = [v.name for v in variants_of(summary, "own/verbs").values() if v.kind == "control"]
    assert heads[0] == [("selectivity",), ("task in the", "split of key"), *((name,) for name in controls)]
    assert heads[1] == [
        ("information", "bits"), ("compression", "times"), ("rows to half", "of the prior"),
        ("last doubling", "adds"), ("adds to", "length", "bits"), ("adds to", "words", "bits"),
        ("sufficient", "rank"), ("hidden layer", "adds"), ("after INLP", "(removed)"),
        ("norm and", "length"),
    ]  # fmt: skip
    assert heads[2] == [(label,) for label in labels]  # a set's own property is on the diagonal
    found = named(run, dataset="own/verbs")
    shown = {tuple(column.heading): column.cells[0] for columns in tables.values() for column in columns[2:]}
    assert shown["norm",].text == f"{100 * found['norm'].score:.1f}"
    assert shown["compression", "times"].text == f"{found['online'].score:.2f}"
    assert shown["sufficient", "rank"].text == "1"
    projected = shown["after INLP", "(removed)"]
    assert projected.text == f"{100 * found['inlp'].score:.1f}"
    assert projected.note == f"({found['inlp'].scores['rank']:.0f})"
    erased = found[f"erased:own/verbs#{SETS[0].digest}"]
    own = shown[summary.sets[0].label,]
    assert (own.text, own.note) == (f"{100 * erased.score:.1f}", f"({100 * erased.scores['random']:.1f})")


def test_an_empty_column_is_left_out_and_an_empty_cell_is_a_dash(summary):
    for name in ("own/verbs", "own/nouns"):
        summary = changed(summary, lambda v: None if v.name == "gaussian" else v, name)
    summary = changed(summary, lambda v: None if v.name == "norm" else v)
    summary = changed(summary, lambda v: replace(v, scores={}) if v.name == "key" else v)
    columns = next(iter(variant_tables(summary))).columns
    by = {column.heading[0]: [words.text for words in column.cells] for column in columns}
    assert "gaussian" not in by
    assert by["norm"][0] == by["selectivity"][0] == ABSENT
    assert ABSENT not in (by["norm"][1], by["selectivity"][1], *by["key"])


def test_a_column_that_fails_is_left_out_with_a_warning(summary):
    """As one of another package may, or one that was recorded by an older version of it."""
    broken = summary
    for name in ("own/verbs", "own/nouns"):
        broken = changed(broken, lambda v: replace(v, scores={}) if v.name == "inlp" else v, name)
    with pytest.warns(SentProbeWarning, match="The column 'after INLP .removed.' is left out of the report: KeyError"):
        tables = by_title(variant_tables(broken))
    heads = [column.heading[0] for column in tables["Measures of k"]]
    assert heads == [
        c.heading[0] for c in by_title(variant_tables(summary))["Measures of k"] if c.heading[0] != "after INLP"
    ]


def test_columns_are_in_the_order_of_their_objects_whatever_the_first_set_has(summary):
    one = changed(summary, lambda v: None if v.name == "online" else v)
    assert [c.heading for c in by_title(variant_tables(one))["Measures of k"]] == [
        c.heading for c in by_title(variant_tables(summary))["Measures of k"]
    ]


@pytest.mark.parametrize("rows", [0, 60])
def test_rows_to_half_of_the_prior_or_more_than_there_are(summary, rows):
    one = changed(summary, lambda v: replace(v, scores={**v.scores, "enough_50": rows}) if v.name == "online" else v)
    columns = by_title(variant_tables(one))["Measures of k"]
    (found,) = [column.cells[0].text for column in columns if column.heading[0] == "rows to half"]
    assert found == ("60" if rows else "> 240")


@pytest.mark.parametrize("width", [60, 200])
def test_texts_and_the_console_have_them(summary, printed, width):
    tables = by_title(variant_tables(summary))
    texts = [printed(summary, width), markdown(summary), latex(summary)]
    for text in texts:
        flat = re.sub(r"[\\\n%]| +", " ", text).replace("  ", " ")
        for title, columns in tables.items():
            assert title in flat
            for column in columns[2:]:
                assert all(words.text in text for words in column.cells)
        for name, interpretation in summary.interpretations.items():
            assert interpretation in flat, name
    rows = [line for line in texts[1].splitlines() if line.startswith("| own/verbs |")]
    assert [row.count("|") - 1 for row in rows[1:]] == [len(columns) for columns in tables.values()]


# rows whose label may be wrong


def test_a_label_that_is_wrong_is_doubted(tmp_path):
    """Of the test rows, five have the label of another one; the encoder knows that of the words."""
    given = SETS[0]
    test = [r._replace(label="c0" if r.label == "c1" else "c1") if i < 5 else r for i, r in enumerate(given.rows["te"])]
    wrong = replace(given, name="own/wrong", rows={**given.rows, "te": test})
    encoders = {"k": label(0.1), "l": label(0.15)}
    run = evaluate(encoders, [wrong], tmp_path / "run", baselines=())
    ((found,), _) = error_analysis(run, summarise(run))
    assert {" ".join(row.tokens) for row in found.doubtful} == {row.text for row in test[:5]}
    assert {row.label for row in found.doubtful} == {"c0", "c1"}
    bits = [row.bits for row in found.doubtful]
    assert bits == sorted(bits)
    assert bits[-1] < 0
    told = np.mean([run.predictions(r)["pointwise"] for r in run], axis=0)
    assert bits[0] == pytest.approx(told.min(), abs=1e-3)
    assert [row.bits for row in found.easiest] == pytest.approx(sorted(told)[: -len(bits) - 1 : -1], abs=1e-3)
    assert not {" ".join(row.tokens) for row in found.easiest} & {row.text for row in test[:5]}


def test_a_probe_with_high_confidence_everywhere_has_no_doubtful_rows(tmp_path):
    run = evaluate({"k": Reading("known", of_label)}, SETS[:1], tmp_path / "run", baselines=())
    ((found,), _) = error_analysis(run, summarise(run))
    assert found.doubtful == ()
    assert len(found.easiest) == 5
