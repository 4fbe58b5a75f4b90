"""Comparisons: paired over the same rows, adjusted over the sets, and named by as much of a name as is needed."""

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.weightstats import ttost_paired

from sentprobe.errors import CorruptionWarning, UsageError
from sentprobe.report.comparison import print_comparison
from sentprobe.results.compare import Comparison, compare, ties
from sentprobe.results.sides import non_baseline_encoders, select_side
from sentprobe.run import evaluate
from tests.run.sets import Knowing, dataset

SETS = [dataset("own/forms", keys=8), dataset("own/rows", n=(120, 40, 80)), dataset("own/many", n=(120, 40, 90))]


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    class Layered(Knowing):
        layers = ("0", "1")

        def __call__(self, texts):
            good = super().__call__(texts)
            return np.stack([np.zeros_like(good), good])

    encoders = {
        "py:good": Knowing(noise=0.3, name="good"), "py:fair": Knowing(noise=0.8, name="fair"),
        "py:poor": Knowing(noise=3.0, name="poor"), "py:layered": Layered(name="layered"),
    }  # fmt: skip
    folder = tmp_path_factory.mktemp("runs") / "run"
    evaluate(encoders, SETS, folder, baselines=["majority"])
    return evaluate(
        {"py:fair": encoders["py:fair"]}, SETS, folder, probes=["senteval?passes=8"], probe_seeds=(1, 2), baselines=[]
    )


def test_two_encoders_on_every_set(run):
    found = compare(run, "py:good", "py:poor")
    assert [c.dataset for c in found] == ["own/forms", "own/rows", "own/many"]
    for c in found:
        assert c.first > c.second
        assert c.difference == pytest.approx(c.first - c.second)
        assert c.low <= c.difference <= c.high
        assert c.difference == pytest.approx((c.only_first - c.only_second) / c.n)
        table = [[0, int(c.only_first)], [int(c.only_second), 0]]
        assert c.p_exact == pytest.approx(mcnemar(table, exact=True).pvalue)
        assert c.p_mid <= c.p_exact
        assert (c.p_probe == c.p_mid) == (c.clusters is None)
        assert c.about == ("encoder" if c.clusters is None else "probe")  # eight forms are too few to leave out
        assert c.p_t < 0.01
        assert c.verdict() == "first"
    holm = multipletests([c.p for c in found], method="holm")[1]
    assert [c.p_holm for c in found] == pytest.approx(holm.tolist())
    assert [c.clusters for c in found] == [8, None, None]


def test_the_other_way_round_everything_is_mirrored(run):
    there, back = compare(run, "py:good", "py:fair|probe=linear"), compare(run, "py:fair|probe=linear", "py:good")
    for one, two in zip(there, back,
                        strict=True):  # fmt: skip
        assert one.difference == pytest.approx(-two.difference)
        assert (one.low, one.high) == pytest.approx((-two.high, -two.low))
        assert (one.p_exact, one.p_holm) == (two.p_exact, two.p_holm)


def test_letters_for_more_than_two(run):
    names = ["py:good", "py:fair|probe=linear", "py:poor", "majority"]
    for row in ties(run, names):
        assert set(row.letters) == set(names)
        assert list(row.accuracy.values()) == sorted(row.accuracy.values(), reverse=True)
        assert not set(row.letters["py:good"]) & set(row.letters["majority"])


@pytest.mark.parametrize(("keys", "wrong"), [(40, 6), (0, 5)], ids=["target forms", "rows"])
def test_letters_are_adjusted_over_the_pairs(tmp_path, keys, wrong):
    """Two encoders are each significantly worse than a third before the adjustment over three pairs, and not after it.

    Exchanging six target forms that all differ one way has a p-value of 2 / 2 ** 6, and McNemar's test of five rows a
    mid-p of 1 / 2 ** 5: both are 0.031, and 0.094 when adjusted.
    """
    own = dataset("own/pairs", n=(120, 40, 200), keys=keys)
    unit = {row.text: row.key or row.text for row in own.rows["te"]}
    units = list(dict.fromkeys(unit.values()))

    class Wrong(Knowing):
        """Has the other label on the test rows of some units."""

        def __init__(self, name, units):
            super().__init__(name=name)
            self.units = set(units)

        def __call__(self, texts):
            known = super().__call__(texts)
            other = np.array([unit.get(text) in self.units for text in texts])
            known[other, :2] = known[other, 1::-1]
            return known

    encoders = {"py:best": [], "py:one": units[:wrong], "py:two": units[wrong : 2 * wrong]}
    run = evaluate(
        {name: Wrong(name, found) for name, found in encoders.items()},
        [own],
        tmp_path / "run",
        baselines=[],
        resample=0,
    )
    for other in ("py:one", "py:two"):
        (found,) = compare(run, "py:best", other)
        assert found.p == pytest.approx(2 / 64)
        assert found.verdict() == "first"
    (row,) = ties(run, list(encoders))
    assert row.letters == {"py:best": "a", "py:one": "a", "py:two": "a"}
    assert ties(run, ["py:best", "py:one"])[0].letters == {"py:best": "a", "py:one": "b"}


def test_an_encoder_is_named_by_a_part_of_its_name(run):
    assert select_side(run, "good").results.keys() == select_side(run, "py:good").results.keys()
    assert non_baseline_encoders(run) == ("py:good", "py:fair", "py:poor", "py:layered")


def test_of_several_layers_dev_chooses(run):
    assert {rs[0].cell.layer for rs in select_side(run, "py:layered").results.values()} == {"1"}
    assert {rs[0].cell.layer for rs in select_side(run, "py:layered|layer=0").results.values()} == {"0"}


def test_seeds_are_averaged(run):
    found = select_side(run, "py:fair|probe=senteval?passes=8")
    assert {len(rs) for rs in found.results.values()} == {2}
    for c in compare(run, "py:fair|probe=senteval?passes=8", "py:poor"):
        assert c.first == pytest.approx(np.mean([r.accuracy for r in found.results[f"{c.dataset}#{digest(c)} None"]]))


def digest(comparison):
    return next(d.digest for d in SETS if d.name == comparison.dataset)


@pytest.mark.parametrize(
    ("one", "two", "says"),
    [
        ("py:goood", "py:poor", "Did you mean py:good"),
        ("py:", "py:poor", "Did you mean py:good or py:fair"),
        ("py:fair", "py:poor", "probe linear, senteval"),
        ("py:good|layer=7", "py:poor", "no results with layer=7"),
        ("py:good|colour=red", "py:poor", "'colour=red'"),
    ],
)
def test_what_cannot_be_compared(run, one, two, says):
    with pytest.raises(UsageError, match=says):
        compare(run, one, two)


def test_nothing_in_common(tmp_path):
    evaluate({"py:a": Knowing()}, SETS[:1], tmp_path / "run", baselines=[])
    run = evaluate({"py:b": Knowing(name="b")}, SETS[1:2], tmp_path / "run", baselines=[])
    with pytest.raises(UsageError, match="no set in common"):
        compare(run, "py:a", "py:b")
    with pytest.raises(UsageError, match="at least two encoders"):
        ties(run, ["py:a"])


def test_of_several_states_of_an_encoder_one_must_be_named(tmp_path):
    evaluate({"py:a": Knowing(noise=1.0)}, SETS[:1], tmp_path / "run", baselines=[])
    run = evaluate({"py:a": Knowing(noise=2.0)}, SETS[:1], tmp_path / "run", baselines=[])
    assert len(run) == 2
    with pytest.raises(UsageError, match=r"with id .*choose one"):
        select_side(run, "py:a")
    for result in run:
        found = select_side(run, f"py:a|id={result.cell.id}")
        assert list(found.results.values()) == [[result]]
    later = replace(
        run, results=(run.results[0], replace(run.results[0], cell=replace(run.results[0].cell, sentprobe="9")))
    )
    with pytest.raises(UsageError, match=r"sentprobe .*choose one"):
        select_side(later, "py:a")


def test_samples_of_two_sizes_are_not_the_same_rows(tmp_path):
    evaluate({"py:a": Knowing(noise=1.0)}, SETS[:1], tmp_path / "run", baselines=[])
    run = evaluate({"py:a": Knowing(noise=1.0)}, SETS[:1], tmp_path / "run", limit=20, baselines=[])
    with pytest.raises(UsageError, match="no set in common"):
        compare(run, "py:a|limit=None", "py:a|limit=20")


def test_a_name_with_a_bar_is_a_name(tmp_path):
    run = evaluate({"m|n": Knowing(noise=1.0), "py:b": Knowing()}, SETS[:1], tmp_path / "run", baselines=[])
    assert len(compare(run, "m|n", "py:b")) == 1


def test_what_a_comparison_is_about(run):
    about = {name: [c.about for c in compare(run, "py:good", name)] for name in ("py:poor", "majority")}
    assert about["py:poor"] == ["probe", "encoder", "encoder"]  # eight target forms are too few to leave out
    assert about["majority"] == ["probe", "encoder", "encoder"]  # one answer for all rows varies with no training row


def test_a_baseline_that_learns_is_trained_again_too(tmp_path):
    own = dataset("own/rows", n=(60, 40, 200))
    run = evaluate({"py:fair": Knowing(noise=1.5, name="fair")}, [own], tmp_path / "run", baselines=["length"])
    (found,) = compare(run, "py:fair", "length")
    assert found.about == "encoder"
    (of_length,) = (result for result in run.results if result.cell.encoder == "length")
    assert of_length.resamples == 20
    assert run.predictions(of_length)["other_resampled"].shape[0] == 20
    assert of_length.encoder_interval[0] <= of_length.score <= of_length.encoder_interval[1]
    assert found.p >= found.p_probe
    (alone,) = compare(
        evaluate({"py:fair": Knowing(noise=1.5, name="fair")}, [own], tmp_path / "bare", baselines=["length"],
        resample=0),
        "py:fair", "length",
    )  # fmt: skip
    assert alone.about == "probe"
    assert (alone.p, alone.p_probe) == (found.p_probe, found.p_probe)
    assert found.high - found.low >= alone.high - alone.low


def test_a_handful_of_rows_proves_nothing(tmp_path):
    own = dataset("own/three", n=(120, 40, 3))

    class Wrong(Knowing):
        """Knows the label of all rows but those of the test, of which it has the other one."""

        def __call__(self, texts):
            known = super().__call__(texts)
            other = np.array([text.split()[-2] == "2" for text in texts])
            known[other, :2] = known[other, 1::-1]
            return known

    encoders = {"py:good": Knowing(name="good"), "py:wrong": Wrong(name="wrong")}
    (found,) = compare(evaluate(encoders, [own], tmp_path / "run", baselines=[]), "py:good", "py:wrong")
    assert (found.first, found.second, found.difference) == (1.0, 0.0, 1.0)
    assert found.p == found.p_mid == pytest.approx(0.125)  # half of two times one in eight
    assert (found.p_t, found.detectable) == (None, None)
    assert found.verdict() == "undecided"
    assert found.high == 1.0


def test_encoders_that_are_right_on_the_same_few_rows_are_not_proven_equivalent(tmp_path):
    own = dataset("own/six", n=(120, 40, 6))
    encoders = {"py:one": Knowing(name="one"), "py:two": Knowing(name="two")}
    for seeds in ((1,), (1, 2)):
        folder = tmp_path / str(len(seeds))
        run = evaluate(
            encoders, [own], folder, baselines=[], probe_seeds=seeds, probes=["senteval?passes=8"], resample=0
        )
        (found,) = compare(run, "py:one", "py:two")
        assert found.difference == 0.0
        assert found.equivalence_margin > 0.1
        assert found.verdict(0.01) == "undecided"
        assert found.low < 0 < found.high


def test_the_order_of_seeds_changes_nothing(tmp_path):
    own = dataset("own/rows", n=(120, 40, 80))
    encoders = {"py:one": Knowing(noise=1.0, name="one"), "py:two": Knowing(noise=2.0, name="two")}
    found = []
    for seeds in ((3, 1, 2), (1, 2, 3)):
        folder = tmp_path / "".join(map(str, seeds))
        run = evaluate(
            encoders, [own], folder, baselines=[], probe_seeds=seeds, probes=["senteval?passes=8"], resample=10
        )
        found.append((compare(run, "py:one", "py:two"), ties(run, ["py:one", "py:two"])))
    assert found[0] == found[1]
    assert found[0][0][0].seeds == 3
    assert found[0][0][0].p_exact is None


def test_a_set_whose_files_are_damaged_does_not_stop_the_others(tmp_path):
    encoders = {"py:one": Knowing(noise=1.0, name="one"), "py:two": Knowing(noise=2.0, name="two")}
    run = evaluate(encoders, SETS[1:], tmp_path / "run", baselines=[])
    (tmp_path / "run" / "predictions" / f"{run.results[0].key}.npz").unlink()
    with pytest.warns(CorruptionWarning, match="own/rows is not compared"):
        found = compare(run, "py:one", "py:two")
    assert [c.dataset for c in found] == ["own/many"]
    with pytest.warns(CorruptionWarning, match="own/rows is not compared"):
        assert [t.dataset for t in ties(run, ["py:one", "py:two"])] == ["own/many"]


def test_two_versions_of_a_set_are_distinguished(tmp_path):
    encoders = {"py:one": Knowing(noise=1.0, name="one"), "py:two": Knowing(noise=2.0, name="two")}
    sets = [dataset("own/rows", n=(120, 40, 80)), dataset("own/rows", n=(120, 40, 90))]
    found = compare(evaluate(encoders, sets, tmp_path / "run", baselines=[]), "py:one", "py:two")
    assert [c.dataset for c in found] == [f"own/rows #{each.digest[:8]}" for each in sets]


@pytest.mark.parametrize("width", [60, 80, 200])
def test_the_table_fits_and_names_the_better_one(width, monkeypatch, capsys):
    monkeypatch.setenv("COLUMNS", str(width))
    row = Comparison(
        dataset="conneau2018/coordination_inversion", n=100, first=0.55, second=0.93, difference=-0.38, about="encoder",
        low=-0.5, high=-0.25, p=1e-7, p_holm=1e-7, equivalence_margin=0.48, worse_by=0.48, better_by=0.0,
        clusters=None, only_first=1, only_second=39,
        p_exact=0.01, p_mid=0.01, p_t=0.01, p_probe=0.01, detectable=0.17, seeds=1, partial=False,
    )  # fmt: skip
    print_comparison([row], ["static:", "builtin:"], labels=["words", "parser"])
    text = " ".join(capsys.readouterr().out.split())
    assert text.startswith("On coordination_inversion, parser is significantly better than words. ")
    assert not {"only", "detectable"} & {*text.split()}
    assert "parser +38.0" in text  # of the better one, whichever is named first
    assert "+25.0 … +50.0" in text
    print_comparison([row], ["static:", "builtin:"], labels=["words", "parser"], everything=True)
    text = capsys.readouterr().out
    assert max(map(len, text.splitlines())) <= width
    words = text.split()
    assert {"only", "words", "parser", "coordination_inversion" if width < 200 else row.dataset} <= set(words)
    assert "second" not in words
    assert "at most 5 %" in " ".join(words)


def test_equivalence_is_two_one_sided_tests_adjusted_over_the_sets(run):
    """At the bound itself, statsmodels' test on the sum of all variances has the adjusted level, or a smaller p."""
    found = compare(run, "py:good", "py:fair|probe=linear")
    for c in found:
        assert c.equivalence_margin == pytest.approx(max(c.worse_by, c.better_by))
        assert -c.worse_by <= c.difference <= c.better_by
        results = [r for r in run if r.cell.dataset == c.dataset and r.cell.probe == "linear"]
        first, second = (
            run.correct(next(r for r in results if r.cell.encoder == name)) * 1.0 for name in ("py:good", "py:fair")
        )
        p, _, _ = ttost_paired(first, second, -c.equivalence_margin - 1e-9, c.equivalence_margin + 1e-9)
        assert p <= 0.05 / len(found)
