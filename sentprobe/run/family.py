"""Sets as a family of encoders needs them: every text says its language."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace

from sentprobe.data.splits import Split, Splits
from sentprobe.encoders.schemes.family import Family
from sentprobe.errors import SentProbeWarning, UsageError
from sentprobe.run.config import PreparedSet, RunConfig
from sentprobe.run.encoder_cells import encoder_failure


def in_languages(config: RunConfig, name: str, family: Family, sets: Sequence[PreparedSet]) -> list[PreparedSet]:
    """The sets that a family has members for; for the others, a failure is recorded."""
    found = []
    for s in sets:
        try:
            if s.plain is not None and s.plain.train.language and s.parts.same_rows is not None:
                raise UsageError(
                    f"The control {s.parts.variant} draws train and test from all rows, which are in several languages."
                )
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
            SentProbeWarning(f"{name} has members for {', '.join(sorted(idle))}, and no set is in that language."),
            stacklevel=2,
        )
    return found


def _languages(sets: Sequence[PreparedSet], family: Family) -> set[str]:
    """The languages of the members that sets need."""
    codes = {code for s in sets for code in (s.parts.language, s.parts.train.language) if code}
    return {family.language(code) for code in codes}


def parts_in_languages(parts: Splits, family: Family) -> Splits:
    """The set with languages before its texts: that of its training rows may be another one, as in XNLI.

    Splits that are one object stay one: a probe that is tested on its training rows is known by that.
    """
    done: dict[int, Split] = {}

    def marked(part: Split) -> Split:
        if id(part) not in done:
            language = part.language or parts.language
            inputs = {name: family.in_language(values, language) for name, values in part.inputs.items()}
            done[id(part)] = replace(part, texts=family.in_language(part.texts, language), inputs=inputs)
        return done[id(part)]

    same = parts_in_languages(parts.same_rows, family) if parts.same_rows is not None else None
    return replace(parts, train=marked(parts.train), dev=marked(parts.dev), test=marked(parts.test), same_rows=same)
