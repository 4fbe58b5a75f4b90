"""`sonde run`, `sonde compare`, `sonde repeat` and `sonde demo`: numbers, and what they are worth."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def run(
    *paths: str,
    data: Annotated[tuple[str, ...], Parameter(("--data", "-d"))] = (),
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = ("static:",),
    out: Annotated[Path, Parameter(("--out", "-o"))] = Path("run"),
    probe: Annotated[tuple[str, ...], Parameter(("--probe", "-p"))] = ("linear",),
    seeds: int = 1,
    seed: int = 1111,
    limit: int | None = None,
    jobs: Annotated[int, Parameter(("--jobs", "-j"))] = 0,
    resample: int | None = None,
    half: bool = False,
    batch_size: int | None = None,
    device: str | None = None,
    no_store: bool = False,
    store_limit: float | None = None,
    text: tuple[str, ...] = (),
    label: str | None = None,
    split: str | None = None,
    no_header: bool = False,
    task: Annotated[str | None, Parameter(("--task", "-t"))] = None,
    language: str | None = None,
    suite: Annotated[tuple[str, ...], Parameter(("--suite", "-s"))] = (),
    train: str | None = None,
    controls: tuple[str, ...] = (),
    measures: tuple[str, ...] = (),
) -> int:
    """Probe encoders on sets. The baselines are always run. The same command again goes on where it stopped.

    Parameters
    ----------
    paths: str
        Sets, or folders of sets, as for `sonde audit`.
    data: tuple[str, ...]
        The same, as an option.
    encoder: tuple[str, ...]
        scheme:name, as `sonde ls encoders` lists them; may be repeated. Default: static:.
    out: Path
        The folder to write to, or to go on in. Default: run.
    probe: tuple[str, ...]
        A probe, as `sonde ls probes` lists them, with changes as in senteval?hidden=50; may be repeated. Default:
        linear.
    seeds: int
        How many seeds to train a probe with. Default: 1.
    seed: int
        The first of them. Default: 1111.
    limit: int
        Use a balanced sample of at most this many rows of each split; every number is marked as partial.
    jobs: int
        Probes to fit at a time; 0 means one per core. Default: 0.
    resample: int
        Retrain each probe this many times, without parts of the training rows, for intervals and tests about the
        encoder and not only about the probe: 0, 10, 20, … Default: 20 linear probes, 10 networks.
    half: bool
        Round vectors to float16.
    batch: int
        Texts to encode at a time. Default: what the encoder likes.
    device: str
        Fit probes with torch on this device, such as cuda. Default: numpy.
    no_store: bool
        Neither look for vectors in the store nor keep any.
    store_limit: float
        Gigabytes that the store may take; the oldest vectors give way. Default: no limit.
    text: tuple[str, ...]
        The column of a table that has the sentence: a name, or a number from 1. Twice for pairs of sentences.
    label: str
        The column that has the label.
    split: str
        The column that says train, dev or test. Default: from the file names.
    no_header: bool
        The table has no line of column names; columns are numbers.
    task: str
        The task the sets are for. Default: the task that is called as the file or folder is.
    language: str
        The language of the sets. Default: from the manifest or the folder.
    suite: tuple[str, ...]
        Only the sets of these suites, such as conneau2018, or transfer: SentEval's transfer tasks. Default: all.
    train: str
        The file of English pairs that XNLI is learned from. Default: one that lies beside it.
    controls: tuple[str, ...]
        What a score is to be read beside: names as `sonde ls controls` lists them, set off by commas, or all.
    measures: tuple[str, ...]
        Other questions to the same vectors: names as `sonde ls measures` lists them, set off by commas, or all.
    """
    from sonde.cli.shared import STDIN, open_store, parse_columns, printed_warnings
    from sonde.console import err, print_symptoms, progress_bar
    from sonde.data.sources import filter_by_suite, find_sets
    from sonde.errors import UsageError
    from sonde.make.request import resolve_jobs
    from sonde.report.summary import summarise
    from sonde.report.tables import print_table
    from sonde.run import evaluate
    from sonde.run.diagnoses import read_diagnoses

    if not (paths or data):
        raise UsageError("Name the sets to probe on: sonde run -e ENCODER -d FOLDER.")
    if seeds < 1 or (batch_size is not None and batch_size < 1):
        raise UsageError("--seeds and --batch must be 1 or more.")
    sources = find_sets(
        ["-" if p == STDIN else p for p in (*paths, *data)], parse_columns(text, label, split, None, no_header),
        task=task, language=language, train=train,
    )  # fmt: skip
    if suite:
        sources = filter_by_suite(sources, suite)
    with printed_warnings(), progress_bar() as progress:
        found = evaluate(
            encoder, sources, out, probes=probe, seeds=range(seed, seed + seeds), limit=limit,
            store=open_store(no_store, store_limit), half=half, batch_size=batch_size, device=device,
            jobs=resolve_jobs(jobs),
            resample=resample, controls=controls, measures=measures, progress=progress,
            command=shlex.join(["sonde", *(word for word in sys.argv[1:] if word != "--debug")]),
        )  # fmt: skip
    print_table(summarise(found))
    for diagnosis in read_diagnoses(found):
        print_symptoms(diagnosis.name, [(s.code, s.message) for s in diagnosis.symptoms])
    err().print(f"\n{len(found)} results, written to {out}/", markup=False)
    return 2 if found.failures else 0


def compare(
    folder: Path,
    /,
    *encoders: str,
    margin: float = 1.0,
    format: Literal["table", "md", "csv", "json"] = "table",
) -> int:
    """Compare encoders of a run on the same test rows: two by paired tests, more by letters.

    Parameters
    ----------
    folder: Path
        What `sonde run` wrote.
    encoders: str
        Two or more, as typed for `sonde run` or a part of that, with |layer=… and |probe=… if need be; baselines such
        as nb-uni, too. Default: all that are no baselines.
    margin: float
        Of two encoders: points within which they are called equivalent. Default: 1.
    format: str
        table, md (Markdown), csv or json. Default: table.
    """
    from sonde.cli.shared import printed_warnings
    from sonde.compare import compare as compare_two
    from sonde.compare import non_baseline_encoders, ties
    from sonde.errors import UsageError
    from sonde.report.comparison import format_comparison, print_comparison
    from sonde.run import Run

    if not 0 < margin < 100:
        raise UsageError(f"--margin {margin:g}: expected points of accuracy, above 0 and below 100.")
    with printed_warnings():
        found = Run.load(folder)
        names = encoders or non_baseline_encoders(found)
        rows = compare_two(found, *names) if len(names) == 2 else ties(found, names)
    if format == "table":
        print_comparison(rows, names, margin / 100)
    else:
        sys.stdout.write(format_comparison(rows, names, format, margin / 100))
    return 0


def repeat(
    signature: str,
    /,
    *,
    run: Path | None = None,
    data: Annotated[tuple[str, ...], Parameter(("--data", "-d"))] = (),
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = (),
    no_store: bool = False,
) -> int:
    """Do again what a signature says, and say whether the number came out the same.

    Ends with exit code 1 if it did not.

    Parameters
    ----------
    signature: str
        As `sonde show RUN --signatures` prints it, in quotes.
    run: Path
        The run that has the number to compare with.
    data: tuple[str, ...]
        Where the set is. Default: where the run found it.
    encoder: tuple[str, ...]
        The encoder of the signature if it is a program (py:…) or a server (openai:…), which may then be used.
    no_store: bool
        Encode again instead of taking vectors from the store.
    """
    from sonde.cli.shared import open_store, printed_warnings
    from sonde.report.comparison import print_repeated
    from sonde.run import Run
    from sonde.run.repeat import repeat as again

    with printed_warnings():
        there = Run.load(run) if run else None
    found = again(signature, run=there, paths=data, store=open_store(no_store, None), encoders=encoder)
    print_repeated(found)
    return 0 if found.recorded is None or found.same else 1


def demo(*, out: Annotated[Path, Parameter(("--out", "-o"))] = Path("demo")) -> int:
    """Make sets from the built-in corpus and probe the built-in encoder on them, in a minute or two.

    Parameters
    ----------
    out: Path
        The folder to write to. Default: demo.
    """
    from sonde.cli.demo import demo as show_off
    from sonde.console import err, print_sets, progress_bar
    from sonde.report import Report
    from sonde.report.summary import summarise
    from sonde.report.tables import print_table

    with progress_bar() as progress:
        manifests, found = show_off(out, progress=progress)
    print_sets(manifests)
    err().print()
    print_table(summarise(found))
    page = Report.of(found, title="sonde demo").save(out / "report.html")
    err().print(f"\nThe sets are in {out}/probes/, the results in {out}/run/, the page is {page}", markup=False)
    return 2 if found.failures else 0
