"""Python's compiled modules in child processes."""

from __future__ import annotations

import os

from sentprobe.core.folders import cache_folder


def with_bytecode() -> dict[str, str]:
    """The environment of a child process that keeps compiled modules, as it does for users.

    Where PYTHONDONTWRITEBYTECODE is set, each worker process would compile all of sentprobe again. Then they are kept
    in the cache folder, and not beside the source.
    """
    environment = {**os.environ}
    if environment.pop("PYTHONDONTWRITEBYTECODE", ""):
        environment.setdefault("PYTHONPYCACHEPREFIX", str(cache_folder() / "bytecode"))
    return environment
