"""Checks of numbers against what knows nothing, or words only."""

from __future__ import annotations

from sonde.report.checks.check_result import (
    CheckResult,
    ScoredCell,
    Summary,
    check_result,
    differs_significantly,
    points,
    scored_cells,
)
from sonde.report.summary import done
from sonde.report.verdict import verdict_of

WORD_BASELINES = ("nb-uni", "nb-bi", "baseline:hash")
ANSWER_BASELINES = {"sentence_length": ("length",), "word_content": WORD_BASELINES}
"""Baselines that read the answer off the sentence, and are no bar for a vector: in table 2 of Conneau et al. (2018),
length has 100 on SentLen, and naive Bayes over words 97.8 on WC."""


def below_baseline(summary: Summary) -> CheckResult | None:
    """Numbers that are marked in every table: something that knows no more than words reaches them, too."""
    found = [n for n in scored_cells(summary) if n.cell["against"]]
    if not found:
        return None
    many = len(found)
    below, close, untested = (
        [n for n in found if verdict_of(n.cell) == verdict] for verdict in ("below", "not_significant", "untested")
    )
    where = [
        f"{n.name}: {points(n.cell['accuracy'])}, {n.cell['against']['baseline']} {points(n.cell['against']['value'])}"
        for n in (*below, *close)
    ]
    tested = "paired test, Holm over the encoders of a set, 5 %"
    if below or close:
        told = []
        if below:
            told.append(f"{len(below)} of {many} numbers: not higher than the best baseline on the same rows.")
        if close:
            told.append(f"{len(close)} of {many} numbers: higher than it, but not significantly ({tested}).")
        if any(_is_answer(n) for n in (*below, *close)):
            told.append("Length on sentence_length, and words on word_content, are the answer itself.")
        if untested:
            told.append(f"{len(untested)} of {many} could not be tested.")
        if any(not _is_answer(n) for n in below):
            title = "Some numbers are no better than a baseline"
            return check_result("below-baseline", "issue", title, " ".join(told), where)
        title = "Some numbers are not significantly better than a baseline"
        return check_result("below-baseline", "tip", title, " ".join(told), where)
    if untested:
        text = f"{len(untested)} of {many} numbers: their predictions cannot be read, so that nothing was tested."
        return check_result("below-baseline", "issue", "Some numbers were not compared with the baselines", text)
    text = f"{many} of {many} numbers: significantly better than the best baseline on the same rows ({tested})."
    return check_result("below-baseline", "passed", "Every number is better than the baselines", text)


def _is_answer(number: ScoredCell) -> bool:
    """Whether the best baseline reads the answer off the sentence, which is no bar for a vector."""
    return number.cell["against"]["baseline"] in ANSWER_BASELINES.get(number.set_summary["task"], ())


def chance(summary: Summary) -> CheckResult | None:
    """Numbers that the most frequent label reaches, too."""
    found = [n for n in scored_cells(summary) if "majority" in n.baselines]
    if not found:
        return None
    bounds = [n.baselines["majority"]["accuracy"] for n in found]
    far = differs_significantly([n.cell for n in found], bounds)
    below, at = [], []
    for n, bound, apart in zip(found, bounds, far, strict=True):
        if apart and n.cell["accuracy"] < bound:
            below.append((n, bound))
        elif n.cell["low"] <= bound and verdict_of(n.cell) != "above":
            at.append((n, bound))
    where = [f"{n.name}: {points(n.cell['accuracy'])}, majority {points(b)}" for n, b in below + at]
    held = f"{len(at)} of {len(found)} numbers: not significantly above the most frequent label of the training rows"
    if below:
        more = f" {held}." if at else ""
        text = (
            f"{len(below)} of {len(found)} numbers: significantly below the most frequent label of the training rows "
            f"(Holm over the numbers, 5 %); what was learned is the other way round in te, or labels are wrong.{more}"
        )
        return check_result("chance", "issue", "Some numbers are below chance", text, where)
    if at:
        text = f"{held}; nothing was found there, which does not say that there is nothing."
        return check_result("chance", "tip", "Some numbers are at chance", text, where)
    text = f"{len(found)} of {len(found)} numbers: significantly above the most frequent label."
    return check_result("chance", "passed", "Every number is above chance", text)


def leak_like(summary: Summary) -> CheckResult | None:
    """Sets on which a vector drawn at random for each text is better than any constant answer."""
    found = []
    for i, set_summary in enumerate(summary["sets"]):
        for column, cell in zip(summary["baselines"], set_summary["baselines"], strict=True):
            if column["encoder"] == "baseline:random" and done(cell) and set_summary["scored_by"] == "accuracy":
                found.append((set_summary["label"], cell, _constant(summary, i, (column["limit"], column["sonde"]))))
    if not found:
        return None
    apart = differs_significantly([cell for _, cell, _ in found], [bound for *_, bound in found])
    above = [f for f, far in zip(found, apart, strict=True) if far and f[1]["accuracy"] > f[2]]
    if not above:
        text = (
            f"{len(found)} of {len(found)} sets: vectors drawn at random are not significantly above a constant answer."
        )
        return check_result("leak-like", "passed", "Random vectors find nothing", text)
    text = (
        f"{len(above)} of {len(found)} sets: vectors drawn at random for each text are significantly better than a "
        "constant answer (Holm over the sets, 5 %). All they tell is which texts are the same, so texts of te are "
        "likely to stand among the rows learned from, too, and numbers on these sets to be too high."
    )
    where = [f"{label}: {points(cell['accuracy'])}, constant answer {points(bound)}" for label, cell, bound in above]
    return check_result("leak-like", "issue", "Random vectors find something", text, where)


def _constant(summary: Summary, number: int, sample: tuple[int | None, str]) -> float:
    """What the best constant answer reaches on te: the majority of the training rows may not be that of te."""
    set_summary, mistakes = summary["sets"][number], summary["mistakes"][number]
    shares: list[float] = [1 / max(1, set_summary["classes"])]
    for column, cell in zip(summary["baselines"], set_summary["baselines"], strict=True):
        if column["encoder"] == "majority" and done(cell) and (column["limit"], column["sonde"]) == sample:
            shares.append(cell["accuracy"])
    if mistakes is not None:
        for column, found in zip(summary["columns"], mistakes["columns"], strict=True):
            if found and found["said"] and (column["limit"], column["sonde"]) == sample:
                counts = [label["truth"] for label in found["said"]]
                shares.append(max(counts) / sum(counts))
    return max(shares)
