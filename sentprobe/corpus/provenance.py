"""Where the annotation of a file comes from: comments above its first sentence that name the annotator.

A treebank that people annotated has none.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from sentprobe.core.files import open_bytes
from sentprobe.errors import SentProbeError

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
    except SentProbeError:
        return None  # whoever reads it will say what is wrong with it
    comments = head.partition(b"\n\n")[0]
    facts: dict[str, Any] = {
        m[1].decode().removeprefix(PREFIX): m[2].decode(errors="replace").strip() for m in _FACT.finditer(comments)
    }
    if ANNOTATOR not in facts:
        return None
    if "universal" in facts:
        facts["universal"] = facts["universal"] == YES
    return facts


def read_provenances(paths: Iterable[str]) -> list[dict[str, Any]]:
    """What the comments of several files say; the same only once."""
    distinct: list[dict[str, Any]] = []
    for facts in map(read_provenance, paths):
        if facts is not None and facts not in distinct:
            distinct.append(facts)
    return distinct


def describe_provenance(facts: Mapping[str, Any]) -> str:
    """The annotator, its model and its accuracy, on one line."""
    name = str(facts.get("model", ""))
    version = facts.get("version", "")
    model = f"{name} {version}".strip() if name else ""
    software = str(facts.get("software", ""))
    licence = f"licence {facts['licence']}" if facts.get("licence") else ""
    scheme = "not UD" if facts.get("universal") is False else ""
    details = ", ".join(part for part in (model, software, licence, scheme) if part)
    accuracy = f": {facts['accuracy']}" if facts.get("accuracy") else ""
    return f"{facts[ANNOTATOR]}{f' ({details})' if details else ''}{accuracy}"


def stated_language(files: Iterable[str]) -> str | None:
    """The language of the annotator of all files that name one, if it is the same."""
    stated = {facts.get("language") for facts in read_provenances(files)}
    return stated.pop() if len(stated) == 1 else None
