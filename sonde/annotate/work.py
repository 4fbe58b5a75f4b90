"""What a worker does: from pieces of documents to annotated sentences as CoNLL-U lines."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from sonde.annotate.annotator import Loaded, load_annotator
from sonde.annotate.repair import repair
from sonde.annotate.request import Dedupe, NonTrees
from sonde.annotate.source import TEXT_SOURCES, Piece, Reading
from sonde.core.hashing import hash_64
from sonde.core.third_party import third_party_code
from sonde.core.threads import single_threaded
from sonde.corpus.brackets import escape
from sonde.corpus.conllu import conllu_rows, one_line
from sonde.corpus.near_duplicates import near_duplicate_key
from sonde.corpus.sentence import Sentence, shorten
from sonde.errors import DataError, SondeError, describe_error, error_location

FAILED = "the annotator failed"
UNWRITABLE = "cannot be written as CoNLL-U"
NO_TREE = "not a tree"
LENGTH = "length out of range"


@dataclass(frozen=True)
class Work:
    """How pieces are annotated; sent to worker processes."""

    annotator: str
    readings: Mapping[str, Reading]
    splitter: str = ""
    """Empty: the annotator splits, or the lines are sentences."""
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


@dataclass
class Annotated:
    """What came of some pieces."""

    blocks: list[list[Block]] = field(default_factory=list)
    """The sentences of each piece."""
    dropped: Counter[str] = field(default_factory=Counter)
    """Sentences and paragraphs by reason."""
    repaired: Counter[str] = field(default_factory=Counter)
    """Faults of heads that were repaired; a sentence may have several."""
    repaired_sentences: int = 0


def annotate_pieces(work: Work, pieces: Sequence[tuple[str, Piece]]) -> Annotated:
    """Annotate pieces, given with the names of their sources."""
    found = Annotated()
    units: list[list[str]] = []
    for source, piece in pieces:
        units.append(list(TEXT_SOURCES[source].paragraphs(piece, work.readings[source])))
    is_split = bool(work.splitter) or any(reading.lines == "sentences" for reading in work.readings.values())
    loaded = loaded_annotator(work.annotator)
    texts = [text for some in units for text in some]
    with single_threaded():
        sentences = iter(_annotated(work, loaded, texts, is_split, pieces, found))
    for some in units:
        blocks = [_block(work, s, found) for _ in some for s in next(sentences)]
        found.blocks.append([block for block in blocks if block is not None])
    return found


@lru_cache(maxsize=1)
def loaded_annotator(typed: str) -> Loaded:
    """The annotator, loaded once per process."""
    return load_annotator(typed)


def _annotated(
    work: Work,
    loaded: Loaded,
    texts: list[str],
    is_split: bool,
    pieces: Sequence[tuple[str, Piece]],
    found: Annotated,
) -> list[Sequence[Sentence]]:
    """The sentences of each text; if the annotator fails, text by text, to know which it fails on."""
    if not texts:
        return []
    try:
        return _called(loaded, texts, is_split)
    except (SondeError, KeyboardInterrupt):
        raise
    except BaseException as e:
        first = e
    out: list[Sequence[Sentence]] = []
    for text in texts:
        try:
            out += _called(loaded, [text], is_split)
        except (SondeError, KeyboardInterrupt):
            raise
        except BaseException as e:
            if not work.skip_bad:
                raise DataError(
                    f"The annotator {work.annotator} fails on {shorten(text)!r}, near the document "
                    f"{pieces[0][1].doc!r}: {describe_error(e)}{error_location(e)}. --skip-bad leaves such texts out."
                ) from e
            found.dropped[FAILED] += 1
            out.append(())
    if not found.dropped[FAILED]:  # each text alone is fine
        raise DataError(
            f"The annotator {work.annotator} fails on {len(texts)} texts at once, from the document "
            f"{pieces[0][1].doc!r} on: {describe_error(first)}{error_location(first)}."
        ) from first
    return out


def _called(loaded: Loaded, texts: list[str], is_split: bool) -> list[Sequence[Sentence]]:
    with third_party_code:
        found = [list(sentences) for sentences in loaded.annotate(texts, is_split)]
    if len(found) != len(texts):
        raise ValueError(f"expected the sentences of {len(texts)} texts, got those of {len(found)}")
    if wrong := next((s for some in found for s in some if not isinstance(s, Sentence)), None):
        raise TypeError(f"expected sonde Sentences, got {type(wrong).__name__}")
    return found  # type: ignore[return-value]  # a list of lists is a list of sequences


def _block(work: Work, sentence: Sentence, found: Annotated) -> Block | None:
    """The sentence as it is written, or None, and the reason is counted."""
    mended = repair(sentence)
    if mended.faults:
        if work.non_trees == "drop":
            found.dropped[NO_TREE] += 1
            return None
        found.repaired_sentences += 1
        found.repaired.update(mended.faults)
        sentence = mended.sentence
    words = len(sentence.forms)
    if work.length is not None and not work.length[0] <= len(sentence.tokens) <= work.length[1]:
        found.dropped[LENGTH] += 1
        return None
    try:
        rows = conllu_rows(sentence)
    except DataError:
        found.dropped[UNWRITABLE] += 1
        return None
    tree = "" if sentence.tree is None else sentence.tree.bracketed(escape)
    text = one_line(sentence.text)
    return Block(text, rows, words, duplicate_key(work.dedupe)(text), tree)


def duplicate_key(dedupe: Dedupe | None) -> Callable[[str], int]:
    """What is equal for texts that count as duplicates."""
    return near_duplicate_key if dedupe == "near" else hash_64 if dedupe == "exact" else lambda text: 0
