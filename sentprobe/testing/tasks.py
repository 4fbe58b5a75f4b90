"""Whether a task follows the rules."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice

from sentprobe.core.hashing import mix
from sentprobe.core.third_party import third_party_code
from sentprobe.corpus.corpus import Corpus
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.errors import describe_error, error_location
from sentprobe.make import SkippedTask, choose_reading, count, make_sets
from sentprobe.make.filters import rejection_reason
from sentprobe.sentence import ANNOTATION_COLUMNS, Sentence
from sentprobe.tasks import Context, Example, Policy, Proposal, Task, is_task_name
from sentprobe.testing.verdict import Verdict, raise_failure, verdict_of

SAMPLE_SENTENCES = 500


def check_task(task: Task, corpus: Corpus) -> None:
    """Raise SentProbeError at the first rule that a task breaks.

    Parameters
    ----------
    task: Task
        The task to check.
    corpus: Corpus
        Annotated text to try it on.
    """
    raise_failure(examine_task(task, corpus), f"The task {task.name}")


def examine_task(task: Task, corpus: Corpus) -> Iterator[Verdict]:
    """Try a task on a corpus, under every policy it has, rule by rule."""
    yield verdict_of("its name, version, question and labels are filled in", _filled, task)
    yield verdict_of("its readings need columns that exist", _columns, task)
    sentences = list(islice((s for s in corpus if rejection_reason(s) is None), SAMPLE_SENTENCES))
    counts, _ = count(corpus, [task])
    for suite, policy in task.policies.items():
        try:
            if task.name in counts.failed:
                yield Verdict(f"{suite}: it counts and plans", False, counts.failed[task.name])
                continue
            reading = choose_reading(task, policy, counts)
            if not isinstance(reading, str):
                yield Verdict(f"{suite}: the corpus has the columns it needs", False, str(reading))
                continue
            with third_party_code:
                context = Context(policy, reading, task.plan(counts, policy, reading) if task.plan else None)
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            yield Verdict(f"{suite}: it counts and plans", False, f"{describe_error(e)}{error_location(e)}")
            continue
        run = partial(_propose, task, context)
        yield verdict_of(f"{suite}: each sentence gets an example or a reason", _shapes, task, run, sentences)
        yield verdict_of(f"{suite}: the same sentence gets the same proposal, in any order", _repeats, run, sentences)
        yield verdict_of(f"{suite}: some sentence gets an example", _some, run, sentences)
        yield verdict_of(
            f"{suite}: a set comes out, the same from one shard and three",
            _sharding,
            task,
            suite,
            policy,
            corpus,
        )


def _propose(task: Task, context: Context, s: Sentence) -> Proposal:
    context.state = mix(near_duplicate_key(s.text))
    return task.propose(s, context)


def _filled(task: Task) -> str:
    # the name of a parametric task has its parameter after a dot
    name = task.name.partition(".")[0] if is_task_name(task.name) else task.name
    if not name.isidentifier() or name != name.lower():
        return f"The name must be a lower-case identifier, got {task.name!r}."
    if task.version < 1:
        return f"The version must be 1 or more, got {task.version}."
    if not task.question.endswith("?"):
        return f"The question must end in a question mark, got {task.question!r}."
    if not task.labels or (isinstance(task.labels, tuple) and len(set(task.labels)) < 2):
        return f"The labels must be two or more, or a sentence that describes them, got {task.labels!r}."
    return "" if task.policies else "There must be at least one policy, got none."


def _columns(task: Task) -> str:
    columns = {*ANNOTATION_COLUMNS, "penn"}
    unknown = sorted({c for needed in task.readings.values() for c in needed} - columns)
    if unknown:
        return f"Columns must be among {', '.join(sorted(columns))}, got {', '.join(unknown)}."
    for suite, policy in task.policies.items():
        if missing := [r for r in policy.readings if r not in task.readings]:
            return f"The policy {suite} names the reading {missing[0]}, which the task does not have."
    return "" if task.readings else "There must be at least one reading, got none."


def _shapes(task: Task, run: Callable[[Sentence], object], sentences: list[Sentence]) -> str:
    for s in sentences:
        proposal = run(s)
        if proposal is None or isinstance(proposal, str):
            continue
        if not isinstance(proposal, Example):
            return f"`propose` must return an example, a reason or None, got {type(proposal).__name__} for {s.id}."
        if not proposal.tokens or any(t.split() != [t] for t in proposal.tokens):
            return f"Tokens must be words without white space, got {proposal.tokens} for {s.id}."
        if isinstance(task.labels, tuple) and proposal.label not in task.labels:
            return f"Labels must be among {task.labels}, got {proposal.label!r} for {s.id}."
        if any(not 0 <= i < len(proposal.tokens) for i in proposal.marks):
            return f"Marks must be positions of tokens, got {proposal.marks} for {s.id}."
        if proposal.source != s.id:
            return f"The source must be the sentence's id {s.id}, got {proposal.source!r}."
    return ""


def _repeats(run: Callable[[Sentence], Proposal], sentences: list[Sentence]) -> str:
    forwards = [run(s) for s in sentences]
    for s, first in zip(reversed(sentences), reversed(forwards), strict=True):
        if run(copy.copy(s)) != first:
            return f"{s.id} got a different proposal the second time; draw with context.draw, and keep no state."
    return ""


def _some(run: Callable[[Sentence], Proposal], sentences: list[Sentence]) -> str:
    reasons = [p for s in sentences if not isinstance(p := run(s), Example)]
    if len(reasons) < len(sentences):
        return ""
    return f"None of {len(sentences)} sentences qualified; the last reason was {reasons[-1] if reasons else None!r}."


def _sharding(task: Task, suite: str, policy: Policy, corpus: Corpus) -> str:
    unsharded = next(iter(make_sets(corpus, [(suite, task, policy)])))
    if isinstance(unsharded, SkippedTask):
        return unsharded.reason
    sharded = next(iter(make_sets(corpus, [(suite, task, policy)], shards=3)))
    if isinstance(sharded, SkippedTask) or unsharded.digest != sharded.digest:
        return "Three shards give a different set than one shard; propose must not depend on other sentences."
    errors = [f["message"] for f in unsharded.manifest["audit"] if f["severity"] == "error"]
    return f"The audit finds: {'; '.join(errors)}." if errors else ""
