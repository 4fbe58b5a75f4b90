"""A run as one page: every table, chart and caveat in a file that loads nothing and can be sent to anyone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from sonde import __version__
from sonde.report.legend import failures, legend
from sonde.report.names import set_names, short_names
from sonde.report.page.advice import ADVICE
from sonde.report.page.bundle import bundle
from sonde.report.page.errors import pack_errors
from sonde.report.page.figures import figures_of
from sonde.report.page.sanitise import csp_hash, script_json
from sonde.report.page.sections import Section, sections_of
from sonde.report.page.table import table, table_csv
from sonde.report.page.templates import environment, raw
from sonde.report.page.text import checks_of, head_of, join_words, languages_of, not_audited
from sonde.report.summary import done, value_of
from sonde.report.tables import latex, markdown
from sonde.report.variant_tables import variant_tables
from sonde.report.verdict import footnotes

SCRIPTS = ("start.js", "table.js", "charts.js", "wrong.js")
"""In the order in which they run, after that which draws."""
Summary = Mapping[str, Any]


@dataclass(frozen=True)
class ExtraSection:
    """One more section, of whoever serves the page; it stands after the first table, and may ask the page's server."""

    html: str
    """A whole section element with the id ``try``."""
    css: str = ""
    js: str = ""
    title: str = "Try a sentence"


def render(summary: Summary, extra: ExtraSection | None = None, *, title: str | None = None) -> str:
    """The page for what ``sonde.report.full_summary.whole`` says of a run."""
    names, brief = _brief(summary)
    figures = figures_of(summary)
    sections, absent = sections_of(summary, figures.keys())
    if extra:
        place = next((i for i, section in enumerate(sections) if section.id == "results"), -1) + 1
        sections.insert(place, Section("try", extra.title))
    styles = _file("page.css") + (extra.css if extra else "")
    own = [_file(f"scripts/{name}") for name in SCRIPTS] + ([extra.js] if extra and extra.js else [])
    scripts = [bundle(), *own] if figures else own
    data = {
        "copies": {"markdown": markdown(summary), "latex": latex(summary), "csv": table_csv(summary)},
        "figures": {name: figure.data() for name, figure in figures.items()},
        "wrong": {
            "names": set_names(summary["sets"]),
            "columns": names,
            "mistakes": pack_errors(summary["mistakes"]),
            "best": [_best(set_summary) for set_summary in summary["sets"]],
        },
    }
    return environment(_long(summary, names)).get_template("page.html").render(
        policy=_policy(styles, scripts, served=extra is not None), version=__version__, title=title or _title(summary),
        styles=raw(styles), scripts=[raw(script) for script in scripts], data=raw(script_json(data)),
        head=head_of(summary), checks=checks_of(summary), advice=ADVICE, sections=sections, absent=absent,
        extra=raw(extra.html if extra else ""), table=table(brief), legend=legend(_alone(brief)),
        failures=failures(brief), figures=figures, sets=summary["sets"], columns=brief["columns"],
        languages=languages_of(summary), not_audited=not_audited(summary), correlations=summary["correlations"],
        between=summary["languages"], repeat=summary["repeat"], signatures=_signatures(brief),
        seconds=summary["seconds"], meanings=list(variant_tables(brief)), readings=_readings(summary),
    )  # fmt: skip


def _readings(summary: Summary) -> dict[str, str]:
    """How to read each control and measure."""
    found: dict[str, str] = (summary["meaning"] or {}).get("readings", {})
    return found


def fragment(summary: Summary, *, title: str | None = None) -> str:
    """The table of a run with its own style, and no script, for a notebook."""
    names, brief = _brief(summary)
    page = environment(_long(summary, names)).get_template("notebook.html")
    found = table(brief)
    return page.render(
        title=title or _title(summary), head=head_of(summary), table=found, failures=failures(brief),
        marks=list(footnotes(brief)),
    )  # fmt: skip


def _brief(summary: Summary) -> tuple[list[str], dict[str, Any]]:
    """Short names of the columns, and the summary with these for their labels."""
    names = short_names([", ".join(column["label"]) for column in summary["columns"]])
    columns = [{**column, "label": [name]} for column, name in zip(summary["columns"], names, strict=True)]
    return names, {**summary, "columns": columns}


def _long(summary: Summary, names: Sequence[str]) -> list[tuple[str, str]]:
    """Labels of columns and their short names, as far as they differ, the longest first."""
    pairs = ((", ".join(column["label"]), name) for column, name in zip(summary["columns"], names, strict=True))
    return sorted((pair for pair in pairs if pair[0] != pair[1]), key=lambda pair: -len(pair[0]))


def _title(summary: Summary) -> str:
    """The names of the folders."""
    return join_words([Path(folder).resolve().name for folder in summary["repeat"]["folders"]])


def _file(name: str) -> str:
    return resources.files("sonde.report.page").joinpath(name).read_text("utf-8")


def _policy(styles: str, scripts: Sequence[str], *, served: bool) -> str:
    """What the page may do: run these scripts, and reach nothing, or nothing but its own server.

    Expressions in charts are interpreted, not compiled, so that no text is ever run as a program.
    """
    return "; ".join(
        (
            "default-src 'none'",
            f"script-src {' '.join(map(csp_hash, scripts))}",
            f"style-src {csp_hash(styles)}",
            "img-src data:",
            "connect-src 'self'" if served else "connect-src 'none'",
            "base-uri 'none'",
            "form-action 'none'",
        )
    )


def _alone(summary: Summary) -> dict[str, Any]:
    """The same without what another section tells: how to read a control."""
    return {**summary, "meaning": None}


def _best(set_summary: Mapping[str, Any]) -> int | None:
    """The column with the highest score on a set."""
    found = [(value, -j) for j, cell in enumerate(set_summary["cells"]) if (value := value_of(cell)) is not None]
    return -max(found)[1] if found else None


def _signatures(summary: Summary) -> list[tuple[str, str, str]]:
    """Set, column and signature of each number in the table, by its first seed."""
    columns = [*summary["columns"], *summary["baselines"]]
    return [
        (set_summary["label"], ", ".join(column["label"]), cell["signatures"][0])
        for set_summary in summary["sets"]
        for column, cell in zip(columns, (*set_summary["cells"], *set_summary["baselines"]), strict=True)
        if cell is not None and done(cell)
    ]
