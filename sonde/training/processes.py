"""Which of several processes this is, before torch or accelerate are started."""

from __future__ import annotations

import os


def process_rank() -> int:
    """The number of this process among all that train together, as launchers set it; 0 if it is the only one."""
    for name in ("RANK", "LOCAL_RANK"):
        if (value := os.environ.get(name, "")).isdecimal():
            return int(value)
    return 0
