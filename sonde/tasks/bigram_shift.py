"""Were two adjacent words of the sentence exchanged?

The pair is chosen before the label, and a sentence qualifies for either label only if it has such a pair: not the first
word, no punctuation or symbol, two different words with white space between them and outside multi-word tokens.
Sentences with double quotes are left out, as in the released SentEval set.
"""

from sonde.corpus.sentence import Sentence
from sonde.corpus.syntax import tags
from sonde.edit import plain_words, replaced
from sonde.task import Context, Example, Policy, Proposal, Task


def propose(s: Sentence, context: Context) -> Proposal:
    """I (inverted) or O (original) by the toss of a coin, once a pair is found."""
    if not QUOTES.isdisjoint(s.forms):
        return "double quotes"
    words, pos = plain_words(s), tags(s)
    pairs = [
        i
        for i in range(1, len(s) - 1)
        if i in words
        and i + 1 in words
        and pos[i] not in ("PUNCT", "SYM")
        and pos[i + 1] not in ("PUNCT", "SYM")
        and s.forms[i].lower() != s.forms[i + 1].lower()
        and (s.space_after is None or s.space_after[i])
    ]
    if not pairs:
        return "no two words to exchange"
    i = pairs[context.draw(len(pairs))]
    if context.draw(2):
        return Example.of(s, "O", marks=(i, i + 1))
    return replaced(s, "I", {i: s.forms[i + 1], i + 1: s.forms[i]})


QUOTES = frozenset({'"', "``", "''", "“", "”", "„", "«", "»"})

task = Task(
    name="bigram_shift",
    version=1,
    question="Were two adjacent words of the sentence exchanged?",
    paper="conneau2018",
    propose=propose,
    labels=("I", "O"),
    policies={"conneau2018": Policy(), "xprobe2019": Policy()},
)
