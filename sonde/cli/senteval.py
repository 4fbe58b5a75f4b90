"""`sonde senteval`: what was written for SentEval runs here."""

from __future__ import annotations

from pathlib import Path

import cyclopts

senteval = cyclopts.App(name="senteval", help="Run what was written for SentEval, unchanged.", version_flags=())


@senteval.command
def install(folder: Path, /, *, force: bool = False) -> int:
    """Write a small package `senteval` that leads to sonde, for scripts that import it by that name.

    Parameters
    ----------
    folder: Path
        Where the package goes: what the scripts put into sys.path, often SentEval's own folder.
    force: bool
        Write over the files of a package `senteval` that is there already and was not written by sonde.
    """
    from sonde.console import out
    from sonde.senteval.install import install as write

    out().print(f"{write(folder, force=force)}", markup=False, soft_wrap=True)
    return 0
