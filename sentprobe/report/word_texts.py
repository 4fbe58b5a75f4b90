"""What is said of spaces of words, where probes and encoders would be said of anything else."""

from __future__ import annotations

from collections.abc import Iterator

from sentprobe.report.types import Summary
from sentprobe.stats.level import level_text

RETRIEVALS = {
    "nn": "the candidate with the highest cosine",
    "csls": "twice the cosine, less the mean cosine of either one to its ten nearest neighbours in the other "
    "language, so that what is near to everything is found less often",
    "isf": "the inverted softmax, by which a candidate should be mapped back to the query",
}
"""How neighbours are scored, in words."""
WORD_TASKS = {
    "word_translation": "precision@1 in points, the share of source words whose nearest word is one of their "
    "translations; a word with several translations counts once, and pairs with an unknown word are left out.",
    "sentence_retrieval": "precision@1 in points, the share of sentences whose nearest sentence is their translation, "
    "by vectors of sentences: in a space of words, these are means of words, weighted by inverse document frequency "
    "as in MUSE, unless the name of the set says otherwise.",
    "word_similarity": "Pearson's r, times 100, of cosines and scores of people; pairs with an unknown word are left "
    "out.",
    "word_by_word": "BLEU of translating every word by its nearest neighbour, over pairs of sentences all of whose "
    "words are known.",
    "translation_closeness": "mean cosine, times 100, of words and their translations.",
}
"""How sets are scored, by task."""
INTERVALS = {
    "wilson": "Wilson's over words or sentences",
    "bootstrap": "bootstrap over pairs or sentences for correlations, cosines and BLEU",
}
MARK_NOTE = (
    "† not significantly better than the best baseline on the same rows (paired test, as sentprobe compare makes it; "
    "Holm over the columns of a set, {alpha})."
)
RESULTS_INTRO = (
    "Rows are sets, columns are systems and how neighbours are retrieved. Colours show how far a score is above (blue) "
    "or below (orange) the baseline copy, which leaves words as they are, if significantly; † and no colour: not "
    "significantly better."
)


def is_of_words(summary: Summary) -> bool:
    """Whether a run has results of `sentprobe words` only."""
    return bool(summary.columns) and all(c.probe is None or c.probe in RETRIEVALS for c in summary.columns)


def noun_of(summary: Summary) -> str:
    """What a column is called: an encoder, or a system of word spaces."""
    return "system" if is_of_words(summary) else "encoder"


def metric_line(kinds: set[str]) -> str:
    """The first line of a legend."""
    intervals = "; ".join(text for kind, text in INTERVALS.items() if kind in kinds)
    return (
        f"Scores times 100; ± is half the width of the {level_text()} interval: {intervals}. It is about these "
        "spaces, on other samples of test rows: not about other vectors or alignments."
    )


def retrieval_lines(summary: Summary) -> Iterator[str]:
    """What the ways to retrieve are; and that some scores do not depend on them."""
    used = dict.fromkeys(c.probe for c in summary.columns if c.probe)
    if used:
        yield f"Retrieval: {'; '.join(f'{name}, {RETRIEVALS[name]}' for name in used)}."
    same = [s.label for s in summary.sets if s.task in ("word_similarity", "translation_closeness")]
    if len(used) > 1 and same:
        yield f"{', '.join(same)}: the same for every retrieval."
    if any(column.encoder == "copy" for column in summary.baselines):
        yield (
            "copy: every word is left as it is; for sentences, the one with most identical words, weighted by inverse "
            "document frequency."
        )
