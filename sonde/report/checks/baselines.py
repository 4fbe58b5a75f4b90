"""Checks of numbers against what knows nothing, or words only."""

from __future__ import annotations

from sonde.report.checks.entry import Entry, Number, Summary, entry, numbers, points, sure
from sonde.report.summary import done

WORDS = ("nb-uni", "nb-bi", "baseline:hash")
ANSWERS = {"sentence_length": ("length",), "word_content": WORDS}
"""Baselines that read the answer off the sentence, and are no bar for a vector: in table 2 of Conneau et al. (2018),
length has 100 on SentLen, and naive Bayes over words 97.8 on WC."""


def below_baseline(summary: Summary) -> Entry | None:
    """Numbers that something reaches, too, that knows no more than words."""
    pairs = [(n, best) for n in numbers(summary) if (best := strongest(n)) is not None]
    if not pairs:
        return None
    below = [(n, best) for n, best in pairs if n.cell["accuracy"] <= best[1]]
    unsure = [(n, best) for n, best in pairs if n.cell["low"] <= best[1] < n.cell["accuracy"]]
    where = [f"{n.name}: {points(n.cell['accuracy'])}, {name} {points(v)}" for n, (name, v) in below + unsure]
    read = any(n.said["task"] in ANSWERS for n, _ in pairs)
    left = " Length on sentence_length, and words on word_content, are the answer itself and do not count." * read
    many = len(pairs)
    if below:
        more = f" {len(unsure)} of {many}: above it, but not with the whole 95 % interval." if unsure else ""
        text = f"{len(below)} of {many} numbers: at or below the strongest baseline on the same rows.{more}{left}"
        return entry("below-baseline", "issue", "Some numbers are no better than a baseline", text, where)
    if unsure:
        text = (
            f"{len(unsure)} of {many} numbers: above the strongest baseline on the same rows, but not with the whole "
            f"95 % interval.{left}"
        )
        return entry("below-baseline", "tip", "Some numbers are not surely better than a baseline", text, where)
    text = (
        f"{many} of {many} numbers: the whole 95 % interval lies above the strongest baseline on the same rows.{left}"
    )
    return entry("below-baseline", "passed", "Every number is better than the baselines", text)


def strongest(number: Number) -> tuple[str, float] | None:
    """The strongest baseline beside a number that does not read the answer off the sentence."""
    read = ANSWERS.get(number.said["task"], ())
    values = [(cell["accuracy"], name) for name, cell in number.beside.items() if name not in read]
    if not values:
        return None
    value, name = max(values, key=lambda pair: pair[0])
    return name, value


def chance(summary: Summary) -> Entry | None:
    """Numbers that the most frequent label reaches, too."""
    found = [n for n in numbers(summary) if "majority" in n.beside]
    if not found:
        return None
    bounds = [n.beside["majority"]["accuracy"] for n in found]
    far = sure([n.cell for n in found], bounds)
    below, at = [], []
    for n, bound, surely in zip(found, bounds, far, strict=True):
        if surely and n.cell["accuracy"] < bound:
            below.append((n, bound))
        elif n.cell["low"] <= bound:
            at.append((n, bound))
    where = [f"{n.name}: {points(n.cell['accuracy'])}, majority {points(b)}" for n, b in below + at]
    held = f"{len(at)} of {len(found)} numbers: not surely above the most frequent label of the training rows"
    if below:
        more = f" {held}." if at else ""
        text = (
            f"{len(below)} of {len(found)} numbers: surely below the most frequent label of the training rows (Holm "
            f"over the numbers, 5 %); what was learned is the other way round in te, or labels are wrong.{more}"
        )
        return entry("chance", "issue", "Some numbers are below chance", text, where)
    if at:
        text = f"{held}; nothing was found there, which does not say that there is nothing."
        return entry("chance", "tip", "Some numbers are at chance", text, where)
    text = f"{len(found)} of {len(found)} numbers: the whole 95 % interval lies above the most frequent label."
    return entry("chance", "passed", "Every number is above chance", text)


def leak_like(summary: Summary) -> Entry | None:
    """Sets on which a vector drawn at random for each text is better than any constant answer."""
    found = []
    for i, said in enumerate(summary["sets"]):
        for column, cell in zip(summary["baselines"], said["baselines"], strict=True):
            if column["encoder"] == "baseline:random" and done(cell) and said["scored_by"] == "accuracy":
                found.append((said["label"], cell, _constant(summary, i, (column["limit"], column["sonde"]))))
    if not found:
        return None
    apart = sure([cell for _, cell, _ in found], [bound for *_, bound in found])
    above = [f for f, far in zip(found, apart, strict=True) if far and f[1]["accuracy"] > f[2]]
    if not above:
        text = f"{len(found)} of {len(found)} sets: vectors drawn at random are not surely above a constant answer."
        return entry("leak-like", "passed", "Random vectors find nothing", text)
    text = (
        f"{len(above)} of {len(found)} sets: vectors drawn at random for each text are surely better than a constant "
        "answer (Holm over the sets, 5 %). All they tell is which texts are the same, so texts of te are likely to "
        "stand among the rows learned from, too, and numbers on these sets to be too high."
    )
    where = [f"{label}: {points(cell['accuracy'])}, constant answer {points(bound)}" for label, cell, bound in above]
    return entry("leak-like", "issue", "Random vectors find something", text, where)


def _constant(summary: Summary, number: int, sample: tuple[int | None, str]) -> float:
    """What the best constant answer reaches on te: the majority of the training rows may not be that of te."""
    said, mistakes = summary["sets"][number], summary["mistakes"][number]
    shares: list[float] = [1 / max(1, said["classes"])]
    for column, cell in zip(summary["baselines"], said["baselines"], strict=True):
        if column["encoder"] == "majority" and done(cell) and (column["limit"], column["sonde"]) == sample:
            shares.append(cell["accuracy"])
    if mistakes is not None:
        for column, found in zip(summary["columns"], mistakes["columns"], strict=True):
            if found and found["said"] and (column["limit"], column["sonde"]) == sample:
                counts = [label["truth"] for label in found["said"]]
                shares.append(max(counts) / sum(counts))
    return max(shares)
