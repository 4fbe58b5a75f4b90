"""Options that several verbs have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

if TYPE_CHECKING:
    from sonde.data.records import Columns
    from sonde.encoders.store import Store

TABLES = Group("Sets in tables (TSV, CSV, JSON lines, Parquet)", sort_key=30)
RESOURCES = Group("Resources", sort_key=50)
OUTPUT = Group("Output", sort_key=60)

Jobs = Annotated[int, Parameter(("--jobs", "-j"), group=RESOURCES)]
"""How much is done in parallel, as `resolve_jobs` takes it."""
STDIN = "<standard input>"
"""What a lone dash is replaced by, since cyclopts would parse it as an option."""


def parse_columns(
    text: tuple[str, ...], label: str | None, split: str | None, target: str | None, no_header: bool
) -> Columns | None:
    """The columns of a table that the options name, if any."""
    from sonde.data.records import Columns
    from sonde.errors import UsageError

    if (split or target or no_header) and not (text and label):
        raise UsageError("--split, --target and --no-header are for tables: add --text and --label.")
    if bool(text) != bool(label):
        raise UsageError("A table needs both --text and --label.")
    return Columns(text, label, split, target, not no_header) if text and label else None


def open_store(no_store: bool, limit: float | None) -> Store | None:
    """The embedding store, limited to this many gigabytes, or none."""
    from sonde.encoders.store import Store, default_root
    from sonde.errors import UsageError

    if no_store and limit is not None:
        raise UsageError(f"--store-limit {limit:g} has no effect together with --no-store: leave one of them out.")
    if limit is not None and limit < 0:
        raise UsageError(f"--store-limit {limit:g}: expected a number of gigabytes, 0 or more.")
    return None if no_store else Store(default_root(), limit=None if limit is None else int(limit * 1e9))
