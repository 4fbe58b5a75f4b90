"""How often an annotator's errors change labels: a treebank is annotated anew, and the tasks label it twice.

Each sentence of the treebank is given to the annotator by itself, as text. A sentence that the annotator's trees give a
label may have another one by the gold annotation, or none: an imperfect that is tagged as a present is labelled
``PRES``, and is in neither class of ``past_present``. Both are errors of the row that it would become, and they are
counted by the label that it would have, since they rarely fall on all classes alike.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sentprobe.annotate.annotator import load_annotator
from sentprobe.annotate.repair import repair
from sentprobe.core.hashing import mix
from sentprobe.core.resources import single_threaded
from sentprobe.core.third_party import third_party_code
from sentprobe.corpus.corpus import Corpus
from sentprobe.corpus.files import stem
from sentprobe.corpus.folding import near_duplicate_key
from sentprobe.errors import DataError, SentProbeError, describe_error
from sentprobe.make.filters import column_bits, needed_bits, rejection_reason, takes
from sentprobe.make.job import Job, SkippedTask, prepare_job
from sentprobe.make.passes import count
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, Example, Policy, Task

SEED = 1111
"""Of the random choices of tasks, the same on both sides."""

Labels = dict[str, str]
"""Labels by sentence."""


@dataclass(frozen=True)
class LabelComparison:
    """The labels of a task from both sides."""

    name: str
    gold: Labels
    predicted: Labels

    @property
    def both(self) -> list[str]:
        """The sentences with a label on both sides."""
        return [s for s in self.gold if s in self.predicted]

    @property
    def differing(self) -> list[str]:
        """Those of them whose labels differ."""
        return [s for s in self.both if self.gold[s] != self.predicted[s]]

    def by_label(self) -> dict[str, dict[str, int]]:
        """By the annotator's label: its sentences, those with another label in gold, and those without one."""
        counts: dict[str, Counter[str]] = {}
        for s, label in self.predicted.items():
            errors = counts.setdefault(label, Counter(sentences=0, other=0, none=0))
            errors["sentences"] += 1
            errors["none" if s not in self.gold else "other"] += s not in self.gold or self.gold[s] != label
        return {label: dict(errors) for label, errors in sorted(counts.items())}


def measure_label_errors(
    annotator: str, treebank: str, requests: Sequence[tuple[str, Task, Policy]], language: str | None
) -> dict[str, dict[str, Any]]:
    """The errors of each set's labels, by the name of the set, as plain data for the manifest.

    Frequency bands and trimming are left out: what is rare in a corpus may be frequent in the treebank, and both have
    the same errors.
    """
    gold = [replace(s, id=f"{n}") for n, s in enumerate(Corpus.read(treebank))]
    predicted, _ = annotate_anew(annotator, gold, treebank)
    wider = [(suite, task, replace(policy, band=None, trim=None)) for suite, task, policy in requests]
    gold_labels, labels = (label_all(Corpus.of(side, language=language), wider) for side in (gold, predicted))
    return {
        name: {
            "treebank": stem(treebank),
            "sentences": len(gold),
            "labels": LabelComparison(name, gold_labels.get(name, {}), set_labels).by_label(),
        }
        for name, set_labels in labels.items()
    }


def annotate_anew(
    annotator: str, gold: Sequence[Sentence], treebank: str = "the treebank"
) -> tuple[list[Sentence], Counter[str]]:
    """The same sentences from their texts, with the ids of gold; and how many had to be repaired."""
    loaded = load_annotator(annotator)
    faults: Counter[str] = Counter()
    annotated: list[Sentence] = []
    texts = [" ".join(s.text.split()) for s in gold]
    try:
        with single_threaded(), third_party_code:
            results = [list(sentences) for sentences in loaded.annotate(texts, True)]
    except (SentProbeError, KeyboardInterrupt):
        raise
    except BaseException as e:
        raise DataError(f"The annotator {annotator} fails on the text of {treebank}: {describe_error(e)}") from e
    for original, sentences in zip(gold, results, strict=True):
        if len(sentences) != 1:
            raise DataError(f"The annotator {annotator} made {len(sentences)} sentences of one, {original.text!r:.80}.")
        mended = repair(sentences[0])
        faults.update(mended.faults)
        faults["sentences"] += bool(mended.faults)
        annotated.append(replace(mended.sentence, id=original.id, text=original.text))
    return annotated, faults


def label_all(side: Corpus, requests: Sequence[tuple[str, Task, Policy]]) -> dict[str, Labels]:
    """The labels of each task, before any rows are chosen for a set; without tasks that the corpus does not support."""
    counts, _ = count(side, [task for _, task, _ in requests])
    labels: dict[str, Labels] = {}
    for suite, task, policy in requests:
        job = prepare_job(suite, task, policy, counts, SEED, side.language)
        if not isinstance(job, SkippedTask):
            labels[job.name] = {s.id: label for s in side if (label := _label(job, s)) is not None}
    return labels


def _label(job: Job, s: Sentence) -> str | None:
    """The label that a task gives a sentence."""
    needs = needed_bits(job.task.readings[job.reading])
    if not takes(job.policy, len(s.tokens)) or rejection_reason(s) or needs & ~column_bits(s):
        return None
    state = mix(near_duplicate_key(s.text) ^ job.salt)
    example = job.task.propose(s, Context(job.policy, job.reading, job.plan, state, job.language))
    return example.label if isinstance(example, Example) else None
