"""`sonde show`: sets, or the results of a run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def show(
    path: Path,
    /,
    *,
    format: Literal["table", "md", "tex", "csv", "json"] = "table",
    metric: Literal["accuracy", "macro_f1", "log2_loss"] = "accuracy",
    signatures: bool = False,
    examples: int = 0,
    baselines: bool = False,
    task: Annotated[tuple[str, ...], Parameter(("--task", "-t"))] = (),
    seed: int = 0,
) -> int:
    """Show the results of a run; or probing sets: their sizes, or some of their rows.

    Parameters
    ----------
    path: Path
        A folder that `sonde run` or `sonde make` wrote.
    format: str
        Of a run: table, md (Markdown), tex (LaTeX, with booktabs), csv (a line per result) or json. Default: table.
    metric: str
        Of a run: accuracy, macro_f1 or log2_loss (bits). Default: accuracy.
    signatures: bool
        Of a run: print the signature of every result, for `sonde repeat`, and nothing else.
    examples: int
        Of sets: rows to print per class, picked at random; the target or changed words are marked.
    baselines: bool
        Of sets: train the baselines and show what they reach, beside what people reach and what the paper printed.
    task: tuple[str, ...]
        Of sets: only these tasks.
    seed: int
        Of sets: picks other rows.
    """
    from sonde.errors import UsageError

    if examples < 0:
        raise UsageError(f"--examples {examples}: expected a number of rows, 0 or more.")
    if (path / "run.json").exists():  # sonde.run knows the name, but takes a second to load
        if examples or baselines or task or seed:
            raise UsageError(f"--examples, --baselines, --task and --seed are about sets; {path} is a run.")
        if signatures and (format != "table" or metric != "accuracy"):
            raise UsageError("--signatures prints signatures and nothing else: leave out --format and --metric.")
        if format == "csv" and metric != "accuracy":
            raise UsageError(f"--format csv has every metric in a column of its own: leave out --metric {metric}.")
        _show_run(path, format, metric, signatures)
        return 0
    if format != "table" or metric != "accuracy" or signatures:
        raise UsageError(f"--format, --metric and --signatures are about runs; {path} has no run.json. Leave them out.")
    if baselines and (examples or seed):
        raise UsageError("--baselines prints no rows: leave out --examples and --seed.")
    if seed and not examples:
        raise UsageError(f"--seed {seed} picks other rows, and none are printed: add --examples, or leave it out.")
    _show_sets(path, examples, baselines, task, seed)
    return 0


def _show_run(path: Path, format: str, metric: str, with_signatures: bool) -> None:
    from sonde.report.summary import summarise
    from sonde.report.tables import csv_text, json_text, latex, markdown, print_table, signatures
    from sonde.run import Run

    run = Run.load(path)
    if format == "csv" and not with_signatures:
        sys.stdout.write(csv_text(run))
        return
    summary = summarise(run, metric=metric)
    if with_signatures:
        sys.stdout.write("".join(f"{line}\n" for line in signatures(summary)))
    elif format == "table":
        print_table(summary)
    else:
        sys.stdout.write({"md": markdown, "tex": latex, "json": json_text}[format](summary))


def _show_sets(path: Path, examples: int, baselines: bool, task: tuple[str, ...], seed: int) -> None:
    from random import Random

    from sonde.console import example_line, out, print_sets
    from sonde.dataset import Dataset, find, read_manifest
    from sonde.errors import UsageError

    folders = [f for f in find(path) if not task or f.name in task]
    if not folders:
        raise UsageError(f"{path} has no set of {', '.join(task)}; it has {', '.join(f.name for f in find(path))}.")
    if baselines:
        from sonde.baselines import print_baselines

        print_baselines(Dataset.load(f) for f in folders)
        return
    if not examples:
        print_sets([read_manifest(f) for f in folders])
        return
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
