"""`sentprobe judge`: how well people do on a set."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import cyclopts
from cyclopts import Parameter

order = 35
group = "Sets"

judge = cyclopts.App(
    name="judge",
    help="How well people do: draw test sentences for annotators, and read their judgments.",
    version_flags=(),
)


@judge.command
def sample(
    *paths: str,
    task: Annotated[tuple[str, ...], Parameter(("--task", "-t"))] = (),
    out: Annotated[Path, Parameter(("--out", "-o"))] = Path("sheets"),
    items: Annotated[int, Parameter(("--items", "-n"))] = 200,
    control: int = 0,
    seed: int = 0,
    strings: Path | None = None,
) -> int:
    """Draw test sentences of sets, without their labels, as pages or tables to be filled in.

    Parameters
    ----------
    paths: str
        Sets, or folders of sets, as for `sentprobe audit`.
    task: tuple[str, ...]
        Only the sets of this task; may be repeated. Default: all.
    out: Path
        The folder of the sheets: per set a page with buttons, or a table and instructions; and key.json, which
        annotators should not see. Default: sheets.
    items: int
        Sentences of each set; all if there are fewer. Default: 200.
    control: int
        Further sentences of each set that show whether an annotator can be trusted; they are not scored. Check first
        that their labels are beyond doubt. Default: 0.
    seed: int
        Another seed draws other sentences.
    strings: Path
        A JSON file with the fixed texts of pages and instructions in another language, and questions and meanings of
        labels by task; `sentprobe judge strings` prints the English ones. Default: English.
    """
    from sentprobe.cli._sets import readable_sets
    from sentprobe.console import say, warn
    from sentprobe.core.formatting import count_of
    from sentprobe.errors import UsageError
    from sentprobe.judge.form import form
    from sentprobe.judge.sheet import sample_sheet, translated, write_sheets
    from sentprobe.judge.strings import ENGLISH, read_strings
    from sentprobe.judge.vote import MIN_CONTROLS
    from sentprobe.tasks import is_task_name, load_task

    if not paths:
        raise UsageError("Name the sets to be judged: sentprobe judge sample probes/.")
    unread: list[str] = []
    texts = ENGLISH if strings is None else read_strings(strings)
    sheets = [
        translated(
            sample_sheet(d, items, control, seed, load_task(d.task).label_names if is_task_name(d.task) else None),
            texts,
        )
        for d in readable_sets(paths, unread, task)
    ]
    if not sheets:
        return 1
    write_sheets(sheets, out, form, texts)
    total = sum(len(sheet.items) for sheet in sheets)
    say(
        f"{count_of(total, 'sentence')} of {count_of(len(sheets), 'set')} written to {out}/. Give "
        f"annotators the pages or tables, and keep key.json; then: sentprobe judge read {out} ANSWERS.tsv … --run "
        "my-run"
    )
    if 0 < control < MIN_CONTROLS:
        warn(
            f"An annotator must have judged {MIN_CONTROLS} controls to count, and each set has {control}: add "
            f"--min-controls {control} to `sentprobe judge read`."
        )
    return 2 if unread else 0


@judge.command(name="strings")
def print_strings() -> int:
    """Print the fixed texts of sheets and pages, as a file to translate for `judge sample --strings`."""
    from sentprobe.judge.strings import strings_file

    sys.stdout.write(strings_file())
    return 0


@judge.command
def read(
    sheets: Path,
    *judgments: Path,
    run: Annotated[tuple[Path, ...], Parameter(("--run", "-r"))] = (),
    expert: tuple[str, ...] = (),
    min_controls: int = 10,
    control_accuracy: float = 0.9,
) -> int:
    """Read judgments, and show how often the majority is right; with --run, beside the encoders of a run.

    Parameters
    ----------
    sheets: Path
        The folder that `sentprobe judge sample` wrote.
    judgments: Path
        Tables that were filled in, with the columns item and label; an annotator each, or with a column annotator.
    run: tuple[Path, ...]
        Put the result into the folder of this run, for `sentprobe show` and `sentprobe report`. May be repeated.
    expert: tuple[str, ...]
        Annotators who confirm controls: only those count that all of them judged alike, and what they say is right.
        Their own judgments are no votes. May be repeated.
    min_controls: int
        Controls that an annotator must have judged. Default: 10.
    control_accuracy: float
        The share of these that must be right. Default: 0.9.
    """
    from sentprobe.console import say, warn
    from sentprobe.core.formatting import printable
    from sentprobe.errors import TooFewError, UsageError
    from sentprobe.judge.judgments import experts_of, read_judgments
    from sentprobe.judge.people import attach
    from sentprobe.judge.sheet import read_sheets
    from sentprobe.judge.show import answered_line, print_people
    from sentprobe.judge.vote import vote
    from sentprobe.results.records import read_info

    if not judgments:
        raise UsageError("Name the tables that were filled in: sentprobe judge read sheets/ anna.tsv ben.tsv.")
    set_sheets = read_sheets(sheets)
    answers = read_judgments(judgments, set_sheets)
    experts = experts_of(answers, expert)
    results, problems = [], []
    for sheet in set_sheets:
        if not any(j.item in {item.id for item in sheet.items} for j in answers):
            continue
        say(printable(answered_line(sheet, answers)))
        try:
            results.append(vote(sheet, answers, experts, min_controls=min_controls, control_accuracy=control_accuracy))
        except TooFewError as e:
            problems.append(str(e))
    if results:
        print_people(results)
    for folder in run:
        info = read_info(folder)
        if info is None:
            raise UsageError(f"--run {folder}: it is not a run; expected a folder that `sentprobe run` wrote.")
        digests = {described["digest"] for described in info.get("datasets", ())}
        mine = [people for people in results if people.data in digests]
        if not mine:
            raise UsageError(f"--run {folder}: none of the sets that were judged is in it.")
        for people in mine:
            attach(people, folder)
        say(f"Put beside the results of {folder}: {', '.join(p.name for p in mine)}")
    for problem in problems or ([] if results else ["There are no judgments: all labels are empty."]):
        warn(problem)
    return 0 if results and not problems else 2 if results else 1
