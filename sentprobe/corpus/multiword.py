"""Multi-word tokens, as CoNLL-U writes them: French *du* over the words *de* and *le*."""

from __future__ import annotations

from collections.abc import Sequence

from sentprobe.corpus.faults import EMPTY_NODE, RANGE

NO_SPACE = "SpaceAfter=No"
Mwt = tuple[int, int, str]
"""First word, one past the last word, and the form in the text."""


def read_ranges(
    ids: Sequence[str], forms: Sequence[str], misc: Sequence[str]
) -> tuple[tuple[Mwt, ...], dict[int, bool]]:
    """The multi-word tokens, and for every word inside one whether white space follows it."""
    mwts: list[Mwt] = []
    glued: dict[int, bool] = {}
    words = end = 0
    for one, form, note in zip(ids, forms, misc, strict=True):
        if "-" not in one and "." not in one:
            words += 1
        elif m := RANGE.fullmatch(one):
            first, last = int(m[1]) - 1, int(m[2])
            if first != words or last <= first + 1 or last > len(ids) or first < end or not form:
                raise ValueError
            mwts.append((first, last, form))
            glued |= dict.fromkeys(range(first, last - 1), False)
            glued[last - 1] = NO_SPACE not in note.split("|")
            end = last
        elif not EMPTY_NODE.fullmatch(one):
            raise ValueError
    if end > words:
        raise ValueError
    return tuple(mwts), glued


def surface(forms: Sequence[str], space: Sequence[bool], mwts: Sequence[Mwt]) -> str:
    """The text, reconstructed from the tokens."""
    out: list[str] = []
    at = 0
    for first, end, form in (*mwts, (len(forms), len(forms), "")):
        out += [forms[i] + " " if space[i] else forms[i] for i in range(at, first)]
        if form:
            out.append(form + " " if space[end - 1] else form)
        at = end
    return "".join(out).strip()
