"""The cache folder, for files that can be recreated."""

from __future__ import annotations

import os
from pathlib import Path


def cache_folder() -> Path:
    """``$SENTPROBE_CACHE``, or the cache folder of this system."""
    if chosen := os.environ.get("SENTPROBE_CACHE"):
        return Path(chosen).expanduser()
    from platformdirs import user_cache_path

    return user_cache_path("sentprobe")
