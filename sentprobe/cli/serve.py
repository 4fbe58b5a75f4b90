"""`sentprobe serve`: a run, or an alignment, as a live page on this machine."""

from __future__ import annotations

from pathlib import Path

order = 120
group = "Read"


def serve(
    folder: Path,
    /,
    *,
    port: int = 8421,
    open: bool = False,
    trust: tuple[str, ...] = (),
) -> int:
    """Serve a run as a live page, even while it is being written, and try its probes on your own sentences.

    Of an alignment, the page shows the translations and neighbours of words that you type, and a picture of both
    languages.

    Ctrl-C stops it. Only this machine can reach it, and nothing can be changed through it.

    Parameters
    ----------
    folder: Path
        What `sentprobe run` wrote, or is writing; or what `sentprobe align` wrote.
    port: int
        The port; 0 for any free one. Default: 8421.
    open: bool
        Open the page in a browser.
    trust: tuple[str, ...]
        An encoder of the run that is Python code (py:…), which may run on your sentences; may be repeated.
    """
    from sentprobe.cli._exits import SIGNAL_EXIT_BASE, Terminated
    from sentprobe.console import err, say
    from sentprobe.serve import Server

    server = Server(folder, port, trust, lambda line: say(line))
    with server:
        server.site.page()  # errors show here, and the first visit is quick
        say(f"Serving {folder} at {server.url}; Ctrl-C stops it.")
        if open:
            import webbrowser

            webbrowser.open(server.url)
        try:
            server.serve_forever()
        except KeyboardInterrupt as e:  # which is how a server is stopped
            err().print("stopped", markup=False)
            return SIGNAL_EXIT_BASE + e.number if isinstance(e, Terminated) else 0
    return 0
