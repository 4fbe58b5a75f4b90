"""A kind that nobody knows is an error, never another kind under its name."""

from dataclasses import replace
from typing import get_args

import numpy as np
import pytest

from sentprobe.data.sources import Source
from sentprobe.errors import DataError, UsageError
from sentprobe.probes import Features, Probe, fit
from sentprobe.probes.probe import Optimiser
from sentprobe.run.transfer import transfer_cells
from sentprobe.tasks.policy import Policy


@pytest.mark.parametrize("field", ["kind", "activation", "drop", "optimiser", "watch", "reduction"])
def test_a_probe_has_no_words_but_its_own(field):
    with pytest.raises(UsageError, match=f"A probe's {field} must be .* got 'magic'"):
        Probe(**{field: "magic"})


@pytest.mark.parametrize("field", ["balance", "remainder", "strata", "decorrelate", "tense"])
def test_a_policy_has_no_words_but_its_own(field):
    with pytest.raises(UsageError, match=f"A policy's {field} must be .* got 'magic'"):
        Policy(**{field: "magic"})


def unknown(field):
    """A probe of a kind that was added and taught to nobody."""
    probe = Probe()
    object.__setattr__(probe, field, "magic")
    return probe


@pytest.mark.parametrize("field", ["kind", "optimiser"])
def test_fit_trains_nothing_else_under_the_name_of_a_new_kind(field):
    xs, ys = Features.of(np.eye(4, dtype=np.float32)), np.array([0, 1, 0, 1])
    with pytest.raises((AssertionError, ValueError, KeyError)):
        fit(unknown(field), xs, ys, xs, ys, 2)


def test_every_engine_knows_the_same_optimisers():
    pytest.importorskip("numba")
    from sentprobe.probes.network.group import EPSILON
    from sentprobe.probes.network.steps_numba import OPTIMISERS

    assert set(EPSILON) == set(OPTIMISERS) == set(get_args(Optimiser))


def test_a_source_of_an_unknown_kind():
    with pytest.raises(DataError, match="kind 'magic'; expected made"):
        Source("own", "magic", ("x",), None, "own").load()


def test_a_protocol_that_is_unknown():
    from types import SimpleNamespace

    for protocol in ("magic", "split"):
        job = SimpleNamespace(splits=SimpleNamespace(protocol=protocol), cells=[None], encode_seconds=0.0)
        with pytest.raises((AssertionError, ValueError)):
            transfer_cells(job)


def test_replacing_keeps_the_check():
    with pytest.raises(UsageError, match="kind must be convex"):
        replace(Probe(), kind="magic")
