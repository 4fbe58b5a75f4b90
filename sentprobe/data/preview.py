"""A set as a small HTML table for notebooks: rows per split and label, and a few examples."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from html import escape

from sentprobe.task import SPLITS, Example

SHOWN_LABELS = 10
SHOWN_EXAMPLES = 5
SHOWN_CHARACTERS = 120


def dataset_html(name: str, language: str | None, labels: Sequence[str], rows: Mapping[str, Sequence[Example]]) -> str:
    """Two tables, with every text from the set escaped."""
    counts = {split: Counter(row.label for row in rows.get(split, ())) for split in SPLITS}
    body = [[label, *(f"{counts[split][label]:,}" for split in SPLITS)] for label in labels[:SHOWN_LABELS]]
    if len(labels) > SHOWN_LABELS:
        rest = labels[SHOWN_LABELS:]
        body.append([f"{len(rest):,} more", *(f"{sum(counts[split][c] for c in rest):,}" for split in SPLITS)])
    body.append(["all", *(f"{counts[split].total():,}" for split in SPLITS)])
    shown = _first_of_each_label(rows)
    examples = [[split, row.label, _shorten(row.text)] for split, row in shown]
    caption = f"{name} ({language})" if language else name
    return _table(["label", *SPLITS], body, caption) + _table(["split", "label", "text"], examples)


def _first_of_each_label(rows: Mapping[str, Sequence[Example]]) -> list[tuple[str, Example]]:
    found: dict[str, tuple[str, Example]] = {}
    for split in SPLITS:
        for row in rows.get(split, ()):
            found.setdefault(row.label, (split, row))
            if len(found) == SHOWN_EXAMPLES:
                return list(found.values())
    return list(found.values())


def _shorten(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else f"{text[: SHOWN_CHARACTERS - 1]}…"


def _table(header: Iterable[str], body: Iterable[Iterable[str]], caption: str = "") -> str:
    head = "".join(f"<th>{escape(cell)}</th>" for cell in header)
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in body)
    title = f"<caption>{escape(caption)}</caption>" if caption else ""
    return f"<table>{title}<thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
