"""What an alignment reads: both spaces, prepared, and the pairs of its dictionaries that they know."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sentprobe.errors import DataError, UsageError
from sentprobe.lab.alignment.dictionary import (
    Matched,
    WordPair,
    count,
    describe_counts,
    identical_words,
    known_without_case,
    match,
    read_dictionary,
    read_pairs,
    require_known,
)
from sentprobe.lab.alignment.maps import WordMap, prepare
from sentprobe.lab.alignment.method import Reporter, note
from sentprobe.lab.alignment.request import AlignmentRequest
from sentprobe.lab.alignment.space import Rows, Space, read_space

IDENTICAL_WORDS = 300
"""Words that both spaces have from which on they are worth mentioning as a dictionary."""
FEW_KNOWN = 0.1
"""The share of known pairs below which a dictionary may be of other languages."""


class AlignmentInputs(NamedTuple):
    """What was read."""

    source: Space
    target: Space
    steps: WordMap
    dictionary: Matched | None
    held_out: Rows | None
    """(q, 2): the part of the dictionary that is held out."""
    dev: Matched | None
    about: dict[str, Any]
    """Digests and counts, as in ``alignment.json``."""


def read_inputs(request: AlignmentRequest, folder: Path, report: Reporter) -> AlignmentInputs:
    """Read the spaces and dictionaries, and prepare the vectors."""
    source, target = (read_space(path, request.words) for path in (request.source, request.target))
    if source.dim != target.dim:
        raise UsageError(
            f"{source.name} has vectors of {source.dim} dimensions, and {target.name} of {target.dim}: expected the "
            "same number. Reduce the larger vectors, for example to their principal components."
        )
    about: dict[str, Any] = {
        side: _space_facts(space, request.words, folder) for side, space in (("source", source), ("target", target))
    }
    for side, space in (("source", source), ("target", target)):
        report(note(f"{space.name}: {len(space):,} words, {space.dim} dimensions"))
        if faults := describe_faults(about[side]):
            report(note(f"{space.name}: {faults}"))
    dictionary = held_out = dev = None
    if request.dictionary:
        pairs = read_pairs(request.dictionary, source, target)
        dictionary = _read_matches(pairs, ", ".join(request.dictionary), source, target, report)
        about["dictionary"] = count(dictionary, pairs, request.dictionary)
        if request.held_out:
            dictionary, held_out = hold_out(dictionary)
            about["dictionary"]["held_out"] = len(np.unique(held_out[:, 0]))
    elif len(shared_words := identical_words(source, target)) >= IDENTICAL_WORDS:
        report(note(f"{len(shared_words):,} words are in both spaces: --dictionary identical would use them"))
    if request.dev:
        pairs = read_dictionary(request.dev)
        dev = _read_matches(pairs, request.dev, source, target, report)
        about["dev"] = count(dev, pairs, (request.dev,))
    steps = WordMap(prepare(source.vectors, request.steps), prepare(target.vectors, request.steps))
    return AlignmentInputs(source, target, steps, dictionary, held_out, dev, about)


def _read_matches(pairs: list[WordPair], name: str, source: Space, target: Space, report: Reporter) -> Matched:
    matched = match(pairs, source, target)
    flipped = match([(second, first) for first, second in pairs], source, target)
    if len(flipped.rows) > 2 * len(matched.rows):
        report(note(f"{name} is read from right to left: its second words are those of {source.name}"))
        matched, pairs = flipped, [(second, first) for first, second in pairs]
    require_known(matched, pairs, name, source, target)
    report(note(describe_counts(count(matched, pairs, (name,)))))
    if len(matched.rows) < FEW_KNOWN * len(pairs):
        share = 100 * len(matched.rows) / len(pairs)
        report(note(f"{name}: only {share:.0f} % of the pairs are known: is it of these languages?"))
    if more_known := known_without_case(matched, pairs, source, target):
        report(note(f"{name}: {more_known:,} pairs would be known if upper and lower case were the same"))
    return matched


def hold_out(dictionary: Matched) -> tuple[Matched, Rows]:
    """Four fifths of the source words with their pairs, and the pairs (q, 2) of the others; always the same."""
    words = np.unique(dictionary.rows[:, 0])
    held_out_words = np.random.default_rng(0).permutation(words)[: max(1, len(words) // 5)]
    is_held_out = np.isin(dictionary.rows[:, 0], held_out_words)
    if is_held_out.all():
        raise DataError("The dictionary has one source word; to compare methods, expected several.")
    word_pairs = tuple(pair for pair, excluded in zip(dictionary.word_pairs, is_held_out, strict=True) if not excluded)
    return replace(dictionary, rows=dictionary.rows[~is_held_out], word_pairs=word_pairs), dictionary.rows[is_held_out]


def _space_facts(space: Space, limit: int, folder: Path) -> dict[str, Any]:
    relative = os.path.relpath(Path(space.name).expanduser().resolve(), folder.resolve())
    return {
        "path": space.name,
        "beside": relative,
        "limit": limit,
        "words": len(space),
        "dim": space.dim,
        "digest": space.digest,
        **_vector_faults(space),
    }


def _vector_faults(space: Space) -> dict[str, int]:
    """How many vectors are zero, which are near to nothing, and how many others are those of a more frequent word."""
    zeros = int(np.count_nonzero(~space.vectors.any(axis=1)))
    distinct = len({row.tobytes() for row in space.vectors + np.float32(0)})  # -0 is 0
    return {"zeros": zeros, "shared": len(space) - distinct - max(0, zeros - 1)}


def describe_faults(about: Mapping[str, Any]) -> str:
    """The same in words; empty if there are none."""
    texts = {"zeros": "vectors are zero", "shared": "words have the vector of a more frequent word"}
    return ", ".join(f"{about[key]:,} {text}" for key, text in texts.items() if about.get(key))
