"""Columns of text as tables that fit a width: pages of encoders, or of sets where that takes fewer lines.

Numbers are never cut, and those of encoders never without their interval; where there is little room, baselines are
shown without theirs, or only the best one is, and names are short or folded. The layout says what was left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from sentprobe.report.columns import Column, MainTable
from sentprobe.report.escape import plain
from sentprobe.run.variant import CellText

MAX_HEADING_WIDTH = 16
"""Characters of a heading in one line, unless the numbers below it take more."""
MIN_NAME_WIDTH = 12
"""Characters of a name in one line, at least."""
REMEMBERED = 256
"""Columns whose lines are kept: those of one table are tried in many layouts."""


@dataclass(frozen=True)
class Page:
    """Columns that are printed side by side, the first with the names of the rows."""

    columns: Sequence[Column]
    title: str = ""


@dataclass(frozen=True)
class Layout:
    """The table of results as pages."""

    pages: Sequence[Page]
    dropped: tuple[str, ...] = ()
    """What there is no room for, in a few words each."""


def lay_out(main: MainTable, short: Names, width: int) -> Layout:
    """The table of results in this many characters: at once if it fits, otherwise in as few lines as possible."""
    bare = [column.without_margin() for column in main.baselines]
    best = main.best_baseline
    few = (
        [*main.baselines, *main.human], main.baselines, bare, [*best, *main.human], best,
        [column.without_margin() for column in best],
    )  # fmt: skip
    brief = replace(main, names=short.sets)
    for table in (main, brief):
        for baselines in few:
            columns = [table.names, table.test_size, *table.encoders, *baselines]
            if sum(widths(columns)) <= width:
                return Layout([Page(columns)], _dropped(main, columns))
    by_encoder = _pages_of_encoders(brief, width)
    by_set = _pages_of_sets(main, short, width)
    found = min(by_encoder, by_set, key=lambda pages: sum(map(_lines, pages)))  # the first of equals
    if found is by_set:  # which has the baselines and people as rows
        shown = [*main.best_baseline, *main.human]
    else:
        shown = [column for page in found for column in page.columns]
    return Layout(found, _dropped(main, shown))


def _dropped(main: MainTable, shown: Sequence[Column]) -> tuple[str, ...]:
    """What is not among the columns shown."""
    heads = [tuple(column.head) for column in shown]
    margins = {tuple(column.head) for column in shown if any(cell.margin for cell in column.cells)}
    own = [*main.baselines, *main.best_baseline]
    bare = any(
        tuple(column.head) in heads and tuple(column.head) not in margins and any(cell.margin for cell in column.cells)
        for column in own
    )
    only_best = len(main.baselines) > len(main.best_baseline) and any(
        tuple(column.head) not in heads for column in main.baselines
    )
    no_people = any(tuple(column.head) not in heads for column in main.human)
    found = {"the human column": no_people, "the ± of baselines": bare, "baselines other than the best": only_best}
    return tuple(what for what, missing in found.items() if missing)


@dataclass(frozen=True)
class Names:
    """Names that are short enough for a narrow table."""

    sets: Column
    encoders: Sequence[str]


def _pages_of_encoders(main: MainTable, width: int) -> list[Page]:
    """Rows are sets; the best baseline is on every page, or on the last one where a page is too narrow for it."""
    names, size, best = main.names, main.test_size, main.best_baseline
    if all(_folded_width([names, size, column, *best], width) <= width for column in main.encoders):
        blocks = list(in_blocks([names, size], main.encoders, best, width))
    else:
        blocks = list(in_blocks([names], [*main.encoders, *best], [], width))
    return _titled(blocks, main.encoders, "Encoder")


def _pages_of_sets(main: MainTable, short: Names, width: int) -> list[Page]:
    """Rows are encoders, followed by the best baseline; the number of test rows is part of the heading of a set."""
    rows = list(zip(_row_names(main, short), main.encoders, strict=True))
    for column in main.best_baseline:
        which = Column(column.head, [CellText(cell.note) for cell in column.cells])
        rows += [(", ".join(column.head), _without_notes(column)), ("which one", which)]
    rows += [(", ".join(column.head), column) for column in main.human]
    names = Column(["encoder"], [CellText(name) for name, _ in rows])
    sets = [
        Column([label.text, f"n={size.text}"], [column.cells[i] for _, column in rows])
        for i, (label, size) in enumerate(zip(short.sets.cells, main.test_size.cells, strict=True))
    ]
    return _titled(list(in_blocks([names], sets, [], width)), sets, "Set")


def _row_names(main: MainTable, short: Names) -> list[str]:
    """A name per column of an encoder: next to one of raw bits there is one of calibrated bits."""
    if len(main.encoders) == len(short.encoders):
        return list(short.encoders)
    return [", ".join(column.head) for column in main.encoders]


def _without_notes(column: Column) -> Column:
    return Column(column.head, [cell._replace(note="") for cell in column.cells])


def _titled(blocks: Sequence[Sequence[Column]], counted: Sequence[Column], what: str) -> list[Page]:
    """Blocks with the numbers of the columns that each has, if there are several."""
    pages, done = [], 0
    for block in blocks:
        own = sum(any(column is c for c in counted) for column in block)
        some = f" {done + 1}" if own == 1 else f"s {done + 1}–{done + own}"
        pages.append(Page(block, f"{what}{some} of {len(counted)}" if own and len(blocks) > 1 else ""))
        done += own
    return pages


def in_blocks(
    first: Sequence[Column], columns: Sequence[Column], last: Sequence[Column], width: int
) -> Iterator[list[Column]]:
    """As many columns at a time as fit, each time with the first and the last ones."""
    block: list[Column] = []
    for column in columns:
        if block and _folded_width([*first, *block, column, *last], width) > width:
            yield [*first, *block, *last]
            block = []
        block.append(column)
    yield [*first, *block, *last]


def _lines(page: Page) -> int:
    """How many lines a page takes, with its title and an empty line; names that are folded count once."""
    return max(len(heading(c)) for c in page.columns) + len(page.columns[0].cells) + 1 + bool(page.title)


def name_width(columns: Sequence[Column], width: int) -> int:
    """Characters of the first column: what it takes, or what the others leave."""
    names, *others = widths(columns)
    return min(names, max(MIN_NAME_WIDTH, width - sum(others)))


def _folded_width(columns: Sequence[Column], width: int) -> int:
    """The width of columns side by side if long names are folded."""
    names, *others = widths(columns)
    return min(names, max(MIN_NAME_WIDTH, width // 3)) + sum(others)


def widths(columns: Sequence[Column]) -> list[int]:
    """Characters that each column takes, with the two between it and the one before."""
    return [_width(column) + 2 * (i > 0) for i, column in enumerate(columns)]


@lru_cache(maxsize=REMEMBERED)
def _width(column: Column) -> int:
    from rich.cells import cell_len

    return max(map(cell_len, (*heading(column), *aligned(column))))


@lru_cache(maxsize=REMEMBERED)
def aligned(column: Column) -> list[str]:
    """The cells of a column, with numbers and marks aligned."""
    from rich.cells import cell_len, set_cell_size

    rows = [[plain(part) for part in words[:4]] for words in column.cells]
    sizes = [max(map(cell_len, parts)) for parts in zip(*rows, strict=True)]
    if not any(sizes[1:]):
        return [row[0] for row in rows]
    lines = []
    for row in rows:
        numbers = [part.rjust(size) for part, size in zip(row[:2], sizes[:2], strict=True) if size]
        marks = [set_cell_size(part, size) for part, size in zip(row[2:], sizes[2:], strict=True) if size]
        lines.append(" ".join((*numbers, *marks)))
    return lines


@lru_cache(maxsize=REMEMBERED)
def heading(column: Column) -> list[str]:
    """The lines of a heading: each part on its own, those that are too long broken after a sign such as / or -."""
    from rich.cells import cell_len, chop_cells

    room = max(MAX_HEADING_WIDTH, *map(cell_len, aligned(column)))
    lines: list[str] = []
    for part in map(plain, column.head):
        lines.append("")
        for piece in re.findall(r"[^/\-_:?&,@ ]*[/\-_:?&,@ ]|[^/\-_:?&,@ ]+", part):
            for bit in chop_cells(piece, room):
                if lines[-1] and cell_len(lines[-1] + bit) > room:
                    lines.append("")
                lines[-1] += bit
    return [line.rstrip() for line in lines]
