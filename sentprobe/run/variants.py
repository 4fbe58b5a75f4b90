"""Controls and measures as cells of the loop: they tell what a plain score means.

A control takes one thing away, and its score is compared with the plain one. A measure computes another quantity from
the same vectors. The name of either is the ``variant`` of its cells.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from sentprobe.core.arguments import StringsOrPaths, as_strings, did_you_mean
from sentprobe.data.splits import Splits
from sentprobe.encoders import SCHEMES, encoder_info, load
from sentprobe.errors import DataError, EncoderError, SentProbeError, UsageError, describe_error
from sentprobe.probes import Fit
from sentprobe.probes.probe import AS_INPUT
from sentprobe.results.result import Result
from sentprobe.results.verify import Arrays
from sentprobe.run.cells import probe_unit
from sentprobe.run.control import CONTROLS, with_chosen_settings
from sentprobe.run.controls.untrained import untrained
from sentprobe.run.measure import ERASED, GIVEN, MEASURES
from sentprobe.run.measures import measure_of
from sentprobe.run.selectivity import selectivity_unit
from sentprobe.run.shared import TextIndex
from sentprobe.run.subsample import Subsamples
from sentprobe.run.transfer import transfer_unit
from sentprobe.run.unit import Plain, Unit, Vectors, features_of, shared

__all__ = ["Variant", "Variants", "make_variants", "select_variants", "untrained", "worker_for"]

ALL = "all"
COMPARED_ROWS = 256
"""Vectors compared at a time."""
BYTES_PER_ROW = 150
"""Approximate size of a row of an index of texts."""
Finished = tuple[Result, Arrays, Arrays | None]


class Variants(NamedTuple):
    """The names of the requested controls and measures."""

    controls: tuple[str, ...]
    measures: tuple[str, ...]
    rows: int | None = None
    """Training rows that measures with ``max_rows`` use at most; None: their default."""


@dataclass(frozen=True)
class Variant:
    """A set as one control or measure needs it."""

    names: tuple[str, ...]
    """The variants of its cells."""
    parts: Splits | SentProbeError
    """The set to probe, or why there is none."""
    measures: bool = False
    """Whether it is a measure, and so uses the linear probe."""
    all_layers: bool = False
    """Whether it uses all layers of an encoder together."""
    others: tuple[Splits, ...] = ()
    given: tuple[str, ...] = ()
    """The encoders that it is conditional on."""
    given_identity: str = ""
    """The identities of these encoders."""
    rows: int | None = None
    """The training rows that it uses, if it has a maximum."""


def select_variants(controls: StringsOrPaths, measures: StringsOrPaths, rows: int | None = None) -> Variants:
    """The requested names, with ``all`` expanded."""
    return Variants(_names(controls, CONTROLS, "control"), _names(measures, MEASURES, "measure"), rows)


def _names(given: StringsOrPaths, known: Collection[str], what: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    for name in (part for text in as_strings(given, f"a {what}") for part in text.split(",") if part):
        if name == ALL:
            found |= dict.fromkeys(known)
        elif name in known or (what == "measure" and _takes_encoder(name)):
            found[name] = None
        else:
            hint = did_you_mean(name, known, n=1)
            more = f", {GIVEN}ENCODER" if what == "measure" else ""
            raise UsageError(f"There is no {what} {name!r}.{hint} Expected one of {', '.join(known)}{more}, {ALL}.")
    return tuple(found)


def _takes_encoder(name: str) -> bool:
    """Whether a measure is conditional on an encoder."""
    scheme, colon, _ = name.removeprefix(GIVEN).partition(":")
    return name.startswith(GIVEN) and bool(colon) and scheme in SCHEMES


def make_variants(
    parts: Splits, variants: Variants, others: Sequence[Splits], seed: int, subsamples: Subsamples
) -> Iterator[Variant]:
    """The variants of a set: the requested controls and measures that apply to it."""
    for name in variants.controls:
        control = CONTROLS[name]
        if control.encoder is not None or not control.applies_to(parts):
            continue
        try:
            made = control.parts(parts, seed) if control.parts is not None else parts
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            yield Variant((name,), e if isinstance(e, SentProbeError) else DataError(describe_error(e)))
            continue
        yield Variant((name,), replace(made, variant=name))
    for name in variants.measures:
        measure = measure_of(name)
        if not measure.applies_to(parts):
            continue
        erased = tuple(other for other in others if measure.applies_to(other)) if measure.erases else ()
        names = tuple(f"{ERASED}{other.name}#{other.digest}" for other in erased) if measure.erases else (name,)
        given = (measure.given,) if isinstance(measure.given, str) else measure.given or ()
        try:
            identity = " + ".join(map(_identity, given))
        except KeyboardInterrupt:
            raise
        except BaseException as e:  # whatever goes wrong in an encoder, the rest continues
            why = EncoderError(f"{' + '.join(given)}: {describe_error(e)}")
            yield Variant(names, e if isinstance(e, SentProbeError) else why)
            continue
        used, rows = parts, None
        if measure.max_rows is not None:
            most = measure.max_rows if variants.rows is None else variants.rows
            used, erased = subsamples.of(parts, most), tuple(subsamples.of(other, most) for other in erased)
            rows = len(used.train)
        yield Variant(
            names, replace(used, variant=name), True, measure.all_layers, erased, given, identity, rows
        )  # fmt: skip


def _identity(name: str) -> str:
    """The identity of an encoder, or else its name."""
    found = encoder_info(load(name)).identity
    return str(found) if found is not None else name


def worker_for(unit: Unit) -> Callable[[Unit], list[Any]]:
    """The function that computes the cells of a unit."""
    variant = unit.parts.variant
    if variant is None or variant == "untrained":
        return _plain(unit) if variant is None else lambda unit: _unsaved(_plain(unit)(unit))
    return _control if variant in CONTROLS else measure_of(variant).compute


def _plain(unit: Unit) -> Callable[[Unit], list[Any]]:
    return probe_unit if unit.parts.protocol == "split" else transfer_unit


def _unsaved(found: Sequence[Sequence[Any]]) -> list[Finished]:
    """Results with their predictions, without the probes."""
    return [(result, arrays, None) for result, arrays, *_ in found]


def _control(unit: Unit) -> list[Finished]:
    """Probe what the control makes of a set or of its vectors."""
    control, plain = CONTROLS[str(unit.parts.variant)], unit.plain
    if control.table is not None:
        if plain is not None and plain.result is not None:
            # a hidden layer as wide as the vectors keeps its width, even if the changed vectors are narrower
            width = plain.result.dimension or AS_INPUT
            hidden = tuple(width if each == AS_INPUT else each for each in unit.probe.hidden)
            unit = replace(unit, probe=replace(unit.probe, hidden=hidden))
        unit = replace(unit, vectors=_changed(unit, control.table))
    if control.probe == "used" and plain is not None and plain.result is not None:
        unit = replace(unit, probe=with_chosen_settings(unit.probe, plain.result))
    if unit.parts.same_rows is not None:
        return list(selectivity_unit(unit, unit.parts.same_rows))
    if unit.parts.protocol != "split":
        return _unsaved(transfer_unit(unit))
    same_texts = plain is not None and unit.parts.train.texts is plain.parts.train.texts
    new_texts = control.probe == "tuned" and control.table is None and not same_texts
    if plain is not None and (control.probe == "trained" or (new_texts and _same_training(unit, plain))):
        # if it was not saved, it is fitted again, identical to the last bit
        return _unsaved(probe_unit(unit, trained=_trained(plain)))
    return _unsaved(probe_unit(unit, statistics=same_texts and control.table is None))


def _same_training(unit: Unit, plain: Plain) -> bool:
    """Whether train and dev are the plain ones to the last bit: permuting words changes no vector of a bag of words."""
    parts, own = unit.parts, plain.parts
    for part, other in ((parts.train, own.train), (parts.dev, own.dev)):
        if not np.array_equal(part.labels, other.labels):
            return False
        one, two = (features_of(unit, rows).chunks(COMPARED_ROWS) for rows in (part, other))
        if not all(np.array_equal(rows, others) for (_, rows), (_, others) in zip(one, two, strict=True)):
            return False
    return True


def _trained(plain: Plain) -> Fit | None:
    """The plain probe as it was trained, if it was saved."""
    model, done = plain.model(), plain.result
    if model is None or done is None:
        return None
    return Fit(model, done.cell.seed, done.chosen, done.dev_score or 0.0, done.tried)


def _changed(unit: Unit, change: Callable[..., Any]) -> Vectors:
    """The vectors of a set with those of its sentences changed; those of word inputs stay as they are."""
    vectors, parts = unit.vectors, unit.parts
    three = (parts.train, parts.dev, parts.test)
    has_words = bool(parts.train.inputs) and parts.words

    def make() -> tuple[list[str], TextIndex]:
        texts = list(dict.fromkeys(text for part in three for text in part.texts)) if has_words else parts.texts()
        return texts, TextIndex(texts)

    texts, index = shared(unit, "texts", BYTES_PER_ROW * sum(map(len, three)), make)
    table = change(vectors.rows(texts), texts, unit.cells[0].seed)
    return Vectors([(table, index)], (vectors.words or vectors.tables) if has_words else ())
