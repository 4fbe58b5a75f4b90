"""What is recorded of an annotated corpus: comments in the file itself, and a card beside it with the counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sentprobe import __version__
from sentprobe.annotate.annotator import Model
from sentprobe.annotate.journal import State
from sentprobe.core.checksum import read_document, seal_document
from sentprobe.core.files import write_atomically
from sentprobe.corpus.provenance import NO, YES, provenance_comments

FORMAT = "sentprobe.annotation.v1"


def card_file(out: Path) -> Path:
    """The card of a corpus."""
    return out.with_name(f"{out.name}.json")


def header(annotator: str, model: Model, accuracy: str = "") -> str:
    """The comments above the first sentence."""
    facts = {
        "annotator": annotator,
        "software": model.software,
        "model": model.name,
        "version": model.version,
        "licence": model.licence,
        "language": model.language or "",
        "universal": YES if model.universal else NO,
        "columns": ", ".join(model.columns),
        "accuracy": accuracy,
    }
    return provenance_comments(facts, f"sentprobe {__version__}, sentprobe annotate")


def write_card(out: Path, annotator: str, model: Model, state: State) -> None:
    """Write the card of a finished corpus."""
    card = {
        "format": FORMAT,
        "file": out.name,
        "sentprobe": __version__,
        "annotator": annotator,
        "model": asdict(model),
        "accuracy": state.accuracy,
        "counts": dict(state.counts),
        "dropped": _largest_first(state.dropped),
        "repaired": _largest_first(state.repaired),
        "not_read": {"count": state.bad, "listed": state.messages},
        "crashed": state.crashes,
        "request": state.facts,
    }
    write_atomically(card_file(out), seal_document(card))


def _largest_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def read_card(out: Path) -> dict[str, Any] | None:
    """The card of a corpus; None if there is none that can be read."""
    try:
        found = read_document(card_file(out).read_bytes())
    except (OSError, ValueError):
        return None
    return found if found.get("format") == FORMAT and found.get("file") == out.name else None
