"""How people did, as a table on the console."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from sentprobe.console import narrow_out, print_wrapped
from sentprobe.core.formatting import POINTS, WHOLE_POINTS
from sentprobe.core.table import Table
from sentprobe.judge.judgments import Judgment
from sentprobe.judge.people import People
from sentprobe.judge.sheet import Sheet
from sentprobe.stats.level import level_text

MAX_LABELS = 6
"""Sets with more classes are shown without response bias."""


def print_people(results: Sequence[People]) -> None:
    """Accuracy, agreement and response bias per set, and who was dropped."""
    console = narrow_out()
    rows = [
        (
            people.name,
            POINTS.number(people.accuracy),
            POINTS.interval(people.low, people.high, between="–"),
            len(people.votes),
            people.ties,
            f"{len(people.annotators)}"
            + (f" of {len(people.annotators) + len(people.dropped)}" if people.dropped else ""),
            None if people.alpha is None else f"{people.alpha:.2f}",
        )
        for people in results
    ]
    Table.of_rows(("set", "accuracy", level_text(), "n", "ties", "people", "alpha"), rows).print(console)
    console.print()
    for people in results:
        single = f"{POINTS.number(people.single)} % of {people.judgments:,} single judgments are right"
        print_wrapped(console, f"{people.name}: {'; '.join(filter(None, (single, bias_line(people))))}.", "dim")
        for person in people.dropped:
            print_wrapped(console, f"{people.name}: {person.annotator} does not count: {person.reason}.", "yellow")
        if people.controls < people.control_items:
            controls = f"{people.controls:,} of {people.control_items:,} controls"
            agreement = f"{people.name}: the experts agree on {controls}, which are those that count."
            print_wrapped(console, agreement, "dim")
        if not people.controls:
            print_wrapped(console, f"{people.name}: there are no controls, so everybody counts.", "dim")
    print_wrapped(
        console,
        "accuracy: of the majority vote on n sentences, ties left out, with Wilson's interval over sentences; people: "
        "annotators who count; alpha: Krippendorff's, 1 is perfect agreement and 0 that of chance.",
        "dim",
    )


def answered_line(sheet: Sheet, judgments: Sequence[Judgment]) -> str:
    """How many of the sentences of a sheet each annotator has answered; empty if nobody has answered any."""
    items = {item.id for item in sheet.items}
    counts = Counter(j.annotator for j in judgments if j.item in items)
    people = ", ".join(f"{name} {count:,} of {len(items):,}" for name, count in sorted(counts.items()))
    return f"{sheet.name}: answered: {people}" if people else ""


def bias_line(people: People) -> str:
    """How often people choose each label, and how often it is right; empty for many classes."""
    truth, votes = (Counter(getattr(row, name) for row in people.votes) for name in ("label", "vote"))
    labels = sorted(truth | votes)
    n = len(people.votes)
    if len(labels) > MAX_LABELS:
        return ""
    return ", ".join(
        f"{label} {WHOLE_POINTS.number(votes[label] / n)} % (truth {WHOLE_POINTS.number(truth[label] / n)} %)"
        for label in labels
    )
