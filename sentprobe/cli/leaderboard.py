"""`sentprobe leaderboard`: results of several people side by side, where they can be compared."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

order = 105
group = "Read"

examples = """
Each of you writes a file; one puts them together:
  sentprobe export results my-run/ --by "Lab A" -o lab-a.json
  sentprobe leaderboard lab-a.json lab-b.json -o leaderboard.html
"""


def leaderboard(
    *files: Path,
    out: Annotated[tuple[Path, ...], Parameter(("--out", "-o"))] = (),
    title: str = "Leaderboard",
) -> int:
    """Put results of several people side by side where rows and protocol are the same, and say what cannot be compared.

    Exit code 2 if a file was refused.

    Parameters
    ----------
    files: Path
        What `sentprobe export results` wrote.
    out: tuple[Path, ...]
        The file to write; may be repeated. The suffix sets the format: .html (a page), .md, .csv. Default: the tables
        are printed.
    title: str
        The heading of the page. Default: Leaderboard.
    """
    from sentprobe.console import say
    from sentprobe.core.files import write_atomically
    from sentprobe.core.formatting import printable
    from sentprobe.errors import UsageError
    from sentprobe.exchange.boards import leaderboard as read
    from sentprobe.exchange.boards import leaderboard_csv, leaderboard_markdown, print_leaderboard
    from sentprobe.exchange.boards_page import render_leaderboard

    if not files:
        raise UsageError("Name the files to put together, as `sentprobe export results` writes them.")
    if odd := [path for path in out if path.suffix.lower() not in (".html", ".md", ".csv")]:
        raise UsageError(f"{odd[0]}: expected the suffix .html, .md or .csv.")
    board = read(files)
    for path in out:
        match path.suffix.lower():
            case ".html":
                text = render_leaderboard(board, title=title)
            case ".md":
                text = leaderboard_markdown(board)
            case _:
                text = leaderboard_csv(board)
        write_atomically(path, text.encode(errors="backslashreplace"))
        sys.stdout.write(f"{path}\n")
    if not out:
        print_leaderboard(board)
    for line in board.unread:
        say(printable(f"Refused: {line}"), "red")
    return 2 if board.unread else 0
