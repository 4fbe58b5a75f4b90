"""`sentprobe export`: sets and results for other programs and other people."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

import cyclopts
from cyclopts import Parameter

order = 107
group = "Read"

export = cyclopts.App(
    name="export", help="Write results for other people, and sets and results for MTEB.", version_flags=()
)


@export.command
def results(
    run: Path,
    /,
    *,
    out: Annotated[Path, Parameter(("--out", "-o"))],
    by: str | None = None,
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = (),
    format: Literal["sentprobe", "mteb"] = "sentprobe",
) -> int:
    """Write the results of a run to a file that checks itself, for `sentprobe leaderboard`; or as MTEB writes them.

    Parameters
    ----------
    run: Path
        What `sentprobe run` wrote.
    out: Path
        The file, such as mine.json; with --format mteb a folder.
    by: str
        Whose results these are, as a leaderboard shows it. Default: the name of the file.
    encoder: tuple[str, ...]
        Only this encoder; may be repeated. Baselines are always written. Default: all.
    format: str
        sentprobe or mteb. Default: sentprobe.
    """
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.exchange.mteb_results import write_mteb_results
    from sentprobe.exchange.result_file import export_results
    from sentprobe.run import Run

    with printed_warnings():
        loaded = Run.load(run)
    if format == "mteb":
        for path in write_mteb_results(loaded, out, encoders=encoder):
            sys.stdout.write(f"{path}\n")
    else:
        sys.stdout.write(f"{export_results(loaded, out, by=by or out.stem, encoders=encoder)}\n")
    return 0


@export.command
def mteb(*data: str, out: Annotated[Path, Parameter(("--out", "-o"))]) -> int:
    """Write probing sets as a Python package of MTEB tasks, which importing registers.

    Parameters
    ----------
    data: str
        Sets, as for `sentprobe audit`: folders that `sentprobe make` wrote, or files.
    out: Path
        The folder of the package, whose name is that of the module, such as my_tasks.
    """
    from sentprobe.data.sources import find_sets
    from sentprobe.exchange.mteb_tasks import write_mteb_tasks

    names = write_mteb_tasks([source.load() for source in find_sets(list(data))], out)
    sys.stdout.write(f"{out}: {', '.join(names)}\n")
    return 0
