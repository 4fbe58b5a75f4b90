"""The legend of a table of results: what its numbers and marks mean, and what is missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import plain
from sentprobe.probes.baselines import BASELINE_TITLES
from sentprobe.report import published as published_results
from sentprobe.report.human_results import human_notes
from sentprobe.report.names import failure_text
from sentprobe.report.published import difference_notes
from sentprobe.report.recipes import recipe_notes
from sentprobe.report.types import CellSummary, FailureSummary, SetSummary, Summary
from sentprobe.report.variants import interpretations
from sentprobe.report.verdict import BOLD_NOTE, footnotes
from sentprobe.results.metric import CLUSTERED, DEFAULT_METRIC, METRICS, Metric, metric_named, table_metrics
from sentprobe.results.result import CONSTANT_INTERVAL
from sentprobe.results.run_kind import other_kinds, set_notes
from sentprobe.run.variant import base_variant
from sentprobe.stats.level import alpha_text, level_text

MAX_NAMED_SETS = 3
"""Up to this many sets are named; of more, the first one and how many others there are."""
INTERVAL_KINDS = {
    "nadeau-bengio": "that of Nadeau and Bengio where there are folds",
    "bootstrap": "bootstrap over rows for correlations",
}


@dataclass(frozen=True)
class Seen:
    """What a table shows of what a summary has: the legend explains nothing else."""

    human: bool = True
    bold: bool = True
    letters: bool = True
    baselines: frozenset[str] | None = None
    """None: all."""
    further: bool = True
    """Whether tables of trainings, controls and measures follow."""

    def __contains__(self, baseline: str) -> bool:
        """Whether a baseline has a number in the table."""
        return self.baselines is None or baseline in self.baselines


EVERYTHING = Seen()
ALONE = Seen(further=False)


def legend(summary: Summary, seen: Seen = EVERYTHING) -> list[str]:
    """The sentences that apply to a table."""
    every = [cell for s in summary.sets for cell in s.cells if cell is not None]
    baselines = [cell for s in summary.sets for cell in s.baselines if cell is not None]
    if not every and not baselines:
        return list(summary.notes)
    kinds, main = {cell.interval for cell in every + baselines}, _main_metric(summary)
    return [
        _metric(main, kinds) if summary.kind.score_note is None else summary.kind.score_note(kinds),
        *_calibrated(every + baselines),
        *_uncompared(main, bool(baselines)),
        *(_about(main, every, baselines) if summary.kind.trains_probes else ()),
        *_baselines(summary, seen),
        *_constant(summary, seen),
        *_set_metrics(summary, main, kinds),
        *_transfer(summary),
        *_probes(summary, seen),
        *recipe_notes(summary, tables=seen.further),
        *_seeds(every, main),
        *(_letters(summary, every) if seen.letters else ()),
        *(note for note in footnotes(summary) if seen.bold or note != BOLD_NOTE),
        *_layers(every),
        *_folds(summary.sets),
        *_partial(summary),
        *_synthetic(summary.sets),
        *(human_notes(summary) if summary.by_set_metric else ()),
        *(_human(summary) if seen.human else ()),
        *_published(summary),
        *(interpretations(summary) if summary.by_set_metric and seen.further else ()),
        *summary.notes,
    ]


def _main_metric(summary: Summary) -> Metric:
    """The metric of the numbers of a table; where sets have different ones, the default if a set has that."""
    if not summary.by_set_metric:
        return metric_named(summary.metric)
    names = list(dict.fromkeys(s.scored_by for s in summary.sets if any((*s.cells, *s.baselines))))
    computed = [name for name in names if name in table_metrics()]
    return metric_named(DEFAULT_METRIC if DEFAULT_METRIC in names or not computed else computed[0])


def _metric(metric: Metric, kinds: set[str]) -> str:
    if metric.name == DEFAULT_METRIC:
        wilson = f"Wilson's{CLUSTERED}" if "cluster" in kinds else "Wilson's"
        note = f": {'; '.join([wilson, *(text for kind, text in INTERVAL_KINDS.items() if kind in kinds)])}"
    else:
        note = metric.interval_note.format(clustered=CLUSTERED if "cluster" in kinds else "")
    direction = "" if metric.higher_is_better else ", lower is better"
    condition = f" {metric.condition}" if metric.condition else ""
    score = f"{metric.heading} on test{metric.in_unit}{condition}{direction}"
    if not metric.has_interval:
        return f"{score}, without an interval."
    return f"{score}; ± is half the width of the {level_text()} interval{note}."


def _about(metric: Metric, cells: Sequence[CellSummary], baselines: Sequence[CellSummary]) -> Iterator[str]:
    """What an interval is about."""
    scored, of_baselines = (
        [cell.about for cell in column if cell.interval in ("wilson", "cluster")] for column in (cells, baselines)
    )
    if not metric.right_or_wrong or not scored:
        return
    encoder = "± of an encoder is about the encoder: it covers other samples of test, training and dev rows"
    probe = "about the one trained probe, on other samples of test rows"
    if set(scored) == {"encoder"}:
        if "probe" not in of_baselines:
            yield f"{encoder}."
        elif set(of_baselines) == {"probe"}:
            yield f"{encoder}; that of a baseline is {probe}."
        else:  # with many classes, some baselines are too expensive to retrain
            yield f"{encoder}; so is that of a baseline, except where it was not retrained: there it is {probe}."
    elif set(scored) == {"probe"}:
        yield f"± is {probe}: it does not cover other training rows."
    else:
        yield f"{encoder}; where a probe was not retrained, ± is {probe}."


def _baselines(summary: Summary, seen: Seen) -> Iterator[str]:
    """What the baselines are."""
    titles = [
        f"{c.encoder}, {BASELINE_TITLES[c.encoder]}"
        for c in summary.baselines
        if c.encoder in seen and c.encoder in BASELINE_TITLES
    ]
    if titles:
        yield f"Baselines: {'; '.join(dict.fromkeys(titles))}."


def _constant(summary: Summary, seen: Seen) -> Iterator[str]:
    """Baselines that predict the same label for every row."""
    constant = dict.fromkeys(
        column.encoder
        for s in summary.sets
        for column, cell in zip(summary.baselines, s.baselines, strict=True)
        if cell is not None and cell.interval == CONSTANT_INTERVAL and column.encoder in seen
    )
    if constant and summary.by_set_metric:
        names = ", ".join(constant)
        yield f"{names}: the same prediction for every row; its score is fixed by the test rows and has no interval."


def _calibrated(cells: Sequence[CellSummary]) -> Iterator[str]:
    if any(cell.calibrated is not None and cell.calibrated.value is not None for cell in cells):
        yield (
            "calibrated: the same with log-probabilities at the temperature fitted on dev. Raw bits are high where a "
            "probe is overconfident; the calibrated ones measure what it knows."
        )


def _uncompared(metric: Metric, baselines: bool) -> Iterator[str]:
    if not metric.compared and baselines:
        yield (
            "Raw losses are not compared with baselines: an overconfident baseline may lose more bits than a guess by "
            "class frequencies. --metric log2_loss_calibrated compares."
        )


def _set_metrics(summary: Summary, main: Metric, kinds: set[str]) -> Iterator[str]:
    """What sets are scored by that is not the metric of the table."""
    sets, notes_by_task = summary.sets, set_notes(column.probe for column in summary.columns)
    for metric in METRICS.parts().values():
        labels = [s.label for s in sets if s.scored_by == metric.name and s.task not in notes_by_task]
        if labels and metric.set_note:
            yield f"{_listed(labels)}: {metric.set_note}"
        elif labels and metric.name in table_metrics() and metric.name not in (main.name, DEFAULT_METRIC):
            sentence = _metric(metric, kinds)
            yield f"{_listed(labels)}: {metric.title}{sentence[len(metric.heading) :]}"
    for task, text in notes_by_task.items():
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
    kinds = other_kinds(c.probe for c in summary.columns)
    probes = {c.probe for c in summary.columns if c.probe}.difference(*(kind.probes for kind in kinds))
    baseline_probes = {
        c.encoder: c.probe for c in summary.baselines if c.encoder in seen and c.probe and probes != {c.probe}
    }
    if len(probes) == 1:
        yield f"Probe: {', '.join(probes)}."
    if baseline_probes:
        yield f"Probe of {', '.join(baseline_probes)}: {', '.join(dict.fromkeys(baseline_probes.values()))}."
    for kind in kinds or [summary.kind]:
        yield from kind.notes(summary)


def _seeds(cells: Sequence[CellSummary], metric: Metric) -> Iterator[str]:
    counts = sorted({cell.seeds for cell in cells})
    if counts and counts[-1] > 1:
        seed_count = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
        covered = "; ± is over rows and seeds." if metric.has_interval else "."
        yield f"Means of {seed_count} seeds of the probe{covered}"


def _letters(summary: Summary, cells: Sequence[CellSummary]) -> Iterator[str]:
    if any(cell.letters for cell in cells):
        apart = len({column.sample for column in summary.columns}) > 1
        only = "; only columns of the same sample and version are compared" if apart else ""
        about = {s.letters_about for s in summary.sets if s.letters_about is not None}
        whose = "the encoders" if about == {"encoder"} else "the encoders as far as probes were retrained"
        tests = "the trained probes alone" if about == {"probe"} else whose
        tested = summary.kind.tested or f"about {tests}"
        lettered = [sum(bool(cell and cell.letters) for cell in s.cells) for s in summary.sets if s.pair is not None]
        over = "the sets" if lettered and max(lettered) == 2 else "pairs"
        yield (
            f"{summary.kind.columns} that share a letter on a set are not significantly different on it, "
            f"which does not show that they are equal (paired tests {tested}, as sentprobe compare makes them; Holm "
            f"over {over}, {alpha_text()}){only}."
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
    if summary.by_set_metric:
        yield from published_results.footnotes(sets, "human")


def _published(summary: Summary) -> Iterator[str]:
    if summary.by_set_metric:
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
