"""From judgments to a bound: who can be trusted, what the majority says, how often it is right."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from sentprobe.errors import TooFewError, UsageError
from sentprobe.judge.judgments import Judgment
from sentprobe.judge.people import Dropped, People, VotedRow
from sentprobe.judge.sheet import Sheet
from sentprobe.stats.agreement import krippendorff_alpha
from sentprobe.stats.intervals import wilson

MIN_CONTROLS, CONTROL_ACCURACY = 10, 0.9
"""What an annotator must have judged of the controls, and how much of that right: as in Conneau et al. (2018)."""


def vote(
    sheet: Sheet,
    judgments: Sequence[Judgment],
    experts: Sequence[str] = (),
    *,
    min_controls: int = MIN_CONTROLS,
    control_accuracy: float = CONTROL_ACCURACY,
) -> People:
    """The majority vote of the annotators who pass the controls, compared with the labels of the set.

    Items without a majority are dropped and counted. Controls are a sample of their own, and never scored: what is
    scored is a random sample of the test rows, whether experts find it easy or not. If the sheet has no controls,
    nobody is dropped.

    Parameters
    ----------
    sheet
        The items.
    judgments
        Judgments of these and other items.
    experts
        Annotators whose agreement confirms controls: of these, only those count on which all of them, blindly, gave the
        same answer, which then counts as right. Their judgments are not counted as votes.
    min_controls, control_accuracy
        What it takes to pass: controls judged, and the share of these that was judged right.

    Raises
    ------
    TooFewError
        If no item has a majority, or if experts agree on no control.
    UsageError
        If there are experts, and the sheet has no controls that they could confirm.
    """
    if not 0 <= control_accuracy <= 1 or min_controls < 1:
        raise UsageError("Expected a --control-accuracy from 0 to 1, and --min-controls of 1 or more.")
    items = {item.id: item for item in sheet.items}
    by_annotator: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for judgment in judgments:
        if judgment.item in items:
            by_annotator[judgment.annotator][judgment.item] = judgment.label
    reference = _reference(sheet, [by_annotator.pop(name, {}) for name in experts])
    dropped = [
        failure
        for name, labels_by_item in sorted(by_annotator.items())
        if reference and (failure := _fails(name, labels_by_item, reference, min_controls, control_accuracy))
    ]
    for annotator in dropped:
        del by_annotator[annotator.annotator]
    counts = {item.id: Counter[str]() for item in sheet.items if not item.control}
    for labels_by_item in by_annotator.values():
        for item, label in labels_by_item.items():
            if item in counts:
                counts[item][label] += 1
    judged = {item: label_counts for item, label_counts in counts.items() if label_counts}
    majorities = {item: _majority(label_counts) for item, label_counts in judged.items()}
    votes = {item: label for item, label in majorities.items() if label is not None}
    if not votes:
        raise TooFewError(
            f"{sheet.name}: no item has a majority; annotators who count: {len(by_annotator)}, who were dropped: "
            f"{len(dropped)}, judged items: {len(judged)}." + "".join(f" {d.annotator} {d.reason}." for d in dropped)
        )
    right = sum(items[item].label == label for item, label in votes.items())
    every = sum(label_counts.total() for label_counts in judged.values())
    low, high = wilson(right, len(votes))
    return People(
        name=sheet.name,
        data=sheet.data,
        items=len(counts),
        judged=len(judged),
        ties=len(judged) - len(votes),
        accuracy=right / len(votes),
        low=low,
        high=high,
        single=sum(label_counts[items[item].label] for item, label_counts in judged.items()) / every,
        judgments=every,
        annotators=tuple(sorted(by_annotator)),
        dropped=tuple(dropped),
        controls=len(reference),
        control_items=sum(item.control for item in sheet.items),
        alpha=krippendorff_alpha(list(judged.values())),
        votes=tuple(
            VotedRow(row=it.row, text=it.text, label=it.label, vote=label, inputs=it.inputs)
            for it, label in sorted(((items[item], label) for item, label in votes.items()), key=lambda p: p[0].row)
        ),
    )


def _reference(sheet: Sheet, experts: Sequence[Mapping[str, str]]) -> dict[str, str]:
    """The controls and what is right: the labels of the set, or where there are experts, what all of these say."""
    controls = {item.id: item.label for item in sheet.items if item.control}
    if not experts:
        return controls
    if not controls:
        raise UsageError(
            f"{sheet.name}: the sheet has no controls that experts could confirm. Scored sentences cannot be controls: "
            "without those that experts agree on, only the difficult ones would be left. Draw sheets with --control "
            "200."
        )
    first, *other_experts = experts
    agreed = {
        item: first[item]
        for item in controls
        if item in first and all(o.get(item) == first[item] for o in other_experts)
    }
    if not agreed:
        raise TooFewError(f"{sheet.name}: the experts agree on none of the {len(controls)} controls.")
    return agreed


def _fails(
    name: str, labels_by_item: Mapping[str, str], reference: Mapping[str, str], least: int, share: float
) -> Dropped | None:
    judged = [item for item in reference if item in labels_by_item]
    right = sum(labels_by_item[item] == reference[item] for item in judged)
    if len(judged) < least:
        reason = f"judged {len(judged)} of {len(reference)} controls; expected at least {least}"
    elif right < share * len(judged) - 1e-9:  # 55 of 100 are 55 %, whatever the rounding
        reason = f"judged {right} of {len(judged)} controls right; expected at least {share:.0%}"
    else:
        return None
    return Dropped(annotator=name, judged=len(judged), right=right, reason=reason)


def _majority(label_counts: Counter[str]) -> str | None:
    """The most frequent label; None if two are equally frequent."""
    (label, n), *runners_up = label_counts.most_common(2)
    return None if runners_up and runners_up[0][1] == n else label
