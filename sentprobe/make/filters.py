"""Which sentences a task may use: their text, columns and lengths, and lists of sentences to exclude."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache, reduce
from operator import or_

from sentprobe.core.arguments import StringsOrPaths, as_strings
from sentprobe.core.hashing import hash_64
from sentprobe.corpus.artifacts import find_invisible_character, find_markup
from sentprobe.corpus.folding import near_duplicate_text
from sentprobe.corpus.syntax import PENN_TAGS
from sentprobe.sentence import Sentence
from sentprobe.tasks import Policy

ADDRESS = re.compile(r"https?:|www\.|\w@\w|\.(?:com|org|net|html?)\b", re.IGNORECASE)
ADDRESS_HINTS = ("http", "www.", "@", ".com", ".org", ".net", ".htm")
"""Every address contains one of these, and searching for them is cheap."""
BRACKET_PAIRS = (("(", ")"), ("[", "]"), ("{", "}"), ("«", "»"), ("-LRB-", "-RRB-"), ("``", "''"))
QUOTED = re.compile(r"""[()\[\]{}«»"„“”]|-[LR]RB-|``|''""")
SPECIAL = re.compile(r"[^\w\s.,;:!?'’$%/…–—-]")
HINTS = ("_", "''", "rb-", "http", "www", ".com", ".org", ".net", ".htm")
"""A printable text without special characters and without these has neither addresses nor brackets nor markup."""
EXCLUDED_REASON = "excluded by --exclude"
LENGTH_REASON = "length out of range"
COLUMN_BITS = {"upos": 1, "penn": 2, "feats": 4, "heads": 8, "tree": 16, "lemmas": 32, "xpos": 2, "deprels": 8}
MIN_WORDS = 3
"""Letters and gaps are compared from this many words on: shorter texts are too easily alike, and no set has them."""
_BASE, _MASK = 0x9E3779B97F4A7C15, (1 << 64) - 1


def rejection_reason(s: Sentence) -> str | None:
    """Why no task may use the sentence, or None."""
    tokens, text = s.tokens, s.text
    if len("".join(tokens).split()) != 1:
        return "white space inside a token"
    half = len(tokens) / 2
    if sum(map(str.isalpha, tokens)) < half and sum(any(map(str.isalpha, t)) for t in tokens) < half:
        return "fewer than half of the tokens are words"
    lower = text.lower()
    if text.isprintable() and not SPECIAL.search(text) and not [hint for hint in HINTS if hint in lower]:
        return None
    if any(hint in lower for hint in ADDRESS_HINTS) and ADDRESS.search(text):
        return "web or mail address"
    if QUOTED.search(text) and (
        any(text.count(left) != text.count(right) for left, right in BRACKET_PAIRS)
        or text.count('"') % 2
        or sum(map(text.count, "„“”")) % 2
    ):
        return "unbalanced quotes or brackets"
    if next(find_markup(text), None) or find_invisible_character(text) or "\ufffd" in text:
        return "markup, invisible or lost characters"
    return None


def columns(s: Sentence) -> tuple[str, ...]:
    """The optional columns of a sentence that are not empty, and ``penn`` if its language-specific tags are Penn's."""
    names = []
    if s.upos is not None:
        names.append("upos")
    if s.heads is not None:
        names.append("heads")
    if s.tree is not None:
        names.append("tree")
    if s.feats is not None and s.feats.count("_") < len(s.feats):
        names.append("feats")
    if s.xpos is not None and PENN_TAGS.issuperset(s.xpos):
        names.append("penn")
    return tuple(names)


def column_bits(s: Sentence) -> int:
    """The columns a sentence has, as bits of ``COLUMN_BITS``."""
    return (
        (s.upos is not None)
        + 2 * (s.xpos is not None)
        + 4 * (s.feats is not None)
        + 8 * (s.heads is not None and s.deprels is not None)
        + 16 * (s.tree is not None)
        + 32 * (s.lemmas is not None)
    )


def needed_bits(needs: Collection[str]) -> int:
    """The columns that a reading needs, as bits."""
    return reduce(or_, (COLUMN_BITS.get(column, 0) for column in needs), 0)


def takes(policy: Policy, length: int) -> bool:
    """Whether sentences of this many tokens are within the policy's window."""
    return policy.length[0] <= length <= policy.length[1]


def strata_of(policy: Policy) -> dict[int, str]:
    """Sentence length → the name of its stratum; lengths outside all strata share the empty name."""
    if policy.strata == "exact":
        return {n: f"{n:02d}" for n in range(policy.length[0], policy.length[1] + 1)}
    return {n: f"{low:02d}-{high:02d}" for low, high in policy.strata for n in range(low, high + 1)}


@dataclass(frozen=True, slots=True)
class ExcludedSentences:
    """The keys of excluded sentences, eight bytes each: those of a list, and those that its rows were made from.

    The rows of some tasks are changed sentences: two words exchanged (bigram shift), two clauses (coordination
    inversion), one word replaced (odd man out). A list of such rows must exclude the originals too. An exchange leaves
    the letters of a sentence as they are, and a replacement leaves all words but one, so that a sentence is excluded
    if, up to case, digits, punctuation and spacing, it

    - is in the list,
    - has the same letters as one of the list, in any order, or
    - differs from one of the list in one word that is not the first.

    Lists may be of running text or of tokens (*don't* or *do n't*): comparisons by words are tried both ways.
    """

    letter_keys: frozenset[int] = frozenset()
    gap_keys: frozenset[int] = frozenset()

    @classmethod
    def of(cls, sentences: StringsOrPaths | Iterable[str]) -> ExcludedSentences:
        """The keys of these sentences."""
        letter_keys: set[int] = set()
        gap_keys: set[int] = set()
        for text in as_strings(sentences, "a sentence"):
            if near_duplicate_text(text):
                letter_keys.add(_letter_key(text))
                gap_keys.update(_gap_keys(text.split()))
        return cls(frozenset(letter_keys), frozenset(gap_keys))

    def __bool__(self) -> bool:
        return bool(self.letter_keys)

    def has(self, text: str, tokens: Sequence[str]) -> bool:
        """Whether a sentence is excluded."""
        return (
            _letter_key(text) in self.letter_keys
            or not self.gap_keys.isdisjoint(_gap_keys(text.split()))
            or not self.gap_keys.isdisjoint(_gap_keys(tokens))
        )


def _letter_key(text: str) -> int:
    """The same number for texts of the same letters; of few words, for those in the same order."""
    words = near_duplicate_text(text).split()
    return hash_64("".join(words if len(words) < MIN_WORDS else sorted("".join(words))))


def _gap_keys(tokens: Sequence[str]) -> Iterator[int]:
    """One number for every word but the first: that of the sentence without that word.

    Sums of hashes times powers of a base, so that all of them together cost little more than one.
    """
    hashes = [h for token in tokens if (h := _word_hash(token))]
    n = len(hashes)
    if n < MIN_WORDS:
        return
    power, terms = 1, []
    for h in hashes:
        terms.append(h * power & _MASK)
        power = power * _BASE & _MASK
    total = sum(terms)
    for i in range(1, n):
        yield (total - terms[i] + i * 0xD1B54A32D192ED03) & _MASK


@lru_cache(maxsize=1 << 16)
def _word_hash(token: str) -> int:
    """A hash of a word, 0 if it has neither letters nor digits."""
    word = near_duplicate_text(token).replace(" ", "")
    return hash_64(word) | 1 if word else 0
