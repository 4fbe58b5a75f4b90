"""Several processes that a launcher has started: ``accelerate launch``, or ``torchrun``."""

from __future__ import annotations

import os


def is_main_process() -> bool:
    """Whether this is the one of several processes that prints; launchers number them."""
    return os.environ.get("RANK", "0") == "0"


def join_processes() -> bool:
    """Whether this is one of several processes without GPUs, which accelerate has to be told.

    Otherwise each of them would train alone, and all would write to the same folder.
    """
    import torch

    if int(os.environ.get("WORLD_SIZE", "1")) > 1 and not torch.cuda.is_available():
        os.environ["ACCELERATE_USE_CPU"] = "true"  # what the loop's Accelerator reads
        return True
    return False
