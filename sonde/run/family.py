"""Sets as a family of encoders needs them: every text says its language."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from sonde.encoders.schemes.family import Family
from sonde.errors import SondeWarning, UsageError
from sonde.run.config import PreparedSet, RunConfig
from sonde.run.encoder_cells import encoder_failure
from sonde.run.parts import Part, Parts


def in_languages(config: RunConfig, name: str, family: Family, sets: Sequence[PreparedSet]) -> list[PreparedSet]:
    """The sets that a family has members for; for the others, a failure is recorded."""
    found = []
    for s in sets:
        try:
            plain = parts_in_languages(s.plain, family) if s.plain is not None else None
            variant = s.variant
            if variant is not None and variant.others:
                variant = replace(variant, others=tuple(parts_in_languages(other, family) for other in variant.others))
            found.append(replace(s, parts=parts_in_languages(s.parts, family), plain=plain, variant=variant))
        except UsageError as e:
            config.fail(encoder_failure(name, s.parts), e)
    # variants have the languages of their sets
    if found and found[0].plain is None and (idle := set(family.members) - _languages(found, family)):
        warnings.warn(
            SondeWarning(f"{name} has members for {', '.join(sorted(idle))}, and no set is in that language."),
            stacklevel=2,
        )
    return found


def _languages(sets: Sequence[PreparedSet], family: Family) -> set[str]:
    """The languages of the members that sets need."""
    codes = {code for s in sets for code in (s.parts.language, s.parts.train_language) if code}
    return {family.language(code) for code in codes}


def parts_in_languages(parts: Parts, family: Family) -> Parts:
    """The set with languages before its texts: that of its training rows may be another one, as in XNLI."""

    def marked(part: Part, language: str | None) -> Part:
        inputs = {name: family.in_language(values, language) for name, values in part.inputs.items()}
        return replace(part, texts=family.in_language(part.texts, language), inputs=inputs)

    trained_in = parts.train_language or parts.language
    # dev rows may have been held out of the training rows
    chosen_in = parts.language if parts.chosen_on == "va" else trained_in
    same = parts_in_languages(parts.same_rows, family) if parts.same_rows is not None else None
    train, dev = marked(parts.train, trained_in), marked(parts.dev, chosen_in)
    return replace(parts, train=train, dev=dev, test=marked(parts.test, parts.language), same_rows=same)
