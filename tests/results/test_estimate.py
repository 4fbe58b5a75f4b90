"""A number with its interval."""

import msgspec
import pytest

from sentprobe.core.formatting import BITS
from sentprobe.results.estimate import Estimate
from sentprobe.stats import level


def test_an_estimate_knows_its_level_and_writes_itself():
    found = Estimate.of(0.75, (0.53, 0.89), "wilson")
    assert (found.level, found.about, found.method) == (0.95, "probe", "wilson")
    assert found.interval == (0.53, 0.89)
    assert found.text() == "75.0 ±18.0"
    assert found.text(BITS) == "0.750 ±0.180"
    assert repr(found) == "0.750 [0.530, 0.890]"


def test_the_level_is_that_of_the_moment(monkeypatch):
    monkeypatch.setattr(level, "LEVEL", 0.9)
    assert Estimate.of(0.5, (0.4, 0.6)).level == 0.9


def test_a_number_alone_is_about_nothing():
    found = Estimate.of(0.75)
    assert (found.interval, found.level, found.about) == (None, None, "none")
    assert found.text() == "75.0"
    assert repr(found) == "0.750"
    assert found.within(0.8, 0.9) == found
    assert found.widened((0.1, 0.9), "cluster") == found


def test_bounds_and_unions():
    found = Estimate.of(0.9, (0.7, 1.2), "t")
    assert found.within(0.0, 1.0).interval == (0.7, 1.0)
    wider = found.widened((0.6, 1.1), "cluster")
    assert wider.interval == (0.6, 1.2)
    assert wider.method == "cluster"


@pytest.mark.parametrize("found", [Estimate.of(0.5), Estimate.of(0.5, (0.4, 0.6), "cluster", "encoder")])
def test_json_holds_what_there_is_and_nothing_else(found):
    line = msgspec.json.encode(found)
    assert msgspec.json.decode(line, type=Estimate) == found
    assert b"null" not in line
