"""Tasks over encoders and languages, and wins, against what papers printed."""

from dataclasses import replace

import pytest

from sentprobe.published import published
from sentprobe.report.filters import Filter, apply
from sentprobe.report.overview import count_wins, encoder_wins, overview_tables, task_spreads
from sentprobe.tasks import SUITES
from tests.command_line import sentprobe
from tests.report.runs import SETS, beside, result, written
from tests.report.summaries import column
from tests.report.test_correlations import make_set, make_summary
from tests.report.test_languages import of_universal

# Ravishankar et al. (2019), table 1: mean and standard deviation of accuracy over languages and encoders
XPROBE = {
    "bigram_shift": (0.558, 0.013), "coordination_inversion": (0.656, 0.111), "obj_number": (0.605, 0.073),
    "odd_man_out": (0.505, 0.011), "past_present": (0.708, 0.124), "sentence_length": (0.523, 0.259),
    "subj_number": (0.643, 0.099), "word_content": (0.152, 0.115), "tree_depth": (0.330, 0.082),
}  # fmt: skip


def of_xprobe():
    """Table 4 of Ravishankar et al. (2019): six encoders, six languages or domains."""
    rows = [
        r for task in SUITES["xprobe2019"] for r in published(task) if (r.paper, r.metric) == ("xprobe2019", "accuracy")
    ]
    models = list(dict.fromkeys(r.model for r in rows))
    places: dict[tuple[str, str], list[list[float]]] = {}
    for r in rows:
        lines = places.setdefault((r.task, r.language), [])
        free = next((line for line in lines if line[models.index(r.model)] is None), None)
        if free is None:  # English twice: the original sets, and those of Wikipedia
            lines.append(free := [None] * len(models))
        free[models.index(r.model)] = r.value
    sets = [
        make_set(f"{language}/xprobe2019/{task}", values, language)
        for (task, language), lines in places.items()
        for values in lines
    ]
    return make_summary(sets, [column(m, probe="mlp") for m in models])


def test_means_and_deviations_are_those_that_the_paper_printed():
    found = {spread.task: spread for spread in task_spreads(of_xprobe())}
    assert found.keys() == XPROBE.keys()
    for task, (mean, sd) in XPROBE.items():
        assert found[task].n == 36
        assert found[task].mean == pytest.approx(mean, abs=0.0015)  # from cells of one decimal
        assert found[task].sd == pytest.approx(sd, abs=0.0015)
        assert set(found[task].languages) == {"en", "fr", "de", "es", "ru"}


def test_laser_is_best_in_17_of_22_without_combo():
    summary, models = of_universal()
    others = tuple(m for m in models if "COMBO" not in m)
    shown = apply(summary, Filter(others, (), False))
    wins = dict(zip([c.encoder for c in shown.columns], encoder_wins(shown), strict=True))
    assert wins["LASER"][:2] == (17, 0)
    assert wins["LASER"].of == 22
    assert sum(w.sole for w in wins.values()) == 22


def test_equal_numbers_share_a_win():
    table = [{0: 0.5, 1: 0.5, 2: 0.4}, {0: 0.1, 2: 0.9}, {1: 0.3}]
    assert count_wins(table, 3) == [(0, 1), (0, 1), (1, 0)]


@pytest.mark.parametrize(
    ("scored_by", "wins"),
    [("accuracy", [(0, 1), (0, 1), (1, 0)]), ("log2_loss", [(1, 0), (0, 0), (1, 0)])],
    ids=["higher is better", "lower is better"],
)
def test_wins_are_of_the_better_number(scored_by, wins):
    rows = [[0.5, 0.5, 0.4], [0.1, None, 0.9], [None, 0.3, None]]
    sets = [replace(make_set(f"mine/{i}", values), scored_by=scored_by) for i, values in enumerate(rows)]
    assert [win[:2] for win in encoder_wins(make_summary(sets, [column(f"st:{name}") for name in "abc"]))] == wins


def test_means_over_seeds_that_differ_by_rounding_are_equal():
    noisy, plain = (0.1 + 0.2) / 2, 0.15
    assert noisy != plain
    assert count_wins([{0: noisy, 1: plain}], 2) == [(0, 1), (0, 1)]


def test_a_set_that_one_encoder_has_to_itself_is_won_by_nobody():
    both, alone = (make_set(f"own/{name}", values) for name, values in (("both", [0.9, 0.5]), ("alone", [0.9, None])))
    best = [replace(own, cells=(replace(own.cells[0], best=True), *own.cells[1:])) for own in (both, alone)]
    first, second = encoder_wins(make_summary(best))
    assert first == (1, 0, 1, 1)  # not among the best of two sets out of one
    assert second == (0, 0, 0, 1)
    (spread,) = [s for s in task_spreads(make_summary(best)) if s.task == "alone"]
    assert (spread.mean, spread.sd, spread.n) == (0.9, 0.0, 1)


def test_one_encoder_has_no_overview():
    summary = make_summary([make_set("conneau2018/passive", [0.5], "en")], [column("a:")])
    assert list(overview_tables(summary)) == []


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    root = tmp_path_factory.mktemp("overview")
    strong, weak = (result(name, s, p=p) for s in SETS for name, p in (("a:", 0.9), ("b:", 0.8))), beside()
    written(root / "run", *strong, *weak)
    written(root / "one", result("a:"), *beside(SETS[:1]))
    return root


@pytest.mark.parametrize("format", ["table", "md", "tex"])
def test_show_prints_means_and_wins(folder, format):
    done = sentprobe("show", "run", "--means", "--format", format, cwd=folder)
    assert done.returncode == 0
    assert "mean" in done.stdout
    assert "among the best" in done.stdout
    assert "subj" in done.stdout


def test_what_does_not_go_with_means_is_refused(folder):
    assert "two encoders or more" in sentprobe("show", "one", "--means", cwd=folder).stderr
    assert "--means prints two tables" in sentprobe("show", "run", "--means", "--signatures", cwd=folder).stderr
