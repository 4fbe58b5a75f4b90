"""Which tasks of a parametric suite a corpus supports: one more pass, which counts the values of every parameter."""

from __future__ import annotations

from collections import Counter, defaultdict

from sentprobe.corpus.corpus import Corpus
from sentprobe.errors import UsageError
from sentprobe.make.passes import count
from sentprobe.sentence import Sentence
from sentprobe.tasks import Context, ParametricTask, Policy, Proposal, Task


def supported_tasks(part: ParametricTask, corpus: Corpus, jobs: int = 1, skip_bad: bool = False) -> list[Task]:
    """The tasks for which the corpus has two classes or more with enough sentences.

    Whether a set can be made is known only when it is: sentences may be too long, or have the same target form.
    """
    surveyed = Task(
        name=part.name, version=1, question=part.summary, paper="", propose=_nothing, labels="", count=part.survey
    )
    counts, _ = count(corpus, [surveyed], jobs, skip_bad, shards=jobs)
    tallies: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for (parameter, value), n in counts.tallies.get(part.name, Counter()).items():
        tallies[parameter][value] += n
    found = part.supported(tallies, counts.sentences, Policy().min_class)
    if not found:
        raise UsageError(
            f"--suite {part.suite}: the corpus {corpus.name} supports no {part.usage}; expected UD features and heads, "
            f"and at least {Policy().min_class} sentences of each of two classes."
        )
    return [part.build(parameter) for parameter in found]


def _nothing(sentence: Sentence, context: Context) -> Proposal:
    return None
