"""`sentprobe ls`: what there is, by kind."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

if TYPE_CHECKING:
    from sentprobe.core.settings import Setting
    from sentprobe.corpus.treebanks.catalogue import Treebank

order = 160

Row = tuple[str, ...]
DESCRIPTIONS = ("summary", "interpretation", "doc", "title")
"""The attribute of a part that says what it is: the first of these that it has."""


def _parts(home: str) -> Iterator[Row]:
    """The parts of a kind, by name; ``home`` is where the ``Kind`` is, as module:name."""
    from sentprobe.core.plugins import Kind

    module, _, name = home.partition(":")
    kind = getattr(importlib.import_module(module), name)
    parts: Mapping[str, object] = kind.parts() if isinstance(kind, Kind) else kind
    yield "name", "description"
    for part_name, part in parts.items():
        descriptions = (getattr(part, attribute, None) for attribute in DESCRIPTIONS)
        yield part_name, " ".join(next((str(d) for d in descriptions if d), "").split())


def _tasks() -> Iterator[Row]:
    from sentprobe.tasks import load, names
    from sentprobe.tasks.parametric import PARAMETRIC_TASKS

    yield "task", "question", "needs", "suites"
    for name in names():
        task = load(name)
        needs = " or ".join("+".join(sorted(columns)) or "text" for columns in task.readings.values())
        yield name, task.question, needs, ", ".join(task.policies)
    for part in PARAMETRIC_TASKS.parts().values():
        task = part.build(part.example)
        yield part.usage, part.summary, "+".join(sorted(*task.readings.values())), part.suite


def _suites() -> Iterator[Row]:
    from sentprobe.tasks import PAPERS, SUITES
    from sentprobe.tasks.parametric import PARAMETRIC_TASKS

    yield "suite", "tasks", "paper"
    for suite, tasks in SUITES.items():
        yield suite, ", ".join(tasks), PAPERS[suite]
    for part in PARAMETRIC_TASKS.parts().values():
        yield part.suite, f"{part.usage}, all that the corpus supports", part.source


def _encoders() -> Iterator[Row]:
    from sentprobe.encoders import describe_scheme, scheme_names

    yield "scheme", "description"
    for scheme in scheme_names():
        yield f"{scheme}:", describe_scheme(scheme)


def _annotators() -> Iterator[Row]:
    from sentprobe.annotate.annotator import ANNOTATORS

    yield "annotator", "description", "options"
    for name, part in ANNOTATORS.parts().items():
        yield f"{name}:", part.summary, ", ".join(part.options)


def _text_sources() -> Iterator[Row]:
    from sentprobe.annotate.source import TEXT_SOURCES

    yield "format", "description", "files"
    for name, part in TEXT_SOURCES.parts().items():
        yield name, part.summary, " ".join(part.suffixes)


def _probes() -> Iterator[Row]:
    from sentprobe.probes.spec import differences, presets

    yield "probe", "kind", "description", "settings"
    for name, (preset, probe) in presets().items():
        yield name, probe.kind, preset.summary, differences(probe).replace("&", " ")


def _architectures() -> Iterator[Row]:
    from sentprobe.networks import ARCHITECTURES
    from sentprobe.training.installed import require_training

    require_training()
    yield "architecture", "description", "settings"
    for name, part in ARCHITECTURES.parts().items():
        yield name, part.summary, _defaults(part.settings)


def _objectives() -> Iterator[Row]:
    from sentprobe.training import OBJECTIVES
    from sentprobe.training.installed import require_training

    require_training()
    yield "objective", "description", "data", "settings"
    for name, part in OBJECTIVES.parts().items():
        yield name, part.summary, part.data, _defaults(part.settings)


def _presets() -> Iterator[Row]:
    from sentprobe.training import PRESETS

    yield "preset", "description", "settings"
    for name, part in PRESETS.parts().items():
        yield name, part.summary, " ".join(f"{key}={value_text(value)}" for key, value in part.settings.items())


def _alignment_methods() -> Iterator[Row]:
    from sentprobe.alignment import METHODS

    yield "method", "description", "dictionary", "steps", "settings"
    for name, part in METHODS.parts().items():
        yield name, part.summary, part.dictionary, ",".join(part.steps) or "none", _defaults(part.settings)


def _defaults(settings: Mapping[str, Setting]) -> str:
    return " ".join(f"{name}={value_text(setting.default)}" for name, setting in settings.items())


def value_text(value: object) -> str:
    """The value of a setting as users type it."""
    return ("no", "yes")[value] if isinstance(value, bool) else f"{value:g}" if isinstance(value, float) else str(value)


def _treebanks() -> Iterator[Row]:
    from sentprobe.corpus.treebanks.catalogue import treebanks

    yield from treebank_rows(treebanks().values())


def treebank_rows(treebanks: Iterable[Treebank]) -> Iterator[Row]:
    """A list of treebanks; what the table does not have is unknown."""
    from sentprobe.corpus.treebanks.catalogue import UNKNOWN
    from sentprobe.corpus.treebanks.fetch import describe_licence

    yield "treebank", "release", "code", "sentences", "words", "genres", "licence"
    for one in treebanks:
        sizes = (UNKNOWN if n is None else f"{n:,}" for n in (one.sentences, one.words))
        licence = describe_licence(one.licence) if one.licence else UNKNOWN
        without = "; without its text, not usable" if one.text == "no" else ""
        yield one.name, one.release, one.code, *sizes, one.genres or UNKNOWN, licence + without


def _published() -> Iterator[Row]:
    from sentprobe.published import papers, rows_of

    yield "paper", "table", "numbers", "shown by", "topic, or why nothing was taken"
    for key, paper in papers().items():
        for table, topic in paper.tables.items():
            rows = rows_of(key, table)
            by = dict.fromkeys(SHOWN_BY.get(row.suite, RUNS) for row in rows if row.metric not in UNSHOWN)
            yield key, table, f"{len(rows):,}", "; ".join(by) or "sentprobe.published", topic
        for table, reason in paper.left_out.items():
            yield key, table, "0", "", reason


RUNS = "show, report"
SHOWN_BY = {"words": "show, report of `sentprobe words`", "training": "show of a trained encoder", "xnli": "data xnli"}
"""Which verbs show published results of a suite beside ours, where it is not that of probing sets and transfer."""
UNSHOWN = (
    "mean accuracy", "accuracy deviation", "target redundancy", "dev accuracy",
    *(f"{of} {what}" for of in ("image", "caption") for what in ("recall@1", "recall@5", "recall@10", "median rank")),
)  # fmt: skip
"""Metrics that no table shows; they are there for Python."""


def _store() -> Iterator[Row]:
    from sentprobe.encoders.store import Store, default_root

    yield "encoder", "vectors", "dimension", "MB", "last written"
    for entry in Store(default_root()).ls():
        size, written = f"{entry.bytes / 1e6:,.1f}", f"{entry.written:%Y-%m-%d %H:%M}"
        yield entry.identity, f"{entry.vectors:,}", str(entry.dimension), size, written


def _verbs() -> Iterator[Row]:
    from sentprobe.cli._verbs import GROUP, verb_modules, verb_names
    from sentprobe.core.plugins import offered

    yield "verb", "description"
    for name, module in verb_modules(verb_names()).items():
        summary = (module.__doc__ or "").split("\n")[0].partition(": ")[2]
        yield name, summary[:1].upper() + summary[1:]
    for name, entry in offered(GROUP).items():
        yield name, f"From {entry.dist.name if entry.dist else entry.value}."


LISTS: dict[str, Callable[[], Iterator[Row]]] = {
    "tasks": _tasks,
    "suites": _suites,
    "treebanks": _treebanks,
    "annotators": _annotators,
    "text-sources": _text_sources,
    "encoders": _encoders,
    "probes": _probes,
    "architectures": _architectures,
    "objectives": _objectives,
    "presets": _presets,
    "alignment-methods": _alignment_methods,
    "controls": partial(_parts, "sentprobe.run.control:CONTROLS"),
    "measures": partial(_parts, "sentprobe.run.measure:MEASURES"),
    "charts": partial(_parts, "sentprobe.report.charts:CHARTS"),
    "sections": partial(_parts, "sentprobe.report.page.sections:SECTIONS"),
    "checks": partial(_parts, "sentprobe.report.checks:CHECKS"),
    "audit-checks": partial(_parts, "sentprobe.audit:AUDIT_CHECKS"),
    "word-evaluations": partial(_parts, "sentprobe.words:WORD_EVALUATIONS"),
    "published": _published,
    "verbs": _verbs,
    "store": _store,
}
"""What can be listed: the first row of a list is its header. A kind of part takes one line."""
NUMBERS = ("numbers", "vectors", "dimension", "MB", "last written", "sentences", "words")


HELP = f"What to list: {', '.join(LISTS)} (the vectors kept on this machine)."


def ls(what: Annotated[str, Parameter(help=HELP)], /) -> int:
    """List the tasks, suites, encoders, probes and other parts there are.

    Parts that installed packages offer as entry points are among them.
    """
    from sentprobe.core.suggest import did_you_mean
    from sentprobe.errors import UsageError

    if what not in LISTS:
        raise UsageError(f"There is no list {what!r}.{did_you_mean(what, LISTS)} Expected one of {', '.join(LISTS)}.")
    print_list(what)
    return 0


def print_list(what: str) -> None:
    """Print one of the lists."""
    print_table(LISTS[what]())


def print_table(texts: Iterator[Row]) -> None:
    """Print a table; the first row is its header."""
    from rich.table import Table
    from rich.text import Text

    from sentprobe.console import out

    table = Table(box=None, pad_edge=False, header_style="bold")
    header, *rows = texts
    for column in header:
        table.add_column(column, justify="right" if column in NUMBERS else "left")
    for row in rows:
        table.add_row(*map(Text, row))
    out().print(table)
