"""Were two adjacent words of the sentence exchanged?

The pair is chosen before the label, and a sentence qualifies for either label only if it has such a pair: not the first
word, no punctuation, symbol or interjection, two different words of different parts of speech (*Andy Warhol* is as good
either way), with white space around them and outside multi-word tokens. Sentences with double quotes are left
out, as in the released SentEval set. Some exchanges leave a sentence well-formed, more so where word order is free.
"""

from sentprobe.corpus.syntax import tags
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Example, Policy, Proposal, Task
from sentprobe.tasks.example import plain_words, replace_words, replaceable_words, restore_words


def propose(s: Sentence, context: Context) -> Proposal:
    """I (inverted) or O (original) by the toss of a coin, once a pair is found."""
    if not QUOTES.isdisjoint(s.forms):
        return "double quotes"
    words, pos = replaceable_words(s), tags(s)
    first = min(plain_words(s), default=0)
    pairs = [
        i
        for i in range(first + 1, len(s) - 1)
        if i in words
        and i + 1 in words
        and pos[i] not in UNSWAPPABLE_UPOS
        and pos[i + 1] not in UNSWAPPABLE_UPOS
        and (pos[i] != pos[i + 1] or not pos[i])
        and context.fold(s.forms[i]) != context.fold(s.forms[i + 1])
    ]
    if not pairs:
        return "no two words to exchange"
    i = pairs[context.draw(len(pairs))]
    left, right = s.forms[i], s.forms[i + 1]
    if context.draw(2):
        return replace_words(s, "O", {i: left, i + 1: right})
    return replace_words(s, "I", {i: right, i + 1: left})


def original(row: Example) -> str | None:
    """The two words exchanged again."""
    if row.label != "I":
        return row.text
    if len(row.marks) != 2 or max(row.marks) >= len(row.tokens):
        return None
    i, j = row.marks
    return restore_words(row, {i: row.tokens[j], j: row.tokens[i]})


UNSWAPPABLE_UPOS = frozenset({"PUNCT", "SYM", "INTJ"})
QUOTES = frozenset({'"', "``", "''", "“", "”", "„", "«", "»"})

task = Task(
    name="bigram_shift",
    version=2,
    question="Were two adjacent words of the sentence exchanged?",
    paper="conneau2018",
    propose=propose,
    settings=(),
    changes="order",
    original=original,
    labels=("I", "O"),
    label_names={"I": "exchanged", "O": "original"},
    solved_by=frozenset({"bigrams", "characters"}),
    policies={"conneau2018": Policy(), "xprobe2019": Policy()},
)
