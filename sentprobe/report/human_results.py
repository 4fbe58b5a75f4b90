"""Judgments of your annotators on the sets of a run, and the encoders on the same sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from sentprobe.core.formatting import POINTS, count_of
from sentprobe.core.table import CellText, Table, TableColumn
from sentprobe.errors import SentProbeError
from sentprobe.judge.people import People, read_people
from sentprobe.report.result_grid import Grid, SetKey
from sentprobe.report.score_table import human_text
from sentprobe.report.types import AnswerShare, HumanResult, SetSummary, Summary
from sentprobe.results.result import Result
from sentprobe.results.run import Run
from sentprobe.results.sides import best_layer

MAX_ANSWERS = 6
"""Sets with more classes are shown without response bias."""

Guesses = Sequence[Mapping[int, str]]
"""Per seed, the label that was predicted for each of the judged sentences, by its place among these."""


def judged_sets(run: Run, notes: list[str]) -> dict[str, People]:
    """What people judged, by digest of the set; of joined runs the first that has it."""
    people_by_set: dict[str, People] = {}
    for folder in run.folders:
        folder_people, problems = read_people(folder)
        notes += problems
        people_by_set = {**folder_people, **people_by_set}
    return people_by_set


def human_result(run: Run, grid: Grid, set_key: SetKey, people: People, notes: list[str]) -> HumanResult:
    """The judgments of a set, with accuracy and answers of every column on the same sentences."""
    guesses: list[Guesses] = []
    for column in grid.columns:
        layers = grid.layers(column, set_key)
        try:
            guesses.append([_predicted(run, result, people) for result in best_layer(layers)] if layers else [])
            if any(len(seed) < len(people.votes) for seed in guesses[-1]):
                notes.append(
                    f"{column.encoder} is compared with people on {min(map(len, guesses[-1]))} of the "
                    f"{len(people.votes)} judged sentences of {set_key.name}: it was tested on a part of the set."
                )
        except SentProbeError as e:
            notes.append(f"{column.encoder} cannot be compared with people on {set_key.name}: {e}")
            guesses.append([])
    votes, n = people.votes, len(people.votes)
    label_counts, vote_counts = Counter(row.label for row in votes), Counter(row.vote for row in votes)
    labels = sorted(label_counts | vote_counts)
    return HumanResult(
        n=n,
        ties=people.ties,
        accuracy=people.accuracy,
        low=people.low,
        high=people.high,
        single=people.single,
        judgments=people.judgments,
        annotators=len(people.annotators),
        dropped=len(people.dropped),
        controls=people.controls,
        alpha=people.alpha,
        columns=tuple(_mean([[votes[i].label == g for i, g in seed.items()] for seed in seeds]) for seeds in guesses),
        answers=tuple(
            AnswerShare(
                label=label,
                truth=label_counts[label] / n,
                people=vote_counts[label] / n,
                columns=tuple(_mean([[g == label for g in seed.values()] for seed in seeds]) for seeds in guesses),
            )
            for label in labels
        )
        if len(labels) <= MAX_ANSWERS
        else (),
    )


def _predicted(run: Run, result: Result, people: People) -> dict[int, str]:
    """The predictions for the judged sentences that are among the test rows of a result."""
    # by text and label, as the test rows of a sample (--limit) have other numbers than those of the set
    names = list(people.votes[0].inputs)
    row_index: dict[tuple[str, ...], int] = {}
    for i, row in enumerate(run.rows(result)):
        extra = dict(row.extra)
        row_index.setdefault((row.text, row.label, *(extra.get(name, "") for name in names)), i)
    predicted = run.predictions(result, "predicted")["predicted"]
    wanted = ((row.text, row.label, *(row.inputs.get(name, "") for name in names)) for row in people.votes)
    row_indices = ((i, row_index.get(key)) for i, key in enumerate(wanted))
    return {i: result.labels[int(predicted[at])] for i, at in row_indices if at is not None}


def _mean(by_seed: Sequence[Sequence[bool]]) -> float | None:
    shares = [float(np.mean(flags)) for flags in by_seed if flags]
    return float(np.mean(shares)) if shares else None


# Tables


def human_tables(summary: Summary) -> Iterator[Table]:
    """People beside encoders, on the sentences that people judged; and how often each gives each answer."""
    judged = [(s, s.people) for s in summary.sets if s.people is not None]
    if not judged or not summary.by_set_metric:
        return
    yield Table(
        [
            TableColumn(["set"], [s.label for s, _ in judged], "left"),
            TableColumn(["sentences"], [p.n for _, p in judged]),
            TableColumn(["human"], [s for s, _ in judged], format=human_text),
            TableColumn(["alpha"], [None if p.alpha is None else f"{p.alpha:.2f}" for _, p in judged]),
            *_of_columns(summary, [p.columns for _, p in judged]),
        ],
        "People and encoders on the sentences that people judged",
    )
    answers = [(s, answer) for s, p in judged for answer in p.answers]
    if answers:
        yield Table(
            [
                TableColumn(["set, answer"], [f"{s.label}, {_answer(s, a.label)}" for s, a in answers], "left"),
                TableColumn(["truth"], [a.truth for _, a in answers], format=_percent),
                TableColumn(["human"], [a.people for _, a in answers], format=_percent),
                *_of_columns(summary, [a.columns for _, a in answers]),
            ],
            "Response bias: how often each answer is given, in percent of these sentences",
        )


def human_notes(summary: Summary) -> Iterator[str]:
    """Whose judgments they are, in a sentence for each set."""
    for s in summary.sets:
        if (p := s.people) is not None:
            dropped = f", {p.dropped} more having failed the controls" if p.dropped else ""
            ties = f", {count_of(p.ties, 'sentence')} without a majority left out" if p.ties else ""
            sentences = f"{count_of(p.n, 'test sentence')}{ties}"
            who = f"the majority vote of {count_of(p.annotators, 'annotator')}{dropped}, on {sentences}"
            single = f"{POINTS.number(p.single)} % of their {count_of(p.judgments, 'single judgment')} are right"
            yield f"human: {s.label}: {who}; {single}."


def _of_columns(summary: Summary, rows: Sequence[Sequence[float | None]]) -> list[TableColumn]:
    return [
        TableColumn(column.label, [row[i] for row in rows], format=_percent) for i, column in enumerate(summary.columns)
    ]


def _percent(share: float | None) -> CellText:
    return CellText(POINTS.number(share))


def _answer(s: SetSummary, label: str) -> str:
    return s.label_names.get(label, label)
