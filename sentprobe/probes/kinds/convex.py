"""Logistic regression brought to the optimum of its convex loss, which has no seed and no stopping rule."""

from __future__ import annotations

from sentprobe.errors import UsageError
from sentprobe.probes.convex.leave_groups_out import leave_groups_out
from sentprobe.probes.convex.linear import Linear
from sentprobe.probes.convex.optimum import fit, select_best
from sentprobe.probes.kind import Preset, ProbeKind
from sentprobe.probes.probe import Probe
from sentprobe.stats.training import LINEAR_GROUPS


def check(probe: Probe) -> None:
    """Refuse a hidden layer."""
    if probe.hidden != (0,):
        raise UsageError("A convex probe has no hidden layer: hidden must be 0.")


probe = ProbeKind(
    name="convex",
    order=1,
    version=3,
    summary="multinomial logistic regression at the optimum of its convex loss, found by L-BFGS",
    settings=("l2", "watch", "standardise", "passes", "weights"),
    ignores="a convex probe is brought to its optimum, and has no hidden layer",
    fit=fit,
    model=Linear,
    marker="weights",
    check=check,
    select_best=select_best,
    leave_groups_out=leave_groups_out,
    groups=LINEAR_GROUPS,
    resamples=20,  # they take about as long as the grid does
    seeded=False,
    uses_statistics=True,
    presets=(
        Preset(
            name="linear",
            summary="multinomial logistic regression, the optimum of the convex loss, on standardised dimensions",
            chosen_on_dev="L2",
            settings={"standardise": True, "l2": (1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 1.0)},
        ),
    ),
)
