"""`sonde run`: probe encoders on sets."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from sonde.cli._options import Jobs

order = 70


def run(
    *paths: str,
    data: Annotated[tuple[str, ...], Parameter(("--data", "-d"))] = (),
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = ("static:",),
    out: Annotated[Path, Parameter(("--out", "-o"))] = Path("run"),
    probe: Annotated[tuple[str, ...], Parameter(("--probe", "-p"))] = ("linear",),
    seeds: int = 1,
    seed: int = 1111,
    limit: int | None = None,
    jobs: Jobs = 0,
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
    measure_rows: int | None = None,
) -> int:
    """Probe encoders on sets, along with baselines. Run again, the same command resumes where it stopped.

    Parameters
    ----------
    paths: str
        Sets, or folders of sets, as for `sonde audit`.
    data: tuple[str, ...]
        The same as PATHS.
    encoder: tuple[str, ...]
        scheme:name, with a scheme that `sonde ls encoders` lists; NAME=scheme:name shows it as NAME; may be repeated.
        Default: static:.
    out: Path
        The folder to write to, or to resume in. Default: run.
    probe: tuple[str, ...]
        A probe, as `sonde ls probes` lists them, with changes as in senteval?hidden=50; may be repeated. Default:
        linear.
    seeds: int
        Number of seeds to train each probe with. Default: 1.
    seed: int
        The first seed. Default: 1111.
    limit: int
        Use a balanced sample of at most this many rows per split; every score is marked as partial.
    jobs: int
        Probes to fit in parallel, and worker processes that encode with static:, vec: and baseline:; 0 means one per
        core. Default: 0.
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
        The column that says train, dev or test. Default: from the file names.
    no_header: bool
        The table has no header; columns are numbers.
    task: str
        The task of the sets. Default: the task named as the file or folder is.
    language: str
        The language of the sets. Default: from the manifest or the folder.
    suite: tuple[str, ...]
        Only the sets of these suites, such as conneau2018, or transfer: SentEval's transfer tasks. Default: all.
    train: str
        The file of English pairs to train XNLI probes on. Default: one in the same folder.
    controls: tuple[str, ...]
        Control tasks to run, comma-separated, as `sonde ls controls` lists them, or all.
    measures: tuple[str, ...]
        Further measures to compute, comma-separated, as `sonde ls measures` lists them, or all.
    measure_rows: int
        Training rows that capacity, erasure, inlp and mix use at most. Default: 10000.
    """
    from sonde.cli._options import STDIN, open_store, parse_columns
    from sonde.cli._warnings import printed_warnings
    from sonde.console import err, print_symptoms, progress_bar
    from sonde.core.arguments import resolve_jobs
    from sonde.data.sources import filter_by_suite, find_sets
    from sonde.errors import UsageError
    from sonde.report.summary import summarise
    from sonde.report.tables import print_table
    from sonde.run import evaluate
    from sonde.run.diagnoses import read_diagnoses

    if not (paths or data):
        raise UsageError("Name the sets to probe on: sonde run -e ENCODER -d FOLDER.")
    if seeds < 1 or (batch_size is not None and batch_size < 1):
        raise UsageError("--seeds and --batch-size must be 1 or more.")
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
            resample=resample, controls=controls, measures=measures, measure_rows=measure_rows,
            progress=progress,
            command=shlex.join(["sonde", *(word for word in sys.argv[1:] if word != "--debug")]),
        )  # fmt: skip
    print_table(summarise(found))
    for diagnosis in read_diagnoses(found):
        print_symptoms(diagnosis.name, [(s.code, s.message) for s in diagnosis.symptoms])
    err().print(f"\n{len(found)} result{'s' * (len(found) != 1)}, written to {out}/", markup=False)
    return 2 if found.failures else 0
