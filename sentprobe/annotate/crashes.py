"""Pieces that end the process in which they are annotated: found, left out and counted, and the rest goes on.

Parsers of markup and annotators are native code in large part, and what they read is anybody's: a page can be written
that no parser survives. So pieces are annotated in a child process. If it dies, the pieces that it had are halved until
those that kill are alone. Parsing is tried apart, before, since a process that only parses loads no model.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple, TypeVar

from sentprobe.annotate.source import Piece
from sentprobe.annotate.work import Outcome, Work, annotate_harmless, annotate_pieces, parse_pieces
from sentprobe.core.processes import Child, ChildDied
from sentprobe.errors import AnnotatorError, RunError
from sentprobe.sentence import shorten

R = TypeVar("R")
Sourced = tuple[str, Piece]

PARSER, ANNOTATOR = "the parser of the markup crashed", "the annotator crashed"
KILLED = "the worker was killed"


class Annotated(NamedTuple):
    """What came of some pieces."""

    outcomes: list[list[Outcome]]
    """Of each piece; a crash is an outcome."""
    crashes: tuple[str, ...] = ()
    """What crashed where, a line each."""


def annotate_in_child(child: Child, work: Work, pieces: Sequence[Sourced]) -> Annotated:
    """Annotate pieces in a child, without those that it dies of."""
    try:
        return Annotated(child.call(annotate_pieces, work, pieces))
    except ChildDied:
        pass
    lines: list[str] = []
    parsed = _one_by_one(lambda some: child.call(parse_pieces, work, some), pieces)
    sound = [piece for piece, died in zip(pieces, parsed, strict=True) if died is None]
    annotated = iter(_one_by_one(lambda some: [*child.call(annotate_pieces, work, some)], sound, _checked(child, work)))
    outcomes: list[list[Outcome]] = []
    for (_, piece), in_parser in zip(pieces, parsed, strict=True):
        result = in_parser if in_parser is not None else next(annotated)
        if isinstance(result, ChildDied):
            outcome, line = _left_out(work, piece, result, PARSER if in_parser is not None else ANNOTATOR)
            lines.append(line)
            result = [outcome]
        outcomes.append(result)
    return Annotated(outcomes, tuple(lines))


def _one_by_one(
    call: Callable[[Sequence[Sourced]], list[R]],
    pieces: Sequence[Sourced],
    on_death: Callable[[ChildDied], None] = lambda died: None,
) -> list[R | ChildDied]:
    """The result for each piece, or how the child died of it; ``on_death`` is called after the first such death."""
    if not pieces:
        return []
    try:
        return [*call(pieces)]
    except ChildDied as died:
        if len(pieces) == 1:
            on_death(died)
            return [died]
    half = len(pieces) // 2
    return [*_one_by_one(call, pieces[:half], on_death), *_one_by_one(call, pieces[half:], on_death)]


def _checked(child: Child, work: Work) -> Callable[[ChildDied], None]:
    """Raises AnnotatorError if the child dies of any text, and not of some."""
    is_checked = False

    def check(died: ChildDied) -> None:
        nonlocal is_checked
        if is_checked or died.was_killed:
            return
        is_checked = True
        try:
            child.call(annotate_harmless, work)
        except ChildDied as again:
            raise crashes_always(work.annotator, str(again)) from None

    return check


def crashes_always(annotator: str, how: str) -> AnnotatorError:
    """The error for an annotator that crashes on every text."""
    return AnnotatorError(
        f"The annotator {annotator} crashes on every text ({how}): its native code is broken, or does not fit this "
        "machine or the other packages. Install it again, or use another one."
    )


def _left_out(work: Work, piece: Piece, died: ChildDied, what: str) -> tuple[str, str]:
    """The outcome of a piece that a child died of, and a line that says where it is."""
    place = f"{' '.join(piece.doc.split())!r}, at {shorten(' '.join(piece.text[:200].split()))!r}"
    if not died.was_killed:
        return what, f"{place}: {what} ({died})"
    if not work.skip_bad:
        raise RunError(
            f"The worker process that annotated the document {place} was killed ({died}), also with this text alone: "
            "it ran out of memory, or somebody ended it. What was written is kept: try again with fewer --jobs; "
            "--skip-bad leaves such texts out."
        )
    return KILLED, f"{place}: {KILLED} ({died})"
