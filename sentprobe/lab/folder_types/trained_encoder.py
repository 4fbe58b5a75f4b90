"""A folder of `sentprobe train`: what `sentprobe show` prints of it, and whether it is as it was written."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sentprobe.cli._printing import latex_rows, print_facts, print_published, print_rows
from sentprobe.core.folders import FolderType
from sentprobe.lab.networks.folder import COMMAND, CONFIG, LOG, may_be_deleted, remedy

if TYPE_CHECKING:
    from sentprobe.lab.networks.folder import TrainedFolder
    from sentprobe.lab.training.history import History


def is_trained_encoder(path: Path) -> bool:
    """Whether this is a folder of `sentprobe train`, finished or not."""
    return (path / CONFIG).is_file() and any((path / name).is_file() for name in ("checksums.json", LOG))


def show(path: Path, format: str) -> None:
    """Print a trained encoder in a format of `sentprobe show`; needs no torch."""
    from sentprobe.lab.networks.folder import open_folder
    from sentprobe.lab.training.history import read_history

    folder = open_folder(path)
    history = read_history(folder)
    if format == "table":
        _print(folder, history)
    else:
        sys.stdout.write({"md": _markdown, "tex": _latex, "csv": _csv, "json": _json}[format](folder, history))


def check_files(folder: Path, digests: Mapping[str, str]) -> None:
    """DataError if a folder is that of a language model, or of one of its checkpoints, and has changed."""
    from sentprobe.core.job_folder import JobFolder

    for whole, prefix in ((folder, ""), (folder.parent, f"{folder.name}/")):
        job = JobFolder(whole, COMMAND, remedy)
        if not job.is_begun or not (sealed := [name for name in job.names(prefix) if "/" not in name[len(prefix) :]]):
            continue
        for name in sealed:
            is_there = (whole / name).is_file() or may_be_deleted(whole, name)
            if not is_there and job.about(name) is not None:  # and it is not being written
                job.verify(name)
        for name, digest in digests.items():
            job.check_digest(prefix + name, digest)
        return


def _print(folder: TrainedFolder, history: History) -> None:
    from sentprobe.lab.training.card import curve, main_facts

    print_facts(main_facts(folder, history))
    print_rows(curve(history), blank_line=True)
    if isinstance(request := folder.config.get("request"), dict):
        note = "Published scores are of other training and test sentences, and not comparable with these."
        print_published(str(request.get("objective")), note=note)


def _markdown(folder: TrainedFolder, history: History) -> str:
    from sentprobe.core.table import in_markdown, markdown_table
    from sentprobe.lab.training.card import curve, main_facts

    facts = ((name, in_markdown(text)) for name, text in main_facts(folder, history).items())
    header, *rows = curve(history)
    lines = [*markdown_table(("", ""), facts, ["left", "left"]), ""]
    lines += markdown_table([in_markdown(name) for name in header], rows) if rows else ()
    return "\n".join(lines) + "\n"


def _latex(folder: TrainedFolder, history: History) -> str:
    from sentprobe.lab.training.card import curve, main_facts

    return latex_rows(main_facts(folder, history), curve(history))


def _csv(folder: TrainedFolder, history: History) -> str:
    from sentprobe.core.table import csv_text

    rows = list(_epochs(history))
    names = history.score_names
    flat = [{**row, **{f"dev_{name}": row["scores"].get(name) for name in names}} for row in rows]
    for row in flat:
        del row["scores"]
    return csv_text([list(flat[0]), *(list(row.values()) for row in flat)]) if flat else ""


def _json(folder: TrainedFolder, history: History) -> str:
    config = folder.config
    content = {
        **{key: config[key] for key in KEPT if key in config},
        "best": history.best_checkpoint or None,
        "ended": history.stopped or None,
        "epochs": list(_epochs(history)),
    }
    return json.dumps(content, indent=2) + "\n"


KEPT = (
    "network",
    "request",
    "rows",
    "data",
    "facts",
    "selection",
    "maximise",
    "size",
    "parameters",
    "sentprobe",
    "software",
)
"""What of ``config.json`` is printed as JSON."""


def _epochs(history: History) -> Iterator[dict[str, Any]]:
    """A row per epoch, with numbers as they are; what is not a number is left empty."""
    for epoch in history.epochs:
        yield {
            "epoch": epoch.number,
            "step": epoch.steps,
            "loss": epoch.loss if math.isfinite(epoch.loss) else None,
            "lr": epoch.lr,
            "words": epoch.words,
            "seconds": epoch.seconds,
            "checkpoint": epoch.checkpoint or None,
            "best": epoch.best,
            "scores": {name: value if math.isfinite(value) else None for name, value in epoch.scores.items()},
        }


folder_type = FolderType(
    name="trained encoder",
    title="a trained encoder",
    command=COMMAND,
    recognises=is_trained_encoder,
    show=show,
    check_files=check_files,
)
