"""Controls: what a probe's score is to be read beside. Each changes one thing, and is a named value.

They are functions only: the loop probes what they make like any other set, vectors or encoder.
"""

from collections.abc import Mapping

from sonde.run.controls import keys, labels, texts, untrained, vectors
from sonde.run.controls.control import Control
from sonde.run.controls.keys import lexical_keys
from sonde.run.controls.selectivity import Selectivity, selectivity, selectivity_unit

__all__ = ["CONTROLS", "Control", "Selectivity", "lexical_keys", "selectivity", "selectivity_unit"]

CONTROLS: Mapping[str, Control] = {
    control.name: control
    for control in (
        keys.key,
        labels.shuffled,
        labels.memorise,
        texts.permuted,
        texts.permuted_test,
        texts.synthetic,
        vectors.norm,
        vectors.direction,
        vectors.gaussian,
        vectors.words,
        untrained.control,
    )
}
"""All controls by name: those of labels, of texts, of vectors, of the encoder."""
