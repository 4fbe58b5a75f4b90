"""`sentprobe check`: whether a task, an encoder, an annotator, a contrast rule or a finding follows the rules."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sentprobe.testing.verdict import Verdict

order = 150
group = "Probe"


def check(what: str, /, *corpus: str, annotator: bool = False) -> int:
    """Check that a task, an encoder or another part follows the rules: `sentprobe check my_task.py`, `… check static:`.

    Parameters
    ----------
    what: str
        A task: its name, package.module:attribute, or a path to a Python file; an encoder, scheme:name; an annotator,
        KIND:MODEL; the name of a contrast rule; or a finding: its name, or a TOML file.
    corpus: str
        Annotated text to try a task or a contrast rule on. Default: the built-in corpus.
    annotator: bool
        It is an annotator: py:file.py:function may be an encoder as well.
    """
    from sentprobe.annotate.annotator import ANNOTATORS
    from sentprobe.console import out
    from sentprobe.contrast import CONTRAST_RULES
    from sentprobe.encoders import SCHEMES
    from sentprobe.replicate.claim import load_claim
    from sentprobe.testing.verdict import until_error

    kind, colon, _ = what.partition(":")
    if annotator or (colon and kind in ANNOTATORS and kind not in SCHEMES):
        from sentprobe.annotate.annotator import load_annotator
        from sentprobe.testing import examine_annotator

        verdicts: Iterator[Verdict] = examine_annotator(load_annotator(what))
    elif colon and kind in SCHEMES:
        from sentprobe.encoders import load as load_encoder
        from sentprobe.testing import examine_encoder

        verdicts = examine_encoder(load_encoder(what))
    elif what in CONTRAST_RULES.parts():
        from sentprobe.corpus.corpus import Corpus
        from sentprobe.testing import examine_contrast_rule

        rule = CONTRAST_RULES.parts()[what]
        verdicts = examine_contrast_rule(rule, Corpus.read(*corpus) if corpus else None)
    elif claim := load_claim(what):
        from sentprobe.testing import examine_finding

        verdicts = examine_finding(claim)
    else:
        from sentprobe.corpus.corpus import Corpus
        from sentprobe.tasks import load_task
        from sentprobe.testing import examine_task

        tried = Corpus.read(*corpus) if corpus else Corpus.synthetic(3000).load_into_memory()  # read several times
        verdicts = examine_task(load_task(what), tried)
    failed = 0
    for verdict in until_error(verdicts):
        failed += not verdict.passed
        mark = "[green]ok[/green]    " if verdict.passed else "[red]failed[/red]"
        mark = "[yellow]warn[/yellow]  " if verdict.passed and verdict.warning else mark
        out().print(f"{mark} {verdict.rule}")
        if not verdict.passed or verdict.warning:
            out().print(f"       {verdict.detail}", markup=False)
    return 1 if failed else 0
