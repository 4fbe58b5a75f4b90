"""Built-in measures, one file each; the loop computes and saves them like any cell."""

from sentprobe.run.measure import MEASURES, Measure
from sentprobe.run.measures.given import conditional_on
from sentprobe.run.variant import GIVEN


def measure_of(name: str) -> Measure:
    """The measure of this name: one of these, or ``given:`` and an encoder."""
    if name in MEASURES or not name.startswith(GIVEN):
        return MEASURES.get(name)
    return conditional_on(name.removeprefix(GIVEN))
