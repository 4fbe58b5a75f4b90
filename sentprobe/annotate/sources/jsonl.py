"""JSON lines: an object per line is a document; ``--text`` names the field with its text, ``--id`` that of its id."""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.annotate.source import Piece, ReadOptions, TextSource, split_paragraphs
from sentprobe.core.arguments import did_you_mean
from sentprobe.core.reader import OnBad, read_json
from sentprobe.errors import CorpusError

_SHOWN_FIELDS = 12


def read(path: str, name: str, reading: ReadOptions, on_bad: OnBad | None) -> Iterator[Piece]:
    """A piece for every line."""
    for number, record in read_json(path, object, on_bad):
        try:
            yield _piece(path, number, record, name, reading)
        except CorpusError as bad:
            if on_bad is None:
                raise
            on_bad(bad)


def _piece(path: str, number: int, record: dict[str, object], name: str, reading: ReadOptions) -> Piece:
    text = _field(path, number, record, "--text", reading.text)
    if not isinstance(text, str):
        raise CorpusError(path, number, f"{_kind(text)} in {reading.text!r}", "a text; name its field with --text")
    if reading.id is None:
        return Piece(f"{name}:{number}", text, first=True)
    id = _field(path, number, record, "--id", reading.id)
    if isinstance(id, bool) or not isinstance(id, str | int) or not str(id).strip():
        raise CorpusError(path, number, f"{_kind(id)} in {reading.id!r}", "a text or an integer; name it with --id")
    return Piece(" ".join(str(id).split()), text, first=True)


def _field(path: str, number: int, record: dict[str, object], option: str, name: str) -> object:
    if name in record:
        return record[name]
    fields = ", ".join(map(repr, [*record][:_SHOWN_FIELDS])) or "none"
    hint = did_you_mean(name, record, n=1)
    raise CorpusError(path, number, f"an object without the field {name!r}; it has {fields}", f"{option} FIELD.{hint}")


def _kind(value: object) -> str:
    return "nothing" if value is None or value == "" else f"a value of type {type(value).__name__}"


text_source = TextSource(
    name="jsonl",
    summary="JSON lines: an object per document, with its text in --text FIELD and its id in --id FIELD.",
    suffixes=(".jsonl", ".ndjson", ".json"),
    read=read,
    paragraphs=split_paragraphs,
    lines="paragraphs",
    records=True,
    order=20,
)
