"""What an alignment is, in words: ``card.md``, and the facts and tables that `sentprobe show` prints.

It is written from ``alignment.json`` and the history of the seeds, so that it can be written again at any time.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sentprobe.core.formatting import POINTS
from sentprobe.core.table import in_markdown, markdown_table, plain
from sentprobe.lab.alignment import METHODS
from sentprobe.lab.alignment.dictionary import describe_counts
from sentprobe.lab.alignment.folder import AlignmentFolder
from sentprobe.lab.alignment.inputs import describe_faults
from sentprobe.lab.alignment.map_scores import WORDS as CRITERION_WORDS

PAPERS = {
    "procrustes": "Conneau et al. 2018, Word Translation Without Parallel Data (MUSE), ICLR",
    "adversarial": "Conneau et al. 2018, Word Translation Without Parallel Data (MUSE), ICLR",
    "vecmap": "Artetxe et al. 2018, A robust self-learning method for fully unsupervised cross-lingual mappings of "
    "word embeddings, ACL",
    "rcsls": "Joulin et al. 2018, Loss in Translation: Learning Bilingual Word Mapping with a Retrieval Criterion, "
    "EMNLP",
}
"""What to cite, by method."""
CSLS_PAPER = PAPERS["procrustes"]
"""What refinement, CSLS and the criterion come from."""
NAMES = {"dev_nn": "dev P@1 NN", "dev_csls": "dev P@1 CSLS"}
"""Columns in percent, and their names in tables."""
ORTHOGONALITY = "off orthogonal"
"""What the recorded number ``orthogonality`` is: how far a map is from an orthogonal one."""
HIDDEN = ("seed", "stage", "number", "seconds")
SHORTENED = 40
"""Rows of history that are shown; of more, the first and last."""


def write_card(folder: AlignmentFolder) -> None:
    """Write ``card.md``."""
    folder.job.write_card(card_text(folder))


def card_text(folder: AlignmentFolder) -> str:
    """The card in Markdown."""
    parts = (_about(folder), _candidates(folder), _seeds(folder), _history(folder), _use(folder), _citation(folder))
    return "\n".join(line for part in parts for line in (*part,)).rstrip() + "\n"


def main_facts(folder: AlignmentFolder) -> dict[str, str]:
    """What an alignment is in a few lines of plain text, by what each says."""
    config = folder.config
    defaults = METHODS[config["method"]].settings if config["method"] in METHODS else {}
    changed = {k: v for k, v in config.get("settings", {}).items() if k not in defaults or v != defaults[k].default}
    settings = ", ".join(f"{key} {_setting_text(value)}" for key, value in changed.items())
    return {
        **{side: _space(config[side]) for side in ("source", "target")},
        "steps": ", ".join(config.get("steps", ())) or "none",
        "method": f"{config['method']}{f' ({settings})' * bool(settings)}{_why(config)}",
        "refinement": f"{(n := config.get('refine', 0))} round{'s' * (n != 1)}",
        **{
            key: f"{describe_counts(config[key])} (digest {config[key]['digest']})"
            for key in ("dictionary", "dev")
            if key in config
        },
        **_outcome(config),
    }


def _space(about: Mapping[str, Any]) -> str:
    faults = describe_faults(about)
    size = f"{about['words']:,} words, {about['dim']} dimensions{f', {faults}' * bool(faults)}"
    return f"{about['path']}, {size} (digest {about['digest']})"


def _why(config: Mapping[str, Any]) -> str:
    return f", chosen since {config['why']}" if config.get("why") else ""


def _outcome(config: Mapping[str, Any]) -> dict[str, str]:
    """What came out, as far as it did."""
    if config.get("failed"):
        return {"failed": config["failed"]}
    if not config.get("finished"):
        return {"state": "not finished: repeat the command with which it was begun"}
    chosen_seed = next(s for s in config["seeds"] if s["seed"] == config["chosen"])
    facts = {"criterion": f"{chosen_seed['criterion']:.4f}{_spread(config)}"}
    if "start" in config:
        start = config["start"]
        rotations = (
            "rotations that only match distributions end at the same map"
            if start["confirmed"]
            else f"those of rotations that only match distributions {start['low']:.3f} to {start['high']:.3f}"
        )
        facts["search"] = f"its translations fit together {start['value']:.3f}; {rotations}"
    facts[ORTHOGONALITY] = f"{chosen_seed['orthogonality']:.1e} (largest entry of W Wᵀ − I)"
    if "dev_csls" in chosen_seed:
        facts["dev P@1"] = (
            f"CSLS {POINTS.number(chosen_seed['dev_csls'])} %, NN {POINTS.number(chosen_seed['dev_nn'])} %"
        )
    return facts


def _spread(config: Mapping[str, Any]) -> str:
    values = [s["criterion"] for s in config["seeds"] if s.get("criterion") is not None]
    if len(config["seeds"]) < 2:
        return ""
    return f", seed {config['chosen']}, the best of {len(config['seeds'])} ({min(values):.4f} to {max(values):.4f})"


def seed_table(config: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """A table of seeds in plain text; the one that was chosen has an asterisk."""
    seeds = config.get("seeds", [])
    keys = [key for key in ("criterion", "orthogonality", "pairs", "round", *NAMES) if any(key in s for s in seeds)]
    yield ("seed", *map(title_of, keys))
    for seed in seeds:
        mark = " *" * (seed["seed"] == config.get("chosen") and len(seeds) > 1)
        yield (f"{seed['seed']}{mark}", *(number_text(key, seed.get(key)) for key in keys))


def candidate_table(config: Mapping[str, Any]) -> Iterator[tuple[str, ...]]:
    """A table of the methods that were compared; the best one has an asterisk."""
    yield (
        "method",
        "held-out P@1 CSLS"
        if "dictionary" in config["request"] and config["request"]["dictionary"]
        else "comparable criterion",
        "criterion",
    )
    for candidate in config.get("candidates", ()):
        name = f"{candidate['method']}{' *' * (candidate['method'] == config['method'])}"
        if "error" in candidate:
            yield name, "failed", ""
        else:
            yield name, f"{candidate['score']:.4f}", number_text("criterion", candidate.get("criterion"))


def history_table(history: Sequence[Mapping[str, Any]], shorten: bool = True) -> Iterator[tuple[str, ...]]:
    """A table of epochs and rounds in plain text; long ones are shortened."""
    keys = list(dict.fromkeys(key for line in history for key in line if key not in HIDDEN))
    yield ("seed", "stage", *map(title_of, keys), "seconds")
    rows = [
        (
            str(line["seed"]),
            f"{line['stage']} {line['number']}",
            *(number_text(key, line.get(key)) for key in keys),
            f"{line.get('seconds', 0):,.1f}",
        )
        for line in history
    ]
    if shorten and len(rows) > SHORTENED:
        half = SHORTENED // 2
        rows = [*rows[:half], ("…", *[""] * (len(keys) + 2)), *rows[-half:]]
    yield from rows


def title_of(key: str) -> str:
    """What a number of the history is called."""
    return ORTHOGONALITY if key == "orthogonality" else NAMES.get(key, key)


def number_text(key: str, value: float | None) -> str:
    """A number of the history."""
    if value is None:
        return ""
    if key == "orthogonality":
        return f"{value:.1e}"
    if key in NAMES:
        return POINTS.number(value)
    return f"{value:,}" if isinstance(value, int) else f"{value:.4f}"


def _about(folder: AlignmentFolder) -> Iterator[str]:
    yield from (f"# {in_markdown(folder.path.resolve().name)}", "")
    yield "Two spaces of word vectors in one, aligned with `sentprobe align`."
    yield ""
    yield from markdown_table(
        ("", ""), ((name, in_markdown(text)) for name, text in main_facts(folder).items()), ["left", "left"]
    )
    yield from ("", f"Software: sentprobe {folder.config.get('sentprobe', 'unknown')}.", "")


def _candidates(folder: AlignmentFolder) -> Iterator[str]:
    if folder.config.get("candidates"):
        header, *rows = candidate_table(folder.config)
        yield from ("## Methods", "", *markdown_table(header, rows), "")


def _seeds(folder: AlignmentFolder) -> Iterator[str]:
    header, *rows = seed_table(folder.config)
    if rows:
        yield from ("## Seeds", "", *markdown_table(header, rows), "")
        counted = min(CRITERION_WORDS, folder.config["source"]["words"])
        words = f"{counted:,} most frequent source words"
        yield f"The criterion is the mean cosine of the {words} and their CSLS translations."
        yield ""


def _history(folder: AlignmentFolder) -> Iterator[str]:
    header, *rows = history_table(folder.history())
    if rows:
        yield from ("## History", "", *markdown_table([in_markdown(h) for h in header], rows, ["left", "left"]), "")


def _use(folder: AlignmentFolder) -> Iterator[str]:
    name = shlex.quote(plain(folder.path.resolve().name))
    if folder.config.get("finished"):
        yield from (
            "## Use",
            "",
            "From the folder in which this one is:",
            "",
            "```sh",
            f"sentprobe words {name} --dictionary TEST.txt",
            "```",
            "",
        )


def _citation(folder: AlignmentFolder) -> Iterator[str]:
    config = folder.config
    papers = [PAPERS[config["method"]]] if config["method"] in PAPERS else []
    if config.get("refine") or len(config["request"].get("tries", ())) > 1:
        papers.append(CSLS_PAPER)
    yield from ("## Citation", "", f"- The sentprobe authors, sentprobe, version {config.get('sentprobe')}.")
    yield from (f"- {paper}." for paper in dict.fromkeys(papers))


def _setting_text(value: Any) -> str:
    return ("no", "yes")[value] if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)
