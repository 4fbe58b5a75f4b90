"""Sets on the command line: reading those that are named, and printing their sizes, rows, baselines, or words."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import nan
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from sentprobe.core.formatting import POINTS, WHOLE_POINTS

if TYPE_CHECKING:
    from sentprobe.data.dataset import Dataset
    from sentprobe.data.sources import Source

T = TypeVar("T")
MIN_WORKER_BYTES = 1 << 23
"""Smaller files are read sooner than worker processes start."""
SPARE_COLUMNS = ("detects", "requested", "reading", "r(length)", "majority", "classes")
"""Columns of the table of sets that a narrow terminal goes without, the first ones first."""


# Reading


def readable_sets(paths: Sequence[str], unread: list[str], task: Sequence[str] = ()) -> Iterator[Dataset]:
    """The sets, or those of these tasks, that can be read; others are reported, and their names put into ``unread``."""
    return map_sets(paths, unread, _itself, task=task)


def map_sets(
    paths: Sequence[str],
    unread: list[str],
    call: Callable[[Dataset], T],
    jobs: int = 1,
    *,
    task: Sequence[str] = (),
) -> Iterator[T]:
    """The same with a function called on each set where it is read: here, or in worker processes if they are large."""
    from sentprobe.console import announce, warn
    from sentprobe.core.workers import map_largest_first
    from sentprobe.data.sources import find_sets

    sources = find_sets(paths, task=task, guess=announce)
    sizes = [source.size_bytes for source in sources] if jobs > 1 else [0] * len(sources)
    calls = [(source, call) for source in sources]
    outcomes = map_largest_first(_read, calls, sizes, jobs if sum(sizes) >= MIN_WORKER_BYTES else 1)
    for source, (result, problem) in zip(sources, outcomes, strict=True):
        if result is not None:
            yield result
            continue
        unread.append(source.name)  # the others are still to be read
        warn(f"not read: {source.name}: {problem}")


def _read(source: Source, call: Callable[[Dataset], T]) -> tuple[T | None, str]:
    from sentprobe.errors import SentProbeError

    try:
        return call(source.load()), ""
    except SentProbeError as e:
        return None, str(e)


def _itself(dataset: Dataset) -> Dataset:
    return dataset


# Printing


def show_sets(
    path: Path,
    examples: int,
    baselines: bool,
    features: int,
    task: tuple[str, ...],
    language: tuple[str, ...],
    seed: int,
    published: bool,
) -> int:
    """Show sets; one that cannot be read is reported, and the others are shown."""
    from random import Random

    from sentprobe.cli._annotated import print_annotations
    from sentprobe.cli._contrasts import has_contrast_sets, show_contrasts
    from sentprobe.console import example_line, out, warn
    from sentprobe.data.dataset import Dataset, find_set_folders, read_manifest
    from sentprobe.errors import DataError

    _check_set_options(examples, baselines, features, seed, published)
    if has_contrast_sets(path):
        return show_contrasts(path, examples, seed, any((baselines, features, published, task, language)))
    unread: list[DataError] = []

    def read(load: Callable[[Path], T]) -> Iterator[T]:
        for folder in folders:
            try:
                yield load(folder)
            except DataError as e:
                unread.append(e)
                warn(f"not read: {e}")

    folders = _selected(find_set_folders(path), "task", task)
    folders = _selected(folders, "language", language)
    if baselines:
        _print_baselines(read(Dataset.load), published)
        return _code(folders, unread)
    if features:
        for dataset in read(Dataset.load):
            _print_features(dataset, features)
        return _code(folders, unread)
    if not examples:
        if manifests := list(read(read_manifest)):
            print_sets(manifests)
            print_annotations(manifests)
        return _code(folders, unread)
    console = out()
    for dataset in read(Dataset.load):
        note = " (synthetic corpus)" if dataset.manifest["corpus"].get("synthetic") else ""
        console.print(f"\n[bold]{dataset.name}[/bold]  {dataset.manifest['question']}{note}")
        for label in dataset.labels:
            rows = [row for _, row in dataset if row.label == label]
            console.print(f"  {label}", style="cyan", markup=False)
            for row in Random(seed).sample(rows, min(examples, len(rows))):
                console.print("    ", example_line(row, console.is_terminal), soft_wrap=True, sep="")
    return _code(folders, unread)


def _check_set_options(examples: int, baselines: bool, features: int, seed: int, published: bool) -> None:
    """Raise UsageError if an option has no effect together with another one, or without it."""
    from sentprobe.errors import UsageError

    if features and (examples or baselines or seed):
        raise UsageError("--features prints words and nothing else: leave out --examples, --baselines and --seed.")
    if baselines and (examples or seed):
        raise UsageError("--baselines prints no rows: leave out --examples and --seed.")
    if seed and not examples:
        raise UsageError(f"--seed {seed} samples other rows, and none are printed: add --examples, or leave it out.")
    if published and not baselines:
        raise UsageError("--published compares with baselines: add --baselines.")


def print_sets(manifests: Sequence[Mapping[str, Any]]) -> None:
    """Print a table of probing sets, one row each; a narrow terminal gets fewer columns, never truncated numbers.

    The audit is always shown: if its column does not fit, below the table. A note names the columns that are left out.
    """
    from sentprobe.console import announce, out
    from sentprobe.core.formatting import printable
    from sentprobe.core.table import TableColumn, print_columns, table_width

    console = out()
    rows = [_set_facts(manifest) for manifest in manifests]
    if not any("detects" in manifest for manifest in manifests):  # they were made before manifests said so
        for row in rows:
            del row["detects"]
    columns = {
        name: TableColumn(
            [name], [row[name] for row in rows], "left" if name in ("set", "reading", "audit") else "right"
        )
        for name in rows[0]
    }
    if not any(row["requested"] for row in rows):
        del columns["requested"]
    # codes of findings may be longer than all numbers together: below the table they cost no column
    needed = [column for name, column in columns.items() if name not in SPARE_COLUMNS]
    audit = columns.pop("audit") if table_width(needed) > console.width else None
    left_out = []
    for name in filter(columns.__contains__, SPARE_COLUMNS):
        if table_width(list(columns.values())) > console.width:
            left_out.append(name)
            del columns[name]
    print_columns(console, list(columns.values()))
    if audit is not None:
        for row in rows:
            console.print(printable(f"audit of {row['set']}: {row['audit']}"), markup=False, soft_wrap=True)
    if left_out:
        named = ", ".join(sorted(left_out, key=list(rows[0]).index))
        announce(f"Left out, for want of width: {named}.")


def _set_facts(manifest: Mapping[str, Any]) -> dict[str, str]:
    """The cells of a set, by column."""
    from sentprobe.data.planning import default_difference
    from sentprobe.tasks import SPLIT_NAMES

    sizes = manifest["sizes"]
    rows, sentences, requested = (sum(sizes.get(key, {}).values()) for key in ("made", "drawn", "requested"))
    per_sentence = (
        max(1, round(rows / sentences)) if sentences else 1
    )  # a task may make several rows of a sentence it draws
    return {
        "set": manifest["name"],
        "reading": str(manifest["reading"].get("name", "")),
        "classes": str(len(manifest["labels"])),
        **{name: f"{sizes.get('made', {}).get(split, 0):,}" for split, name in SPLIT_NAMES.items()},
        "requested": "" if _has_default_sizes(manifest) else f"{requested * per_sentence:,}",
        "majority": POINTS.number(manifest["majority"].get("te", nan)),
        "r(length)": f"{manifest['label_length_correlation'].get('te', nan):+.2f}",
        "detects": POINTS.number(default_difference(manifest)),
        "audit": ", ".join(sorted({f["code"] for f in manifest["audit"]})) or "clean",
    }


def differences_text(manifests: Sequence[Mapping[str, Any]], folder: Path) -> str:
    """Which differences made sets can show, in folds and on their test splits, and what says what smaller ones need."""
    from sentprobe.data.planning import default_difference

    by_default = [difference for m in manifests if (difference := default_difference(m)) is not None]
    on_split = [m["detects"]["split"] for m in manifests if "detects" in m]
    if not by_default:
        return ""
    folded = sum(default != split for default, split in zip(by_default, on_split, strict=True))
    how = "On test splits of this size"
    if folded:
        which = "" if folded == len(by_default) else f" for {folded} of the {len(by_default)} sets"
        how = f"In five folds, the default of `sentprobe run`{which}"
    split_text = f"; on test splits alone, of {_points(on_split)}" if folded else ""
    return (
        f"{how}, differences between encoders of {_points(by_default)} points or more can be shown{split_text}. "
        f"`sentprobe plan {folder} --difference 3` says how many rows smaller ones need."
    )


def _points(differences: Sequence[float]) -> str:
    """The range of differences, in whole points."""
    low, high = (WHOLE_POINTS.number(end) for end in (min(differences), max(differences)))
    return low if low == high else f"{low} to {high}"


def _has_default_sizes(manifest: Mapping[str, Any]) -> bool:
    """Whether the sizes of a set are those of the paper, which are used where nobody requests others."""
    from sentprobe.tasks import SPLITS, is_task_name, load_task

    suite, _, task = manifest["name"].rpartition("/")
    policy = load_task(task).policies.get(suite) if is_task_name(task) else None
    requested = manifest["sizes"].get("requested", {})
    return policy is not None and [requested.get(split) for split in SPLITS] == list(policy.sizes)


def _selected(folders: list[Path], what: str, wanted: tuple[str, ...]) -> list[Path]:
    """The sets whose manifest has this task or language; those without one that can be read are reported later."""
    from sentprobe.data.dataset import read_manifest
    from sentprobe.errors import DataError, UsageError

    if not wanted:
        return folders
    values: dict[Path, str | None] = {}
    for folder in folders:
        with suppress(DataError):
            values[folder] = read_manifest(folder)[what]
    for text in wanted:
        if text not in values.values():
            available = ", ".join(dict.fromkeys(value or "unknown" for value in values.values()))
            raise UsageError(f"--{what} {text}: no set has this {what}; it has {available}.")
    return [folder for folder in folders if values.get(folder, wanted[0]) in wanted]


def _print_baselines(datasets: Iterable[Dataset], published: bool) -> None:
    """The test accuracies of baselines; ``published``: also published results on other sets of the task."""
    from sentprobe.console import out
    from sentprobe.core.table import Table
    from sentprobe.data.splits import splits_of
    from sentprobe.probes.baselines import BASELINES, CONSTANT_BASELINES
    from sentprobe.probes.baselines.predict import Baselines
    from sentprobe.published import human
    from sentprobe.published import published as printed_rows
    from sentprobe.stats.intervals import wilson

    rows = []
    for dataset in datasets:
        baselines = Baselines(splits_of(dataset, hold_out_dev=False))
        predictions = [baselines.predict(name) for name in BASELINES]
        best = max(predictions, key=lambda p: p.accuracy)
        low, high = wilson(best.accuracy * best.rows, best.rows)
        suite = dataset.name.split("/")[0]
        printed = [r for r in printed_rows(dataset.task, suite=suite) if r.kind == "baseline" and "NB-uni" in r.model]
        published_rows = (printed[0] if printed else None, human(dataset.task, suite))
        rows.append(
            (
                dataset.name,
                best.rows,
                *(f"{100 * p.accuracy:.1f}" for p in predictions),
                "" if best.name in CONSTANT_BASELINES else f"{50 * (high - low):.1f}",
                *(f"{100 * row.value:.1f}" if row else "" for row in published_rows if published),
            )
        )
    published_columns = ("nb-uni (another set)", "human (another set)") if published else ()
    Table.of_rows(("set", "test", *BASELINES, "±", *published_columns), rows).print(out())


def _print_features(dataset: Dataset, top: int) -> None:
    """The words that naive Bayes associates most with each label, with their log-odds."""
    from sentprobe.console import out, print_wrapped
    from sentprobe.core.formatting import printable
    from sentprobe.probes.baselines.naive_bayes import top_features

    console = out()
    note = " (synthetic corpus)" if dataset.manifest["corpus"].get("synthetic") else ""
    console.print(f"\n[bold]{dataset.name}[/bold]  {dataset.manifest['question']}{note}")
    for label, weighted_words in top_features(dataset, top=top).items():
        words = ", ".join(f"{word.replace(chr(9), ': ')} {odds:.1f}" for word, odds in weighted_words)
        print_wrapped(console, printable(f"  {label}: {words or 'nothing'}"), "")


def _code(folders: Sequence[Path], unread: Sequence[Exception]) -> int:
    return 0 if not unread else 2 if len(unread) < len(folders) else 1
