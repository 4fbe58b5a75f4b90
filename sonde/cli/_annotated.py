"""What is printed of an annotated corpus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sonde.annotate.run import AnnotatedCorpus


def print_annotated(found: AnnotatedCorpus) -> None:
    """Print what came of the texts, on standard error."""
    from sonde.console import count_of, err, printable

    def say(text: str, style: str | None = None) -> None:
        err().print(printable(text), style=style, markup=False, soft_wrap=True)

    card, counts = found.card, found.card["counts"]
    n = counts.get("sentences", 0)
    files = f"{found.path}{f' and {found.trees}' if found.trees else ''}"
    say(
        f"{count_of(n, 'sentence')} with {count_of(counts.get('words', 0), 'word')} from "
        f"{count_of(counts.get('documents', 0), 'document')}, "
        f"{'written to' if found.is_new else 'finished before; they are in'} {files}"
    )
    if card["dropped"]:
        say(f"Dropped: {_reasons(card['dropped'])}.")
    if counts.get("repaired"):
        say(f"Repaired: the heads of {count_of(counts['repaired'], 'sentence')} ({_reasons(card['repaired'])}).")
    if card["not_read"]["count"]:
        say(f"Not read: {count_of(card['not_read']['count'], 'place')}, the first: {card['not_read']['listed'][0]}")
    for note in found.model.notes:
        say(f"{'note' if found.model.universal else 'warning'}: {card['annotator']}: {note}", "yellow")


def _reasons(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {reason}" for reason, n in counts.items())
