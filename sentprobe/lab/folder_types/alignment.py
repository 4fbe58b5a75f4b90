"""A folder of `sentprobe align`: what `sentprobe show` prints of it, and its page."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sentprobe.cli._printing import latex_rows, print_facts, print_rows
from sentprobe.core.folders import FolderType

if TYPE_CHECKING:
    from sentprobe.lab.word_page.site import AlignmentSite


def is_alignment(path: Path) -> bool:
    """Whether this is a folder of `sentprobe align`."""
    return (path / "alignment.json").is_file()  # the module that has this name takes a while to import


def show(path: Path, format: str) -> None:
    """Print an alignment in a format of `sentprobe show`."""
    from sentprobe.lab.alignment.card import candidate_table, card_text, history_table, main_facts, seed_table
    from sentprobe.lab.alignment.folder import open_alignment

    folder = open_alignment(path)
    config, history = folder.config, folder.history()
    if format == "md":
        sys.stdout.write(card_text(folder))
    elif format == "json":
        sys.stdout.write(json.dumps({**config, "history": history}, indent=2) + "\n")
    elif format == "csv":
        from sentprobe.core.table import csv_text

        keys = list(dict.fromkeys(key for line in history for key in line))
        sys.stdout.write(csv_text([keys, *([line.get(key) for key in keys] for line in history)]) if keys else "")
    elif format == "tex":
        sys.stdout.write(latex_rows(main_facts(folder), seed_table(config)))
    else:
        print_facts(main_facts(folder))
        tables = [candidate_table(config)] if config.get("candidates") else []
        for table in (*tables, seed_table(config), history_table(history)):
            print_rows(table, blank_line=True)


def site(path: Path, report: Callable[[str], None]) -> AlignmentSite:
    """Words and their translations as a page."""
    from sentprobe.lab.word_page.site import AlignmentSite

    return AlignmentSite(path, report)


folder_type = FolderType(
    name="alignment",
    title="an alignment",
    command="sentprobe align",
    recognises=is_alignment,
    show=show,
    site=site,
)
