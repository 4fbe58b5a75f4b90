"""`sonde serve`: a run as a page on this machine."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter


def serve(
    folder: Path,
    /,
    *,
    port: int = 8421,
    open: bool = False,
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = (),
) -> int:
    """Show a run as a page on this machine, even while it is being written, and try its probes on your own sentences.

    Ctrl-C ends it. Only this machine can reach it, and nothing can be changed through it.

    Parameters
    ----------
    folder: Path
        What `sonde run` wrote, or is writing.
    port: int
        Where to be reached; 0 for any port that is free. Default: 8421.
    open: bool
        Open the page in a browser.
    encoder: tuple[str, ...]
        An encoder of the run that is a program (py:…) and may be run to read sentences; may be repeated.
    """
    from sonde.cli.exits import Terminated
    from sonde.console import err
    from sonde.serve import Server

    server = Server(folder, port, encoder)
    with server:
        server.site.page()  # what is missing to make it is told here, and the first look is quick
        err().print(f"{folder} is at {server.url} until Ctrl-C.", markup=False, soft_wrap=True)
        if open:
            import webbrowser

            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except Terminated:
            raise
        except KeyboardInterrupt:  # which is how a server ends
            err().print("ended", markup=False)
    return 0
