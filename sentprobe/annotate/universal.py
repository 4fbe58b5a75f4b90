"""The relations of Universal Dependencies."""

from __future__ import annotations

from collections.abc import Iterable

RELATIONS = frozenset((
    "acl", "advcl", "advmod", "amod", "appos", "aux", "case", "cc", "ccomp", "clf", "compound", "conj", "cop", "csubj",
    "dep", "det", "discourse", "dislocated", "expl", "fixed", "flat", "goeswith", "iobj", "list", "mark", "nmod",
    "nsubj", "nummod", "obj", "obl", "orphan", "parataxis", "punct", "reparandum", "root", "vocative", "xcomp",
))  # fmt: skip
"""The 37 relations of UD version 2, without subtypes."""


def not_universal(relations: Iterable[str]) -> list[str]:
    """Those relations that are not of Universal Dependencies, sorted; ``ROOT`` is, in any case.

    Examples
    --------
    >>> not_universal(["ROOT", "nsubj:pass", "obj"]), not_universal(["nsubj", "pobj", "dobj", "_"])
    ([], ['dobj', 'pobj'])
    """
    return sorted({r for r in relations if r not in ("_", "") and r.partition(":")[0].lower() not in RELATIONS})
