"""What a worker does: from pieces of documents to annotated sentences as CoNLL-U lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from sentprobe.annotate.annotator import Loaded, Model, load_annotator
from sentprobe.annotate.repair import repair
from sentprobe.annotate.request import Dedupe, NonTrees
from sentprobe.annotate.sentence_fault import sentence_fault
from sentprobe.annotate.source import HOLE, SENTENCE_END, TEXT_SOURCES, LeftOutError, Piece, Reading
from sentprobe.core.hashing import hash_64
from sentprobe.core.resources import gc_paused, single_threaded
from sentprobe.core.third_party import third_party_code
from sentprobe.corpus.brackets import escape
from sentprobe.corpus.conllu import FEATS, conllu_rows, one_line
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.corpus.languages import is_long, other_language
from sentprobe.corpus.tokenisers import splitter
from sentprobe.errors import AnnotatorError, DataError, EncoderError, UsageError, describe_error, error_location
from sentprobe.sentence import Sentence, shorten

FAILED = "the annotator failed"
UNWRITABLE = "cannot be written as CoNLL-U"
NO_TREE = "not a tree"
LENGTH = "length out of range"
FOREIGN_PARAGRAPHS, OTHER_LANGUAGE = "paragraphs in another language", "in another language"
HOLED = "something was removed from its middle"
CUT_OFF = "cut off: it, or the one before it, has no full stop"
_UNMARKED = re.compile("[\u0e00-\u0eff]")
"""Letters of Thai and Lao, whose sentences end without a mark."""
OF_SENTENCES = (FAILED, UNWRITABLE, NO_TREE, LENGTH, OTHER_LANGUAGE, HOLED, CUT_OFF)
"""Reasons why sentences are dropped, after the annotator was called."""
HARMLESS = "The dog sleeps."


_STOPS = (UsageError, EncoderError, AnnotatorError, KeyboardInterrupt)
"""What is not about a text: other texts would fail, too. A DataError is, such as a response that is not the text."""


@dataclass(frozen=True)
class Work:
    """How pieces are annotated; sent to worker processes."""

    annotator: str
    readings: Mapping[str, Reading]
    model: Model | None = None
    """The model that the command has loaded."""
    splitter: str = ""
    """Empty: the annotator splits, or the lines are sentences."""
    is_split: bool = False
    """Whether the annotator is given single sentences."""
    language: str = ""
    """The detector's code of the language; empty: it is not checked."""
    length: tuple[int, int] | None = None
    dedupe: Dedupe | None = None
    non_trees: NonTrees = "repair"
    skip_bad: bool = False


class Block(NamedTuple):
    """A sentence as it is written, but for its id."""

    text: str
    rows: str
    words: int
    key: int
    """Equal for duplicates; 0 if they are not looked for."""
    tree: str = ""
    """In brackets."""
    faults: tuple[str, ...] = ()
    """Of its heads, which were repaired."""


Outcome = Block | str
"""A sentence, or the reason why a sentence, a paragraph or a whole piece was dropped."""


def model_of(annotator: str) -> Model:
    """What is known of an annotator, which is loaded."""
    return loaded_annotator(annotator).model


def parse_pieces(work: Work, pieces: Sequence[tuple[str, Piece]]) -> list[None]:
    """Parse the markup of pieces and throw the result away: does anything crash?"""
    return [None for source, piece in pieces if _units(work, source, piece) is not None]


def annotate_harmless(work: Work) -> None:
    """Annotate a text that no annotator should crash on; whether it fails otherwise does not matter."""
    with suppress(Exception), single_threaded():
        _called(loaded_annotator(work.annotator), [HARMLESS], work.is_split)


@gc_paused()
def annotate_pieces(work: Work, pieces: Sequence[tuple[str, Piece]]) -> list[list[Outcome]]:
    """Annotate pieces, given with the names of their sources: what came of each."""
    units = [_units(work, source, piece) for source, piece in pieces]
    texts = [text for kept, _ in units for text in kept]
    with single_threaded():
        sentences = iter(_annotated(work, texts, pieces))
    found: list[list[Outcome]] = []
    for (source, _), (kept, reasons) in zip(pieces, units, strict=True):
        outcomes: list[Outcome] = [*reasons]
        is_prose = TEXT_SOURCES[source].is_prose
        goes_on = False  # whether a sentence is the rest of the one before
        for _ in kept:
            some = next(sentences)
            if some is None:
                outcomes.append(FAILED)
                goes_on = False
                continue
            for sentence in some:
                before, goes_on = goes_on, is_prose and _goes_on(sentence.text)
                outcomes.append(_outcome(work, sentence, is_prose and (before or not _is_ended(sentence.text))))
        found.append(outcomes)
    return found


def _is_ended(text: str) -> bool:
    """Whether a text ends like a sentence."""
    return SENTENCE_END.search(text) is not None or _UNMARKED.search(text) is not None


def _goes_on(text: str) -> bool:
    """Whether what follows a text is the rest of its sentence; after a colon, a new one may begin."""
    return not _is_ended(text) and not text.rstrip().endswith((":", "："))


def _units(work: Work, source: str, piece: Piece) -> tuple[list[str], list[str]]:
    """The paragraphs of a piece, or its sentences, and why others are left out."""
    try:
        paragraphs = TEXT_SOURCES[source].paragraphs(piece, work.readings[source])
    except LeftOutError as reason:
        return [], [str(reason)]
    kept = [text for text in paragraphs if not _is_foreign(work, text, text.split())]
    foreign = [FOREIGN_PARAGRAPHS] * (len(paragraphs) - len(kept))
    return [s for text in kept for s in splitter(work.splitter)(text)] if work.splitter else kept, foreign


def _is_foreign(work: Work, text: str, words: Sequence[str]) -> bool:
    """Whether a text is clearly in another language; short ones never are."""
    return bool(work.language) and is_long(text, words) and other_language(text, work.language) is not None


@lru_cache(maxsize=1)
def loaded_annotator(typed: str) -> Loaded:
    """The annotator, loaded once per process."""
    return load_annotator(typed)


def _expected_annotator(work: Work) -> Loaded:
    """The annotator, which must be the one that the command has loaded: other machines may have another version."""
    loaded = loaded_annotator(work.annotator)
    if work.model is not None and (got := loaded.model.identity) != (expected := work.model.identity):
        raise AnnotatorError(
            f"A worker has another {work.annotator}: expected {expected}, got {got}. Install the same on all nodes."
        )
    return loaded


def _annotated(
    work: Work, texts: list[str], pieces: Sequence[tuple[str, Piece]]
) -> Sequence[list[Sentence] | None]:  # fmt: skip
    """The sentences of each text; if the annotator fails, text by text, to know which it fails on: None for those."""
    if not texts:
        return []
    loaded = _expected_annotator(work)
    try:
        return _called(loaded, texts, work.is_split)
    except _STOPS:
        raise
    except BaseException as e:
        first = e
    out: list[list[Sentence] | None] = []
    for text in texts:
        try:
            out += _called(loaded, [text], work.is_split)
        except _STOPS:
            raise
        except BaseException as e:
            if not work.skip_bad:
                raise DataError(
                    f"The annotator {work.annotator} fails on {shorten(text)!r}, near the document "
                    f"{pieces[0][1].doc!r}: {describe_error(e)}{error_location(e)}. --skip-bad leaves such texts out."
                ) from e
            out.append(None)
    if None not in out:  # each text alone is fine
        raise DataError(
            f"The annotator {work.annotator} fails on {len(texts)} texts at once, from the document "
            f"{pieces[0][1].doc!r} on: {describe_error(first)}{error_location(first)}."
        ) from first
    return out


def _called(loaded: Loaded, texts: list[str], is_split: bool) -> list[list[Sentence]]:
    with third_party_code:
        found = [list(sentences) for sentences in loaded.annotate(texts, is_split)]
    if len(found) != len(texts):
        raise ValueError(f"expected the sentences of {len(texts)} texts, got those of {len(found)}")
    for sentence in (s for some in found for s in some):
        if problem := sentence_fault(sentence):
            raise ValueError(problem)
    return found


def _outcome(work: Work, sentence: Sentence, is_cut_off: bool) -> Outcome:
    """The sentence as it is written, or the reason why it is not."""
    if (reason := _drop_reason(work, sentence, is_cut_off)) is not None:
        return reason
    mended = repair(sentence)
    if mended.faults and work.non_trees == "drop":
        return NO_TREE
    try:
        rows = conllu_rows(mended.sentence)
        rows.encode(), sentence.text.encode()
    except (DataError, UnicodeEncodeError):  # a tab, or a lone surrogate
        return UNWRITABLE
    tree = "" if sentence.tree is None else sentence.tree.bracketed(escape)
    text = one_line(sentence.text)
    return Block(text, rows, len(sentence.forms), duplicate_key(work.dedupe)(text), tree, mended.faults)


def _drop_reason(work: Work, sentence: Sentence, is_cut_off: bool) -> str | None:
    tokens, text = sentence.tokens, sentence.text
    if HOLE in text:
        return HOLED
    if is_cut_off:  # an annotator that splits may do so at a hole: *Elle mesure*
        return CUT_OFF
    if work.length is not None and not work.length[0] <= len(tokens) <= work.length[1]:
        return LENGTH
    if _is_foreign(work, text, tokens):
        return OTHER_LANGUAGE
    if sentence.feats is not None and not all(map(is_feats, sentence.feats)):
        return UNWRITABLE
    return None


@lru_cache(maxsize=1 << 14)
def is_feats(text: str) -> bool:
    """Whether this can be a word's features in CoNLL-U."""
    return FEATS.fullmatch(text) is not None


def duplicate_key(dedupe: Dedupe | None) -> Callable[[str], int]:
    """What is equal for texts that count as duplicates."""
    return near_duplicate_key if dedupe == "near" else hash_64 if dedupe == "exact" else lambda text: 0
