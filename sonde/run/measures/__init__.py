"""Measures: other questions to the same vectors. Each is a named value; the loop does and keeps them like any cell."""

from collections.abc import Mapping

from sonde.run.measures import capacity, erasure, given, mix, online
from sonde.run.measures.measure import ERASED, GIVEN, Measure

__all__ = ["ERASED", "GIVEN", "MEASURES", "Measure"]

MEASURES: Mapping[str, Measure] = {
    measure.name: measure
    for measure in (online.measure, given.length, given.words, capacity.measure, erasure.erasure, mix.measure)
}
"""All measures by name."""
