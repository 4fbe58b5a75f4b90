"""`sentprobe repeat`: the result of a signature, computed again."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

order = 130
group = "Probe"


def repeat(
    signature: str,
    /,
    *,
    run: Path | None = None,
    data: Annotated[tuple[str, ...], Parameter(("--data", "-d"))] = (),
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = (),
    no_store: bool = False,
) -> int:
    """Compute the result of a signature again, and say whether it is the same.

    Exit code 1 if it is not.

    Parameters
    ----------
    signature: str
        As `sentprobe show RUN --signatures` prints it, in quotes.
    run: Path
        The run with the result to compare with, or a file that `sentprobe export results` wrote.
    data: tuple[str, ...]
        Where the set is. Default: where the run found it.
    encoder: tuple[str, ...]
        The encoder of the signature if it is Python code (py:…) or a server (openai:…): permission to use it.
    no_store: bool
        Encode again instead of taking vectors from the store.
    """
    from sentprobe.cli._options import open_store
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.exchange.result_file import opened_run
    from sentprobe.report.comparison import print_repeated
    from sentprobe.run.repeat import repeat as again

    with ExitStack() as stack:
        with printed_warnings():
            recorded = stack.enter_context(opened_run(run)) if run else None
        reproduction = again(signature, run=recorded, paths=data, store=open_store(no_store, None), encoders=encoder)
    print_repeated(reproduction)
    return 0 if reproduction.recorded is None or reproduction.same else 1
