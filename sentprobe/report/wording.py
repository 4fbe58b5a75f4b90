"""Lists, numbers and failures in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe import errors


def listed(names: Sequence[str], *, most: int | None = None, more: str = "more") -> str:
    """``a, b and c``; of more than ``most``, the first ones and how many others there are."""
    shown = list(names)
    if most is not None and len(shown) > most:
        shown = [*shown[: most - 1], f"{len(shown) - most + 1} {more}"]
    if not shown:
        return ""
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"


def failure_text(where: str, encoder: str | None, kind: str, error: str) -> str:
    """A failure after what it is about: errors of ours without their class, and none with the encoder once more."""
    ours = getattr(errors, kind, None)
    if isinstance(ours, type) and issubclass(ours, errors.SentProbeError):
        if encoder and error.startswith(f"{encoder}: "):
            error = error[len(encoder) + 2 :]
        elif encoder and error.startswith(f"{encoder} "):
            error = f"it{error[len(encoder) :]}"
    else:
        error = f"{kind}: {error}"
    return f"{where.removesuffix(':')}: {error}"
