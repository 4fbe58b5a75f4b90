"""What several verbs print: warnings, facts and tables of a folder with a card, and what papers printed."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from sentprobe.encoders.store import Store
    from sentprobe.results.run import Run


@contextmanager
def printed_warnings(damage: bool = True) -> Iterator[None]:
    """Print sentprobe's warnings, a line each; those about damaged runs only if ``damage``: tables list them anyway.

    Tables also list what failed.
    """
    from sentprobe.errors import CorruptionWarning, FailureWarning, SentProbeWarning

    printed: dict[str, None] = {}
    before = warnings.showwarning

    def show(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if not issubclass(category, SentProbeWarning):
            before(message, category, filename, lineno, file, line)
        elif issubclass(category, FailureWarning):
            return
        elif (damage or not issubclass(category, CorruptionWarning)) and str(message) not in printed:
            from sentprobe.console import warn

            printed[str(message)] = None
            warn(f"warning: {message}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", SentProbeWarning)
        warnings.showwarning = show
        yield


def print_facts(facts: Mapping[str, str]) -> None:
    """Print facts with their names."""
    from sentprobe.console import out
    from sentprobe.core.table import CellText, Table, TableColumn

    names = TableColumn([""], [CellText(name, style="bold") for name in facts], "left")
    Table([names, TableColumn([""], list(facts.values()), "left")]).print(out(), show_header=False)


def print_rows(texts: Iterable[Sequence[str]], blank_line: bool = False) -> None:
    """Print rows as a table with the first one as its header, after a blank line; nothing if there is only a header."""
    from sentprobe.console import out
    from sentprobe.core.table import Table

    header, *rows = texts
    if not rows:
        return
    if blank_line:
        out().print()
    Table.of_rows(header, rows).print(out())


def latex_rows(facts: Mapping[str, str], texts: Iterable[Sequence[str]]) -> str:
    """Rows as a LaTeX table, with the facts as comments."""
    from sentprobe.core.table import Table, plain

    header, *rows = texts
    lines = ["% \\usepackage{booktabs}", *(f"% {plain(name)}: {plain(text)}" for name, text in facts.items())]
    return "\n".join([*lines, *Table.of_rows(header, rows).latex()]) + "\n"


def published_lines(task: str, language: str | None = None) -> Iterator[str]:
    """The published results of a task of the suites ``training`` and ``xnli``, in a line per table and metric."""
    from sentprobe.core.formatting import POINTS
    from sentprobe.published import papers, published
    from sentprobe.results.metric import metric_named

    models_by_table: dict[tuple[str, str, str, str], list[str]] = {}
    for row in published(task, language=language):
        value = f"{row.value:.1f}" if row.metric == "mean tokens" else POINTS.number(row.value)
        key = (row.paper, row.table, row.metric, row.language)
        models_by_table.setdefault(key, []).append(f"{row.model} {value}{f' ({row.note})' if row.note else ''}")
    for (paper, table, metric, row_language), models in models_by_table.items():
        where = "in the text" if table == "text" else f"in table {table}"
        name = metric_named(metric).title
        source = f"{paper}, {where}: {papers()[paper].tables[table]}"
        yield f"published, {row_language}, {name}: {', '.join(models)} ({source})"


def print_published(task: str, language: str | None = None, note: str = "") -> None:
    """Print these lines, and a note on how far they are comparable."""
    from sentprobe.console import out, print_wrapped

    lines = list(published_lines(task, language))
    for line in lines:
        print_wrapped(out(), line, "dim")
    if lines and note:
        print_wrapped(out(), note, "dim")


def print_results(results: Run) -> None:
    """Print the table of a run, and what is wrong with its encoders."""
    from sentprobe.console import print_symptoms, say
    from sentprobe.core.formatting import printable
    from sentprobe.report.summary import summarise
    from sentprobe.report.tables import print_table
    from sentprobe.run.info import read_diagnoses, read_sent, read_unloadable

    print_table(summarise(results))
    # layers that are systems of their own share a diagnosis
    diagnoses = {diagnosis.digest or diagnosis.name: diagnosis for diagnosis in reversed(read_diagnoses(results))}
    for diagnosis in reversed(diagnoses.values()):
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


def print_plans(encoders: Iterable[str], texts: Sequence[str], store: Store | None, *, half: bool) -> int:
    """Print what encoding the texts would take, for each encoder that can be loaded; the exit code."""
    from sentprobe.console import out, warn
    from sentprobe.encoders.encoding_plan import plan_encoding, plan_table
    from sentprobe.errors import SentProbeError

    plans, failed = [], 0
    for name in encoders:
        try:
            plans.append(plan_encoding(name, texts, store, half=half))
        except SentProbeError as e:
            failed += 1
            warn(f"would not be encoded: {name}: {e}")
    if not plans:
        return 1
    plan_table(plans).print(out())
    return 2 if failed else 0
