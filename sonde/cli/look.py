"""`sonde ls` and `sonde check`: what there is, and whether it keeps the rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from sonde.testing.verdict import Verdict


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
    from sonde.encoders import scheme_names

    if what.partition(":")[0] in scheme_names() and ":" in what:
        from sonde.encoders import load as load_encoder
        from sonde.testing import examine_encoder

        verdicts: Iterator[Verdict] = examine_encoder(load_encoder(what))
    else:
        from sonde.corpus.corpus import Corpus
        from sonde.tasks import load
        from sonde.testing import examine_task

        verdicts = examine_task(load(what), Corpus.read(*corpus) if corpus else Corpus.synthetic(3000))
    failed = 0
    for verdict in _survived(verdicts):
        failed += not verdict.passed
        mark = "[green]ok[/green]    " if verdict.passed else "[red]failed[/red]"
        mark = "[yellow]warn[/yellow]  " if verdict.passed and verdict.warning else mark
        out().print(f"{mark} {verdict.rule}")
        if not verdict.passed or verdict.warning:
            out().print(f"       {verdict.detail}", markup=False)
    return 1 if failed else 0


def _survived(verdicts: Iterator[Verdict]) -> Iterator[Verdict]:
    """The verdicts, and one more if what is examined ends the examination."""
    from sonde.errors import describe_error, error_location
    from sonde.testing.verdict import Verdict

    while True:
        try:
            verdict = next(verdicts, None)
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            yield Verdict("it lets itself be examined", False, f"{describe_error(e)}{error_location(e)}")
            return
        if verdict is None:
            return
        yield verdict


def ls(what: Literal["tasks", "suites", "encoders", "probes", "controls", "measures", "store"], /) -> int:
    """List what there is.

    Parameters
    ----------
    what: str
        tasks, suites, encoders (the schemes), probes, controls, measures, or store (the vectors kept on this machine).
    """
    from rich.markup import escape
    from rich.table import Table

    from sonde.console import out
    from sonde.tasks import PAPERS, SUITES, load, names

    table = Table(box=None, pad_edge=False, header_style="bold")
    if what == "encoders":
        from sonde.encoders import describe_scheme, scheme_names

        for column in ("scheme", "what"):
            table.add_column(column)
        for scheme in scheme_names():
            table.add_row(f"{scheme}:", escape(describe_scheme(scheme)))
    elif what == "probes":
        from sonde.probes.spec import differences, presets

        for column in ("probe", "kind", "what", "settings"):
            table.add_column(column)
        for name, (preset, probe) in presets().items():
            table.add_row(name, probe.kind, preset.summary, differences(probe).replace("&", " "))
    elif what in ("controls", "measures"):
        from sonde.run.control import CONTROLS
        from sonde.run.measure import MEASURES

        for column in (what.removesuffix("s"), "how to read it"):
            table.add_column(column)
        for each in (CONTROLS if what == "controls" else MEASURES).parts().values():
            table.add_row(each.name, each.interpretation)
    elif what == "store":
        from sonde.encoders.store import Store, default_root

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
