"""Comparisons and reproductions as tables, Markdown, CSV and JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import msgspec

from sentprobe.console import narrow_out, out, print_wrapped
from sentprobe.core.formatting import ABSENT, printable
from sentprobe.core.table import Table, TableColumn, csv_text, table_width
from sentprobe.probes.baselines import ALL_BASELINES
from sentprobe.report.names import short_names
from sentprobe.report.recipes import FIXED
from sentprobe.report.rivals import leaders_sentence, pair_sentence
from sentprobe.results.compare import EQUIVALENCE_MARGIN, Comparison, TieGroups
from sentprobe.results.metric import DEFAULT_METRIC, Metric, metric_named
from sentprobe.results.run_kinds.pairs import disjoint_sets
from sentprobe.stats import level as levels
from sentprobe.stats.level import alpha_text, level_text

if TYPE_CHECKING:
    from sentprobe.run.repeat import Reproduction

Rows = Sequence[Comparison] | Sequence[TieGroups]


def print_comparison(
    rows: Rows,
    names: Sequence[str],
    margin: float = EQUIVALENCE_MARGIN,
    labels: Sequence[str] = (),
    *,
    everything: bool = False,
) -> None:
    """Print what came out in a sentence, then the table, with its legend, no wider than the terminal.

    ``labels`` are what encoders are called there. With ``everything``, the table has further columns, and another one
    the tests of the trained probes.
    """
    console = narrow_out()
    labels = short_names(labels or names)
    print_wrapped(console, comparison_sentence(rows, names, labels))
    console.print()
    for table in _tables(rows, names, margin, labels, everything):
        print_narrow(table)


def print_narrow(table: Table) -> None:
    """Print a table of sets, whose names are without their suites where there is no room for these."""
    console = narrow_out()
    if table_width(table.columns) > console.width:
        table = replace(table, columns=[_short_sets(table.columns[0]), *table.columns[1:]])
    table.print(console, blank_line=True)


def _short_sets(names: TableColumn) -> TableColumn:
    """The sets without their suites, where that is enough to tell them apart."""
    distinct = list(dict.fromkeys(names.values))
    by_name = dict(zip(distinct, _set_names(distinct), strict=True))
    short = [by_name[name] for name in names.values]
    suites = {name.rpartition("/")[0] for name in names.values}
    head = f"set of {suites.pop()}" if short != names.values and len(suites) == 1 and "" not in suites else "set"
    return TableColumn([head], short, "left")


def comparison_sentence(rows: Rows, names: Sequence[str], labels: Sequence[str]) -> str:
    """What came out, as the headline of a run says it."""
    of_all = dict(zip(map(_name, rows), _set_names([_name(row) for row in rows]), strict=True))
    counted = [rows[i] for i in disjoint_sets([(row.metric, row.dataset, row.n) for row in rows])]
    set_names = [of_all[_name(row)] for row in counted]
    pairs = [row for row in counted if isinstance(row, Comparison)]
    if pairs:
        verdicts = {name: row.better() for name, row in zip(set_names, pairs, strict=True)}
        return pair_sentence(labels[0], labels[1], verdicts)
    leads: dict[str, list[str]] = {}
    for set_name, row in zip(set_names, counted, strict=True):
        assert isinstance(row, TieGroups)
        best = next(iter(row.letters))  # the best first
        if row.p_lead <= levels.ALPHA:
            leads.setdefault(labels[list(names).index(best)], []).append(set_name)
    return leaders_sentence(leads, len(counted), noun="system" if _of_words(rows) else "encoder")


def _set_names(names: Sequence[str]) -> list[str]:
    """Names of sets in a sentence: without their suites, where that is enough to tell them apart."""
    tails = [name.rpartition("/")[2] for name in names]
    return tails if len(set(tails)) == len(tails) else list(names)


def short_set_names(names: Sequence[str]) -> dict[str, str]:
    """By name, what each set is called in a sentence."""
    return dict(zip(names, _set_names(names), strict=True))


def format_comparison(
    rows: Rows,
    names: Sequence[str],
    format: Literal["md", "csv", "json"],
    margin: float = EQUIVALENCE_MARGIN,
    labels: Sequence[str] = (),
    *,
    everything: bool = False,
) -> str:
    """The tables as text; CSV and JSON have unrounded numbers, and encoders as they were named."""
    if format == "md":
        labels = labels or names
        tables = _tables(rows, names, margin, labels, everything)
        texts = ["\n".join([*table.markdown(), "", *table.notes, ""]) for table in tables]
        return "\n".join([comparison_sentence(rows, names, labels), "", *texts])
    sets = [
        {**msgspec.to_builtins(row), **({"verdict": row.verdict(margin)} if isinstance(row, Comparison) else {})}
        for row in rows
    ]
    if format == "csv":
        plain = [{name: value for name, value in row.items() if name not in _NESTED} for row in sets]
        nested = [[row[field].get(name) for field in _NESTED if field in row for name in names] for row in sets]
        fields = [field for field in _NESTED if field in sets[0]]
        head = [*plain[0], *(f"{field} {name}" for field in fields for name in names)]
        return csv_text(
            [head, *([*row.values(), *nested_values] for row, nested_values in zip(plain, nested, strict=True))]
        )
    document = {"version": 3, "encoders": list(names), "margin": margin, "sets": sets}
    return msgspec.json.format(msgspec.json.encode(document)).decode() + "\n"


_NESTED = ("accuracy", "letters", "trainings", "sd")
"""Fields that have a value per encoder."""


def _tables(
    rows: Rows, names: Sequence[str], margin: float, labels: Sequence[str], everything: bool
) -> Iterator[Table]:
    """Each table, with its legend as a note."""
    partial = " * a sample of the set only (--limit)." if any(r.partial for r in rows) else ""
    tied = [r for r in rows if isinstance(r, TieGroups)]
    if tied:
        body = [[_name(r), r.n, *(_tied(r, name) for name in names)] for r in tied]
        metric, noun = _metric(rows), "Systems" if _of_words(rows) else "Encoders"
        legend = (
            f"{metric.heading}{metric.in_unit}. {noun} that share a letter are not significantly different on that "
            f"set, which does not show that they are equal. {about_tests(rows)} Holm over the pairs, at {alpha_text()}."
            f"{partial}{_recipes(rows, names, labels)}"
        )
        yield Table.of_rows(["set", "test", *labels], body, notes=[legend])
        return
    pairs = [r for r in rows if isinstance(r, Comparison)]
    headings = ["set", *labels, "better", "difference", level_text(), "p"]
    headings += ["test rows", "within", "detectable"] if everything else []
    by = dict.fromkeys(metric_named(row.metric).heading for row in pairs)
    what = "" if {row.metric for row in pairs} == {DEFAULT_METRIC} else f"{' and '.join(by)}. "
    further = "further tests" if _of_words(rows) else "tests of these probes alone"
    hint = "" if everything else f" --all: how equal they are, and {further}."
    scale = _metric(rows).number.scale
    unadjusted, bonferroni = (INTERVALS_ALONE, ", Bonferroni over the sets") if len(pairs) > 1 else ("", "")
    legend = (
        f"{what}Difference and its interval: of the one that is named, {_unit(rows)}. p: adjusted by Holm over the "
        f"sets{unadjusted}. better: where p is at most {alpha_text()}; or equivalent within ±{scale * margin:g} (two "
        f"one-sided tests at {alpha_text()}{bonferroni}); or undecided. {about_tests(rows)}{partial}"
        f"{_recipes(rows, names, labels)}{hint}"
    )
    if everything:
        legend += (
            " within: the smallest margin within which the two are equivalent. detectable: the difference that a "
            "comparison like this one detects four times out of five."
        )
    table = [_compared(r, margin, labels, everything) for r in pairs]
    yield Table.of_rows(headings, table, notes=[legend], texts=["better"])
    if not everything:
        return
    headings = ["set", f"only {labels[0]}", f"only {labels[1]}", "McNemar", "mid-p", "t-test", "permutation"]
    body = [
        [_name(r), _count(r.only_first), _count(r.only_second), *map(p_text, (r.p_exact, r.p_mid, r.p_t, r.p_probe))]
        for r in pairs
    ]
    legend = (
        f"{'Test rows that only one has right' if _of_words(rows) else ONLY_PROBES}, and p-values, not adjusted: "
        "McNemar's exact and mid-p tests and the paired t-test, which treat rows as independent; and a permutation "
        "test over target forms or sentences if rows share them; else again the mid-p value, or with several seeds a "
        "permutation test over rows."
    )
    yield Table.of_rows(headings, body, notes=[legend])


ONLY_PROBES = "The trained probes alone: test rows that only one of them classifies correctly"


def _of_words(rows: Rows) -> bool:
    """Whether all sets are of words or sentences that are retrieved."""
    return all(row.about == "system" for row in rows)


def _metric(rows: Rows) -> Metric:
    """What is compared, of the first set."""
    return metric_named(rows[0].metric)


def _unit(rows: Rows) -> str:
    return _metric(rows).in_unit.removeprefix(" ") or "as they are"


def _name(row: Comparison | TieGroups) -> str:
    return row.dataset + "*" * row.partial


def _tied(row: TieGroups, name: str) -> str:
    return f"{metric_named(row.metric).number.number(row.accuracy[name])} {row.letters[name]}"


def _compared(r: Comparison, margin: float, labels: Sequence[str], everything: bool) -> list[str]:
    verdict = r.verdict(margin)
    form, metric = metric_named(r.metric).number, metric_named(r.metric)
    # the difference is of the one with the better score, which is named, so that no one has to know whose sign it is
    is_second = metric.gain(r.second, r.first) > 0
    difference, low, high = (-r.difference, -r.high, -r.low) if is_second else (r.difference, r.low, r.high)
    row = [
        _name(r),
        form.number(r.first),
        form.number(r.second),
        {"first": labels[0], "second": labels[1]}.get(verdict, verdict),
        f"{labels[is_second]} {form.number(difference, sign=True)}",
        form.interval(low, high, sign=True, between=" … "),
        p_text(r.p_holm),
    ]
    if everything:
        row += [f"{r.n:,}", f"±{form.number(r.equivalence_margin)}", form.number(r.detectable)]
    return row


def p_text(value: float | None) -> str:
    """A p-value with three digits, or its order of magnitude; a dash for None."""
    if value is None:
        return "–"
    return f"{value:.3f}" if value >= 0.001 else f"{value:.0e}"


def _count(rows: float) -> str:
    if math.isnan(rows):
        return ABSENT
    return f"{rows:,.0f}" if rows == int(rows) else f"{rows:,.1f}"


def about_tests(rows: Rows) -> str:
    """What intervals and p-values are about."""
    sentences = []
    for about, text in ABOUT.items():
        sets = [row.dataset for row in rows if row.about == about]
        if about == "encoder" and any(isinstance(row, Comparison) and row.seeds > 1 for row in rows):
            text = f"{text}, and other seeds of the probe"
        elif about == "probe" and not _metric(rows).right_or_wrong:
            text = BY_PREDICTIONS
        if sets:
            where = "" if len(sets) == len(rows) else f"On {', '.join(sets)}: "
            sentences.append(f"{where}Intervals and p are {text}.")
    return " ".join(sentences)


INTERVALS_ALONE = ", which intervals are not: one may exclude 0 where p is not significant"


BY_PREDICTIONS = "about the trained probes: of retrained ones (--resample) only right and wrong is known"


def _recipes(rows: Rows, names: Sequence[str], labels: Sequence[str]) -> str:
    """Which encoders are recipes, how much their trainings differ, and which are a single training beside these."""
    counts, sds = _trainings(rows, names)
    if max(map(max, counts)) == 1:
        return ""
    form = metric_named(rows[0].metric).number
    means, single = [], []
    for name, label, of_sets, deviations in zip(names, labels, counts, sds, strict=True):
        if max(of_sets) > 1:
            several = " to ".join(map(str, sorted({min(of_sets), max(of_sets)})))
            ends = dict.fromkeys((form.number(min(deviations)), form.number(max(deviations))))
            means.append(f"{label}: the mean of {several} trainings (sd {' to '.join(ends)})")
        elif name not in ALL_BASELINES:
            single.append(label)
    fixed = f" One training: {', '.join(single)}. {FIXED}" if single else ""
    return f" {'; '.join(means)}; intervals and p cover other seeds of {'it' if len(means) == 1 else 'them'}.{fixed}"


def _trainings(rows: Rows, names: Sequence[str]) -> tuple[list[list[int]], list[list[float]]]:
    """For each encoder, the number of trainings by set, and their standard deviations where there are several."""
    if isinstance(rows[0], Comparison):
        pairs = [row for row in rows if isinstance(row, Comparison)]
        counts = [[row.first_trainings for row in pairs], [row.second_trainings for row in pairs]]
        sds = [[row.first_sd for row in pairs], [row.second_sd for row in pairs]]
    else:
        tied = [row for row in rows if isinstance(row, TieGroups)]
        counts = [[row.trainings.get(name, 1) for row in tied] for name in names]
        sds = [[row.sd.get(name) for row in tied] for name in names]
    return counts, [[sd for sd in of_encoder if sd is not None] for of_encoder in sds]


ABOUT = {
    "encoder": "about the encoders: they cover other samples of test, training and dev rows",
    "partly": "about the encoders as far as is known: what was not retrained (--resample) is assumed to vary as much "
    "as what was, or not at all if nothing was",
    "probe": "about the trained probes alone, as none was retrained (--resample)",
    "system": "about these systems, on other samples of test words or sentences",
}


def print_repeated(reproduction: Reproduction) -> None:
    """Print whether a number was reproduced."""
    console = out()

    def say(text: str, style: str | None = None) -> None:
        console.print(printable(text), style=style, markup=False, soft_wrap=True)

    scale = metric_named(reproduction.reproduced.metric).number.scale
    say(f"now   {scale * reproduction.reproduced.score:.4f}  {reproduction.reproduced.signature}")
    if reproduction.recorded is not None:
        say(f"then  {scale * reproduction.recorded.score:.4f}  {reproduction.recorded.signature}")
        n = reproduction.reproduced.n["te"]
        if reproduction.same:
            labels = "" if reproduction.changed_rows is None else f" and the same {n:,} labels"
            say(f"Reproduced: the same score{labels}.", "green")
        else:
            rows = reproduction.changed_rows
            say(f"Not reproduced: {f'{rows:,} of {n:,} labels differ' if rows else 'the score differs'}.", "red")
    for note in reproduction.notes:
        say(f"note: {note}", "yellow")
