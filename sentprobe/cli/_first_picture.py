"""`sentprobe run -e ENCODER` without sets: the demo's sets, and the results that come with sentprobe beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sentprobe.data.sources import Source


def demo_sets(jobs: int) -> Path:
    """The folder of the demo's sets, made if they are not there."""
    from sentprobe.console import progress_bar
    from sentprobe.core.arguments import resolve_jobs
    from sentprobe.run.references import cached_demo_sets, read_references

    with progress_bar() as progress:
        return cached_demo_sets(read_references().sets, resolve_jobs(jobs), progress)


def add_demo_results(out: Path, sources: Sequence[Source], encoders: Mapping[str, str | None]) -> list[str]:
    """Add the demo's results to a run; the names of the encoders that they are about."""
    from sentprobe.run.references import add_references, read_references

    return add_references(out, read_references(), [source.load() for source in sources], encoders)


def print_next_steps(references: Sequence[str], encoders: Sequence[str], out: Path) -> None:
    """Say what the numbers are about, and what to do for real text."""
    from sentprobe.console import err
    from sentprobe.report.names import listed

    lines = ["", "A first picture, on sentences of a small synthetic grammar: no claim about real English."]
    if references:
        lines.append(f"Results of {listed(references)} come with sentprobe, with their predictions.")
    else:
        lines.append(
            "The encoders of the demo are not shown beside it: their results are of the linear probe on all rows."
        )
    words = " ".join(f"-e {quote(name)}" for name in encoders)
    lines += [
        "For real text:  sentprobe make ud:UD_English-EWT -o probes/",
        f"                sentprobe run {words} -d probes/ -o real-run/",
        f"As a page:      sentprobe report {quote(str(out))} --open",
    ]
    for line in lines:
        err().print(line, markup=False, soft_wrap=True)
