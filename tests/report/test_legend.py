"""What the legend says that intervals are about."""

from types import SimpleNamespace

import pytest

from sentprobe.report.legend import _about
from sentprobe.results.metric import METRICS


@pytest.mark.parametrize(
    ("baselines", "end"),
    [
        (["encoder"], "dev rows."),
        (["probe", "probe"], "that of a baseline is about the one trained probe, on other samples of test rows."),
        (["encoder", "probe"], "except where it was not retrained: there it is about the one trained probe, on other "
         "samples of test rows."),
    ],
)  # fmt: skip
def test_intervals_of_baselines_are_about_what_was_retrained(baselines, end):
    cells, of_baselines = (
        [SimpleNamespace(interval="wilson", about=about) for about in column] for column in (["encoder"], baselines)
    )
    (line,) = _about(METRICS.get("accuracy"), cells, of_baselines)
    assert line.startswith("± of an encoder is about the encoder")
    assert line.endswith(end)
