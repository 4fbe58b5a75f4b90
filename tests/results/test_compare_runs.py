"""Two runs against each other, on the sets that both have."""

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.multitest import multipletests

from sentprobe.errors import UsageError
from sentprobe.results.compare_runs import compare_runs
from sentprobe.run import evaluate
from tests.command_line import sentprobe
from tests.run.sets import Knowing, dataset

ROWS, MANY, OTHER = dataset("own/rows", n=(120, 40, 80)), dataset("own/many", n=(120, 40, 90)), dataset("own/other")
OTHER_ROWS = dataset("own/rows", n=(120, 40, 60))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """The same name for two encoders; and an encoder of its own in each."""
    folder = tmp_path_factory.mktemp("two")

    def run(name, sets, **noise):
        encoders = {f"py:{encoder}": Knowing(noise=value, name=f"{encoder}{value}") for encoder, value in noise.items()}
        return evaluate(encoders, sets, folder / name, baselines=["majority"], resample=0)

    return (
        run("before", [ROWS, MANY, OTHER], mine=3.0),
        run("after", [ROWS, MANY], mine=0.3),
        run("theirs", [ROWS], yours=0.3),
        run("changed", [OTHER_ROWS], mine=0.3),
    )


def test_the_same_name_in_two_runs_is_paired_on_the_same_rows(runs):
    before, after, *_ = runs
    found = compare_runs(before, after)
    assert found.labels == ("before", "after")
    assert [c.dataset for c in found.comparisons] == ["own/rows", "own/many"]
    for c in found.comparisons:
        first, second = (
            run.correct(next(r for r in run if (r.cell.encoder, r.cell.dataset) == ("py:mine", c.dataset)))
            for run in (before, after)
        )
        table = [[0, int(np.sum(first & ~second))], [int(np.sum(second & ~first)), 0]]
        assert c.difference == pytest.approx(first.mean() - second.mean())
        assert c.p_exact == pytest.approx(mcnemar(table, exact=True).pvalue)
        assert c.better() == "second"
    holm = multipletests([c.p for c in found.comparisons], method="holm")[1]
    assert [c.p_holm for c in found.comparisons] == pytest.approx(holm.tolist())
    assert found.skipped == (f"Only {before.folder} has own/other.",)


def test_the_only_encoder_of_each_run_and_names(runs):
    before, after, theirs, _ = runs
    assert compare_runs(after, theirs).labels == ("py:mine", "py:yours")
    (named,) = compare_runs(before, theirs, ["mine", "yours"]).comparisons
    assert (named.dataset, named.better()) == ("own/rows", "second")


def test_a_set_with_other_rows_is_not_the_same(runs):
    before, _, _, changed = runs
    with pytest.raises(UsageError, match=r"no set in common.*own/rows has other rows in"):
        compare_runs(before, changed)


def test_a_run_against_itself_does_not_differ(runs):
    (c, _) = compare_runs(runs[1], runs[1]).comparisons
    assert (c.difference, c.p_holm) == (0, 1)


def test_the_command(runs):
    before, after, *_ = runs
    printed = sentprobe("compare", before.folder, after.folder)
    assert printed.stdout.startswith("after is significantly better than before on both sets.")
    assert "has own/other." in printed.stderr
