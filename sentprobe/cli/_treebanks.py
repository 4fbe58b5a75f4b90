"""The treebanks of a language, where a corpus is expected."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sentprobe.corpus.treebanks.catalogue import Treebank


def list_treebanks(languages: Mapping[str, Sequence[Treebank]], out: Path) -> int:
    """Print the treebanks of languages, by what was typed; nothing is downloaded."""
    from sentprobe.cli.ls import print_table, treebank_rows
    from sentprobe.console import announce

    found = list({one.name: one for treebanks in languages.values() for one in treebanks}.values())
    print_table(treebank_rows(found))
    usable = next((one for one in found if one.text != "no"), None)
    example = f": sentprobe make ud:{usable.name} -o {shlex.quote(str(out))}" if usable else ""
    announce(f"Nothing was downloaded. To make sets, name a treebank{example}")
    return 0
