"""Which of two words of the sentence comes first? The probe reads the sentence vector and both words' vectors.

Every sentence gives two rows, the pair in its true order and the same pair flipped; both words occur once.
"""

from collections import Counter
from collections.abc import Sequence
from random import Random

from sentprobe.corpus.folding import fold
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Example, LabelIssue, Policy, Proposal, Task, token_positions
from sentprobe.tasks.example import plain_words


def propose(s: Sentence, context: Context) -> Proposal:
    """Two words that occur once each, in the order of the sentence."""
    forms = [context.fold(form) for form in s.forms]
    times = Counter(forms)
    tokens = Counter(context.fold(token) for token in s.tokens)  # French *des* may be a word, or two in one token
    words = [i for i in sorted(plain_words(s)) if times[forms[i]] == 1 >= tokens[forms[i]]]
    if len(words) < 2:
        return "no two words that occur once"
    first = words.pop(context.draw(len(words)))
    second = words[context.draw(len(words))]
    pair = sorted((first, second))
    extra = tuple(zip(("word1", "word2"), (context.lower_case(s.forms[i]) for i in pair), strict=True))
    return Example("1", s.tokens, s.text, s.id, marks=token_positions(s, pair), extra=extra)


def complete(examples: Sequence[Example], rng: Random) -> list[Example]:
    """The pair in its order, and flipped."""
    rows: list[Example] = []
    for e in examples:
        (column1, word1), (column2, word2) = e.extra
        rows += [e, e._replace(label="0", extra=((column1, word2), (column2, word1)))]
    return rows


def label_issues(rows: Sequence[Example]) -> list[LabelIssue]:
    """One word comes before the other, or it does not."""
    return ["" if _in_order(row) == (row.label == "1") else "wrong" for row in rows]


def _in_order(row: Example) -> bool:
    tokens = [fold(t) for t in row.tokens]
    first, second = (fold(word) for _, word in row.extra)
    # without the language, Turkish *ısı* and *isi* are one word
    if tokens.count(first) > 1 or tokens.count(second) > 1:
        tokens = list(row.tokens)
        first, second = (word for _, word in row.extra)
    if first not in tokens or second not in tokens:  # inside a multi-word token: the order is unknown
        return row.label == "1"
    return tokens.index(first) < tokens.index(second)


task = Task(
    name="word_order",
    version=2,
    question="Does the first of two words come before the second in the sentence?",
    paper="adi2017",
    propose=propose,
    settings=(),
    labels=("0", "1"),
    label_names={"0": "after", "1": "before"},
    complete=complete,
    inputs=("word1", "word2"),
    label_issues=label_issues,
    policies={
        "adi2017": Policy(length=(5, 70), strata=(), balance="natural", sizes=(150_000, 25_000, 25_000), pool="adi2017")
    },
)
