"""`sentprobe run`: probe encoders on sets."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from sentprobe.cli._options import CLUSTER_HELP, OUTPUT, RESOURCES, TABLES, Jobs, TableOptions, with_options
from sentprobe.core.arguments import as_strings
from sentprobe.run.options import RunOptions

if TYPE_CHECKING:
    from sentprobe.data.sources import Source
    from sentprobe.encoders.store import Store
    from sentprobe.run import Run
    from sentprobe.run.inputs import NamedEncoders

order = 70
group = "Probe"
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

NOTHING_NAMED = """Name an encoder for a first picture, on synthetic sentences: sentprobe run -e st:all-MiniLM-L6-v2
Name sets for an answer about real text:   sentprobe run -e st:all-MiniLM-L6-v2 -d probes/
`sentprobe make` makes sets, `sentprobe ls encoders` lists encoders, `sentprobe run --help` has the rest."""
RunCluster = Annotated[
    str | None,
    Parameter(
        "--cluster",
        group=RESOURCES,
        help=f"{CLUSTER_HELP} Encoders are loaded by its workers, and vectors exchanged through the store, which the "
        "nodes must share.",
    ),
]


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
    probe_seeds: Annotated[int, Parameter(group=HOW)] = 1,
    seed: Annotated[int, Parameter(group=HOW)] = 1111,
    jobs: Jobs = 0,
    cluster: RunCluster = None,
    dry_run: Annotated[bool, Parameter(group=RESOURCES)] = False,
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
        scheme:name, with a scheme that `sentprobe ls encoders` lists; NAME=scheme:name shows it as NAME;
        NAME=trained:'runs/seed-*' takes all that match for trainings of one recipe, with several seeds; may be
        repeated. Default: static:, on sets that are named.
    out: Path
        The folder to write to, or to resume in. Default: run.
    probe: tuple[str, ...]
        A probe, as `sentprobe ls probes` lists them, with changes as in senteval?hidden=50; may be repeated. Default:
        linear.
    probe_seeds: int
        Number of seeds to train each probe with. Default: 1.
    seed: int
        The first seed of the probes. Default: 1111.
    jobs: int
        Probes to fit in parallel, and worker processes that encode with static:, vec: and baseline:; 0 means one per
        core. Default: 0.
    dry_run: bool
        Compute and send nothing; print how many texts and tokens would be encoded, and what a server with price= costs.
        Controls and measures may need more.
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
    from sentprobe.cli._options import command_line, open_store, typed_paths, workers_of
    from sentprobe.console import announce, err
    from sentprobe.core.formatting import count_of
    from sentprobe.data.sources import filter_by_suite, find_sets
    from sentprobe.errors import RunError, UsageError
    from sentprobe.run.inputs import named_encoders

    is_first_picture = not (paths or data)
    if is_first_picture and not encoder:
        raise UsageError(NOTHING_NAMED)
    encoder = encoder or ("static:",)
    columns = TableOptions.taken_from(options)
    request = RunOptions(probes=probe, probe_seeds=range(seed, seed + probe_seeds), **options)
    requested = named_encoders(encoder)
    paths = (os.fspath(_demo_sets(jobs)),) if is_first_picture else typed_paths((*paths, *data))
    sources = find_sets(
        paths, columns, task=task, language=language, as_task=as_task, as_language=as_language, train=train,
        merge_labels=merge_labels, guess=announce,
    )  # fmt: skip
    if suite:
        sources = filter_by_suite(sources, suite)
    _check_pairs(probe, sources)
    resumes_run = (out / "results.jsonl").exists()  # sentprobe.run has the name, but takes a second to import
    store = open_store(no_store, store_limit)
    if dry_run:
        return _print_plan(list(requested.by_name), sources, request, store)
    shipped = _add_demo_results(out, sources, requested) if is_first_picture and _is_like_demo(request) else []
    reads = [path for source in sources for path in source.paths]
    with workers_of(jobs, cluster, reads=reads, store=store) as workers:
        request = replace(request, store=store, jobs=workers, command=command_line())
        results = _evaluate(encoder, sources, out, request, shipped, resumes_run)
    if is_first_picture and not any(result.cell.encoder in requested.by_name for result in results):
        raise RunError(f"Nothing was computed: {results.failures[0].error}")
    _print_results(results)
    if is_first_picture:
        _print_next_steps(shipped, encoder, out)
    err().print(f"\n{count_of(len(results), 'result')}, written to {out}/", markup=False)
    return 2 if results.failures else 0


def _evaluate(
    encoders: Sequence[str],
    sources: Sequence[Source],
    out: Path,
    request: RunOptions,
    shipped: Sequence[str],
    resumes_run: bool,
) -> Run:
    """Announce what is computed, and compute it."""
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.console import announce, progress_bar
    from sentprobe.core.formatting import count_of
    from sentprobe.report.names import listed
    from sentprobe.run.control import CONTROLS
    from sentprobe.run.inputs import named_encoders
    from sentprobe.run.loop import evaluate
    from sentprobe.run.measure import MEASURES

    named = named_encoders(encoders).by_name
    probes, seeds, variants = as_strings(request.probes), request.seed_list(), request.variants()
    added = _names(variants.controls, CONTROLS, "control") + _names(variants.measures, MEASURES, "measure")
    announce(
        f"Probing {count_of(len(named), 'encoder')} on {count_of(len(sources), 'set')} with {' and '.join(probes)}"
        f"{f', {len(seeds)} seeds of the probe' if len(seeds) > 1 else ''}{added}, "
        f"along with {listed([*shipped, 'baselines'])}; {count_of(request.jobs, 'job')}; "
        f"{'resuming in' if resumes_run else 'writing to'} {out}/"
    )
    if note := _seedless_note(request):
        announce(note)
    with printed_warnings(), progress_bar() as progress:
        return evaluate(encoders, sources, out, **vars(replace(request, progress=progress)))


def _seedless_note(request: RunOptions) -> str:
    """Which probes do not vary with the seeds that were requested; empty if all do, or if there is one seed."""
    from sentprobe.probes.kind import kind_of
    from sentprobe.report.names import listed

    count = len(request.seed_list())
    names = [name for name, probe in request.parsed_probes().items() if not kind_of(probe).seeded]
    if count == 1 or not names:
        return ""
    subject = f"{listed(names)} {'has' if len(names) == 1 else 'have'} no random numbers"
    return (
        f"{subject}: on a set with a train and a test split, all {count} seeds give the same score. Seeds of the "
        "encoder are what a claim about its training needs: sentprobe train --seeds."
    )


def _print_plan(encoders: Sequence[str], sources: Sequence[Source], request: RunOptions, store: Store | None) -> int:
    """Print what encoding the texts of the run would take."""
    from sentprobe.console import out
    from sentprobe.encoders.encoding_plan import plan_encoding, plan_table
    from sentprobe.run.inputs import probing_splits

    splits = [probing_splits(source.load(), request.limit, request.folds) for source in sources]
    texts = [text for s in splits for text in s.texts()]
    plan_table(plan_encoding(name, texts, store, half=request.half) for name in encoders).print(out())
    return 0


def _names(names: Sequence[str], available: Collection[str], noun: str) -> str:
    """Controls or measures, as they are announced."""
    return "" if not names else f", all {noun}s" if {*available} <= {*names} else f", {noun} {' and '.join(names)}"


def _print_results(results: Run) -> None:
    """Print the table of a run, and what is wrong with its encoders."""
    from sentprobe.console import print_symptoms, say
    from sentprobe.core.formatting import printable
    from sentprobe.report.summary import summarise
    from sentprobe.report.tables import print_table
    from sentprobe.run.info import read_diagnoses, read_sent, read_unloadable

    print_table(summarise(results))
    for diagnosis in read_diagnoses(results):
        # of languages there was a warning before anything was computed, and the notes of the table have it
        symptoms = [(s.code, s.message) for s in diagnosis.symptoms if s.code != "wrong-language"]
        print_symptoms(diagnosis.name, symptoms)
    for name, when, sent in read_sent(results.info):
        say(printable(f"note: {name} {sent} ({when})."))
    notes = read_unloadable(results.info)
    recipes = Counter(results.recipes[name] for name in notes if name in results.recipes)
    for name, why in notes.items():
        # of a recipe, the first training stands for all
        count = recipes.pop(recipe, 0) if (recipe := results.recipes.get(name)) else 1
        alike = f" (and {count - 1} more of {recipe})" if count > 1 else ""
        if count:
            say(printable(f"note: {name}{alike} cannot be loaded again: {why}."))


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


# The first picture: `sentprobe run -e ENCODER` without sets, on the demo's sets and beside its results


def _demo_sets(jobs: int) -> Path:
    """The folder of the demo's sets, made if they are not there."""
    from sentprobe.console import progress_bar
    from sentprobe.core.arguments import resolve_jobs
    from sentprobe.run.references import cached_demo_sets, read_references

    with progress_bar() as progress:
        return cached_demo_sets(read_references().sets, resolve_jobs(jobs), progress)


def _is_like_demo(request: RunOptions) -> bool:
    """Whether results are comparable with the demo's: of the linear probe, on all rows, by the default protocol."""
    return (request.probes, request.limit, request.folds) == (("linear",), None, None)


def _add_demo_results(out: Path, sources: Sequence[Source], requested: NamedEncoders) -> list[str]:
    """Check the encoders, and add the demo's results to a run; the names of the encoders that these are about."""
    from sentprobe.encoders.diagnosis import check_encoders
    from sentprobe.run.references import add_references, read_references

    check_encoders(list(requested.by_name))
    aliased = {name: requested.aliases.get(name) for name in requested.by_name}
    return add_references(out, read_references(), [source.load() for source in sources], aliased)


def _print_next_steps(shipped: Sequence[str], encoders: Sequence[str], out: Path) -> None:
    """Say what the numbers are about, and what to do for real text."""
    from sentprobe.console import say
    from sentprobe.report.names import listed

    lines = ["", "A first picture, on sentences of a small synthetic grammar: no claim about real English."]
    if shipped:
        lines.append(f"Results of {listed(shipped)} come with sentprobe, with their predictions.")
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
        say(line)
