"""What scores mean: controls and measures in the summary are those of the run, and tables say how to read them."""

import json
import re
from dataclasses import asdict, replace

import numpy as np
import pytest

from sonde.report.charts import chart
from sonde.report.columns import ABSENT
from sonde.report.error_analysis import error_analysis
from sonde.report.full_summary import full_summary
from sonde.report.page.page import render
from sonde.report.summary import summarise
from sonde.report.tables import json_text, latex, markdown, print_table
from sonde.report.variant_tables import interpretations, variant_tables
from sonde.run import evaluate, join, selectivity
from sonde.run.control import CONTROLS
from sonde.run.measure import MEASURES
from tests.run.test_measures import layered
from tests.run.test_variants import EVERY, Reading, keyed, label, named, of_label

SETS = [keyed("own/verbs"), keyed("own/nouns", n=(210, 80, 96), classes=3)]
PARTS = {"controls", "selectivity", "online", "learning", "given", "capacity", "hidden", "mix", "inlp", "erasure"}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """An encoder with everything, and one that was run before anything was asked for."""
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


def cell_of(summary, dataset, encoder="k"):
    """What there is about an encoder on a set."""
    row = [said["name"] for said in summary["sets"]].index(dataset)
    column = [column["encoder"] for column in summary["columns"]].index(encoder)
    return summary["meaning"]["sets"][row][column]


def ranged(r):
    low, high = r.range
    return {"value": r.score, "low": low, "high": high}


# as plain data


def test_there_is_nothing_where_nothing_was_asked(tmp_path, printed):
    bare = summarise(evaluate({"k": label()}, SETS[:1], tmp_path / "run", baselines=()))
    assert bare["meaning"] is None
    assert list(variant_tables(bare)) == interpretations(bare) == []
    for text in (markdown(bare), latex(bare), printed(bare)):
        assert "Controls" not in text
        assert "Measures" not in text


def test_sets_and_columns_are_those_of_the_summary(summary):
    found = summary["meaning"]["sets"]
    assert [column["encoder"] for column in summary["columns"]] == ["bare", "k"]
    assert len(found) == len(summary["sets"]) == 2
    assert all(len(row) == 2 for row in found)
    for given in SETS:
        assert cell_of(summary, given.name, "bare") is None
        assert set(cell_of(summary, given.name)) == PARTS


def test_values_are_those_of_the_results(run, summary):
    for given in SETS:
        results = named(run, dataset=given.name)
        plain = next(r for r in run if r.cell.encoder == "k" and r.cell.dataset == given.name)
        found = cell_of(summary, given.name)
        assert set(found["controls"]) == set(results) & set(CONTROLS)
        for name, said in found["controls"].items():
            r = results[name]
            lost = None if name in ("key", "memorise") else plain.score - r.score
            assert said == {**ranged(r), "lost": lost, "n": r.n["te"]}
        online, r = found["online"], results["online"]
        assert {name: online[name] for name in ("value", "low", "high")} == ranged(r)
        assert online["bits"] == r.scores["bits"]
        assert (online["uniform"], online["prior"]) == (r.scores["uniform_bits"], r.scores["prior_bits"])
        assert online["against_uniform"][0] == pytest.approx(online["uniform"] / online["bits"])
        assert online["value"] == pytest.approx(online["prior"] / online["bits"])
        assert online["blocks"] == list(r.tried)
        assert online["enough"] == {share: r.scores[f"enough_{share}"] for share in ("75", "50", "25")}
        assert {name: each["bits"] for name, each in found["given"].items()} == {
            "length": results["given:length"].score,
            "words": results["given:words"].score,
        }
        assert found["capacity"]["points"] == list(results["capacity"].tried)
        assert found["capacity"]["enough"] == results["capacity"].score
        learning, r = found["learning"], results["learning"]
        assert {name: learning[name] for name in ("value", "low", "high")} == ranged(r)
        assert learning["points"] == list(r.tried)
        assert [p["accuracy"] for p in learning["baselines"]["majority"]] == [p["majority"] for p in r.tried]
        assert found["hidden"]["points"] == list(results["hidden"].tried)
        assert found["hidden"]["value"] == pytest.approx(found["hidden"]["accuracy"] - found["hidden"]["linear"])
        assert found["mix"] is None
        assert {name: found["inlp"][name] for name in ("value", "low", "high")} == ranged(results["inlp"])
        assert found["inlp"]["rank"] == results["inlp"].scores["rank"]
        assert set(found["erasure"]) == {said["label"] for said in summary["sets"]}
        for other, said in zip(SETS, summary["sets"], strict=True):
            r, left = results[f"erased:{other.name}#{other.digest}"], found["erasure"][said["label"]]
            assert left == {
                **ranged(r), "random": r.scores["random"], "reinjected": r.scores.get("reinjected"),
                "rank": len(other.labels) - 1,
            }  # fmt: skip
            assert (left["reinjected"] is not None) == (other is given)


def test_information_stands_with_the_plain_score(run, summary):
    for said in summary["sets"]:
        cell = said["cells"][1]
        plain = next(r for r in run if r.cell.encoder == "k" and r.cell.dataset == said["name"])
        assert cell["information"] == {
            "bits": plain.scores["information"], "low": plain.scores["information_low"],
            "high": plain.scores["information_high"], "entropy": plain.scores["entropy"],
        }  # fmt: skip


def test_selectivity_is_that_of_the_control(run, summary):
    for given in SETS:
        control = named(run, dataset=given.name)["key"]
        kept = run.predictions(control)
        expected = selectivity(
            kept["task_predicted"] == kept["task_truth"], kept["predicted"] == kept["truth"], kept["keys"].tolist()
        )
        found = cell_of(summary, given.name)["selectivity"]
        assert found == asdict(expected)
        assert found["value"] == pytest.approx(found["task"] - found["control"])
        assert found["control"] == control.score
        assert found["low"] > 0.2


def test_what_is_of_other_rows_is_not_subtracted(summary):
    """The control of keys has other splits, and what is learned by heart is tested on training rows."""
    for given in SETS:
        found = cell_of(summary, given.name)["controls"]
        assert {name for name, said in found.items() if said["lost"] is None} == {"key", "memorise"}


def test_readings_are_of_what_was_asked(summary, tmp_path):
    found = summary["meaning"]["readings"]
    assert list(found) == [*(name for name in CONTROLS if name not in ("words", "untrained")), *list(MEASURES)[:-1]]
    assert all(text == {**CONTROLS.parts(), **MEASURES.parts()}[name].interpretation for name, text in found.items())
    measures = ["given:baseline:length", "online"]
    some = evaluate({"k": label()}, SETS[:1], tmp_path / "run", controls=["norm"], measures=measures, baselines=())
    said = summarise(some)["meaning"]["readings"]
    assert list(said) == ["norm", "online", "given:baseline:length"]
    assert "add to those of baseline:length" in said["given:baseline:length"]
    assert interpretations(summarise(some)) == [f"{name}: {text}" for name, text in said.items()]


def test_json_has_no_number_that_is_none(summary, tmp_path):
    again = json.loads(json.dumps(summary, allow_nan=False))
    assert again["meaning"] == json.loads(json_text(summary))["meaning"] == summary["meaning"]
    zeros = Reading("zeros", lambda words: [0.0, 0.0, 0.0])
    ones = Reading("ones", of_label)  # all is known of the labels
    asked = {"controls": ["key", "norm"], "measures": ["all"]}
    run = evaluate({"zeros": zeros, "ones": ones}, SETS[:1], tmp_path / "run", baselines=(), **asked)
    assert run.failures == ()
    json.dumps(summarise(run), allow_nan=False)
    assert cell_of(summarise(run), "own/verbs", "zeros")["online"]["value"] == pytest.approx(1, abs=0.05)


# what is lost, and what must not be mixed up


def test_a_control_is_of_the_encoder_that_it_was_asked_of(tmp_path):
    """Two encoders of one name: each has the controls of its own identity."""
    for noisy in (0.0, 3.0):
        run = evaluate({"k": label(noisy)}, SETS[:1], tmp_path / "run", controls=["direction"], baselines=())
    summary = summarise(run)
    assert len(summary["columns"]) == 2
    for column, cell in zip(summary["columns"], summary["meaning"]["sets"][0], strict=True):
        (r,) = [r for r in run.extras if r.cell.id == column["identity"]]
        assert cell["controls"]["direction"]["value"] == r.score
    unsure, sure = sorted(cell["controls"]["direction"]["value"] for cell in summary["meaning"]["sets"][0])
    assert sure > unsure + 0.2


def test_a_control_is_of_the_seed_that_is_shown(tmp_path):
    for seed in (5, 6):
        run = evaluate({"k": label()}, SETS[:1], tmp_path / "run", seeds=[seed], controls=["shuffled"], baselines=())
    by_seed = {r.cell.seed: r.score for r in run.extras}
    assert by_seed[5] != by_seed[6]
    assert cell_of(summarise(run), "own/verbs")["controls"]["shuffled"]["value"] == by_seed[5]
    # if there is no other, that of another seed will do
    later = replace(run, extras=tuple(r for r in run.extras if r.cell.seed == 6))
    assert cell_of(summarise(later), "own/verbs")["controls"]["shuffled"]["value"] == by_seed[6]


def test_measures_are_beside_the_linear_probe_and_controls_beside_their_own(tmp_path):
    quick = "senteval?passes=4"
    run = evaluate(
        {"k": label(2.0)}, SETS[:1], tmp_path / "run", probes=["linear", quick], controls=["direction"],
        measures=["capacity"], baselines=(),
    )  # fmt: skip
    summary = summarise(run)
    assert [column["probe"] for column in summary["columns"]] == ["linear", quick]
    one, two = summary["meaning"]["sets"][0]
    assert (one["capacity"] is None, two["capacity"] is None) == (False, True)
    scores = {r.cell.probe: r.score for r in run.extras if r.cell.variant == "direction"}
    assert [cell["controls"]["direction"]["value"] for cell in (one, two)] == [scores["linear"], scores[quick]]
    # where the linear probe was not run, they are beside what was
    only = replace(run, results=tuple(r for r in run if r.cell.probe == quick))
    ((found,),) = summarise(only)["meaning"]["sets"]
    assert found["capacity"] == one["capacity"]


def test_of_layers_that_which_is_shown_and_the_mix_of_all(tmp_path, printed):
    run = evaluate(
        {"deep": layered(1, 3)}, SETS[:1], tmp_path / "run", controls=["direction"], measures=["mix"], baselines=()
    )
    summary = summarise(run)
    ((found,),) = summary["meaning"]["sets"]
    assert summary["sets"][0]["cells"][0]["layer"] == "h1"
    by_layer = {r.cell.layer: r for r in run.extras}
    assert found["controls"]["direction"]["value"] == by_layer["h1"].score > 0.9
    mix = by_layer[None]
    assert found["mix"]["centre"] == mix.scores["centre"]
    assert found["mix"]["expected"] == mix.scores["expected_layer"]
    assert found["mix"]["layers"] == list(mix.tried)
    assert list(summary["meaning"]["readings"]) == ["direction", "mix"]
    (_, (_, _, *columns)) = next((t, c) for t, c in variant_tables(summary) if t == "Measures of deep")
    heads = {tuple(column.head): column.cells[0].text for column in columns}
    assert heads["centre", "of layers"] == f"{mix.scores['centre']:.1f}"
    assert heads["expected", "layer"] == f"{mix.scores['expected_layer']:.1f}"
    assert "Measures of deep" in printed(summary)


def test_joined_runs_say_the_same(run, summary, tmp_path):
    other = evaluate({"l": label(2.0)}, SETS[:1], tmp_path / "run", controls=["key"], baselines=())
    joined = summarise(join([run, other]))
    for given in SETS:
        assert cell_of(joined, given.name) == cell_of(summary, given.name)
    theirs = cell_of(joined, "own/verbs", "l")
    assert theirs == cell_of(summarise(other), "own/verbs", "l")
    assert theirs["selectivity"] is not None
    assert cell_of(joined, "own/nouns", "l") is None


def test_learning_curves_have_baselines_beside_them(tmp_path):
    run = evaluate({"k": label(1.0)}, SETS[:1], tmp_path / "run", measures=["learning"], baselines=["nb-uni"])
    for seed in (1111, 2222):  # those of another seed had other subsamples
        run = evaluate(
            {"k": label(1.0)}, SETS[:1], tmp_path / "run", measures=["learning"], baselines=["nb-uni"], seeds=[seed]
        )
    own = cell_of(summarise(run), "own/verbs")["learning"]
    bayes = {r.cell.seed: r for r in run.extras if r.cell.encoder == "nb-uni"}
    assert own["baselines"]["nb-uni"] == list(bayes[1111].tried)
    assert list(own["baselines"]) == ["majority", "nb-uni"]
    rows, spec = chart("learning", full_summary(run))
    assert [(row["encoder_name"], row["x"]) for row in rows] == [
        (name, p["rows"]) for name in ("k", "majority", "nb-uni") for p in own["points"]
    ]
    assert rows[len(own["points"]) - 1]["gain"] == own["value"]
    (line,) = spec["title"]["subtitle"]
    assert re.fullmatch(r"last doubling [+−][\d.]+ ±[\d.]+ \((still rising|no clear rise|falling)\)", line)
    page = render(full_summary(run))
    assert "Learning curves" in page
    assert 'data-chart="learning"' in page


# tables


def test_tables_have_the_sets_the_score_and_what_was_asked(run, summary):
    tables = dict(variant_tables(summary))
    assert list(tables) == [
        "Controls of k", "Measures of k", "What is left of a set (rows) of k when a property (columns) is erased",
    ]  # fmt: skip
    labels = [said["label"] for said in summary["sets"]]
    for columns in tables.values():
        names, scores = columns[:2]
        assert [words.text for words in names.cells] == labels
        assert [words.text for words in scores.cells] == [
            f"{100 * said['cells'][1]['accuracy']:.1f}" for said in summary["sets"]
        ]
        assert {len(column.cells) for column in columns} == {2}
    heads = [[column.head for column in columns[2:]] for columns in tables.values()]
    assert heads[0] == [
        ["selectivity"],
        ["task in the", "split of key"],
        *([name] for name in cell_of(summary, "own/verbs")["controls"]),
    ]
    assert heads[1] == [
        ["information", "bits"], ["compression", "times"], ["rows to half", "of the prior"],
        ["adds to", "length", "bits"], ["adds to", "words", "bits"], ["last doubling", "adds"],
        ["rank", "that will do"],
        ["hidden layer", "adds"], ["after INLP", "(directions)"],
    ]  # fmt: skip
    assert heads[2] == [[label] for label in labels]  # a set's own property is on the diagonal
    found = named(run, dataset="own/verbs")
    shown = {tuple(column.head): column.cells[0] for columns in tables.values() for column in columns[2:]}
    assert shown["norm",].text == f"{100 * found['norm'].score:.1f}"
    assert shown["compression", "times"].text == f"{found['online'].score:.2f}"
    assert shown["rank", "that will do"].text == "1"
    projected = shown["after INLP", "(directions)"]
    assert projected.text == f"{100 * found['inlp'].score:.1f}"
    assert projected.note == f"({found['inlp'].scores['rank']:.0f})"
    erased = found[f"erased:own/verbs#{SETS[0].digest}"]
    own = shown[summary["sets"][0]["label"],]
    assert (own.text, own.note) == (f"{100 * erased.score:.1f}", f"({100 * erased.scores['random']:.1f})")


def test_a_column_that_is_empty_is_left_out_and_a_cell_is_a_dash(summary):
    one = json.loads(json.dumps(summary))
    for row in one["meaning"]["sets"]:
        row[1]["controls"].pop("gaussian")
    one["meaning"]["sets"][0][1]["controls"].pop("norm")
    one["meaning"]["sets"][0][1]["selectivity"] = None
    (_, columns) = next(iter(variant_tables(one)))
    by = {column.head[0]: [words.text for words in column.cells] for column in columns}
    assert "gaussian" not in by
    assert by["norm"][0] == by["selectivity"][0] == ABSENT
    assert ABSENT not in (by["norm"][1], by["selectivity"][1])


@pytest.mark.parametrize("rows", [0, 60])
def test_rows_to_half_of_the_prior_or_more_than_there_are(summary, rows):
    one = json.loads(json.dumps(summary))
    one["meaning"]["sets"][0][1]["online"]["enough"]["50"] = rows
    columns = dict(variant_tables(one))["Measures of k"]
    (found,) = [column.cells[0].text for column in columns if column.head[0] == "rows to half"]
    assert found == ("60" if rows else "> 240")


@pytest.mark.parametrize("width", [60, 200])
def test_texts_and_the_console_have_them(summary, printed, width):
    tables = dict(variant_tables(summary))
    texts = [printed(summary, width), markdown(summary), latex(summary)]
    for text in texts:
        flat = re.sub(r"[\\\n%]| +", " ", text).replace("  ", " ")
        for title, columns in tables.items():
            assert title in flat
            for column in columns[2:]:
                assert all(words.text in text for words in column.cells)
        for name, interpretation in summary["meaning"]["readings"].items():
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
    (found,) = error_analysis(run, summarise(run))
    assert {" ".join(row["tokens"]) for row in found["doubtful"]} == {row.text for row in test[:5]}
    assert {row["label"] for row in found["doubtful"]} == {"c0", "c1"}
    bits = [row["bits"] for row in found["doubtful"]]
    assert bits == sorted(bits)
    assert bits[-1] < 0
    told = np.mean([run.predictions(r)["pointwise"] for r in run], axis=0)
    assert bits[0] == pytest.approx(told.min(), abs=1e-3)
    assert [row["bits"] for row in found["telling"]] == pytest.approx(sorted(told)[: -len(bits) - 1 : -1], abs=1e-3)
    assert not {" ".join(row["tokens"]) for row in found["telling"]} & {row.text for row in test[:5]}


def test_a_probe_that_is_sure_of_all_doubts_nothing(tmp_path):
    run = evaluate({"k": Reading("known", of_label)}, SETS[:1], tmp_path / "run", baselines=())
    (found,) = error_analysis(run, summarise(run))
    assert found["doubtful"] == []
    assert len(found["telling"]) == 5
