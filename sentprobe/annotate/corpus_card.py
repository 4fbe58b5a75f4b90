"""What is recorded of an annotated corpus: comments in the file itself, and a card beside it with the counts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from sentprobe import __version__
from sentprobe.annotate.annotator import Model
from sentprobe.annotate.journal import State
from sentprobe.core.files import write_atomically
from sentprobe.core.hashing import b2sum
from sentprobe.core.seal import is_intact, other_format, read_document, seal_document
from sentprobe.corpus.provenance import NO, YES, provenance_comments
from sentprobe.errors import DataError

FORMAT = "sentprobe.annotation.v2"


AGAIN = "Restore it, or remove the corpus and its card, and repeat the command."


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


def write_card(out: Path, annotator: str, model: Model, state: State, digests: Mapping[str, tuple[int, str]]) -> None:
    """Write the card of a finished corpus, with sizes and digests by suffix."""
    card = {
        "format": FORMAT,
        "file": out.name,
        "bytes": {suffix: size for suffix, (size, _) in digests.items()},
        "blake2b": {suffix: blake2b for suffix, (_, blake2b) in digests.items()},
        "sentprobe": __version__,
        "annotator": annotator,
        "model": asdict(model),
        "accuracy": state.accuracy,
        "counts": dict(state.counts),
        "dropped": _largest_first(state.dropped),
        "repaired": _largest_first(state.repaired),
        "not_read": {"count": state.bad, "listed": state.messages},
        "crashed": state.crashes,
        "request": state.request,
    }
    write_atomically(card_file(out), seal_document(card))


def _largest_first(counts: Mapping[str, int]) -> dict[str, int]:
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def read_card(out: Path) -> dict[str, Any] | None:
    """The card of a corpus; None if there is none, DataError if it was changed."""
    file = card_file(out)
    try:
        found = read_document(file.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as e:
        raise DataError(f"{file} cannot be read: {e.strerror}.") from None
    except ValueError as e:
        raise DataError(f"{file} is damaged: {e}. {AGAIN}") from None
    if found.get("format") != FORMAT:
        raise DataError(f"{other_format(file, found.get('format'), FORMAT)} {AGAIN}")
    if not is_intact(found) or found.get("file") != out.name:
        raise DataError(f"{file} has changed since `sentprobe annotate` wrote it. {AGAIN}")
    return found


def check_corpus(out: Path, card: Mapping[str, Any], files: Mapping[str, Path]) -> None:
    """DataError if the files of a finished corpus are not those that its card is about."""
    for suffix, path in files.items():
        size, known = card["bytes"].get(suffix, 0), card["blake2b"].get(suffix, b2sum(b""))
        if not path.is_file() or path.stat().st_size != size or b2sum(path) != known:
            raise DataError(f"{path} has changed since `sentprobe annotate` wrote it. {AGAIN}")
