"""`sentprobe run`: probe encoders on sets."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from sentprobe.cli._options import OUTPUT, RESOURCES, TABLES, ClusterName, Jobs

if TYPE_CHECKING:
    from sentprobe.data.sources import Source

order = 70
resumes = True

examples = """
A first picture of a model, on sets of synthetic English that are made at once:
  sentprobe run -e st:all-MiniLM-L6-v2
Two encoders on all sets of a folder:
  sentprobe run -e static: -e st:all-MiniLM-L6-v2 -d probes/ -o my-run/
Every layer of a model, with a control that says what the scores mean:
  sentprobe run -e 'hf:bert-base-uncased?layer=*' -d probes --controls permuted
A table of your own:
  sentprobe run -d reviews.csv --text review --label mood --split 80/10/10
"""

WHAT = Group("What to probe", sort_key=10)
HOW = Group("How to probe", sort_key=20)
MORE = Group("Controls and measures", sort_key=40)


def run(
    *paths: Annotated[str, Parameter(group=WHAT)],
    data: Annotated[tuple[str, ...], Parameter(("--data", "-d"), group=WHAT)] = (),
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"), group=WHAT)] = (),
    suite: Annotated[tuple[str, ...], Parameter(("--suite", "-s"), group=WHAT)] = (),
    task: Annotated[tuple[str, ...], Parameter(("--task", "-t"), group=WHAT)] = (),
    language: Annotated[tuple[str, ...], Parameter(group=WHAT)] = (),
    as_task: Annotated[str | None, Parameter(group=WHAT)] = None,
    as_language: Annotated[str | None, Parameter(group=WHAT)] = None,
    merge_labels: Annotated[bool, Parameter(group=WHAT)] = False,
    train: Annotated[str | None, Parameter(group=WHAT)] = None,
    limit: Annotated[int | None, Parameter(group=WHAT)] = None,
    probe: Annotated[tuple[str, ...], Parameter(("--probe", "-p"), group=HOW)] = ("linear",),
    seeds: Annotated[int, Parameter(group=HOW)] = 1,
    seed: Annotated[int, Parameter(group=HOW)] = 1111,
    resample: Annotated[int | None, Parameter(group=HOW)] = None,
    text: Annotated[tuple[str, ...], Parameter(group=TABLES)] = (),
    label: Annotated[str | None, Parameter(group=TABLES)] = None,
    split: Annotated[str | None, Parameter(group=TABLES)] = None,
    group: Annotated[str | None, Parameter(group=TABLES)] = None,
    split_seed: Annotated[int | None, Parameter(group=TABLES)] = None,
    no_header: Annotated[bool, Parameter(group=TABLES)] = False,
    controls: Annotated[tuple[str, ...], Parameter(group=MORE)] = (),
    measures: Annotated[tuple[str, ...], Parameter(group=MORE)] = (),
    measure_rows: Annotated[int | None, Parameter(group=MORE)] = None,
    jobs: Jobs = 0,
    cluster: ClusterName = None,
    batch_size: Annotated[int | None, Parameter(group=RESOURCES)] = None,
    device: Annotated[str | None, Parameter(group=RESOURCES)] = None,
    half: Annotated[bool, Parameter(group=RESOURCES)] = False,
    no_store: Annotated[bool, Parameter(group=RESOURCES)] = False,
    store_limit: Annotated[float | None, Parameter(group=RESOURCES)] = None,
    out: Annotated[Path, Parameter(("--out", "-o"), group=OUTPUT)] = Path("run"),
) -> int:
    """Probe encoders on sets, along with baselines. Run again, the same command resumes where it stopped.

    Parameters
    ----------
    paths: str
        Sets, or folders of sets, as for `sentprobe audit`. Default: the sets of `sentprobe demo`, beside its encoders.
    data: tuple[str, ...]
        The same as PATHS.
    encoder: tuple[str, ...]
        scheme:name, with a scheme that `sentprobe ls encoders` lists; NAME=scheme:name shows it as NAME; may be
        repeated. Default: static:, on sets that are named.
    out: Path
        The folder to write to, or to resume in. Default: run.
    probe: tuple[str, ...]
        A probe, as `sentprobe ls probes` lists them, with changes as in senteval?hidden=50; may be repeated. Default:
        linear.
    seeds: int
        Number of seeds to train each probe with. Default: 1.
    seed: int
        The first seed. Default: 1111.
    limit: int
        Use a sample of at most this many rows per split, in which labels keep their shares; every score is marked as
        partial.
    jobs: int
        Probes to fit in parallel, and worker processes that encode with static:, vec: and baseline:; 0 means one per
        core. Default: 0.
    cluster: str
        Work on a cluster: ray or dask to start one on this machine; ray:auto, ray:HOST:PORT, dask:tcp://HOST:PORT or
        dask:FILE, the file of its scheduler, to join one. Encoders are loaded by
        its workers, and vectors exchanged through the store, which the nodes must share. Results are those of --jobs 1.
    resample: int
        Retrain each probe this many times on parts of the training rows, so that intervals and tests are about the
        encoder and not only about the probe: 0, 10, 20, … Default: 20 for linear probes, 10 for networks.
    half: bool
        Round vectors to float16.
    batch_size: int
        Texts per batch. Default: the encoder's own.
    device: str
        Fit probes with torch on this device, such as cuda. Default: numpy.
    no_store: bool
        Neither read nor write the store, which keeps vectors and the results of baselines.
    store_limit: float
        The largest size of the store in gigabytes; the oldest contents are removed. Default: no limit.
    text: tuple[str, ...]
        The column of a table with the sentence: a name, or a number from 1. Twice for pairs of sentences.
    label: str
        The column with the label.
    split: str
        The column that says train, dev or test; or, if there is none, shares to split every table into, such as
        80/10/10. Default: from the file names.
    group: str
        With shares: the column whose rows are kept together, such as the document. Default: rows with the same text.
    split_seed: int
        With shares: another seed splits otherwise. Default: 1111.
    no_header: bool
        The table has no header; columns are numbers.
    task: tuple[str, ...]
        Only the sets of this task; may be repeated. Default: all.
    language: tuple[str, ...]
        Only the sets in this language, such as fr; may be repeated. Default: all.
    as_task: str
        The task of files that do not say it: SentEval's, X-Probe's and tables. Default: the task named as the file or
        folder is.
    as_language: str
        The language of files that do not say it. Default: from the folder.
    merge_labels: bool
        Make labels that look alike one: Yes and yes, 1 and 1.0. Without it, sets that have such labels are refused.
    suite: tuple[str, ...]
        Only the sets of these suites, such as conneau2018, or transfer: SentEval's transfer tasks. Default: all.
    train: str
        The file of English pairs to train XNLI probes on. Default: one in the same folder.
    controls: tuple[str, ...]
        Control tasks to run, comma-separated, as `sentprobe ls controls` lists them, or all.
    measures: tuple[str, ...]
        Further measures to compute, comma-separated, as `sentprobe ls measures` lists them, or all.
    measure_rows: int
        Training rows that capacity, erasure, inlp and mix use at most. Default: 10000.
    """
    from sentprobe.cli._first_picture import add_demo_results, demo_sets, print_next_steps
    from sentprobe.cli._options import STDIN, open_store, parse_columns, workers_of
    from sentprobe.cli._warnings import printed_warnings
    from sentprobe.console import announce, count_of, err, print_symptoms, printable, progress_bar
    from sentprobe.data.sources import filter_by_suite, find_sets
    from sentprobe.encoders import check_name, expand_names
    from sentprobe.encoders.preflight import check_encoders
    from sentprobe.errors import RunError, UsageError
    from sentprobe.probes import parse
    from sentprobe.report.summary import summarise
    from sentprobe.report.tables import print_table
    from sentprobe.report.wording import listed
    from sentprobe.run import evaluate
    from sentprobe.run.aliases import split_aliases
    from sentprobe.run.diagnoses import read_diagnoses
    from sentprobe.run.reload import read_unloadable
    from sentprobe.run.variants import select_variants

    if not (paths or data or encoder):
        raise UsageError(
            "Name an encoder for a first picture, on synthetic sentences: sentprobe run -e st:all-MiniLM-L6-v2\n"
            "Name sets for an answer about real text:   sentprobe run -e st:all-MiniLM-L6-v2 -d probes/\n"
            "`sentprobe make` makes sets, `sentprobe ls encoders` lists encoders, `sentprobe run --help` has the rest."
        )
    first_picture = not (paths or data)
    encoder = encoder or ("static:",)
    for option, number in (("--seeds", seeds), ("--batch-size", batch_size)):
        if number is not None and number < 1:
            raise UsageError(f"{option} {number}: expected a number, 1 or more.")
    columns = parse_columns(text, label, split, None, no_header, group, split_seed)
    plain, aliases = split_aliases(encoder)
    names = expand_names(plain)
    for name in names:
        check_name(name)
    if first_picture:
        data = (os.fspath(demo_sets(jobs)),)
    sources = find_sets(
        ["-" if p == STDIN else p for p in (*paths, *data)], columns, task=task, language=language, as_task=as_task,
        as_language=as_language, train=train, merge_labels=merge_labels,
    )  # fmt: skip
    if suite:
        sources = filter_by_suite(sources, suite)
    _check_columns(sources)
    for each in probe:
        parse(each)
    select_variants(controls, measures, measure_rows)
    begun = (out / "results.jsonl").exists()  # sentprobe.run has the name, but takes a second to import
    store = open_store(no_store, store_limit)
    beside = []
    if first_picture and (probe, limit) == (("linear",), None):
        check_encoders(names)
        beside = add_demo_results(out, sources, {name: aliases.get(name) for name in names})
    reads = [path for source in sources for path in source.paths]
    with workers_of(jobs, cluster, reads=reads, store=store) as workers:
        announce(
            f"Probing {count_of(len(names), 'encoder')} on {count_of(len(sources), 'set')} with {' and '.join(probe)}"
            f"{f', {seeds} seeds' if seeds > 1 else ''}{_extra(controls, 'control')}{_extra(measures, 'measure')}, "
            f"along with {listed([*beside, 'baselines'])}; {count_of(workers, 'job')}; "
            f"{'resuming in' if begun else 'writing to'} {out}/"
        )
        with printed_warnings(), progress_bar() as progress:
            found = evaluate(
                encoder, sources, out, probes=probe, seeds=range(seed, seed + seeds), limit=limit, store=store,
                half=half, batch_size=batch_size, device=device, jobs=workers, resample=resample, controls=controls,
                measures=measures, measure_rows=measure_rows, progress=progress,
                command=shlex.join(["sentprobe", *(word for word in sys.argv[1:] if word != "--debug")]),
            )  # fmt: skip
    if first_picture and not any(result.cell.encoder in names for result in found):
        raise RunError(f"Nothing was computed: {found.failures[0].error}")
    print_table(summarise(found))
    for diagnosis in read_diagnoses(found):
        print_symptoms(diagnosis.name, [(s.code, s.message) for s in diagnosis.symptoms])
    for name, why in read_unloadable(found.info).items():
        err().print(printable(f"note: {name} cannot be loaded again: {why}."), markup=False, soft_wrap=True)
    if first_picture:
        print_next_steps(beside, encoder, out)
    err().print(f"\n{len(found)} result{'s' * (len(found) != 1)}, written to {out}/", markup=False)
    return 2 if found.failures else 0


def _check_columns(sources: Sequence[Source]) -> None:
    """Raise UsageError if no table has the columns that were named; one without them among others is a failure."""
    from sentprobe.data.records import records
    from sentprobe.errors import DataError, UsageError

    wrong: list[UsageError] = []
    for source in sources:
        try:
            if source.columns is not None:
                next(records(source.paths[0], source.columns), None)
        except UsageError as e:
            wrong.append(e)
        except DataError:  # a malformed table is a failure of its set
            pass
    if wrong and len(wrong) == len(sources):
        raise wrong[0]


def _extra(names: tuple[str, ...], noun: str) -> str:
    """Controls or measures, as they are announced."""
    found = dict.fromkeys(name for text in names for name in text.split(",") if name)
    return "" if not found else f", all {noun}s" if "all" in found else f", {noun} {' and '.join(found)}"
