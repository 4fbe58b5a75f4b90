"""Arrays in numpy's files, with one error for whatever may be wrong with them."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal


def map_array(path: str | Path, mode: Literal["r", "c"] = "r") -> Any:
    """The array of a .npy file, which stays on disk; ValueError, with the reason, if there is none.

    A header is Python that numpy parses: a damaged one may raise anything, from SyntaxError to MemoryError.
    """
    import numpy as np

    try:
        found = np.load(path, mmap_mode=mode, allow_pickle=False)
    except OSError as e:
        raise ValueError(e.strerror or str(e)) from e
    except Exception as e:
        raise ValueError(describe_damage(e)) from e
    if not isinstance(found, np.ndarray):
        found.close()
        raise ValueError("it is an archive of arrays; expected one array")
    return found


def describe_damage(error: Exception) -> str:
    """What a reader of a damaged file says, on one line."""
    text = " ".join(str(error).split())[:200].rstrip(".")
    return text or type(error).__name__
