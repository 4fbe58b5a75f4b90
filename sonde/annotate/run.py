"""`sonde annotate`, as a function: load the annotator, write the corpus and its card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sonde.annotate.annotate import annotate_texts, output_files
from sonde.annotate.annotator import Model
from sonde.annotate.corpus_card import card_file, header, read_card, write_card
from sonde.annotate.journal import Journal
from sonde.annotate.request import SUFFIXES, Request
from sonde.annotate.work import Work, loaded_annotator
from sonde.core.files import make_folder
from sonde.core.progress import Progress
from sonde.errors import UsageError


@dataclass(frozen=True)
class AnnotatedCorpus:
    """A corpus that was annotated."""

    path: Path
    trees: Path | None
    model: Model
    card: Mapping[str, Any]
    is_new: bool
    """Whether it was written now; it may have been complete before."""


def annotate_corpus(request: Request, out: Path, *, jobs: int = 1, progress: Progress) -> AnnotatedCorpus:
    """Annotate texts and write a corpus; the same call goes on with what was begun, and leaves what is finished."""
    if not out.name.endswith(SUFFIXES):
        raise UsageError(f"--out {out}: expected a name that ends in {' or '.join(SUFFIXES)}.")
    model = loaded_annotator(request.annotator).model
    request.check(model)
    names = output_files(out, model)
    facts = request.facts(model)
    finished = _finished(out, facts)
    if finished is not None:
        return AnnotatedCorpus(out, names.get(".trees"), model, finished, is_new=False)
    make_folder(out.parent)
    work = Work(
        request.annotator,
        request.readings,
        "",
        request.length,
        request.dedupe,
        request.non_trees,
        request.skip_bad,
    )
    state = annotate_texts(request, work, model, out, header(request.annotator, model), jobs, progress)
    write_card(out, request.annotator, model, state, None)
    Journal.state_file(out).unlink(missing_ok=True)
    card = read_card(out)
    assert card is not None  # it has just been written
    return AnnotatedCorpus(out, names.get(".trees"), model, card, is_new=True)


def _finished(out: Path, facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """The card of a corpus that this request has written before; UsageError if another one has."""
    if not out.exists() or Journal.state_file(out).exists():
        return None
    card = read_card(out)
    if card is None:
        raise UsageError(f"{out} exists, and has no card {card_file(out).name} beside it: choose another name, or remove it.")
    for name, value in facts.items():
        if card["request"].get(name) != value:
            raise UsageError(
                f"{out} exists, and was made with {name} {card['request'].get(name)}, not {value}: choose another name, "
                "or remove it."
            )
    return card
