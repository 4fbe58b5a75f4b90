"""A leaderboard as one self-contained page, in the layout of the page of a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial

from sentprobe import __version__
from sentprobe.core.formatting import count_of
from sentprobe.exchange.boards import Board, Leaderboard
from sentprobe.report.figure import NO_RUN
from sentprobe.report.legend import ALONE, legend
from sentprobe.report.names import listed
from sentprobe.report.page.header import PageHeader
from sentprobe.report.page.page import assemble, render_sections
from sentprobe.report.page.section import PageData, Section, sibling_file
from sentprobe.report.page.templates import environment

INTRO = (
    "A row is an encoder, in brackets whose results these are; a column is a set. Encoders that share a letter in a "
    "column are not significantly different there. The order is by the number of columns with the letter a, then by "
    "the mean; it is no ranking."
)
LISTS = (
    ("repeated", "Repeated results", "The same encoder on the same rows by the same protocol, from several files."),
    ("separate", "Not compared", "Scores are compared if rows, protocol and probe are the same. These are not:"),
    ("unread", "Files that were refused", "Nothing of these files is shown."),
)


def render_leaderboard(all_boards: Leaderboard, *, title: str = "Leaderboard") -> str:
    """The page, which loads nothing."""
    sections = [*_board_sections(all_boards.boards), *_list_sections(all_boards)]
    page = PageData(summary=NO_RUN, brief=NO_RUN, figures={})
    templates = environment([], "encoder")
    rendered, _ = render_sections(sections, page, templates)
    head = PageHeader(
        lede=f"{count_of(len(all_boards.files), 'file')} · {listed(all_boards.files, most=6, remainder='more')}",
        badges=[],
        missing=f"{count_of(len(all_boards.unread), 'file')} refused" if all_boards.unread else "",
        errors=(),
        answer=leaderboard_answer(all_boards),
        note=f"Compared by sentprobe {__version__}; “sentprobe repeat SIGNATURE --run FILE” computes a score again.",
        verdict="",
    )
    return assemble(templates, rendered, (), title=title, head=head, folders=all_boards.files)


def leaderboard_answer(all_boards: Leaderboard) -> list[str]:
    """What the boards say, in a sentence each."""
    sentences = []
    for board in all_boards.boards:
        columns, sets = board.summary.columns, board.summary.sets
        if len(columns) < 2:
            sentences.append(f"{board.protocol}: only {columns[0].name}, on {count_of(len(sets), 'set')}.")
            continue
        leaders = [
            columns[i].name for i in board.order if board.in_best_group(i) == board.in_best_group(board.order[0])
        ]
        best, total = board.in_best_group(board.order[0]), len(sets)
        sentences.append(
            f"{board.protocol}: {listed(leaders, most=4, remainder='more')} "
            f"{'is' if len(leaders) == 1 else 'are'} in the best group on {best} of {count_of(total, 'set')}."
        )
    return sentences


def _board_sections(boards: Sequence[Board]) -> Iterator[Section]:
    template = sibling_file(__package__, "board.html")
    for number, board in enumerate(boards, 1):

        def data(page: PageData, board: Board = board) -> Mapping[str, object]:
            return {
                "table": board.table(),
                "legend": legend(board.summary, ALONE),
                "signatures": list(board.signatures()),
            }

        yield Section(
            name=f"board-{number}",
            title=board.protocol,
            intro=INTRO if number == 1 else "",
            template=template,
            data=data,
            needs_results=False,
            order=number,
        )


def _lines(lines: Sequence[str], _page: PageData) -> Mapping[str, object]:
    return {"lines": lines}


def _list_sections(all_boards: Leaderboard) -> Iterator[Section]:
    template = "<ul>{% for line in lines %}<li>{{ line }}</li>{% endfor %}</ul>"
    for order, (name, title, intro) in enumerate(LISTS, 1000):
        if lines := getattr(all_boards, name):
            yield Section(
                name=name,
                title=title,
                intro=intro,
                template=template,
                data=partial(_lines, lines),
                needs_results=False,
                order=order,
            )
