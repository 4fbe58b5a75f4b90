"""Several trainings of one recipe, each with its own seed, in folders below one.

    runs/nli/seed-1111/  runs/nli/seed-1112/  …     each as a single training writes it

``-e nli=trained:runs/nli/seed-*`` names them as one encoder.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sentprobe.core.arguments import check_integer
from sentprobe.errors import UsageError

SEED_FOLDERS = "seed-*"
"""The pattern that all of them match."""


def seed_folders(folder: Path, seeds: Sequence[int], config: str) -> dict[int, Path]:
    """The folder of each seed: ``folder`` itself, if there is only one.

    ``config`` is the file that a single training would have there: a folder is of one training or has several.
    """
    if len(seeds) == 1:
        begun = sorted(path.name for path in folder.glob(f"{SEED_FOLDERS}/{config}"))
        if begun and not (folder / config).exists():
            raise UsageError(f"{folder} has the folders of several seeds: add --seeds, or choose another folder.")
        return {seeds[0]: folder}
    if (folder / config).exists():
        raise UsageError(f"{folder} has a single training: with --seeds, choose another folder, for one of each seed.")
    return {seed: folder / f"seed-{seed}" for seed in seeds}


def check_seeds(seeds: int) -> int:
    """How many seeds were typed; UsageError if that is no number of seeds."""
    return check_integer(seeds, "--seeds", 1)
