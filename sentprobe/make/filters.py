"""Which sentences any task may use, which columns they have, and the length stratum they fall into."""

from __future__ import annotations

import re

from sentprobe.corpus.artifacts import find_invisible_character, find_markup
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


def rejection_reason(s: Sentence) -> str | None:
    """Why no task may use the sentence, or None."""
    tokens, text = s.tokens, s.text
    if len("".join(tokens).split()) != 1:
        return "white space inside a token"
    half = len(tokens) / 2
    if sum(map(str.isalpha, tokens)) < half and sum(any(map(str.isalpha, t)) for t in tokens) < half:
        return "fewer than half of the tokens are words"
    folded = text.lower()
    if text.isprintable() and not SPECIAL.search(text) and not [hint for hint in HINTS if hint in folded]:
        return None
    if any(hint in folded for hint in ADDRESS_HINTS) and ADDRESS.search(text):
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
    found = []
    if s.upos is not None:
        found.append("upos")
    if s.heads is not None:
        found.append("heads")
    if s.tree is not None:
        found.append("tree")
    if s.feats is not None and s.feats.count("_") < len(s.feats):
        found.append("feats")
    if s.xpos is not None and PENN_TAGS.issuperset(s.xpos):
        found.append("penn")
    return tuple(found)


def column_bits(s: Sentence) -> int:
    """The columns a sentence has, as bits."""
    return (
        (s.upos is not None)
        + 2 * (s.xpos is not None)
        + 4 * (s.feats is not None)
        + 8 * (s.heads is not None and s.deprels is not None)
        + 16 * (s.tree is not None)
        + 32 * (s.lemmas is not None)
    )


def takes(policy: Policy, length: int) -> bool:
    """Whether sentences of this many tokens are within the policy's window."""
    return policy.length[0] <= length <= policy.length[1]


def strata_of(policy: Policy) -> dict[int, str]:
    """Sentence length → the name of its stratum; lengths outside all strata share the empty name."""
    if policy.strata == "exact":
        return {n: f"{n:02d}" for n in range(policy.length[0], policy.length[1] + 1)}
    return {n: f"{low:02d}-{high:02d}" for low, high in policy.strata for n in range(low, high + 1)}
