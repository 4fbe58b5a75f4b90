"""`sentprobe run`: probe encoders on sets."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from sentprobe.cli._options import OUTPUT, RESOURCES, TABLES, ClusterName, Jobs, TableOptions, with_options
from sentprobe.run.options import RunOptions

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


@with_options(TableOptions, (TABLES,), before="jobs", leave_out=("target",))
@with_options(RunOptions, (WHAT, HOW, MORE, RESOURCES), before="no_store")
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
    probe: Annotated[tuple[str, ...], Parameter(("--probe", "-p"), group=HOW)] = ("linear",),
    seeds: Annotated[int, Parameter(group=HOW)] = 1,
    seed: Annotated[int, Parameter(group=HOW)] = 1111,
    jobs: Jobs = 0,
    cluster: ClusterName = None,
    no_store: Annotated[bool, Parameter(group=RESOURCES)] = False,
    store_limit: Annotated[float | None, Parameter(group=RESOURCES)] = None,
    out: Annotated[Path, Parameter(("--out", "-o"), group=OUTPUT)] = Path("run"),
    **options: Any,
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
    jobs: int
        Probes to fit in parallel, and worker processes that encode with static:, vec: and baseline:; 0 means one per
        core. Default: 0.
    cluster: str
        Work on a cluster: ray or dask to start one on this machine; ray:auto, ray:HOST:PORT, dask:tcp://HOST:PORT or
        dask:FILE, the file of its scheduler, to join one. Encoders are loaded by
        its workers, and vectors exchanged through the store, which the nodes must share. Results are those of --jobs 1.
    no_store: bool
        Neither read nor write the store, which keeps vectors and the results of baselines.
    store_limit: float
        The largest size of the store in gigabytes; the oldest contents are removed. Default: no limit.
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
    """
    from sentprobe.cli._first_picture import add_demo_results, demo_sets, print_next_steps
    from sentprobe.cli._options import STDIN, open_store, workers_of
    from sentprobe.cli._warnings import printed_warnings
    from sentprobe.console import announce, err, print_symptoms, progress_bar
    from sentprobe.core.formatting import count_of, printable
    from sentprobe.data.sources import filter_by_suite, find_sets
    from sentprobe.encoders.diagnosis import check_encoders
    from sentprobe.errors import RunError, UsageError
    from sentprobe.report.names import listed
    from sentprobe.report.summary import summarise
    from sentprobe.report.tables import print_table
    from sentprobe.run.control import CONTROLS
    from sentprobe.run.info import read_diagnoses, read_unloadable
    from sentprobe.run.inputs import named_encoders
    from sentprobe.run.loop import evaluate
    from sentprobe.run.measure import MEASURES

    if not (paths or data or encoder):
        raise UsageError(
            "Name an encoder for a first picture, on synthetic sentences: sentprobe run -e st:all-MiniLM-L6-v2\n"
            "Name sets for an answer about real text:   sentprobe run -e st:all-MiniLM-L6-v2 -d probes/\n"
            "`sentprobe make` makes sets, `sentprobe ls encoders` lists encoders, `sentprobe run --help` has the rest."
        )
    first_picture = not (paths or data)
    encoder = encoder or ("static:",)
    columns = TableOptions.taken_from(options)
    request = RunOptions(probes=probe, seeds=range(seed, seed + seeds), **options)
    named, aliases = named_encoders(encoder)
    if first_picture:
        data = (os.fspath(demo_sets(jobs)),)
    sources = find_sets(
        ["-" if p == STDIN else p for p in (*paths, *data)], columns, task=task, language=language, as_task=as_task,
        as_language=as_language, train=train, merge_labels=merge_labels,
    )  # fmt: skip
    if suite:
        sources = filter_by_suite(sources, suite)
    _check_pairs(probe, sources)
    begun = (out / "results.jsonl").exists()  # sentprobe.run has the name, but takes a second to import
    store = open_store(no_store, store_limit)
    beside = []
    if first_picture and (probe, request.limit) == (("linear",), None):
        check_encoders(list(named))
        beside = add_demo_results(out, sources, {name: aliases.get(name) for name in named})
    variants = request.variants()
    extra = _extra(variants.controls, CONTROLS, "control") + _extra(variants.measures, MEASURES, "measure")
    reads = [path for source in sources for path in source.paths]
    with workers_of(jobs, cluster, reads=reads, store=store) as workers:
        announce(
            f"Probing {count_of(len(named), 'encoder')} on {count_of(len(sources), 'set')} with {' and '.join(probe)}"
            f"{f', {seeds} seeds' if seeds > 1 else ''}{extra}, "
            f"along with {listed([*beside, 'baselines'])}; {count_of(workers, 'job')}; "
            f"{'resuming in' if begun else 'writing to'} {out}/"
        )
        with printed_warnings(), progress_bar() as progress:
            command = shlex.join(["sentprobe", *(word for word in sys.argv[1:] if word != "--debug")])
            request = replace(request, store=store, jobs=workers, progress=progress, command=command)
            results = evaluate(encoder, sources, out, **vars(request))
    if first_picture and not any(result.cell.encoder in named for result in results):
        raise RunError(f"Nothing was computed: {results.failures[0].error}")
    print_table(summarise(results))
    for diagnosis in read_diagnoses(results):
        print_symptoms(diagnosis.name, [(s.code, s.message) for s in diagnosis.symptoms])
    for name, why in read_unloadable(results.info).items():
        err().print(printable(f"note: {name} cannot be loaded again: {why}."), markup=False, soft_wrap=True)
    if first_picture:
        print_next_steps(beside, encoder, out)
    err().print(f"\n{len(results)} result{'s' * (len(results) != 1)}, written to {out}/", markup=False)
    return 2 if results.failures else 0


def _check_pairs(probes: Sequence[str], sources: Sequence[Source]) -> None:
    """Raise UsageError if a probe is unknown, or says how pairs are combined and no set has any."""
    from sentprobe.data.layouts import LAYOUTS
    from sentprobe.errors import UsageError
    from sentprobe.probes import parse
    from sentprobe.tasks import is_task_name, load_task
    from sentprobe.transfer.pairs import TASK_PAIRS

    def may_have_pairs(source: Source) -> bool:
        if source.columns is not None:
            return len(source.columns.text) > 1
        if source.kind in LAYOUTS:
            return source.kind in TASK_PAIRS
        return not is_task_name(source.task) or bool(load_task(source.task).inputs)

    for probe in probes:
        if parse(probe)[1].pairs != "task" and not any(map(may_have_pairs, sources)):
            raise UsageError(
                f"{probe!r} changes pairs, which has no effect: none of the sets has pairs of sentences. Leave it out."
            )


def _extra(names: Sequence[str], every: Collection[str], noun: str) -> str:
    """Controls or measures, as they are announced."""
    return "" if not names else f", all {noun}s" if {*every} <= {*names} else f", {noun} {' and '.join(names)}"
