"""What is printed of an annotated corpus, and of sets made from one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.console import announce, out, progress_bar, say, warn
from sentprobe.core.formatting import FINE_POINTS, POINTS, count_of, printable

if TYPE_CHECKING:
    from sentprobe.annotate.annotator import Model
    from sentprobe.annotate.evaluation import Accuracy
    from sentprobe.annotate.run import AnnotatedCorpus


WANTED = {"upos": "parts of speech", "feats": "features", "heads": "heads"}
"""Columns that many tasks need."""
MAX_NAMES = 3
"""Files whose names are in the name of a corpus made from them."""


def annotate_first(
    texts: Sequence[str],
    annotator: str,
    folder: Path,
    name: str | None,
    *,
    jobs: int,
    format: str | None,
    **options: Any,
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Annotate texts for `sentprobe make`, and keep the corpus beside the sets: its files, and those with trees."""
    from sentprobe.annotate.request import AnnotationRequest, find_inputs
    from sentprobe.annotate.run import annotate_corpus

    inputs = find_inputs(texts, format)
    stem = name or "+".join(dict.fromkeys(source.name.replace("/", "-") for source in inputs[:MAX_NAMES]))
    path = folder / f"{stem}{'' if len(inputs) <= MAX_NAMES else f'+{len(inputs) - MAX_NAMES}'}.conllu.gz"
    announce(f"Annotating {count_of(len(inputs), 'file')} with {annotator}; {count_of(jobs, 'job')}; writing to {path}")
    with progress_bar() as progress:
        corpus = annotate_corpus(AnnotationRequest(annotator, inputs, **options), path, jobs=jobs, progress=progress)
    written, dropped = corpus.card["counts"].get("sentences", 0), sum(corpus.card["dropped"].values())
    sentences, verb = count_of(written, "sentence"), "written to" if corpus.is_new else "are in"
    say(printable(f"{sentences} {verb} {path}; {dropped:,} dropped"))
    warn_of_crashes(corpus.card)
    print_notes(annotator, corpus.model)
    return (str(corpus.path),), (str(corpus.trees),) if corpus.trees else ()


def is_annotated_by(typed: Sequence[str], annotator: str) -> bool:
    """Whether files are a corpus that was annotated by this; UsageError if another annotator did it."""
    from sentprobe.corpus.provenance import read_provenance
    from sentprobe.errors import UsageError

    provenances = [read_provenance(path) for path in typed]
    for path, provenance in zip(typed, provenances, strict=True):
        if provenance is not None and provenance["annotator"] != annotator:
            raise UsageError(f"--with {annotator}: {path} was annotated by {provenance['annotator']}. Name that one.")
    return bool(provenances) and None not in provenances


def print_card(corpus: AnnotatedCorpus) -> None:
    """Print what came of the texts, on standard output, and what users should know, on standard error."""
    from sentprobe.cli._printing import print_facts

    card, counts = corpus.card, corpus.card["counts"]
    not_read = card["not_read"]
    files = " ".join(map(str, filter(None, (corpus.path, corpus.trees))))
    facts = {
        **{name: f"{counts.get(name, 0):,}" for name in ("documents", "sentences", "words")},
        "dropped": _reasons(card["dropped"]),
        "repaired": f"{counts['repaired']:,} ({_reasons(card['repaired'])})" if counts.get("repaired") else "",
        "not read": f"{not_read['count']:,}, the first: {not_read['listed'][0]}" if not_read["count"] else "",
        "accuracy": card["accuracy"]["text"] if card["accuracy"] else "",
        "written to" if corpus.is_new else "finished before": files,
    }
    print_facts({name: text for name, text in facts.items() if text})
    warn_of_crashes(card)
    if not counts.get("sentences"):
        why = "all were dropped" if card["dropped"] else "there is no text in what was read"
        warn(f"warning: the corpus has no sentences: {why}.")
    print_notes(card["annotator"], corpus.model)


def warn_of_crashes(card: Mapping[str, Any]) -> None:
    """Warn of texts that were left out because something crashed on them."""
    for line in (crashes := card.get("crashed", ()))[:MAX_NAMES]:
        warn(f"warning: left out {line}")
    if (unlisted := len(crashes) - MAX_NAMES) > 0:
        warn(f"warning: {unlisted} more were left out after a crash; the card of the corpus lists them.")


def print_notes(annotator: str, model: Model) -> None:
    """Print what users should know of a model."""
    if not model.universal:
        warn_of_scheme(annotator)
    if missing := [name for column, name in WANTED.items() if column not in model.columns]:
        columns = " and no ".join(missing)
        say(printable(f"note: {annotator}: It fills no {columns}; tasks that need them cannot be made."))
    for note in model.notes:
        say(printable(f"note: {annotator}: {note}"))


def warn_of_scheme(annotator: str) -> None:
    """Warn of annotation that is not that of Universal Dependencies."""
    warn(
        f"warning: {annotator} is not known to annotate by Universal Dependencies, which the tasks on syntax and "
        "morphology expect: sets made from it may be wrong, or empty."
    )


def print_accuracy(accuracy: Accuracy, model: Model) -> None:
    """Print the scores of an annotator, on standard output."""
    from sentprobe.core.table import Table
    from sentprobe.stats.level import level_text

    rows = []
    for name, score in accuracy.evaluation.scores.items():
        low_high = "" if score.interval is None else POINTS.interval(*score.interval, between="–")
        numbers = (FINE_POINTS.number(x) for x in (score.precision, score.recall))
        rows.append((name, FINE_POINTS.number(score.f1), low_high, *numbers))
    Table.of_rows(("score", "F1", f"{level_text()} interval", "precision", "recall"), rows).print(out())
    size = f"{count_of(accuracy.evaluation.sentences, 'sentence')}, {count_of(accuracy.evaluation.words, 'word')}"
    say(printable(f"{model.name} {model.version} ({model.software}) on {accuracy.treebank}: {size}"))
    for note in model.notes:
        say(printable(f"note: {note}"))


def print_annotations(manifests: Sequence[Mapping[str, Any]]) -> None:
    """Print which annotators made the corpora of sets, a line each; warn of those that are not UD."""
    from sentprobe.corpus.provenance import describe_provenance

    by_description = {
        describe_provenance(provenance): provenance
        for m in manifests
        for provenance in m["corpus"].get("annotation", ())
    }
    for description, provenance in by_description.items():
        say(printable(f"annotated by {description}"))
        if not provenance.get("universal"):
            warn_of_scheme(str(provenance["annotator"]))


def _reasons(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{n:,} {reason}" for reason, n in counts.items() if n)
