"""`sentprobe replicate`: findings of papers, tested on what they printed and on your runs."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from sentprobe.replicate import Answer, Claim

WIDE = 150
"""Characters of a terminal that has room for names and intervals, too."""
FEW = 5
"""Findings up to which each is explained below the table."""
order = 95
group = "Read"
examples = """\
  sentprobe replicate --published
  sentprobe replicate --published xprobe2019 --all -o xprobe.html
  sentprobe replicate conneau2018_nli_transfer --run my-run/ --as "NLI=st:a"
  sentprobe replicate my_finding.toml --run my-run/
"""


def replicate(
    *findings: str,
    published: bool = False,
    run: Annotated[tuple[Path, ...], Parameter("--run")] = (),
    roles: Annotated[tuple[str, ...], Parameter("--as")] = (),
    listed: Annotated[bool, Parameter("--list")] = False,
    everything: Annotated[bool, Parameter("--all")] = False,
    out: Annotated[Path | None, Parameter(("--out", "-o"))] = None,
    format: Literal["table", "md", "csv", "json"] = "table",
) -> int:
    """Test findings of papers, or your own, on printed results or on runs: held, contradicted, undecided or not tried.

    Parameters
    ----------
    findings: str
        Papers (conneau2018), findings (conneau2018_max_pooling), or TOML files with your own. Default: all findings.
    published: bool
        Test them on what the papers printed.
    run: Path
        Test them on a run, what `sentprobe run` wrote; several times to join runs.
    roles: str
        Which encoder of the run a claim is about: ROLE=ENCODER, the encoder as `sentprobe compare` takes it; several
        times, in an order that pairs the encoders of two roles. Default: encoders that are called like the role.
    listed: bool
        List findings, with their roles.
    everything: bool
        Also the test of every cell.
    out: Path
        Also write a page, an HTML file that needs nothing else.
    format: str
        table, md (Markdown), csv or json. Default: table.
    """
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.console import announce
    from sentprobe.errors import UsageError

    if published + bool(run) + listed != 1:
        raise UsageError("Expected one of --published, --run FOLDER and --list.")
    if roles and not run:
        raise UsageError("--as is about the encoders of a run: add --run FOLDER.")
    if out is not None and (listed or out.suffix.lower() != ".html"):
        raise UsageError(f"-o {out}: expected an HTML file for what is tested, as in -o findings.html.")
    claims = _claims(findings)
    if listed:
        _list(claims, format)
        return 0
    with printed_warnings():
        answers = _from_runs(claims, run, roles) if run else _from_papers(claims)
    if out is not None:
        from sentprobe.core.files import write_atomically
        from sentprobe.replicate.page import render_findings

        page = render_findings(answers, [str(folder) for folder in run])
        write_atomically(out, page.encode(errors="backslashreplace"))
        announce(f"Page: {out}")
    _show(answers, format, everything=everything)
    return 0


def _claims(names: Sequence[str]) -> list[Claim]:
    """The findings with these names, of these papers, or in these files."""
    from sentprobe.replicate import FINDINGS
    from sentprobe.replicate.claim import read_claim

    parts = FINDINGS.parts()
    claims: dict[str, Claim] = {}
    for name in names or tuple(parts):
        of_paper = {key: claim for key, claim in parts.items() if claim.paper == name}
        if name.endswith(".toml"):
            claim = read_claim(name)
            claims[claim.name] = claim
        else:
            claims |= of_paper or {name: FINDINGS.get(name)}
    return list(claims.values())


def _from_papers(claims: Sequence[Claim]) -> list[Answer]:
    from sentprobe.replicate import PrintedResults, answer

    return [answer(claim, PrintedResults(claim.paper)) for claim in claims]


def _from_runs(claims: Sequence[Claim], folders: Sequence[Path], texts: Sequence[str]) -> list[Answer]:
    from sentprobe.replicate.from_run import answer_from_run, parse_roles
    from sentprobe.results.run import Run, join

    run = join([Run.load(folder) for folder in folders])
    roles = parse_roles(texts, claims)
    return [answer_from_run(claim, run, roles) for claim in claims]


def _list(claims: Sequence[Claim], format: str) -> None:
    from sentprobe.console import narrow_out
    from sentprobe.replicate.tables import claim_table, format_claims

    if format == "table":
        claim_table(claims).print(narrow_out())
    else:
        sys.stdout.write(format_claims(claims, format))  # type: ignore[arg-type]


def _show(answers: Sequence[Answer], format: str, *, everything: bool) -> None:
    from sentprobe.console import narrow_out, print_wrapped
    from sentprobe.replicate import tables

    if format != "table":
        sys.stdout.write(tables.format_answers(answers, format))  # type: ignore[arg-type]
        return
    console = narrow_out()
    print_wrapped(console, tables.headline(answers))
    console.print()
    if len({answer.claim.paper for answer in answers}) > 1:
        tables.count_table(answers).print(console, blank_line=True)
    wide = console.width >= WIDE
    tables.answer_table(answers, wide=wide).print(console, blank_line=True)
    explained = answers if everything or len(answers) <= FEW else ()
    if not explained:
        print_wrapped(
            console, "--all: what decided or is missing, and the cells of each; --list: names of findings.", "dim"
        )
    for answer in explained:
        for text in (tables.explain(answer), *tables.run_notes(answer)):
            print_wrapped(console, text)
        console.print()
        if everything and answer.tests:
            tables.cell_table(answer).print(console, blank_line=True)
