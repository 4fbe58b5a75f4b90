"""A probe that was not brought to its optimum is not said to be there."""

from sentprobe.report import summarise
from sentprobe.run import evaluate
from tests.run.sets import Knowing, dataset


def test_a_limit_of_passes_shows_in_the_summary(tmp_path):
    probes = ["linear?l2=1e-5", "linear?l2=1e-5&passes=1"]
    run = evaluate(
        {"py:mine": Knowing(noise=0.8, name="mine")}, [dataset("own/rows", n=(120, 40, 80))], tmp_path / "run",
        probes=probes, baselines=[], resample=0,
    )  # fmt: skip
    (cells,) = [s.cells for s in summarise(run).sets]
    assert [cell.converged for cell in cells] == [True, False]
