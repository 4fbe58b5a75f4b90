"""Facts about single languages that rules of tasks need where the annotation of treebanks does not tell."""

from __future__ import annotations

import re

MORPHOLOGICAL_PASSIVE = frozenset({"az", "ba", "da", "kk", "ky", "nb", "nn", "no", "sv", "tr", "tt", "ug", "uz"})
"""Languages whose verbs have passive forms of their own, *yapıldı*, *byggs*, without deponents among them: a verb with
Voice=Pass is passive, and needs no auxiliary."""

IMPERSONAL_PASSIVE = frozenset({"ekk", "et", "fi", "fkv", "izh", "krl", "olo", "vep", "vot", "vro"})
"""Finnic languages, whose passive has no subject: what is built remains its object, *talo rakennettiin* (``obj`` in
UD), with the number and case of an object."""

REFLEXIVE_PASSIVE = frozenset({"ast", "ca", "es", "gl", "pt"})
"""Languages in which a reflexive clitic may make a verb passive, *se venden casas*, and some treebanks annotate it
like others (``expl:pv``): a clause with one is neither clearly active nor clearly passive."""


IMPERFECT_FORMS = {
    "fr": re.compile(
        r"(?!(?:"
        r"(?:re|dé|satis|contre|sur|par)?fai[st]|sai[st]|vais|(?:dé|com)?plai[st]|tai[st]|hai[st]|brai[st]|pais|ait|"
        r"(?:ex|dis|sous|abs|at|por)?trai(?:[st]|ent)|(?:re|mé)?connai[st]|(?:ap|com|dis|re|trans|réap)?parai[st]|"
        r"(?:re)?nai[st]|aient|(?:re)?paient|(?:ess|bal|effr|ég|bég|rel|débl|rembl|monn|r|enr|défr)aient"
        r")$)\w*(?:ais|ait|aient)"
    )
}
"""Forms of the imperfect by their endings: French *mesurait*, *étaient*. The exceptions are forms of the present
(*fait*, *connait*, *paient*). Endings in *-ions* and *-iez* may be those of a present (*étudions*)."""
NEVER_PASSIVE = {
    "fr": re.compile(
        r"(?:(?:all|arriv|décéd|rest|re?tomb|tomb|n)é(?:e?s?)|(?:re)?parti(?:e?s?)|mort(?:e?s?)|"
        r"(?:re|rede|de|par|sur|inter|ad|pro)?venu(?:e?s?))"
    )
}
"""Participles of verbs without an object, whose *être* is that of a perfect: *est né*, *sont venues*. Verbs that can
have one (*monter*, *sortir*, *prévenir*) are not among them."""


def code_of(language: str | None) -> str:
    """The language of a code with a region or a script: ``pt`` of ``pt-BR``."""
    return (language or "").lower().replace("_", "-").partition("-")[0]
