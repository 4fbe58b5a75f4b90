"""The sections of the page, in order, and what is left out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from sonde.report.page.text import join_words, languages_of


@dataclass(frozen=True)
class Section:
    """A heading, how to read what is below it, and the template of that: ``id`` with the ending .html."""

    id: str
    title: str
    intro: str = ""


CHECKS = Section(
    "checks",
    "What to be careful about",
    "What a careful reader would ask, looked for by rule: an issue can mislead, a tip is good to know.",
)
RESULTS = Section(
    "results",
    "Which encoder knows what",
    "A row is a set, a column an encoder; ± is half of a 95\u00a0% interval, about the encoder where "
    "probes were trained again and else about the trained probe. Encoders that share a letter on a set are not "
    "significantly different on it. † marks what is not significantly better than the best baseline. Press a "
    "heading to sort.",
)
INTERVALS = Section(
    "sure",
    "How sure is it",
    "Where two intervals overlap widely, the order of the two encoders may be chance; † marks what is not "
    "significantly better than the best baseline.",
)
CONTROLS = Section(
    "meaning",
    "What the scores mean",
    "What a score is to be read beside: controls take one thing away and probe what is left; measures ask another "
    "question of the same vectors.",
)
TRENDS = Section(
    "where",
    "Where is it",
    "How the scores change along the layers of an encoder, the size of its vectors, or its training.",
)
ERRORS = Section(
    "wrong",
    "What goes wrong",
    "One encoder on one set at a time: what it takes for what, where it fails, and its surest mistakes.",
)
QUALITY = Section(
    "sound",
    "Is the data sound",
    "A number is worth as much as its set: how large that is, where it comes from, and what an audit found in it.",
)
CORRELATIONS = Section(
    "correlations",
    "Probing and transfer",
    "Whether encoders that do well on a probing set also do well on a transfer task, over the encoders of this run.",
)
LANGUAGES = Section(
    "languages",
    "Languages",
    "The same tasks in several languages: profiles of the same shape say that one language is harder, not different.",
)
REPRODUCE = Section("repeat", "How to repeat it", "What was run, and what it takes to have each number again.")

CURVES = {
    "layers": ("Layers", "No encoder was run with several layers."),
    "dimensions": ("Size of the vectors", "No encoder was run with vectors of several sizes."),
    "epochs": ("Training", "No encoder was run at several epochs, steps or checkpoints."),
}


def sections_of(summary: Mapping[str, Any], figures: Collection[str]) -> tuple[list[Section], list[tuple[str, str]]]:
    """What has something to show; and of the rest, why it has not."""
    if not summary["sets"]:
        return [CHECKS] if summary["checks"] else [], [("Results", "The run has none.")]
    there = {
        CHECKS: bool(summary["checks"]),
        RESULTS: True,
        INTERVALS: "intervals" in figures,
        CONTROLS: bool(summary["meaning"]),
        TRENDS: any(name in figures for name in CURVES),
        ERRORS: any(summary["mistakes"]),
        QUALITY: True,
        CORRELATIONS: "correlation" in figures,
        LANGUAGES: "profiles" in figures,
        REPRODUCE: True,
    }
    absent = [said for name, said in CURVES.items() if name not in figures]
    why = {
        INTERVALS: "No number has an interval.",
        CONTROLS: "No controls or measures were asked for: sonde run --controls all --measures all.",
        ERRORS: "No set is scored by right and wrong, or what was predicted cannot be read.",
        CORRELATIONS: "It takes a probing set, a transfer set and at least three encoders that were run on both.",
        LANGUAGES: _one_language(summary),
    }
    absent += [(section.title, text) for section, text in why.items() if not there[section]]
    return [section for section, shown in there.items() if shown], absent


def _one_language(summary: Mapping[str, Any]) -> str:
    found = languages_of(summary)
    if len(found) < 2:
        return f"One language only: {found[0]}." if found else "The language of the sets is not known."
    return f"No task is in two of the languages ({join_words(found)})."
