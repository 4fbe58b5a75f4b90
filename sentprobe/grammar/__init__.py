"""The built-in corpus: any number of distinct English sentences with gold columns and gold constituents.

A sentence depends on its index and the seed alone, so any range of the corpus can be generated anywhere, in any
order. A derivation adds up the surprisal of its choices; one probable enough to be drawn twice is drawn again, which
keeps half a million sentences distinct without remembering any of them.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable, Iterator
from functools import cache
from itertools import count, islice
from random import Random

from sentprobe.errors import UsageError
from sentprobe.grammar import coordination as c
from sentprobe.grammar import questions as q
from sentprobe.grammar import statements as s
from sentprobe.grammar.clauses import clause, infinitive
from sentprobe.grammar.phrases import ClauseRules, Draft, Stuck
from sentprobe.grammar.relatives import attach
from sentprobe.grammar.words import WeightedTable
from sentprobe.sentence import Sentence, Tree

MIN_WORDS, MAX_WORDS = 4, 30
LONG = 10
"""Words from which on a sentence mostly has more than one clause."""
SENTENCES_PER_DOCUMENT = 20
_ENOUGH_BITS = 36.5  # a probability of 1e-11
_TRIES_AT_A_LENGTH = 12
_RULES = ClauseRules(attach, clause, infinitive)


def sentence(index: int, seed: int = 0) -> Sentence:
    """Return sentence number ``index`` of the corpus that ``seed`` names."""
    if index < 0 or seed < 0:
        raise UsageError(f"the built-in corpus needs an index and a seed of 0 or more, got {index} and {seed}")
    rng = Random(seed << 64 | index)
    for attempt in count():
        if attempt % _TRIES_AT_A_LENGTH == 0:
            length, length_bits = _length(rng)
        draft = Draft(rng, _taste(rng.random(), length), _RULES, named=length < 6)
        kind, mark = draft.pick(_kinds(length))
        try:
            tree = kind(draft, length, mark)
        except Stuck:
            continue
        if MIN_WORDS <= len(draft.words) <= MAX_WORDS and draft.bits + length_bits - 1.5 >= _ENOUGH_BITS:
            break
    return _finished(draft, tree, index, seed)


def sentences(n: int, seed: int = 0, start: int = 0, step: int = 1) -> Iterator[Sentence]:
    """Yield n sentences: those at start, start + step, start + 2 step …"""
    for index in islice(count(start, step), n):
        yield sentence(index, seed)


def _length(rng: Random) -> tuple[int, float]:
    """Draw a target length; return it with its bits."""
    table = _lengths()
    at = bisect(table.cumulative, rng.random())
    return table.items[at], table.bits[at]


@cache
def _lengths() -> WeightedTable[int]:
    """Return the target lengths."""
    return WeightedTable([(n, {4: 0.4, 5: 2.0, 6: 1.8}.get(n, 1.2 if n < 18 else 1.0)) for n in range(MIN_WORDS, 29)])


def _taste(u: float, length: int) -> int:
    """Return a preference for embedding, 0 to 2; it falls with length, so that depth does not just follow length."""
    flat = 0.1 + 0.009 * length
    return 0 if u < flat else 1 if u < flat + 0.3 else 2


@cache
def _kinds(length: int) -> WeightedTable[tuple[Callable[[Draft, int, str], Tree], str]]:
    """Return the kinds of sentences that fit a length, each with its final mark."""
    rows: tuple[tuple[Callable[[Draft, int, str], Tree], str, int, float | tuple[float, float]], ...] = (
        # kind, final mark, minimum words, weight; of two weights, the second is for long sentences
        (s.plain, ".", 4, (30.0, 14.0)),
        (s.plain, "!", 4, 1.5),
        (s.fronted("t"), ".", 6, 4.5),
        (s.fronted("p"), ".", 8, 4.0),
        (s.fronted("b"), ".", 5, 3.0),
        (s.fronted("a"), ".", 6, 2.5),
        (s.fronted("s"), ".", 10, (5.0, 9.0)),
        (s.fronted("g"), ".", 9, 2.5),
        (s.fronted("u"), ".", 10, 1.5),
        (s.fronted("c"), ".", 5, 2.5),
        (s.fronted("ca"), ".", 7, 0.8),
        (s.fronted("ct"), ".", 8, 1.5),
        (s.fronted("cs"), ".", 11, 1.0),
        (s.fronted("i"), ".", 6, 1.5),
        (s.fronted("at"), ".", 9, 1.5),
        (s.fronted("bp"), ".", 9, 0.3),
        (s.parenthetical, ".", 8, 1.5),
        (c.coordinated, ".", 8, (11.0, 20.0)),
        (c.tripled, ".", 14, 2.5),
        (c.paratactic, ".", 9, (3.0, 5.0)),
        (c.twofold, ".", 7, 4.0),
        (s.existential_sentence, ".", 6, 1.2),
        (s.extraposed, ".", 8, 1.5),
        (s.clausal_subject, ".", 9, 2.0),
        (s.inverted, ".", 7, 1.0),
        (s.spoken, ".", 11, (1.5, 3.0)),
        (s.reported, ".", 8, (1.0, 2.0)),
        (q.yes_no, "?", 5, 5.0),
        (q.wondered, "?", 6, 2.5),
        (q.who, "?", 4, 1.5),
        (q.what, "?", 5, 1.5),
        (q.pied, "?", 7, 0.8),
        (q.tagged, "?", 9, 0.8),
        (q.commanded(""), ".", 4, 2.5),
        (q.commanded(""), "!", 4, 0.5),
        (q.commanded("p"), ".", 5, 1.2),
        (q.commanded("n"), ".", 6, 1.0),
        (q.commanded("v"), ".", 6, 0.8),
        (q.commanded("l"), ".", 7, 0.6),
        (q.lets, ".", 5, 0.8),
        (q.exclaimed, "!", 8, 0.4),
        (q.how, "!", 6, 0.5),
    )
    long = length >= LONG
    fitting = [(kind, mark, weight) for kind, mark, least, weight in rows if least <= length]
    return WeightedTable([((kind, mark), w[long] if isinstance(w, tuple) else w) for kind, mark, w in fitting])


def _finished(d: Draft, tree: Tree, index: int, seed: int) -> Sentence:
    forms, lemmas, upos, xpos, feats, *_ = zip(*d.words, strict=True)
    spaces = [True] * len(forms)
    spaces[-1] = False
    for first, _, _ in d.multiwords:
        spaces[first] = False
    for at, kind in enumerate(upos):
        if kind == "PUNCT":
            spaces[at - (xpos[at] != "``")] = False
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
        space_after=tuple(spaces),
        mwts=tuple(d.multiwords),
        doc=f"builtin-{index // SENTENCES_PER_DOCUMENT:04d}",
        tree=Tree("ROOT", (tree,)),
    )
