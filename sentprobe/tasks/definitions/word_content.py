"""Which of a list of mid-frequency words does the sentence contain?

The targets are words of four letters or more, no names, from a band of frequency ranks; a sentence qualifies if it has
exactly one of them exactly once. Four letters leave out most function words of alphabets; where a sign stands for a
syllable or a word, it counts as several, so that Chinese words of two characters may be targets and those of one, and
Japanese words of two or three hiragana, may not. In a corpus too small for the paper's band the targets are more
frequent words: the rarest that still occur often enough, as many as leave most sentences with at most one.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from unicodedata import combining

from sentprobe.core.words import is_word
from sentprobe.corpus.folding import fold, lower_case
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Counts, Example, LabelIssue, Policy, Proposal, Task

CHINESE = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff]")
SYLLABARIES = re.compile(
    "[\u30a1-\u30fa\u31f0-\u31ff\uac00-\ud7a3"  # katakana, Hangul
    "\u1200-\u139f\u2d80-\u2ddf\u13a0-\u13ff"  # Ethiopic, Cherokee
    "\u1400-\u167f\ua000-\ua48f\ua500-\ua63f]"  # Canadian Aboriginal, Yi, Vai
)
LETTERS_PER_SIGN = ((3, CHINESE), (2, SYLLABARIES))
"""How many letters a sign of some scripts counts as. Hiragana counts as one: endings and function words have it."""
FUNCTION_WORDS = 50
"""Ranks that are never targets, however small the corpus."""
OCCURRENCES = 3
"""Occurrences needed per row: some sentences have two targets, or are too long, or otherwise unfit."""
PER_SENTENCE = 1.0
"""Most target words a sentence may have on average, so that one is the usual number."""


def propose(s: Sentence, context: Context) -> Proposal:
    """The one target of the sentence."""
    targets = [i for i, form in enumerate(s.forms) if context.fold(form) in context.plan]
    if not targets:
        return "no target word"
    if len(targets) > 1:
        return "several target words"
    if any(first <= targets[0] < end for first, end, _ in s.mwts):
        return "target inside a multi-word token"
    return Example.of(s, context.plan[context.fold(s.forms[targets[0]])], marks=targets)


def plan(counts: Counts, policy: Policy, reading: str) -> dict[str, str]:
    """The target words: folded form → the label, its most frequent spelling in lower case."""
    targets = _targets(counts, policy)
    spellings: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for table in (counts.words, counts.first_words):
        for (form, _, _), n in table.items():
            if (word := counts.fold(form)) in targets:
                spellings[word][lower_case(form, counts.language)] += n
    return {word: min(c, key=lambda form: (-c[form], form)) for word, c in spellings.items()}


def _targets(counts: Counts, policy: Policy) -> frozenset[str]:
    seen = counts.forms()
    names = counts.forms("PROPN")
    ranked = sorted(seen, key=lambda form: (-seen[form], form))
    fit = [
        (rank, form)
        for rank, form in enumerate(ranked, 1)
        if letters(form) >= policy.letters and is_word(form) and names[form] * 2 < seen[form]
    ]
    first, last = policy.ranks
    most = min(last - first + 1, policy.most_classes)
    band = [form for rank, form in fit if rank >= first][:most]
    if len(band) == most and seen[band[-1]] >= max(sum(policy.sizes) / most, OCCURRENCES * policy.min_class):
        return frozenset(band)
    return _frequent(seen, fit, counts, policy, most)


def letters(form: str) -> int:
    """The number of letters of a word; signs that stand for syllables or words count as several."""
    if form.isascii():
        return len(form)
    # marks that are no vowels of their own: accents, viramas, tones, the points of Arabic and Hebrew
    marks = sum(combining(c) > 0 for c in form)
    return len(form) - marks + sum((worth - 1) * len(signs.findall(form)) for worth, signs in LETTERS_PER_SIGN)


def _frequent(
    seen: Counter[str], fit: list[tuple[int, str]], counts: Counts, policy: Policy, most: int
) -> frozenset[str]:
    """The rarest words with enough occurrences, until sentences would have several."""
    enough = [form for rank, form in fit if rank > FUNCTION_WORDS and seen[form] >= OCCURRENCES * policy.min_class]
    chosen: list[str] = []
    total = 0
    for form in reversed(enough):
        total += seen[form]
        if len(chosen) == most or total > PER_SENTENCE * counts.sentences:
            break
        chosen.append(form)
    return frozenset(chosen)


def label_issues(rows: Sequence[Example]) -> list[LabelIssue]:
    """The word must be in the sentence, and no other target, spelled as it is or with the capital of a first word.

    A target is a label that half of its rows hold; a name that is spelled like a target (*Betty Hill*) is not one.
    """
    times = Counter(row.label for row in rows)
    held = Counter(row.label for row in rows if fold(row.label) in map(fold, row.tokens))
    words = {word for word, n in held.items() if n > 1 and 2 * n >= times[word]}
    folded = {fold(word): word for word in words}
    out: list[LabelIssue] = []
    for row in rows:
        first = folded.get(fold(row.tokens[0]), row.label) if row.tokens else row.label
        targets = words.intersection(row.tokens) | {first}
        has_label = fold(row.label) in map(fold, row.tokens)
        out.append("wrong" if not has_label else "ambiguous" if targets - {row.label} else "")
    return out


task = Task(
    name="word_content",
    version=3,
    question="Which of a list of mid-frequency words does the sentence contain?",
    paper="conneau2018",
    propose=propose,
    settings=("ranks", "letters"),
    labels="the words, up to 1,000",
    tables=frozenset({"words"}),
    plan=plan,
    policies={
        "conneau2018": Policy(classes=1000, min_classes=20, min_class=12, strata=()),
        "universal2019": Policy(
            classes=750, min_classes=20, min_class=12, strata=(), ranks=(2001, 2750), sizes=(75_000, 7_500, 7_500)
        ),
        "xprobe2019": Policy(classes=1000, min_classes=20, min_class=12, strata=()),
    },
    solved_by=frozenset({"edges", "unigrams", "bigrams", "characters"}),
    label_issues=label_issues,
)
