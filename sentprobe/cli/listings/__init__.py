"""What `sentprobe ls` lists: a kind of part. Every kind of part has a list, and so have a few tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pkgutil import resolve_name
from typing import Any

from sentprobe.core.plugins import Kind, part_repr

Row = tuple[str, ...]
DESCRIPTIONS = ("summary", "interpretation", "doc", "title")
"""The attribute of a part that says what it is: the first of these that it has."""


def name_of(part: Any) -> str:
    """The name of a part, as users type it."""
    return str(part.name)


def description_of(part: Any) -> str:
    """What a part is, on one line."""
    descriptions = (getattr(part, attribute, None) for attribute in DESCRIPTIONS)
    return " ".join(next((str(text) for text in descriptions if text), "").split())


@dataclass(frozen=True, kw_only=True)
class Listing:
    """A list: of the parts of a kind, with some columns, or any other table.

    Parameters
    ----------
    name
        As in ``sentprobe ls NAME``.
    summary
        What is listed, in a few words.
    kind
        Where the ``Kind`` is whose parts are listed, as module:name. It is imported when it is listed.
    columns
        The heading of each column, and the text of a part in it.
    rows
        The rows, the header first, where they are not what ``columns`` says.
    order
        The place of the list in the help.

    Examples
    --------
    >>> from sentprobe.extend import Listing
    >>> vowels = Listing(name="vowels", rows=lambda: iter([("letter",), ("a",), ("e",)]))
    >>> vowels, list(vowels.table())
    (Listing('vowels'), [('letter',), ('a',), ('e',)])
    """

    name: str
    order: int = 1000
    summary: str = ""
    kind: str = ""
    columns: Mapping[str, Callable[[Any], str]] = field(
        default_factory=lambda: {"name": name_of, "description": description_of}
    )
    rows: Callable[[], Iterator[Row]] | None = None

    __repr__ = part_repr

    def table(self) -> Iterator[Row]:
        """The rows, the header first."""
        if self.rows is not None:
            yield from self.rows()
            return
        yield tuple(self.columns)
        kind: Kind[Any] = resolve_name(self.kind)
        for part in kind.parts().values():
            yield tuple(text(part) for text in self.columns.values())


LISTINGS = Kind("listing", __name__, Listing)
"""All lists, also those that other packages offer as entry points of the group ``sentprobe.listings``."""
