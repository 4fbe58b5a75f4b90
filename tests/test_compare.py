"""Comparisons: paired over the same rows, adjusted over the sets, and named by as much of a name as is needed."""

from dataclasses import replace

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from sonde.compare import column, compare, others, ties
from sonde.errors import UsageError
from sonde.run import evaluate
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
    evaluate(encoders, SETS, folder, beside=["majority"])
    return evaluate(
        {"py:fair": encoders["py:fair"]}, SETS, folder, probes=["senteval?passes=8"], seeds=(1, 2), beside=[]
    )


def test_two_encoders_on_every_set(run):
    found = compare(run, "py:good", "py:poor")
    assert [c.dataset for c in found] == ["own/forms", "own/rows", "own/many"]
    for c in found:
        assert c.one > c.two
        assert c.difference == pytest.approx(c.one - c.two)
        assert c.low <= c.difference <= c.high
        assert c.difference == pytest.approx((c.only_one - c.only_two) / c.n)
        table = [[0, int(c.only_one)], [int(c.only_two), 0]]
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


def test_an_encoder_is_named_by_a_part_of_its_name(run):
    assert column(run, "good").results.keys() == column(run, "py:good").results.keys()
    assert others(run) == ("py:good", "py:fair", "py:poor", "py:layered")


def test_of_several_layers_dev_chooses(run):
    assert {rs[0].cell.layer for rs in column(run, "py:layered").results.values()} == {"1"}
    assert {rs[0].cell.layer for rs in column(run, "py:layered|layer=0").results.values()} == {"0"}


def test_seeds_are_averaged(run):
    found = column(run, "py:fair|probe=senteval?passes=8")
    assert {len(rs) for rs in found.results.values()} == {2}
    for c in compare(run, "py:fair|probe=senteval?passes=8", "py:poor"):
        assert c.one == pytest.approx(np.mean([r.accuracy for r in found.results[f"{c.dataset}#{digest(c)} None"]]))


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
    evaluate({"py:a": Knowing()}, SETS[:1], tmp_path / "run", beside=[])
    run = evaluate({"py:b": Knowing(name="b")}, SETS[1:2], tmp_path / "run", beside=[])
    with pytest.raises(UsageError, match="no set in common"):
        compare(run, "py:a", "py:b")
    with pytest.raises(UsageError, match="two encoders or more"):
        ties(run, ["py:a"])


def test_of_several_states_of_an_encoder_one_must_be_named(tmp_path):
    evaluate({"py:a": Knowing(noise=1.0)}, SETS[:1], tmp_path / "run", beside=[])
    run = evaluate({"py:a": Knowing(noise=2.0)}, SETS[:1], tmp_path / "run", beside=[])
    assert len(run) == 2
    with pytest.raises(UsageError, match=r"with id .*say which"):
        column(run, "py:a")
    for result in run:
        found = column(run, f"py:a|id={result.cell.id}")
        assert list(found.results.values()) == [[result]]
    later = replace(
        run, results=(run.results[0], replace(run.results[0], cell=replace(run.results[0].cell, sonde="9")))
    )
    with pytest.raises(UsageError, match=r"sonde .*say which"):
        column(later, "py:a")


def test_samples_of_two_sizes_are_not_the_same_rows(tmp_path):
    evaluate({"py:a": Knowing(noise=1.0)}, SETS[:1], tmp_path / "run", beside=[])
    run = evaluate({"py:a": Knowing(noise=1.0)}, SETS[:1], tmp_path / "run", limit=20, beside=[])
    with pytest.raises(UsageError, match="no set in common"):
        compare(run, "py:a|limit=None", "py:a|limit=20")


def test_a_name_with_a_bar_is_a_name(tmp_path):
    run = evaluate({"m|n": Knowing(noise=1.0), "py:b": Knowing()}, SETS[:1], tmp_path / "run", beside=[])
    assert len(compare(run, "m|n", "py:b")) == 1
