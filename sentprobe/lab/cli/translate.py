"""`sentprobe translate`: text in another language, by a model of `sentprobe train`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from sentprobe.cli._options import STDIN

if TYPE_CHECKING:
    from collections.abc import Iterator

order = 66
group = "Train and align"
BATCH = 256
"""Lines that are read before they are translated."""


def translate(
    folder: Path,
    /,
    *files: str,
    to: str = "",
    from_: Annotated[str, Parameter("--from")] = "",
    beam: int = 1,
    checkpoint: str = "",
) -> int:
    """Translate text, one sentence per line, with a model of `sentprobe train mt`, and print as many lines.

    Parameters
    ----------
    folder: Path
        What `sentprobe train mt` wrote; or `sentprobe train translate`, or another objective with a decoder.
    files: str
        Files of text, compressed or not; - is standard input, which is the default.
    to: str
        The language to translate into; may be left out if the model has one only.
    from_: str
        The language of the text; may be left out if it follows from --to.
    beam: int
        The width of the beam. Default: 1, greedy.
    checkpoint: str
        Such as epoch-003. Default: the best one on dev.
    """
    from itertools import islice

    from sentprobe.errors import UsageError
    from sentprobe.lab.networks.folder import open_folder
    from sentprobe.lab.training import require_training

    require_training()
    from sentprobe.lab.training.mt.translator import load_translator

    opened = open_folder(folder.expanduser())
    chosen = None
    if checkpoint:
        checkpoints = {saved.name: saved for saved in opened.checkpoints()}
        if checkpoint not in checkpoints:
            raise UsageError(f"--checkpoint {checkpoint}: {folder} has {', '.join(checkpoints) or 'none'}.")
        chosen = checkpoints[checkpoint]
    translator = load_translator(opened, to, from_, beam, chosen)
    lines = _lines(files or (STDIN,))
    while batch := list(islice(lines, BATCH)):
        for text in translator(batch):
            # a decoder may have learned to write line breaks
            sys.stdout.buffer.write((" ".join(text.split()) + "\n").encode())
        sys.stdout.buffer.flush()
    return 0


def _lines(files: tuple[str, ...]) -> Iterator[str]:
    """The lines of files, each read when it is needed."""
    from sentprobe.core.files import encoding_error
    from sentprobe.core.reader import read_lines

    for file in files:
        if file != STDIN:
            yield from (line for _, line in read_lines(file))
            continue
        for number, line in enumerate(sys.stdin.buffer, 1):
            try:
                yield line.decode()
            except UnicodeDecodeError as e:
                raise encoding_error("standard input", number, e) from None
