"""`--seeds` of `sentprobe train` and `align`: several trainings of one recipe, each in a folder below one.

    runs/nli/seed-1111/  runs/nli/seed-1112/  …     each as a single training writes it

``-e nli=trained:runs/nli/seed-*`` names them as one encoder.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from pathlib import Path

from sentprobe.core.arguments import check_integer
from sentprobe.errors import UsageError

SEED_FOLDERS = "seed-*"
"""The pattern that all of them match."""


def seed_folders(folder: Path, first: int, seeds: int, config: str) -> dict[int, Path]:
    """The folder of each of some seeds, from the first on: ``folder`` itself, if there is only one.

    ``config`` is the file that a single training would have there: a folder is of one training or has several.
    """
    if check_integer(seeds, "--seeds", 1) == 1:
        if any(folder.glob(f"{SEED_FOLDERS}/{config}")) and not (folder / config).exists():
            raise UsageError(f"{folder} has the folders of several seeds: add --seeds, or choose another folder.")
        return {first: folder}
    if (folder / config).exists():
        raise UsageError(f"{folder} has a single training: with --seeds, choose another folder, for one of each seed.")
    return {seed: folder / f"seed-{seed}" for seed in range(first, first + seeds)}


def print_next(folder: Path, folders: Iterable[Path], command: str) -> None:
    """Print how to use all seeds as one; ``command`` has a gap for what names them."""
    from sentprobe.console import out
    from sentprobe.core.formatting import printable

    pattern = shlex.quote(str(folder / SEED_FOLDERS))
    count = len(list(folders))
    line = f"{'seeds:':10}{count}, in {folder}/; as one:  {command.format(name=folder.resolve().name, pattern=pattern)}"
    out().print(printable(line), markup=False, soft_wrap=True)
