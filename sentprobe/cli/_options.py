"""Options that several verbs have."""

from __future__ import annotations

import inspect
import shlex
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar, get_type_hints

from cyclopts import Group, Parameter

from sentprobe.core.arguments import as_parameters, describe_fields, option

if TYPE_CHECKING:
    from sentprobe.data.rows import Columns
    from sentprobe.encoders.store import Store

TABLES = Group("Sets in tables (TSV, CSV, JSON lines, Parquet)", sort_key=30)
RESOURCES = Group("Resources", sort_key=50)
OUTPUT = Group("Output", sort_key=60)

Jobs = Annotated[int, Parameter(("--jobs", "-j"), group=RESOURCES)]
"""How much is done in parallel, as `resolve_jobs` takes it."""
CLUSTER_HELP = (
    "Work on a cluster: ray or dask to start one on this machine; ray:auto, ray:HOST:PORT, dask:tcp://HOST:PORT or "
    "dask:FILE, the file of its scheduler, to join one. Results are those of --jobs 1."
)
ClusterName = Annotated[str | None, Parameter("--cluster", group=RESOURCES, help=CLUSTER_HELP)]
"""The cluster to work on, as `workers_of` takes it."""
Verb = TypeVar("Verb", bound=Callable[..., object])
STDIN = "<standard input>"
"""What a lone dash is replaced by, since cyclopts would parse it as an option."""


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """Which columns of a table hold what.

    Parameters
    ----------
    text
        The column of a table with the sentence: a name, or a number from 1. Twice for pairs of sentences.
    label
        The column with the label.
    split
        The column that says train, dev or test; or, if there is none, shares to split every table into, such as
        80/10/10. Default: from the file names.
    target
        The column with the target form, which no two splits may share.
    group
        With shares: the column whose rows are kept together, such as the document. Default: rows with the same text.
    split_seed
        With shares: another seed splits otherwise. Default: 1111.
    no_header
        The table has no header; columns are numbers.
    """

    text: tuple[str, ...] = option((), TABLES.name)
    label: str | None = option(None, TABLES.name)
    split: str | None = option(None, TABLES.name)
    target: str | None = option(None, TABLES.name)
    group: str | None = option(None, TABLES.name)
    split_seed: int | None = option(None, TABLES.name)
    no_header: bool = option(False, TABLES.name)

    @classmethod
    def taken_from(cls, options: dict[str, Any]) -> Columns | None:
        """The columns that the options of a verb name, if any; these options are removed from the others."""
        from sentprobe.data.rows import parse_columns

        table = cls(**{f.name: options.pop(f.name) for f in fields(cls) if f.name in options})
        return parse_columns(**asdict(table))


def with_options(
    options: type, groups: Sequence[Group], *, before: str, leave_out: Sequence[str] = ()
) -> Callable[[Verb], Verb]:
    """Give a verb the options that a dataclass declares, with their descriptions, but for those that are left out.

    The verb gets them as keyword arguments; in its help they stand ``before`` this one of its own.
    """
    by_name = {group.name: group for group in groups}

    def decorate(verb: Verb) -> Verb:
        types = get_type_hints(verb, include_extras=True)
        signature = inspect.signature(verb)
        declared = [
            p.replace(annotation=types[p.name]) for p in signature.parameters.values() if p.kind != p.VAR_KEYWORD
        ]
        derived = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=default,
                annotation=Annotated[kind, Parameter(group=by_name[heading])],
            )
            for name, kind, default, heading in as_parameters(options)
            if name not in leave_out
        ]
        position = [p.name for p in declared].index(before)
        parameters = [*declared[:position], *derived, *declared[position:]]
        verb.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
        verb.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": types["return"]}
        texts = describe_fields(options)
        described = "".join(f"    {p.name}{texts[p.name]}\n" for p in derived)
        verb.__doc__ = f"{(verb.__doc__ or '').rstrip()}\n{described}    "
        return verb

    return decorate


def typed_paths(paths: Sequence[str]) -> tuple[str, ...]:
    """Paths as the library takes them, where - is standard input."""
    return tuple("-" if path == STDIN else path for path in paths)


def is_run(path: Path) -> bool:
    """Whether a folder is that of a run: ``sentprobe.run`` has the names of its files, but takes a second to import."""
    return any((path / name).exists() for name in ("run.json", "results.jsonl"))


def command_line() -> str:
    """The command as it was typed, for the record of a run."""
    return shlex.join(["sentprobe", *(word for word in sys.argv[1:] if word != "--debug")])


def parse_settings(pairs: Sequence[str], example: str, options: Mapping[str, str] | None = None) -> dict[str, str]:
    """The settings in texts ``KEY=VALUE``, along with those that have an option of their own, unless it is empty."""
    from sentprobe.errors import UsageError

    options = options or {}
    settings = {name: value for name, value in options.items() if value}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not key or not value:
            raise UsageError(f"--set {pair}: expected KEY=VALUE, such as {example}.")
        if settings.setdefault(key, value) != value:
            first = f"--{key} {settings[key]}" if options.get(key) else f"--set {key}={settings[key]}"
            raise UsageError(f"{first} and --set {pair} contradict each other: leave one of them out.")
    return settings


def open_store(no_store: bool, limit: float | None) -> Store | None:
    """The embedding store, limited to this many gigabytes, or none."""
    from sentprobe.encoders.store import Store, default_root
    from sentprobe.errors import UsageError

    if no_store and limit is not None:
        raise UsageError(f"--store-limit {limit:g} has no effect together with --no-store: leave one of them out.")
    return None if no_store else Store(default_root(), limit=None if limit is None else int(limit * 1e9))


@contextmanager
def workers_of(
    jobs: int, cluster: str | None, *, reads: Sequence[str | Path] = (), store: Store | None = None
) -> Iterator[int]:
    """The number of workers: processes of this machine, or those of a cluster, which is joined inside.

    ``reads`` are paths that workers read, ``store`` is what they write to.
    """
    from sentprobe.console import announce
    from sentprobe.core.cluster import current_cluster, joined
    from sentprobe.core.formatting import count_of

    with joined(cluster, jobs, reads=reads, writes=() if store is None else (store.root,)) as workers:
        if (current := current_cluster()) is not None:
            announce(f"{current.name}: {count_of(current.workers, 'worker')}")
        yield workers
