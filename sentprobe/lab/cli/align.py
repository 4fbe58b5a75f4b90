"""`sentprobe align`: one space for the words of two languages."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sentprobe.lab.alignment.request import AlignmentRequest

order = 67
group = "Train and align"
resumes = True

DATA = Group("Data", sort_key=1)
METHOD = Group("Method (defaults are those of the method; see --list)", sort_key=2)


def align(
    source: str = "",
    target: str = "",
    /,
    *,
    out: Annotated[Path | None, Parameter(("--out", "-o"))] = None,
    export: Literal["none", "text", "binary"] = "none",
    jobs: int = 1,
    list_: Annotated[bool, Parameter("--list")] = False,
    words: Annotated[int | None, Parameter(group=DATA)] = None,
    dictionary: Annotated[tuple[str, ...], Parameter(group=DATA, consume_multiple=True)] = (),
    dev: Annotated[str, Parameter(group=DATA)] = "",
    method: Annotated[str, Parameter(group=METHOD)] = "auto",
    steps: Annotated[str | None, Parameter(group=METHOD)] = None,
    preset: Annotated[str, Parameter(group=METHOD)] = "",
    set_: Annotated[tuple[str, ...], Parameter("--set", group=METHOD)] = (),
    refine: Annotated[int | None, Parameter(group=METHOD)] = None,
    tries: Annotated[str, Parameter(group=METHOD)] = "",
    seeds: int = 1,
) -> int:
    """Map word vectors of two languages to one space, with a dictionary or without.

    Run again, the same command resumes where it stopped.

    Parameters
    ----------
    source: str
        A file of word vectors, in any format that vec: reads, the most frequent word first; or a folder of
        `sentprobe train`.
    target: str
        The same of the other language.
    out: Path
        The folder to write to, or to resume in.
    export: str
        Also write both spaces, with all their words, in the common one: text (source.vec and target.vec, in word2vec's
        text format), binary (.bin) or none. Default: none.
    jobs: int
        Tries to work on at the same time, in processes of their own; 0 means all cores. Default: 1.
    list_: bool
        List the methods, and align nothing; with --method, the settings of that one.
    words: int
        The most frequent words of either side to use. Default: 200000.
    dictionary: tuple[str, ...]
        A file of pairs of words, as those of MUSE; identical: words that both sides have; numerals: only numbers. May
        be repeated.
    dev: str
        A dictionary whose P@1 is recorded along the way; it chooses nothing.
    method: str
        A method, as `sentprobe align --list` says; auto: by what is given; best: all that use a dictionary, judged by a
        held-out fifth of it, or without one all that need none, judged by the criterion. Default: auto.
    steps: str
        How vectors are prepared, comma-separated, in this order: unit (length one), center (mean zero); or none.
    preset: str
        Settings that belong together, as --list with --method names them: paper, muse.
    set_: tuple[str, ...]
        A setting of the method, such as --set epochs=3. May be repeated.
    refine: int
        Rounds of refinement: Procrustes on the mutual nearest neighbours.
    tries: str
        How often to try, with seeds 0, 1, …, or the seeds of the tries, comma-separated (7, is seed 7 alone); the best
        one by the criterion is kept. Default: 5 if the result depends on the seed and there is no dictionary, otherwise
        1.
    seeds: int
        How many alignments to make, each of tries of its own, so that results are about the method: with more than one,
        each has a folder seed-N in FOLDER. Default: 1.
    """
    from sentprobe.cli._options import parse_settings
    from sentprobe.core.arguments import resolve_jobs
    from sentprobe.errors import UsageError
    from sentprobe.lab.cli._alignment import print_methods

    if list_:
        print_methods("" if method == "auto" else method)
        return 0
    from sentprobe.lab.alignment.folder import CONFIG
    from sentprobe.lab.alignment.request import make_request, with_seed
    from sentprobe.lab.cli._seeds import print_next, seed_folders

    if not source or not target:
        raise UsageError("Name two files of word vectors: sentprobe align SOURCE TARGET -o FOLDER.")
    if out is None:
        raise UsageError("Name the folder to write to: -o FOLDER.")
    request = make_request(
        source, target, method=method, words=words, steps=_steps(steps), dictionary=dictionary, dev=dev,
        preset=preset, settings=parse_settings(set_, "epochs=3"), refine=refine, tries=_tries(tries), export=export,
    )  # fmt: skip
    workers = resolve_jobs(jobs)
    folders = seed_folders(out, 0, seeds, CONFIG)
    for seed, folder in folders.items():
        _align(request if seeds == 1 else with_seed(request, seed), folder, workers)
    if seeds > 1:
        print_next(out, folders.values(), "sentprobe words {pattern} --dictionary TEST")
    return 0


def _align(request: AlignmentRequest, folder: Path, jobs: int) -> None:
    """Align once, and print what came out."""
    from sentprobe.console import announce, say
    from sentprobe.core.formatting import count_of
    from sentprobe.lab.alignment.align import align
    from sentprobe.lab.alignment.request import count_of_tries
    from sentprobe.lab.cli._alignment import AlignmentDisplay, print_summary

    # of the method `best`, none: each method that it tries has its own
    tries = f", {count_of_tries(request.tries)}" if request.tries else ""
    announce(
        f"Aligning up to {request.words:,} words of {request.source} and {request.target} by {request.method}{tries}; "
        f"{count_of(jobs, 'job')}; writing to {folder}/"
    )
    try:
        with AlignmentDisplay(request) as display:
            aligned = align(request, folder, display.report, jobs)
    except KeyboardInterrupt:
        say(f"Repeat the command to go on with the alignment in {folder}/.")
        raise
    print_summary(aligned, request.export)


def _steps(text: str | None) -> list[str] | None:
    """The steps in ``unit,center``; None if the method decides."""
    return None if text is None else [] if text == "none" else [step.strip() for step in text.split(",")]


def _tries(text: str) -> int | Sequence[int] | None:
    """A number of tries, or the seeds of those listed."""
    from sentprobe.errors import UsageError

    parts = text.split(",")
    if not all(part.strip().isdecimal() for part in parts[: -1 if not parts[-1].strip() else None]) or text == ",":
        raise UsageError(f"--tries {text}: expected a number of tries, such as 5, or their seeds, such as 3,7.")
    numbers = [int(part) for part in parts if part.strip()]
    return None if not text else numbers[0] if len(parts) == 1 else numbers
