"""The report of `sentprobe pairs`: contained beside used, other similarities and ties, the worst rows, the page."""

import json
from dataclasses import replace

import numpy as np
import pytest

from sentprobe import Dataset, Example, evaluate, evaluate_pairs, join_runs
from sentprobe.cli import app
from sentprobe.report.answer import answer
from sentprobe.report.charts import chart
from sentprobe.report.extensions.pairs import tables
from sentprobe.report.legend import legend
from sentprobe.report.page import render
from sentprobe.report.summary import full_summary, summarise
from sentprobe.report.used import READINGS, property_uses
from sentprobe.report.verdict import BaselineComparison
from sentprobe.results.run_kinds.pairs import disjoint_sets
from tests.report.summaries import cell, column, set_summary
from tests.report.summaries import summary as written_summary

PEOPLE = ["Ann", "Bob", "Cy", "Dee", "Eve", "Flo", "Gus", "Hal"]


def triplets():
    pairs = [(a, b) for a in PEOPLE for b in PEOPLE if a != b]
    roles = [(f"{a} saw {b} .", f"{b} was seen by {a} .", f"{b} saw {a} .", "roles", "passive") for a, b in pairs]
    order = [(f"Today {a} met {b} .", f"{a} met {b} Today .", f"{a} Today met {b} .", "order", "") for a, b in pairs]
    return roles + order


def roles_set():
    """Who did it, Ann or Bob; neither words nor pairs of words say so."""
    rng = np.random.default_rng(0)
    rows = []
    for i in range(200):
        agent, patient = ("Ann", "Bob") if i % 2 else ("Bob", "Ann")
        a, b, c, d = (f"w{k}" for k in rng.integers(8, size=4))
        text = f"{a} {agent} {b} saw {c} {patient} {d} ."
        rows.append(Example(agent, tuple(text.split()), text))
    splits = {"tr": rows[:80], "va": rows[80:100], "te": rows[100:]}
    return Dataset("mine/roles", "roles", 1, None, ("Ann", "Bob"), splits)


class Agent:
    """The words, and a little of who did it, which a probe finds and the cosine does not use."""

    def __call__(self, texts):
        vectors = np.zeros((len(texts), 64), np.float32)
        for i, text in enumerate(texts):
            words = text.split()
            for word in words:
                vectors[i, 8 + sum(map(ord, word.lower())) % 56] += 1
            people = [word for word in words if word in PEOPLE]
            vectors[i, PEOPLE.index(people[-1 if "was" in words else 0])] = 0.2
        return vectors


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("both") / "run"
    evaluate({"agent": Agent()}, roles_set(), folder, resample=0)
    evaluate_pairs({"agent": Agent()}, triplets(), folder)
    return folder


@pytest.fixture(scope="module")
def summary(folder):
    from sentprobe import Run

    return full_summary(Run.load(folder))


def test_a_property_is_contained_and_the_contrast_is_nearer(summary):
    (use,) = property_uses(summary)
    assert (use.kind, use.contained.accuracy, use.used.accuracy) == ("roles", 1.0, 0.0)
    assert use.contained.against.verdict == "above"
    assert use.used.against.baseline == "chance"
    assert use.reading == "contained; contrast nearer"
    used, details = tables(summary)
    assert [column.title for column in used.columns][:3] == ["property", "encoder", "contained"]
    assert used.rows[0][-1].text == "contained; contrast nearer"
    rows, _ = chart("used", summary)
    sides = {(row["encoder_name"], row["side"]): row["points"] for row in rows}
    assert sides[("agent", "contained")] == 100
    assert sides[("agent", "used")] == 0
    assert sides[("best baseline", "used")] == 50
    assert details.title.startswith("Triplets: the share of rows")


def test_runs_of_their_own_say_the_same(tmp_path, summary):
    class Named(Agent):
        from sentprobe.encoders import Identity

        identity = Identity("test", "agent")

    probed = evaluate({"agent": Named()}, roles_set(), tmp_path / "probed", resample=0)
    compared = evaluate_pairs({"agent": Named()}, triplets(), tmp_path / "pairs")
    (use,) = property_uses(summarise(join_runs([probed, compared])))
    assert (use.contained.accuracy, use.used.accuracy) == (1.0, 0.0)


@pytest.mark.parametrize("contained", [True, False])
@pytest.mark.parametrize("used", [True, False])
def test_readings(contained, used):
    def compared(above, value):
        return cell(value, against=BaselineComparison("tf-idf", 0.5, "above" if above else "not_significant", 0.01, 1))

    sets = [
        set_summary("suite/past_present", [compared(contained, 0.8), None], task="past_present"),
        set_summary("mine/tense", [None, compared(used, 0.6)], task="triplets"),
        set_summary("fr/past_present", [compared(True, 0.8), None], task="past_present", language="fr"),
    ]
    whole = written_summary(sets, [column("st:a"), column("st:a", probe="cosine")])
    (use,) = property_uses(whole)  # the French set is of another language
    assert use.reading == READINGS[contained, used]
    below = replace(sets[1], cells=(None, compared(False, 0.3)))
    (use,) = property_uses(replace(whole, sets=(sets[0], below)))
    assert use.reading == ("contained; contrast nearer" if contained else "neither shown")
    other = replace(whole, columns=(column("st:a"), column("st:b", probe="cosine")))
    assert property_uses(other) == []


def test_the_headline_counts_every_row_once(summary):
    names = [s.name for s in summary.sets if s.task == "triplets"]
    assert sorted(names) == ["contrasts", "contrasts/order", "contrasts/roles"]
    sentences = " ".join(answer(summary))
    assert "contrasts/order" in sentences or "contrasts/roles" in sentences
    assert "3 sets" not in sentences
    assert "4 sets" not in sentences

    def compared(value):
        return cell(value, against=BaselineComparison("chance", 0.5, "above", 0.01, 1))

    def named(name, n):
        return replace(set_summary(name, [compared(0.9), compared(0.8)], task="triplets"), n={"te": n})

    columns = [column("st:a", probe="cosine"), column("st:b", probe="cosine")]
    kinds = [named("mine/order", 40), named("mine/roles", 60)]
    whole = " ".join(answer(written_summary([named("mine", 100), *kinds], columns)))
    assert whole == " ".join(answer(written_summary(kinds, columns)))
    # some rows have no kind: the whole speaks of all
    sizes = [("triplets", "mine", 120), ("triplets", "mine/order", 40), ("triplets", "mine/roles", 60)]
    assert disjoint_sets(sizes) == [0]
    assert disjoint_sets([("triplets", "mine", 100), *sizes[1:]]) == [1, 2]
    # probing sets of a suite are no parts of one that has the name of the suite
    assert disjoint_sets([("passive", "mine", 40), ("passive", "mine/order", 40)]) == [0, 1]
    partly = " ".join(answer(written_summary([named("mine", 120), *kinds], columns)))
    assert partly == " ".join(answer(written_summary([named("mine", 120)], columns)))


def test_other_similarities_of_several_trainings_are_their_means(tmp_path):
    def training(seed):
        def encode(texts):
            return np.array([np.random.default_rng([seed, *text.encode()]).normal(size=8) for text in texts])

        return encode

    run = evaluate_pairs({"x": [training(1), training(2)]}, triplets(), tmp_path / "run")
    (s,) = [s for s in summarise(run).sets if s.name == "contrasts/roles"]
    results = [r for r in run if r.cell.dataset == s.name and r.cell.probe == "cosine"]
    assert len(results) == 2
    dots = [r.scores["dot"] for r in results]
    assert dots[0] != dots[1]
    assert s.cells[0].details["dot"] == pytest.approx(sum(dots) / 2)


def test_the_worst_rows_are_those_whose_contrast_is_nearest(summary):
    i = next(i for i, s in enumerate(summary.sets) if s.name == "contrasts/roles")
    (errors,) = [column for column in summary.errors[i].columns if column is not None]
    assert len(errors.errors) == 20
    margins = [row.confidence for row in errors.errors]
    assert margins == sorted(margins, reverse=True)
    assert margins[-1] > 0
    worst = errors.errors[0]
    assert worst.predicted.split()[1] == "saw"
    assert "was seen by" in worst.label
    ties = next(i for i, s in enumerate(summary.sets) if s.name == "contrasts/order")
    of_order = next(column for column in summary.errors[ties].columns if column is not None)
    assert all(row.confidence > 0 for row in of_order.errors)


def test_the_page_and_the_legend(summary):
    page = render(summary)
    for text in ("Contained and used", "contained; contrast nearer", "Anchors whose contrast is nearer"):
        assert text in page
    lines = " ".join(legend(summary))
    for text in (
        "Near by cosine: the cosine of two vectors.",
        "Probe: linear.",
        "a tie counts one half",
        "chance: a coin",
    ):
        assert text in lines
    assert answer(summary)


def test_texts_of_triplets_are_escaped(tmp_path):
    evil = "<img src=x onerror=alert(1)>"
    rows = [(f"{evil} {i}", f"{evil} {i} p", f"{evil} {i} c", evil) for i in range(4)]
    letters = {"letters": lambda texts: [[len(text), text.count("c")] for text in texts]}
    assert "<img src=x" not in render(full_summary(evaluate_pairs(letters, rows, tmp_path / "run")))


def test_the_command_reads_both_and_prints_what_it_means(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    names = ("anchor", "positive", "negative", "kind", "positive_kind")
    lines = [json.dumps(dict(zip(names, row, strict=True))) for row in triplets()]
    (tmp_path / "pairs.jsonl").write_text("\n".join(lines))
    rows = [f"{row.text}\t{row.label}" for _, row in roles_set()]
    (tmp_path / "roles.tsv").write_text("\n".join(["text\tlabel", *rows]))
    words = ["pairs", "pairs.jsonl", "-e", "bag=baseline:hash?dim=64", "-d", "roles.tsv", "-o", "run", "--no-store"]
    assert app(words, result_action="return_value", exit_on_error=False) == 0
    printed = capsys.readouterr().out
    assert "What the vectors contain and what similarity uses" in printed
    assert "neither shown" in printed
    assert app(["compare", "run", "bag", "tf-idf"], result_action="return_value", exit_on_error=False) == 0
    assert "Triplet accuracy" in capsys.readouterr().out
