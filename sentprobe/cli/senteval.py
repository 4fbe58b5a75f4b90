"""`sentprobe senteval`: scripts that were written for SentEval."""

from __future__ import annotations

from pathlib import Path

import cyclopts

order = 140
group = "Probe"

senteval = cyclopts.App(
    name="senteval", help="Run scripts that were written for SentEval, unchanged.", version_flags=()
)


@senteval.command
def install(folder: Path, /, *, force: bool = False) -> int:
    """Write a small package `senteval` that redirects to sentprobe, for scripts that import it by that name.

    Parameters
    ----------
    folder: Path
        Where the package goes: the folder that the scripts add to sys.path, often SentEval's own.
    force: bool
        Overwrite a package `senteval` that is there already and was not written by sentprobe.
    """
    from sentprobe.console import out
    from sentprobe.senteval.install import install as write

    out().print(f"{write(folder, force=force)}", markup=False, soft_wrap=True)
    return 0
