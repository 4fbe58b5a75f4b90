"""Is this word in the sentence? The probe reads the sentence vector and the word's vector.

One row per sentence has a word of its own, one has the word of another sentence of the same split that this one lacks.
Taking the absent words from the present ones leaves nothing to learn from the word alone (Adi et al. 2017).
"""

from collections.abc import Sequence
from random import Random

from sentprobe.core.words import split_everywhere
from sentprobe.corpus.folding import fold
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Example, LabelIssue, Policy, Proposal, Task, token_positions
from sentprobe.tasks.example import plain_words


def propose(s: Sentence, context: Context) -> Proposal:
    """One word of the sentence, picked at random."""
    words = sorted(plain_words(s))
    if not words:
        return "no word"
    i = words[context.draw(len(words))]
    word = context.lower_case(s.forms[i])
    return Example("1", s.tokens, s.text, s.id, marks=token_positions(s, (i,)), extra=(("word", word),))


def _pieces(e: Example) -> set[str]:
    """The words of a sentence, and those inside others: *I've* has *I* in it."""
    return {piece for t in map(fold, e.tokens) for piece in (t, *split_everywhere(t))}


def complete(examples: Sequence[Example], rng: Random) -> list[Example]:
    """Each sentence with its own word, and with the word of another sentence that it does not have.

    The words are exchanged at random, so that every word is absent as often as it is present.
    """
    spelled = [dict(e.extra)["word"] for e in examples]
    words = [*map(fold, spelled)]
    present = [_pieces(e) for e in examples]
    order = list(range(len(words)))
    rng.shuffle(order)
    for i in range(len(order)):
        if words[order[i]] not in present[i]:
            continue
        for _ in range(200):
            j = rng.randrange(len(order))
            if words[order[i]] not in present[j] and words[order[j]] not in present[i]:
                order[i], order[j] = order[j], order[i]
                break
    rows: list[Example] = []
    for i, e in enumerate(examples):
        if words[order[i]] in present[i]:
            continue
        rows += [e, e._replace(label="0", marks=(), extra=(("word", spelled[order[i]]),))]
    return rows


def label_issues(rows: Sequence[Example]) -> list[LabelIssue]:
    """The word is in the sentence, or it is not."""
    return ["" if (fold(row.extra[0][1]) in _pieces(row)) == (row.label == "1") else "wrong" for row in rows]


task = Task(
    name="word_presence",
    version=3,
    question="Is this word in the sentence?",
    paper="adi2017",
    propose=propose,
    settings=(),
    labels=("0", "1"),
    label_names={"0": "absent", "1": "present"},
    complete=complete,
    inputs=("word",),
    label_issues=label_issues,
    policies={
        "adi2017": Policy(length=(5, 70), strata=(), balance="natural", sizes=(150_000, 25_000, 25_000), pool="adi2017")
    },
)
