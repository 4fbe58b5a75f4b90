"""Where the annotation of a file comes from: comments above its first sentence that name the annotator.

A treebank that people annotated has none.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from sonde.core.files import open_bytes
from sonde.errors import SondeError

GENERATOR = "generator"
ANNOTATOR = "annotator"
PREFIX = f"{ANNOTATOR}_"
YES, NO = "yes", "no"
_FACT = re.compile(rb"#[ \t]*(generator|annotator(?:_\w+)?)[ \t]*=[ \t]*([^\n]*)")
_HEAD_BYTES = 1 << 16
_CAN_BE_CONLLU = (".conllu", ".conll", ".ud")


def provenance_comments(facts: Mapping[str, str], generator: str) -> str:
    """The comments for a file, to be written above its first sentence; ``facts`` has at least ``annotator``."""
    lines = {GENERATOR: generator, **{name if name == ANNOTATOR else PREFIX + name: v for name, v in facts.items()}}
    return "".join(f"# {name} = {' '.join(value.split())}\n" for name, value in lines.items() if value)


def read_provenance(path: str) -> dict[str, Any] | None:
    """What those comments say: ``annotator``, ``model``, ``version``, …, ``universal`` as a bool; None without them."""
    if not any(suffix in path.lower() for suffix in _CAN_BE_CONLLU):
        return None
    try:
        head = next(open_bytes(path), b"")[:_HEAD_BYTES]
    except SondeError:
        return None  # whoever reads it will say what is wrong with it
    comments = head.partition(b"\n\n")[0]
    found = {m[1].decode().removeprefix(PREFIX): m[2].decode(errors="replace").strip() for m in _FACT.finditer(comments)}
    if ANNOTATOR not in found:
        return None
    universal = {"universal": found["universal"] == YES} if "universal" in found else {}
    return {**found, **universal}
