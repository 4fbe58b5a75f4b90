"""The legend of a table of results: what its numbers and marks mean, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.report import published as published_results
from sentprobe.report.cells import LOSSES
from sentprobe.report.human_results import human_notes
from sentprobe.report.names import failure_text
from sentprobe.report.published import difference_notes
from sentprobe.report.types import CellSummary, FailureSummary, SetSummary, Summary
from sentprobe.report.variants import interpretations
from sentprobe.report.verdict import BOLD_NOTE, UNCOMPARED, footnotes
from sentprobe.report.word_texts import WORD_TASKS, is_of_words, metric_line, retrieval_lines
from sentprobe.results.result import CONSTANT_INTERVAL
from sentprobe.run.variant import base_variant
from sentprobe.stats.level import alpha_text, level_text

MAX_NAMED_SETS = 3
"""Up to this many sets are named; of more, the first one and how many others there are."""
SHARED = "clustered where several rows have the same target word or sentence"
INTERVAL_KINDS = {
    "nadeau-bengio": "that of Nadeau and Bengio where there are folds",
    "bootstrap": "bootstrap over rows for correlations",
}
CORRELATIONS = {
    "pearson": "Pearson's r times 100, by SentEval's regression on pairs, whatever the probe (except for pairs=…).",
    "spearman": "Spearman's rho of the cosines times 100, over all rows at once; nothing is trained.",
    "recall@1": "share of captions that find their image first, in points.",
}
"""How sets are scored that are not scored by accuracy."""


@dataclass(frozen=True)
class Seen:
    """What a table shows of what a summary has: the legend explains nothing else."""

    human: bool = True
    bold: bool = True
    baselines: frozenset[str] | None = None
    """None: all."""

    def __contains__(self, baseline: str) -> bool:
        """Whether a baseline has a number in the table."""
        return self.baselines is None or baseline in self.baselines


EVERYTHING = Seen()


def legend(summary: Summary, seen: Seen = EVERYTHING) -> list[str]:
    """The sentences that apply to a table."""
    every = [cell for s in summary.sets for cell in s.cells if cell is not None]
    baselines = [cell for s in summary.sets for cell in s.baselines if cell is not None]
    if not every and not baselines:
        return list(summary.notes)
    kinds = {cell.interval for cell in every + baselines}
    return [
        metric_line(kinds) if is_of_words(summary) else _metric(summary.metric, kinds),
        *_calibrated(every + baselines),
        *_uncompared(summary.metric, bool(baselines)),
        *(() if is_of_words(summary) else _about(summary.metric, every, baselines)),
        *_constant(summary, seen),
        *_correlated(summary.sets),
        *_transfer(summary),
        *_probes(summary, seen),
        *_seeds(every, summary.metric),
        *_letters(summary, every),
        *(note for note in footnotes(summary) if seen.bold or note != BOLD_NOTE),
        *_layers(every),
        *_folds(summary.sets),
        *_partial(summary),
        *_synthetic(summary.sets),
        *(human_notes(summary) if summary.metric == "accuracy" else ()),
        *(_human(summary) if seen.human else ()),
        *_published(summary),
        *(interpretations(summary) if summary.metric == "accuracy" else ()),
        *summary.notes,
    ]


def _metric(metric: str, kinds: set[str]) -> str:
    if metric == "macro_f1":
        return "Macro-averaged F1 on test in points, without an interval."
    if metric in LOSSES:
        sampling = f"over rows, {SHARED}" if "cluster" in kinds else "over rows"
        which = " at the temperature fitted on dev" if metric == "log2_loss_calibrated" else ""
        return (
            f"Mean loss on test in bits{which}, lower is better; ± is half the width of the {level_text()} interval "
            f"{sampling}, of the trained probe."
        )
    wilson = f"Wilson's, {SHARED}" if "cluster" in kinds else "Wilson's"
    intervals = "; ".join([wilson, *(text for kind, text in INTERVAL_KINDS.items() if kind in kinds)])
    return f"Accuracy on test in points; ± is half the width of the {level_text()} interval: {intervals}."


def _about(metric: str, cells: Sequence[CellSummary], baselines: Sequence[CellSummary]) -> Iterator[str]:
    """What an interval is about."""
    scored, of_baselines = (
        [cell.about for cell in column if cell.interval in ("wilson", "cluster")] for column in (cells, baselines)
    )
    if metric != "accuracy" or not scored:
        return
    encoder = "± of an encoder is about the encoder: it covers other samples of test, training and dev rows"
    probe = "about the one trained probe, on other samples of test rows"
    if set(scored) == {"encoder"}:
        yield f"{encoder}{f'; that of a baseline is {probe}' if 'probe' in of_baselines else ''}."
    elif set(scored) == {"probe"}:
        yield f"± is {probe}: it does not cover other training rows."
    else:
        yield f"{encoder}; where a probe was not retrained, ± is {probe}."


def _constant(summary: Summary, seen: Seen) -> Iterator[str]:
    """Baselines that predict the same label for every row."""
    constant = dict.fromkeys(
        column.encoder
        for s in summary.sets
        for column, cell in zip(summary.baselines, s.baselines, strict=True)
        if cell is not None and cell.interval == CONSTANT_INTERVAL and column.encoder in seen
    )
    if constant and summary.metric == "accuracy":
        names = ", ".join(constant)
        yield f"{names}: the same prediction for every row; its score is fixed by the test rows and has no interval."


def _calibrated(cells: Sequence[CellSummary]) -> Iterator[str]:
    if any(cell.calibrated is not None and cell.calibrated.value is not None for cell in cells):
        yield (
            "calibrated: the same with log-probabilities at the temperature fitted on dev. Raw bits are high where a "
            "probe is overconfident; the calibrated ones measure what it knows."
        )


def _uncompared(metric: str, baselines: bool) -> Iterator[str]:
    if metric in UNCOMPARED and baselines:
        yield (
            "Raw losses are not compared with baselines: an overconfident baseline may lose more bits than a guess by "
            "class frequencies. --metric log2_loss_calibrated compares."
        )


def _correlated(sets: Sequence[SetSummary]) -> Iterator[str]:
    for metric, text in CORRELATIONS.items():
        labels = [s.label for s in sets if s.scored_by == metric and s.task not in WORD_TASKS]
        if labels:
            yield f"{_listed(labels)}: {text}"
    for task, text in WORD_TASKS.items():
        labels = [s.label for s in sets if s.task == task]
        if labels:
            yield f"{_listed(labels)}: {text}"


def _transfer(summary: Summary) -> Iterator[str]:
    for column, transfer_mean in zip(summary.columns, summary.transfer, strict=True):
        if transfer_mean:
            yield (
                f"{column.name}: mean dev accuracy over {len(transfer_mean.tasks)} transfer tasks "
                f"{POINTS.number(transfer_mean.macro)} (macro), {POINTS.number(transfer_mean.micro)} (micro, by rows)."
            )


def _probes(summary: Summary, seen: Seen) -> Iterator[str]:
    if is_of_words(summary):
        yield from retrieval_lines(summary)
        return
    probes = {c.probe for c in summary.columns if c.probe}
    baseline_probes = {
        c.encoder: c.probe for c in summary.baselines if c.encoder in seen and c.probe and probes != {c.probe}
    }
    if len(probes) == 1:
        yield f"Probe: {', '.join(probes)}."
    if baseline_probes:
        yield f"Probe of {', '.join(baseline_probes)}: {', '.join(dict.fromkeys(baseline_probes.values()))}."


def _seeds(cells: Sequence[CellSummary], metric: str) -> Iterator[str]:
    counts = sorted({cell.seeds for cell in cells})
    if counts and counts[-1] > 1:
        seed_count = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        yield f"Means of {seed_count} seeds" + ("." if metric == "macro_f1" else "; ± is over rows and seeds.")


def _letters(summary: Summary, cells: Sequence[CellSummary]) -> Iterator[str]:
    if any(cell.letters for cell in cells):
        apart = len({column.sample for column in summary.columns}) > 1
        only = "; only columns of the same sample and version are compared" if apart else ""
        about = {s.letters_about for s in summary.sets if s.letters_about is not None}
        whose = "the encoders" if about == {"encoder"} else "the encoders as far as probes were retrained"
        tests = "the trained probes alone" if about == {"probe"} else whose
        words = is_of_words(summary)
        tested = "on the same words or sentences" if words else f"about {tests}"
        yield (
            f"{'Columns' if words else 'Encoders'} that share a letter on a set are not significantly different on it, "
            f"which does not show that they are equal (paired tests {tested}, as sentprobe compare makes them; Holm "
            f"over pairs, {alpha_text()}){only}."
        )


def _layers(cells: Sequence[CellSummary]) -> Iterator[str]:
    counts = {cell.layers for cell in cells if cell.layers > 1}
    if counts:
        yield f"(L…): the layer that was best on dev, of {' or '.join(map(str, sorted(counts)))}."


def _folds(sets: Sequence[SetSummary]) -> Iterator[str]:
    """Which sets are tested in folds."""
    for folds in sorted({s.folds for s in sets if s.folds is not None}):
        in_folds = [s for s in sets if s.folds == folds]
        rows = {s.n["te"] for s in in_folds}
        tested = f"every one of the {rows.pop():,} rows" if len(rows) == 1 else "every row of these sets"
        which = "" if len(in_folds) == len(sets) else f"{_listed([s.label for s in in_folds])}: "
        yield f"{which}{folds} folds: {tested} is tested once, by a probe trained on the other folds."


def _partial(summary: Summary) -> Iterator[str]:
    limits = sorted({c.limit for c in (*summary.columns, *summary.baselines) if c.limit is not None})
    if limits:
        yield f"* partial: a sample of at most {' or '.join(f'{limit:,}' for limit in limits)} rows of each split."


def _synthetic(sets: Sequence[SetSummary]) -> Iterator[str]:
    labels = [s.label for s in sets if s.synthetic]
    if labels:
        which = (
            "All sets are" if len(labels) == len(sets) else f"{_listed(labels)} {'is' if len(labels) == 1 else 'are'}"
        )
        yield f"{which} made of sentences from the built-in grammar: synthetic, and not comparable with other sets."


def _human(summary: Summary) -> Iterator[str]:
    sets = [replace(s, published=()) for s in summary.sets if s.human is not None and s.people is None]
    if summary.metric == "accuracy":
        yield from published_results.footnotes(sets, "human")


def _published(summary: Summary) -> Iterator[str]:
    if summary.metric == "accuracy":
        yield from published_results.printed_scores(summary.sets)
        yield from difference_notes(summary)


def failures(summary: Summary) -> list[str]:
    """What failed, in a line each; the same error of one encoder is one line."""
    by_error: dict[tuple[str | None, str, str], list[FailureSummary]] = {}
    for failure in summary.failures:
        by_error.setdefault((failure.encoder, failure.kind, failure.error), []).append(failure)
    lines = []
    for (encoder, kind, error), failed in by_error.items():
        datasets = [failure.dataset for failure in failed]
        sets = list(dict.fromkeys(name for name in datasets if name))
        variants = dict.fromkeys(base_variant(failure.variant) for failure in failed if failure.variant)
        where = " on ".join(part for part in (failed[0].name, _listed(sets) if sets else "") if part)
        cells = f" ({len(datasets)} cells)" if len(datasets) > len(sets) > 0 else ""
        of = f", {_listed(list(variants), 'others')}" if variants else ""
        lines.append(plain(f"failed: {failure_text(f'{where}{of}{cells}', encoder, kind, error)}"))
    return lines


def _listed(names: Sequence[str], remainder: str = "more sets") -> str:
    if len(names) > MAX_NAMED_SETS:
        return f"{names[0]} and {len(names) - 1} {remainder}"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
