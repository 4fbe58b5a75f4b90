"""The built-in corpus: any number of distinct English sentences with gold columns and gold constituents.

A sentence depends on its index and the seed alone, so any range of it can be made anywhere, in any order. A derivation
adds up the surprise of its choices; one that was too likely to be drawn twice is drawn again, which keeps half a million
sentences distinct without remembering any of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, islice
from random import Random

from sonde.corpus.kinds import KINDS
from sonde.corpus.lexicon import Table
from sonde.corpus.phrases import Draft
from sonde.corpus.sentence import Sentence, Tree
from sonde.errors import UsageError

SHORTEST, LONGEST = 4, 30
SENTENCES_PER_DOCUMENT = 20
_ENOUGH_BITS = 36.5  # a probability of 1e-11
_TRIES_AT_A_LENGTH = 12


def sentence(index: int, seed: int = 0) -> Sentence:
    """Return sentence number ``index`` of the corpus that ``seed`` names."""
    if index < 0 or seed < 0:
        raise UsageError(f"met index {index} and seed {seed} for the built-in corpus; expected numbers of 0 or more")
    rng = Random(seed << 64 | index)
    for attempt in count():
        if attempt % _TRIES_AT_A_LENGTH == 0:
            length, length_bits = _lengths().draw(rng)
        draft = Draft(rng, int(rng.random() * 3))
        kind, mark = draft.pick(_kinds(length))
        tree = kind(draft, length, mark)
        if SHORTEST <= len(draft.words) <= LONGEST and draft.bits + length_bits - 1.5 >= _ENOUGH_BITS:
            break
    return _finished(draft, tree, index, seed)


def sentences(n: int, seed: int = 0, start: int = 0, step: int = 1) -> Iterator[Sentence]:
    """Yield n sentences: those at start, start + step, start + 2 step …"""
    for index in islice(count(start, step), n):
        yield sentence(index, seed)


@cache
def _lengths() -> Table[int]:
    """Return the lengths to aim at; the shortest are asked for more often because fewer of them are accepted."""
    return Table([(n, 2.0 if n < 6 else 1.3 if n < 18 else 1.0) for n in range(SHORTEST, 29)])


@cache
def _kinds(length: int) -> Table[tuple[Callable[[Draft, int, str], Tree], str]]:
    """Return the kinds of sentences that fit a length."""
    return Table([((kind, mark), weight) for kind, mark, fewest, weight in KINDS if fewest <= length])


def _finished(d: Draft, tree: Tree, index: int, seed: int) -> Sentence:
    forms, lemmas, upos, xpos, feats, *_ = zip(*d.words, strict=True)
    inner = {first for first, _, _ in d.multiwords}
    last = len(forms) - 1
    spaces = tuple(
        i != last and i not in inner and xpos[i] != "``" and (upos[i + 1] != "PUNCT" or xpos[i + 1] == "``")
        for i in range(last + 1)
    )
    return Sentence(
        id=f"builtin-{seed}-{index}",
        text="".join([form + " " if space else form for form, space in zip(forms, spaces, strict=True)]),
        forms=forms,
        lemmas=lemmas,
        upos=upos,
        xpos=xpos,
        feats=feats,
        heads=tuple(d.heads),
        deprels=tuple(d.relations),
        space_after=spaces,
        mwts=tuple(d.multiwords),
        doc=f"builtin-{index // SENTENCES_PER_DOCUMENT:04d}",
        tree=Tree("ROOT", (tree,)),
    )
