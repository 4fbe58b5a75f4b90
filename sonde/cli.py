"""The command line: one verb per station. No logic here, and nothing heavy is imported before it is needed."""

from __future__ import annotations

import gc
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal

import cyclopts
from cyclopts import Parameter

from sonde import __version__

STDIN = "<standard input>"
"""What a lone dash becomes before cyclopts sees it, which would take it for an option."""

app = cyclopts.App(
    name="sonde",
    help="Ask a sentence encoder what it knows.\n\nExit codes: 0 done, 1 wrong use or bad input, "
    "2 some of what was asked for could not be made, 130 interrupted (what was written is kept). "
    "`--debug` shows the traceback of an error.",
    version=__version__,
    help_format="plaintext",
    suppress_keyboard_interrupt=False,
    default_parameter=Parameter(negative=(), show_default=False),
)


@app.command
def make(
    *corpus: str,
    builtin: int = 0,
    trees: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = (),
    suite: Annotated[tuple[str, ...], Parameter(("--suite", "-s"))] = (),
    task: Annotated[tuple[str, ...], Parameter(("--task", "-t"))] = (),
    out: Annotated[Path, Parameter(("--out", "-o"))] = Path("probes"),
    sizes: str = "",
    length: str = "",
    seed: int = 1111,
    exclude: Path | None = None,
    exclusive: bool = False,
    set_: Annotated[tuple[str, ...], Parameter("--set")] = (),
    jobs: Annotated[int, Parameter(("--jobs", "-j"))] = 1,
    skip_bad: bool = False,
    audit: bool = False,
    name: str | None = None,
    language: str | None = None,
    format: Literal["conllu", "brackets", "text"] | None = None,
) -> int:
    """Make probing sets from annotated text.

    Parameters
    ----------
    corpus: str
        CoNLL-U, bracketed or plain-text files (also .gz .bz2 .xz .zst), globs, folders, or - for standard input.
    builtin: int
        Use this many sentences of the built-in synthetic English corpus instead.
    trees: tuple[str, ...]
        Bracket files whose constituency trees belong to the same sentences.
    suite: tuple[str, ...]
        Make every task of a suite: conneau2018, universal2019 (the default), xprobe2019, adi2017. May be repeated.
    task: tuple[str, ...]
        Make only this task: a name, package.module:attribute, or a path to a Python file. May be repeated.
    out: Path
        The folder to write to. Default: probes.
    sizes: str
        Rows in train/validation/test, such as 10000/1000/1000. Default: the paper's sizes.
    length: str
        Fewest and most tokens of a sentence, such as 5-28. Default: the paper's window.
    seed: int
        All random choices derive from it. Default: 1111.
    exclude: Path
        A file of sentences to withhold, one a line; case, digits and punctuation do not count.
    exclusive: bool
        Use a sentence in one task only.
    set_: tuple[str, ...]
        Change a policy, such as --set decorrelate=gaussian or --set odd_man_out.tolerance=0.5. May be repeated.
    jobs: int
        Worker processes; 0 means one per core. Default: 1.
    skip_bad: bool
        Go on past malformed sentences; the manifest counts and lists them.
    audit: bool
        Look for shortcuts and damaged text in the sets, too, and note them in the manifests. Takes longer.
    name: str
        What to call the corpus. Default: from the file names.
    language: str
        Its language code. Default: from the file names.
    format: str
        The format of the files. Default: from their names and contents.
    """
    from sonde.console import err, print_sets, progress
    from sonde.corpus.corpus import Corpus
    from sonde.dataset import MANIFEST, Dataset
    from sonde.errors import UsageError
    from sonde.make import make_sets
    from sonde.request import check_jobs, check_writable, near_keys, wanted
    from sonde.sketch import WITHHELD

    if bool(corpus) == bool(builtin):
        raise UsageError("Give corpus files, or --builtin N for the built-in corpus, not both and not neither.")
    source = (
        Corpus.synthetic(builtin)
        if builtin
        else Corpus.read(
            *("-" if c == STDIN else c for c in corpus), name=name, language=language, format=format, trees=trees
        )
    )
    jobs_wanted = wanted(suite, task, sizes=sizes, length=length, settings=set_)
    withheld = near_keys(exclude) if exclude else frozenset()
    check_writable(out)
    made: list[Any] = []
    unmade: list[Any] = []
    with progress() as tell:
        for found in make_sets(
            source, jobs_wanted, seed=seed, jobs=check_jobs(jobs), exclude=withheld, exclusive=exclusive,
            skip_bad=skip_bad, audit=audit, progress=tell,
        ):  # fmt: skip
            if isinstance(found, Dataset):
                found.save(out / found.name)
                made.append(found.manifest)
            else:
                (out / found.name / MANIFEST).unlink(
                    missing_ok=True
                )  # of an earlier run, which would pass for this one's
                unmade.append(found)
    if made:
        print_sets(made)
        facts = made[0]["corpus"]
        source_of = f"{facts['sentences']:,} {'synthetic ' * facts['synthetic']}sentences of {facts['name']}"
        err().print(f"\n{len(made)} set{'s' * (len(made) > 1)} from {source_of}, written to {out}/", markup=False)
        if facts["skipped"]["sentences"]:
            err().print(f"{facts['skipped']['sentences']} malformed sentences were skipped; the manifests list them.")
        short = [m for m in made if sum(m["sizes"]["drawn"].values()) < sum(m["sizes"]["asked"].values()) * 0.99]
        spent = not any(m["stages"]["cells cut to their limit"] for m in short)
        if short:
            err().print(f"{len(short)} smaller than asked{': the corpus has no more to give' * spent}.")
        if withheld and not any(WITHHELD in m["stages"]["rejected"] for m in made):
            err().print(
                f"None of the sentences of {exclude} was met: is it one sentence a line, without other columns?"
            )
    for lacking in unmade:
        err().print(f"not made: {lacking.name}: {lacking.reason}", style="yellow", markup=False, soft_wrap=True)
    return 0 if not unmade else 2 if made else 1


@app.command
def audit(
    *paths: str,
    text: tuple[str, ...] = (),
    label: str | None = None,
    split: str | None = None,
    target: str | None = None,
    no_header: bool = False,
    task: Annotated[str | None, Parameter(("--task", "-t"))] = None,
    language: str | None = None,
    format: Literal["table", "md", "json"] = "table",
    json: bool = False,
    at_least: Literal["error", "warning", "note"] = "note",
    strict: bool = False,
    jobs: Annotated[int, Parameter(("--jobs", "-j"))] = 0,
    explain: str | None = None,
) -> int:
    """Look for what is wrong with probing sets, ours or anyone's.

    Parameters
    ----------
    paths: str
        Folders that `sonde make` wrote, SentEval files, X-Probe folders, SentEval's transfer folders, collections of
        these; or tables (TSV, CSV, JSONL, Parquet, also compressed) with --text and --label.
    text: tuple[str, ...]
        The column of a table that has the sentence: a name, or a number from 1. Twice for pairs of sentences.
    label: str
        The column that has the label.
    split: str
        The column that says train, dev or test. Default: from the file names.
    target: str
        The column that has the target form, which no two splits may share.
    no_header: bool
        The table has no line of column names; columns are numbers.
    task: str
        The task the set is for, which tells what to expect of it: a name, package.module:attribute, or a path to a
        Python file. Default: the task that is called as the file or folder is.
    language: str
        The language the text should be in. Default: from the manifest or the folder.
    format: str
        table, md (Markdown) or json. Default: table.
    json: bool
        The same as --format json.
    at_least: str
        Show no findings below error, warning or note. Default: note.
    strict: bool
        End with exit code 1 if there is an error.
    jobs: int
        Worker processes; 0 means one per core. Default: 0.
    explain: str
        Say what this code means, or all of them, and nothing else.
    """
    from sonde.audit import explain as explained
    from sonde.audit.show import as_json, codes_page, markdown, print_audit, print_code, print_together, tally
    from sonde.console import err, visible
    from sonde.errors import UsageError

    if explain == "all":
        sys.stdout.write(codes_page())
        return 0
    if explain is not None:
        print_code(explained(explain))
        return 0
    if not paths:
        raise UsageError("Name a set to audit, or a code: sonde audit --explain CODE.")
    from sonde.audit.collection import Unread, audit_sources, shared
    from sonde.audit.finding import SEVERITIES
    from sonde.request import check_jobs
    from sonde.sources import find_sets
    from sonde.tables import Columns
    from sonde.tasks import load

    if (split or target or no_header) and not (text and label):
        raise UsageError("--split, --target and --no-header are about tables: give --text and --label too.")
    if bool(text) != bool(label):
        raise UsageError("A table needs both --text and --label.")
    columns = Columns(text, label, split, target, not no_header) if text and label else None
    format = "json" if json else format
    shown = SEVERITIES[: SEVERITIES.index(at_least) + 1]
    audits, sentences, unread = [], [], []
    meant = load(task) if task else None
    sources = find_sets(
        ["-" if p == STDIN else p for p in paths], columns, task=meant.name if meant else None, language=language
    )
    for found in audit_sources(sources, jobs=check_jobs(jobs), task=meant, disjoint=True if target else None):
        if isinstance(found, Unread):
            unread.append(found)
            reason = visible(f"not read: {found.name}: {found.reason}")
            err().print(reason, style="yellow", markup=False, soft_wrap=True)
            continue
        audits.append(found[0])
        sentences.append(found[1])
        if format == "table":
            print_audit(found[0], shown)
    together = list(shared(sentences))
    if format == "json":
        sys.stdout.write(as_json(audits, together, unread))
    elif format == "md":
        sys.stdout.write(markdown(audits, together, unread, shown))
    else:
        print_together(together, shown)
        err().print(f"\n{tally(audits, together)}. `sonde audit --explain CODE` says what a code means.", markup=False)
    if strict and any(audit.errors for audit in audits):
        return 1
    return 0 if not unread else 2 if audits else 1


@app.command
def show(
    path: Path,
    /,
    *,
    examples: int = 0,
    baselines: bool = False,
    task: Annotated[tuple[str, ...], Parameter(("--task", "-t"))] = (),
    seed: int = 0,
) -> int:
    """Show probing sets: their sizes, or some of their rows.

    Parameters
    ----------
    path: Path
        A folder that `sonde make` wrote.
    examples: int
        Rows to print per class, picked at random; the target or changed words are marked.
    baselines: bool
        Train the baselines and show what they reach, beside what people reach and what the paper printed.
    task: tuple[str, ...]
        Only these tasks.
    seed: int
        Picks other rows.
    """
    from random import Random

    from sonde.console import example_line, out, print_sets
    from sonde.dataset import Dataset, find, read_manifest
    from sonde.errors import UsageError

    if examples < 0:
        raise UsageError(f"--examples {examples}: expected a number of rows, 0 or more.")
    folders = [f for f in find(path) if not task or f.name in task]
    if not folders:
        raise UsageError(f"{path} has no set of {', '.join(task)}; it has {', '.join(f.name for f in find(path))}.")
    if baselines:
        from sonde.baselines import print_baselines

        print_baselines(Dataset.load(f) for f in folders)
        return 0
    if not examples:
        print_sets([read_manifest(f) for f in folders])
        return 0
    console = out()
    for folder in folders:
        dataset = Dataset.load(folder)
        note = " (synthetic corpus)" if dataset.manifest["corpus"]["synthetic"] else ""
        console.print(f"\n[bold]{dataset.name}[/bold]  {dataset.manifest['question']}{note}")
        for label in dataset.labels:
            rows = [row for _, row in dataset if row.label == label]
            console.print(f"  {label}", style="cyan", markup=False)
            for row in Random(seed).sample(rows, min(examples, len(rows))):
                console.print("    ", example_line(row, console.is_terminal), soft_wrap=True, sep="")
    return 0


@app.command
def sentences(*paths: str) -> int:
    """Print the texts of probing sets, each different one once, to be encoded elsewhere for `npy:`.

    One a line; line breaks, tabs and backslashes are written \\n, \\t and \\\\.

    Parameters
    ----------
    paths: str
        Sets, or folders of sets, as for `sonde audit`.
    """
    from sonde.embed import texts_of
    from sonde.encoders.npy import to_line
    from sonde.errors import UsageError
    from sonde.sources import find_sets

    if not paths:
        raise UsageError("Name the sets whose texts are wanted.")
    for text in texts_of(source.load() for source in find_sets(paths)):
        sys.stdout.buffer.write(f"{to_line(text)}\n".encode())
    sys.stdout.flush()
    return 0


@app.command
def encode(
    *paths: str,
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = ("static:",),
    out: Annotated[Path | None, Parameter(("--out", "-o"))] = None,
    half: bool = False,
    batch: int | None = None,
    no_store: bool = False,
    store_limit: float | None = None,
) -> int:
    """Encode the texts of probing sets, each different one once, and keep the vectors in the store.

    Parameters
    ----------
    paths: str
        Sets, or folders of sets, as for `sonde audit`.
    encoder: tuple[str, ...]
        scheme:name, as `sonde ls encoders` lists them; may be repeated. Default: static:.
    out: Path
        A folder to write vectors.npy and texts.txt to, one folder per encoder, as `npy:` reads them.
    half: bool
        Round to float16.
    batch: int
        Texts at a time. Default: what the encoder likes.
    no_store: bool
        Neither look into the store nor keep anything.
    store_limit: float
        Gigabytes that the store may take; the oldest vectors give way. Default: no limit.
    """
    from rich.table import Table

    from sonde.console import out as console
    from sonde.console import progress
    from sonde.embed import embed, texts_of
    from sonde.encoders import load
    from sonde.encoders.npy import write_vectors
    from sonde.errors import UsageError
    from sonde.sources import find_sets
    from sonde.store import Store, default_root

    if not paths:
        raise UsageError("Name the sets whose texts are to be encoded.")
    if (batch is not None and batch < 1) or (store_limit is not None and store_limit < 0):
        raise UsageError("--batch must be 1 or more, and --store-limit 0 or more.")
    limit = None if store_limit is None else int(store_limit * 1e9)
    store = None if no_store else Store(default_root(), limit=limit)
    encoders = [(name, load(name)) for name in encoder]
    texts = texts_of(source.load() for source in find_sets(paths))
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column in ("encoder", "texts", "encoded", "layers", "dimension", "texts/s"):
        table.add_column(column, justify="left" if column == "encoder" else "right")
    for name, loaded in encoders:
        with progress() as tell:
            found = embed(loaded, texts, store=store, batch=batch, half=half, tell=tell)
        rate = f"{found.encoded / found.seconds:,.0f}" if found.seconds else ""
        shape = (str(max(1, len(found.layers))), str(found.vectors.shape[-1]))
        table.add_row(name, f"{len(texts):,}", f"{found.encoded:,}", *shape, rate)
        if out is not None:
            write_vectors(out / re.sub(r"[^\w.-]+", "-", name).strip("-"), texts, found.vectors)
    console().print(table)
    return 0


@app.command
def check(what: str, /, *corpus: str) -> int:
    """Check that a task or an encoder keeps the rules: `sonde check my_task.py`, `sonde check st:all-MiniLM-L6-v2`.

    Parameters
    ----------
    what: str
        A task's name, package.module:attribute, or a path to a Python file; or an encoder, scheme:name.
    corpus: str
        Annotated text to try a task on. Default: the built-in corpus.
    """
    from sonde.console import out
    from sonde.encoders import schemes

    if what.partition(":")[0] in schemes() and ":" in what:
        from sonde.encoders import load as load_encoder
        from sonde.testing import examine_encoder

        verdicts: Iterator[Any] = examine_encoder(load_encoder(what))
    else:
        from sonde.corpus.corpus import Corpus
        from sonde.tasks import load
        from sonde.testing import examine_task

        verdicts = examine_task(load(what), Corpus.read(*corpus) if corpus else Corpus.synthetic(3000))
    failed = 0
    for verdict in verdicts:
        failed += not verdict.passed
        mark = "[green]ok[/green]    " if verdict.passed else "[red]failed[/red]"
        out().print(f"{mark} {verdict.rule}")
        if not verdict.passed:
            out().print(f"       {verdict.detail}", markup=False)
    return 1 if failed else 0


@app.command
def ls(what: Literal["tasks", "suites", "encoders", "store"], /) -> int:
    """List what there is.

    Parameters
    ----------
    what: str
        tasks, suites, encoders (the schemes), or store (the vectors kept on this machine).
    """
    from rich.table import Table

    from sonde.console import out
    from sonde.tasks import PAPERS, SUITES, load, names

    table = Table(box=None, pad_edge=False, header_style="bold")
    if what == "encoders":
        import importlib

        from sonde.encoders import schemes

        for column in ("scheme", "what"):
            table.add_column(column)
        for scheme in schemes():
            table.add_row(
                f"{scheme}:", (importlib.import_module(f"sonde.encoders.{scheme}").__doc__ or "").split("\n")[0]
            )
    elif what == "store":
        from sonde.store import Store, default_root

        store = Store(default_root())
        for column in ("encoder", "vectors", "dimension", "MB", "last written"):
            table.add_column(column, justify="left" if column == "encoder" else "right")
        for entry in store.ls():
            megabytes = f"{entry.bytes / 1e6:,.1f}"
            table.add_row(
                entry.identity, f"{entry.vectors:,}", str(entry.dimension), megabytes, f"{entry.written:%Y-%m-%d %H:%M}"
            )
    elif what == "suites":
        for column in ("suite", "tasks", "paper"):
            table.add_column(column)
        for suite, tasks in SUITES.items():
            table.add_row(suite, ", ".join(tasks), PAPERS[suite])
    else:
        for column in ("task", "question", "needs", "suites"):
            table.add_column(column)
        for name in names():
            found = load(name)
            needs = " or ".join("+".join(sorted(columns)) or "text" for columns in found.readings.values())
            table.add_row(name, found.question, needs, ", ".join(found.policies))
    out().print(table)
    return 0


def main() -> None:
    """Run the command line and end with the documented exit code."""
    from sonde.errors import SondeError

    gc.set_threshold(100_000, 50, 50)  # a command makes many objects that last and few cycles
    arguments = [STDIN if a == "-" else a for a in sys.argv[1:] if a != "--debug"]
    debug = len(arguments) < len(sys.argv) - 1
    try:
        code = app(arguments, result_action="return_value", exit_on_error=False)
    except cyclopts.CycloptsError:
        code = 1  # cyclopts has said what is wrong
    except SondeError as e:
        if debug:
            raise
        sys.stderr.write(f"sonde: {e}\n")
        code = 1
    except KeyboardInterrupt:
        sys.stderr.write("sonde: interrupted; what was already written is kept\n")
        code = 130
    except BrokenPipeError:
        # the reader of our output has gone, as in `sonde show … | head`; nothing is left to flush at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    sys.exit(code if isinstance(code, int) else 0)
