"""Measures: other questions to the same vectors. Each is a named value; the loop does and keeps them like any cell."""

from collections.abc import Mapping

from sonde.run.measures import capacity, erasure, given, hidden, inlp, learning, mix, online
from sonde.run.measures.measure import ERASED, GIVEN, Measure

__all__ = ["ERASED", "GIVEN", "MEASURES", "Measure", "measure_of"]

MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (
        online.measure,
        learning.measure,
        given.length,
        given.words,
        capacity.measure,
        hidden.measure,
        erasure.erasure,
        inlp.measure,
        mix.measure,
    )
}
"""All measures by name."""


def measure_of(name: str) -> Measure:
    """The measure of this name: one of these, or ``given:`` and an encoder."""
    return MEASURES[name] if name in MEASURES else given.conditional_on(name.removeprefix(GIVEN))
