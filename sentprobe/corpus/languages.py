"""Facts about single languages that rules of tasks need where the annotation of treebanks does not tell."""

from __future__ import annotations

MORPHOLOGICAL_PASSIVE = frozenset({"az", "ba", "da", "kk", "ky", "nb", "nn", "no", "sv", "tr", "tt", "ug", "uz"})
"""Languages whose verbs have passive forms of their own, *yapıldı*, *byggs*, without deponents among them: a verb with
Voice=Pass is passive, and needs no auxiliary."""

IMPERSONAL_PASSIVE = frozenset({"ekk", "et", "fi", "fkv", "izh", "krl", "olo", "vep", "vot", "vro"})
"""Finnic languages, whose passive has no subject: what is built remains its object, *talo rakennettiin* (``obj`` in
UD), with the number and case of an object."""

REFLEXIVE_PASSIVE = frozenset({"ast", "ca", "es", "gl", "pt"})
"""Languages in which a reflexive clitic may make a verb passive, *se venden casas*, and some treebanks annotate it
like others (``expl:pv``): a clause with one is neither clearly active nor clearly passive."""


def code_of(language: str | None) -> str:
    """The language of a code with a region or a script: ``pt`` of ``pt-BR``."""
    return (language or "").lower().replace("_", "-").partition("-")[0]
