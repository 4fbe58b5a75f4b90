"""What a worker does: from pieces of documents to annotated sentences as CoNLL-U lines."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from sentprobe.annotate.annotator import Loaded, Model, loaded_annotator
from sentprobe.annotate.conversion import sentence_fault
from sentprobe.annotate.repair import repair
from sentprobe.annotate.request import Dedupe, NonTrees
from sentprobe.annotate.source import HOLE, SENTENCE_END, TEXT_SOURCES, LeftOutError, Piece, ReadOptions
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
INCOMPLETE = "something was removed from its middle"
CUT_OFF = "cut off: it, or the one before it, has no full stop"
_WITHOUT_STOPS = re.compile("[\u0e00-\u0eff]")
"""Letters of Thai and Lao, whose sentences end without a mark."""
SENTENCE_REASONS = (FAILED, UNWRITABLE, NO_TREE, LENGTH, OTHER_LANGUAGE, INCOMPLETE, CUT_OFF)
"""Reasons why sentences are dropped, after the annotator was called."""
HARMLESS_TEXT = "The dog sleeps."
_FATAL_ERRORS = (UsageError, EncoderError, AnnotatorError, KeyboardInterrupt)
"""What is not about a text: other texts would fail, too. A DataError is, such as a response that is not the text."""


@dataclass(frozen=True)
class Work:
    """How pieces are annotated; sent to worker processes."""

    annotator: str
    readings: Mapping[str, ReadOptions]
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


class WrittenSentence(NamedTuple):
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


Outcome = WrittenSentence | str
"""A sentence, or the reason why a sentence, a paragraph or a whole piece was dropped."""


def model_of(annotator: str) -> Model:
    """What is known of an annotator, which is loaded."""
    return loaded_annotator(annotator).model


def parse_pieces(work: Work, pieces: Sequence[tuple[str, Piece]]) -> list[None]:
    """Parse the markup of pieces and throw the result away: does anything crash?"""
    return [None for source, piece in pieces if _split_piece(work, source, piece) is not None]


def annotate_harmless(work: Work) -> None:
    """Annotate a text that no annotator should crash on; whether it fails otherwise does not matter."""
    with suppress(Exception), single_threaded():
        _call(loaded_annotator(work.annotator), [HARMLESS_TEXT], work.is_split)


@gc_paused()
def annotate_pieces(work: Work, pieces: Sequence[tuple[str, Piece]]) -> list[list[Outcome]]:
    """Annotate pieces, given with the names of their sources: the outcomes of each."""
    split_pieces = [_split_piece(work, source, piece) for source, piece in pieces]
    texts = [text for piece_texts, _ in split_pieces for text in piece_texts]
    with single_threaded():
        annotated = iter(_annotated(work, texts, pieces))
    outcomes: list[list[Outcome]] = []
    for (source, _), (piece_texts, drop_reasons) in zip(pieces, split_pieces, strict=True):
        piece_outcomes: list[Outcome] = [*drop_reasons]
        is_prose = TEXT_SOURCES[source].is_prose
        continues = False  # whether a sentence is the continuation of the one before
        for _ in piece_texts:
            sentences = next(annotated)
            if sentences is None:
                piece_outcomes.append(FAILED)
                continues = False
                continue
            for sentence in sentences:
                is_cut_off = is_prose and (continues or not _is_ended(sentence.text))
                continues = is_prose and _is_continued(sentence.text)
                piece_outcomes.append(_outcome(work, sentence, is_cut_off))
        outcomes.append(piece_outcomes)
    return outcomes


def _is_ended(text: str) -> bool:
    """Whether a text ends like a sentence."""
    return SENTENCE_END.search(text) is not None or _WITHOUT_STOPS.search(text) is not None


def _is_continued(text: str) -> bool:
    """Whether what follows a text belongs to its sentence; after a colon, a new one may begin."""
    return not _is_ended(text) and not text.rstrip().endswith((":", "："))


def _split_piece(work: Work, source: str, piece: Piece) -> tuple[list[str], list[str]]:
    """The paragraphs of a piece, or its sentences, and the reasons why others are dropped."""
    try:
        paragraphs = TEXT_SOURCES[source].paragraphs(piece, work.readings[source])
    except LeftOutError as reason:
        return [], [str(reason)]
    texts = [text for text in paragraphs if not _is_foreign(work, text, text.split())]
    foreign = [FOREIGN_PARAGRAPHS] * (len(paragraphs) - len(texts))
    if work.splitter:
        texts = [sentence for text in texts for sentence in splitter(work.splitter)(text)]
    return texts, foreign


def _is_foreign(work: Work, text: str, words: Sequence[str]) -> bool:
    """Whether a text is clearly in another language; short ones never are."""
    return bool(work.language) and is_long(text, words) and other_language(text, work.language) is not None


def _expected_annotator(work: Work) -> Loaded:
    """The annotator, which must be the one that the command has loaded: other machines may have another version."""
    loaded = loaded_annotator(work.annotator)
    if work.model is not None and (got := loaded.model.identity) != (expected := work.model.identity):
        raise AnnotatorError(
            f"A worker has another {work.annotator}: expected {expected}, got {got}. Install the same on all nodes."
        )
    return loaded


def _annotated(work: Work, texts: list[str], pieces: Sequence[tuple[str, Piece]]) -> Sequence[list[Sentence] | None]:
    """The sentences of each text; if the annotator fails, text by text, to know which it fails on: None for those."""
    if not texts:
        return []
    loaded = _expected_annotator(work)
    try:
        return _call(loaded, texts, work.is_split)
    except _FATAL_ERRORS:
        raise
    except BaseException as e:
        first = e
    out: list[list[Sentence] | None] = []
    for text in texts:
        try:
            out += _call(loaded, [text], work.is_split)
        except _FATAL_ERRORS:
            raise
        except BaseException as e:
            if not work.skip_bad:
                raise DataError(
                    f"The annotator {work.annotator} fails on {shorten(text)!r}, near the document "
                    f"{pieces[0][1].doc!r}: {describe_error(e)}{error_location(e)}. --skip-bad leaves such texts out."
                ) from e
            out.append(None)
    if None not in out:  # a single text does not fail
        raise DataError(
            f"The annotator {work.annotator} fails on {len(texts)} texts at once, from the document "
            f"{pieces[0][1].doc!r} on: {describe_error(first)}{error_location(first)}."
        ) from first
    return out


def _call(loaded: Loaded, texts: list[str], is_split: bool) -> list[list[Sentence]]:
    with third_party_code:
        by_text = [list(sentences) for sentences in loaded.annotate(texts, is_split)]
    if len(by_text) != len(texts):
        raise ValueError(f"expected the sentences of {len(texts)} texts, got those of {len(by_text)}")
    for sentence in (s for sentences in by_text for s in sentences):
        if problem := sentence_fault(sentence):
            raise ValueError(problem)
    return by_text


def _outcome(work: Work, sentence: Sentence, is_cut_off: bool) -> Outcome:
    """The sentence as it is written, or the reason why it is not."""
    if (reason := _drop_reason(work, sentence, is_cut_off)) is not None:
        return reason
    repaired = repair(sentence)
    if repaired.faults and work.non_trees == "drop":
        return NO_TREE
    try:
        rows = conllu_rows(repaired.sentence)
        rows.encode(), sentence.text.encode()
    except (DataError, UnicodeEncodeError):  # a tab, or a lone surrogate
        return UNWRITABLE
    tree = "" if sentence.tree is None else sentence.tree.bracketed(escape)
    text = one_line(sentence.text)
    return WrittenSentence(text, rows, len(sentence.forms), duplicate_key(work.dedupe)(text), tree, repaired.faults)


def _drop_reason(work: Work, sentence: Sentence, is_cut_off: bool) -> str | None:
    tokens, text = sentence.tokens, sentence.text
    if HOLE in text:
        return INCOMPLETE
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
