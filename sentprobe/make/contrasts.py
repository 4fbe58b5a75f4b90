"""Corpus + contrast rules → a contrast set: count the forms of words, rewrite sentences, balance, and look for cues.

The first two passes over the corpus are those of ``make``: the pools keep the sentences with the lowest hashes, so that
neither the order of the corpus nor the number of workers matters. A third one counts words and bigrams of the rows.
"""

from __future__ import annotations

import platform
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from sentprobe import __version__
from sentprobe.contrast import BUILT_IN, ContrastRule, split_rules
from sentprobe.contrast.cues import BigramCounts, Signs, balanced_sizes, signs, success_shares
from sentprobe.contrast.forms import AttestedForms, attested
from sentprobe.core.arguments import Progress, StringsOrPaths, as_strings
from sentprobe.core.cluster import current_cluster
from sentprobe.core.workers import map_in_workers
from sentprobe.corpus.corpus import Corpus, Shard, cut, shard_count
from sentprobe.corpus.languages import code_of
from sentprobe.data.contrast_set import ContrastRow, ContrastSet
from sentprobe.errors import TooFewError, UsageError
from sentprobe.make.candidates import Candidate, Pool
from sentprobe.make.filters import ExcludedSentences
from sentprobe.make.job import Job, choose_reading
from sentprobe.make.manifest import corpus_facts
from sentprobe.make.passes import ReadLog, count, no_progress, propose
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Example, Policy, Proposal, Task

ROWS = 1000
"""Rows of each contrast rule, at most."""
LENGTH = (5, 28)
"""Tokens of an anchor."""
COLUMNS = frozenset({"upos", "feats", "heads"})
MARGIN = 64
"""How many more candidates than rows are kept of each kind, since some are dropped."""


def make_contrasts(
    corpus: Corpus,
    contrasts: StringsOrPaths = (),
    *,
    positives: StringsOrPaths = (),
    rows: int = ROWS,
    length: tuple[int, int] = LENGTH,
    seed: int = 1111,
    jobs: int = 1,
    shards: int | None = None,
    exclude: ExcludedSentences | StringsOrPaths = (),
    unread: bool = False,
    unbalanced: bool = False,
    skip_bad: bool = False,
    progress: Progress | None = None,
) -> tuple[ContrastSet, dict[str, str]]:
    """Make a contrast set by rule: sentences of a corpus, each with a paraphrase and a contrast.

    The result depends neither on the order of the sentences nor on ``jobs`` and ``shards``.

    Parameters
    ----------
    corpus
        Where the sentences come from: UD trees with lemmas and features.
    contrasts
        The rules that change the meaning, such as ``negation`` and ``roles``; none: all of them.
    positives
        The rules that keep it; none: all of them.
    rows
        Rows of each contrast rule, at most.
    length
        The fewest and the most tokens of an anchor.
    seed
        Every random choice derives from it, the rule and the sentence.
    jobs
        Worker processes; 1 works in this process.
    shards
        Into how many parts the corpus is read; by default one per worker, or four on a cluster.
    exclude
        Sentences not to use as anchors.
    unread
        Use rules also in languages in which nobody has read their rows.
    unbalanced
        Keep rows that would make word overlap or length a cue.
    skip_bad
        Skip malformed sentences, instead of raising `CorpusError`.
    progress
        Called with a stage, how much is done and the total.

    Returns
    -------
    tuple[ContrastSet, dict[str, str]]
        The set, and by the name of each rule of which it has no rows, the reason.

    Raises
    ------
    UsageError
        If there is no such rule, or the language of the corpus is not known.
    TooFewError
        If no rule has any rows.

    Examples
    --------
    >>> from sentprobe import Corpus, make_contrasts
    >>> contrast_set, skipped = make_contrasts(Corpus.synthetic(600), ["negation", "roles"], rows=20)
    >>> contrast_set.kinds, skipped
    (('negation', 'roles'), {})
    """
    chosen, skipped = choose_rules(corpus.language, contrasts, positives, unread)
    progress = progress or no_progress
    reading, shards = ReadLog(), shards or shard_count(corpus, jobs, current_cluster() is not None)
    with corpus.read_twice(jobs == 1, reading.record if skip_bad else None) as source:
        counts, log = count(source, [FORMS], jobs, skip_bad, progress, shards)
        log.add(reading)
        if isinstance(problem := choose_reading(FORMS, Policy(), counts), UsageError):
            raise TooFewError(f"No contrast set can be made: {problem.args[0]}.")
        plan = AttestedForms.of(counts, counts.tallies.get(FORMS.name, Counter()))
        facts = corpus_facts(corpus, counts, log)
        counts.drop_tables()
        policy = Policy(sizes=(rows, 1, 1), length=length, strata=())
        jobs_by_rule = [
            Job(_task(rule, chosen["positive"]), policy, "contrast", "dependency", plan, seed, corpus.language)
            for rule in chosen["contrast"]
        ]
        pools = [Pool(rows + MARGIN) for _ in jobs_by_rule]
        excluded = exclude if isinstance(exclude, ExcludedSentences) else ExcludedSentences.of(exclude)
        propose(source, jobs_by_rule, pools, jobs, excluded, progress, shards, counts.sentences)
        parts = {
            job.task.name: _selected(pool, rows, unbalanced) for job, pool in zip(jobs_by_rule, pools, strict=True)
        }
        all_rows = [row for kind_rows in parts.values() for row in kind_rows]
        if not all_rows:
            raise TooFewError(f"No contrast set can be made: {_reasons(jobs_by_rule, pools, skipped)}")
        fluency = _count_bigrams(source, all_rows, jobs, shards)
    for job, pool in zip(jobs_by_rule, pools, strict=True):
        if not parts[job.task.name]:
            skipped[job.task.name] = _reason(pool)
    manifest = _manifest(
        facts, chosen, parts, pools, fluency, seed=seed, length=length, rows=rows, balanced=not unbalanced
    )
    name = f"contrast/{corpus.name.replace('/', '-')}"
    return ContrastSet(name, tuple(all_rows), corpus.language, manifest), skipped


def choose_rules(
    language: str | None, contrasts: StringsOrPaths = (), positives: StringsOrPaths = (), unread: bool = False
) -> tuple[dict[str, list[ContrastRule]], dict[str, str]]:
    """The rules to use by effect, and those that nobody has read rows of in this language."""
    if not language:
        raise UsageError("The language of the corpus is not known, and rules depend on it: name it (--as-language en).")
    typed = {"contrast": as_strings(contrasts, "a rule"), "positive": as_strings(positives, "a rule")}
    chosen: dict[str, list[ContrastRule]] = {}
    skipped: dict[str, str] = {}
    for effect in ("contrast", "positive"):
        rules = split_rules(typed[effect], effect)
        chosen[effect] = [rule for rule in rules if unread or rule.read_in(language)]
        if effect == "contrast" or typed[effect]:
            reason = f"nobody has read its rows in {code_of(language)}; --unread makes it nevertheless"
            skipped |= {rule.name: reason for rule in rules if rule not in chosen[effect]}
        if not chosen[effect]:
            raise TooFewError(
                f"No {effect} can be made: nobody has read rows of {', '.join(rule.name for rule in rules)} in "
                f"{code_of(language)}. --unread makes them nevertheless."
            )
    return chosen, skipped


# The second pass


def _task(rule: ContrastRule, positives: Sequence[ContrastRule]) -> Task:
    return Task(
        name=rule.name,
        version=1,
        question="",
        paper="",
        propose=partial(propose_row, rule, tuple(positives)),
        labels=(rule.name,),
        readings={"dependency": COLUMNS},
    )


def propose_row(rule: ContrastRule, positives: Sequence[ContrastRule], s: Sentence, context: Context) -> Proposal:
    """An anchor with a contrast and a positive: of all there are, one that no cue tells apart, if there is one."""
    contrasts = [text for text in dict.fromkeys(rule.rewrite(s, context)) if text != s.text]
    if not contrasts:
        return "no contrast by the rule"
    paraphrases = {
        text: positive.name for positive in positives for text in positive.rewrite(s, context) if text != s.text
    }
    pairs = [(p, c, signs(s.text, p, c)) for p in paraphrases for c in contrasts if p != c]
    if not pairs:
        return "no positive by the rules"
    even = [pair for pair in pairs if pair[2] == (0, 0)]
    positive, contrast, cell = (even or pairs)[context.draw(len(even or pairs))]
    extra = (("positive", positive), ("contrast", contrast), ("positive_kind", paraphrases[positive]))
    return Example(rule.name, s.tokens, s.text, s.id, None, _stratum(cell), (), extra)


def _stratum(cell: Signs) -> str:
    return f"{cell[0]}|{cell[1]}"


def _signs(stratum: str) -> Signs:
    first, second = stratum.rstrip("/").split("|")
    return int(first), int(second)


# Rows


def _selected(pool: Pool, rows: int, unbalanced: bool) -> list[ContrastRow]:
    """The rows of one rule, in order of priority: balanced over cues, and no more than requested."""
    if pool.failed:
        raise UsageError(f"A contrast rule failed: {pool.failed}.")
    cells: dict[Signs, list[Candidate]] = {_signs(stratum): items for (_, stratum), items in pool.cells.items()}
    cells = dict(sorted(cells.items()))
    available = {cell: len(items) for cell, items in cells.items()}
    if unbalanced:
        chosen = [candidate for items in cells.values() for candidate in items]
        return [_row(c) for c in sorted(chosen, key=lambda c: c.priority)[:rows]]
    sizes = balanced_sizes(available)
    if (total := sum(sizes.values())) > rows:
        sizes = balanced_sizes({cell: n * rows // total for cell, n in sizes.items()})
    chosen = [candidate for cell, n in sizes.items() for candidate in cells[cell][:n]]
    return [_row(candidate) for candidate in sorted(chosen, key=lambda c: c.priority)]


def _row(candidate: Candidate) -> ContrastRow:
    example = candidate.example
    columns = dict(example.extra)
    return ContrastRow(
        example.text, columns["positive"], columns["contrast"], example.label, columns["positive_kind"], example.source
    )


def _reason(pool: Pool) -> str:
    """Why there are no rows of a rule, although it was used."""
    if sum(pool.proposed.values()):
        return "word overlap would tell positive from contrast in all of its rows; --unbalanced keeps them"
    if set(pool.rejected) - {"no contrast by the rule"} and pool.rejected["no positive by the rules"]:
        n = pool.rejected["no positive by the rules"]
        return f"no sentence has both a contrast and a positive ({n:,} have a contrast only)"
    return "no sentence of the corpus fits the rule"


def _reasons(jobs: Sequence[Job], pools: Sequence[Pool], skipped: Mapping[str, str]) -> str:
    reasons = [f"{job.task.name}: {_reason(pool)}" for job, pool in zip(jobs, pools, strict=True)]
    return "; ".join([*reasons, *(f"{name}: {reason}" for name, reason in skipped.items())])


# The third pass


def _count_bigrams(corpus: Corpus, rows: Sequence[ContrastRow], jobs: int, shards: int) -> BigramCounts:
    """The counts of the words and bigrams of the rows in the corpus."""
    total = BigramCounts.for_rows(rows)
    calls = [(shard, total.wanted) for shard in cut(corpus, shards)]
    parts = (
        map_in_workers(count_bigrams, calls, jobs, in_order=False) if jobs > 1 else (count_bigrams(*c) for c in calls)
    )
    for part in parts:
        total.merge(part)
    return total


def count_bigrams(shard: Shard, wanted: frozenset[str]) -> BigramCounts:
    """The counts of some words and their bigrams in one shard."""
    counts = BigramCounts(wanted)
    for s in shard.sentences(lambda error: None):
        counts.add(s.text)
    return counts


# The manifest


def _manifest(
    facts: Mapping[str, Any],
    chosen: Mapping[str, Sequence[ContrastRule]],
    parts: Mapping[str, Sequence[ContrastRow]],
    pools: Sequence[Pool],
    fluency: BigramCounts,
    **settings: Any,
) -> dict[str, Any]:
    """What was made of what, how, and what cues alone would make of it."""
    rules = [*chosen["contrast"], *chosen["positive"]]
    return {
        "rules": {
            rule.name: {
                "effect": rule.effect,
                "summary": rule.summary,
                "read": _rows_read(rule, facts["synthetic"]),
            }
            for rule in rules
        },
        "corpus": dict(facts),
        **settings,
        "positives": {
            kind: dict(sorted(Counter(r.positive_kind for r in rows).items())) for kind, rows in parts.items()
        },
        "cues": {kind: success_shares(rows, fluency) for kind, rows in parts.items() if rows},
        "stages": {
            kind: {
                "proposed": sum(pool.proposed.values()),
                "rejected": dict(sorted(pool.rejected.items(), key=lambda p: (-p[1], p[0]))),
                "cells": {
                    f"overlap {_side(cell[0])}, length {_side(cell[1])}": len(items)
                    for cell, items in sorted((_signs(stratum), items) for (_, stratum), items in pool.cells.items())
                },
            }
            for kind, pool in zip(parts, pools, strict=True)
        },
        "versions": {"sentprobe": __version__, "python": platform.python_version()},
    }


def _rows_read(rule: ContrastRule, synthetic: bool) -> dict[str, dict[str, Any]]:
    """How many rows were wrong by language: of several corpora, in the built-in one if that is used, or the first."""
    read: dict[str, dict[str, Any]] = {}
    for rows_read in sorted(rule.rows_read, key=lambda r: (r.corpus == BUILT_IN) != synthetic):
        of_language = {k: v for k, v in asdict(rows_read).items() if k != "language"}
        read.setdefault(rows_read.language, of_language)
    return dict(sorted(read.items()))


def _side(sign: int) -> str:
    return {1: "favours the positive", 0: "is equal", -1: "favours the contrast"}[sign]


def _nothing(s: Sentence, context: Context) -> Proposal:
    return None


FORMS = Task(
    name="contrast forms",
    version=1,
    question="",
    paper="",
    propose=_nothing,
    labels=(),
    readings={"dependency": COLUMNS},
    tables=frozenset({"words"}),
    count=attested,
)
"""What the first pass counts for all rules, as the passes of ``make`` want it."""
