"""`sentprobe pairs`: whether similarity tells sentences that mean the same from those that do not."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from cyclopts import Group, Parameter

from sentprobe.cli._options import OUTPUT, RESOURCES, command_line, open_store, typed_paths

order = 72
group = "Probe"
resumes = True

examples = """
Is the paraphrase nearer than the contrast, by kind of contrast:
  sentprobe pairs triples.csv -e static: -e st:all-MiniLM-L6-v2 -o my-pairs/
The same beside what a probe finds in the vectors, on a probing set of the same property:
  sentprobe pairs roles.csv -e st:all-MiniLM-L6-v2 -d who-paid-whom.csv
The same with dot products and Euclidean distances in columns of their own:
  sentprobe pairs triples.csv -e static: --similarity cosine,dot,euclidean
Pairs with scores or labels, as in STS, PAWS and HANS:
  sentprobe pairs sts-test.tsv -e st:all-MiniLM-L6-v2
"""

WHAT = Group("What to compare", sort_key=10)
HOW = Group("How", sort_key=20)


def pairs(
    *paths: Annotated[str, Parameter(group=WHAT)],
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"), group=WHAT)] = ("static:",),
    data: Annotated[tuple[str, ...], Parameter(("--data", "-d"), group=WHAT)] = (),
    as_language: Annotated[str | None, Parameter(group=WHAT)] = None,
    similarity: Annotated[tuple[str, ...], Parameter(group=HOW)] = ("cosine",),
    batch_size: Annotated[int | None, Parameter(group=RESOURCES)] = None,
    half: Annotated[bool, Parameter(group=RESOURCES)] = False,
    no_store: Annotated[bool, Parameter(group=RESOURCES)] = False,
    out: Annotated[Path, Parameter(("--out", "-o"), group=OUTPUT)] = Path("run"),
) -> int:
    """Is what means the same nearer? Triplets and pairs by similarity, without a probe. The same command resumes.

    Results are in a run, as those of `sentprobe run` are, for `sentprobe show`, `sentprobe compare`, `sentprobe report`
    and `sentprobe figure`. If the folder is that of a run of the same encoders, the run has both, and shows what the
    vectors contain beside what similarity uses.

    Parameters
    ----------
    paths: str
        Tables (CSV, TSV, JSON lines, Parquet) of triplets, with the columns anchor, positive and contrast (or
        negative), and kind, if contrasts are of several kinds; or of pairs, with two sentences and a score or a label
        of 0 or 1, as STS, PAWS and HANS have them. Or folders of contrast sets, or of SentEval's STS.
    encoder: tuple[str, ...]
        scheme:name, with a scheme that `sentprobe ls encoders` lists; NAME=scheme:name shows it as NAME; may be
        repeated. Default: static:.
    data: tuple[str, ...]
        Probing sets of the same properties, on which probes are trained, as `sentprobe run` does: the table and the
        page show what the vectors contain beside what similarity uses; may be repeated.
    as_language: str
        The language of tables, such as fr; contrast sets say theirs.
    similarity: tuple[str, ...]
        How vectors are compared, comma-separated: cosine, dot, euclidean; each makes a column. Default: cosine.
    batch_size: int
        Texts per batch. Default: the encoder's own.
    half: bool
        Round vectors to float16.
    no_store: bool
        Neither read nor write the store, which keeps vectors.
    out: Path
        The folder to write to, or to resume in. Default: run.
    """
    from sentprobe.cli._printing import print_results, printed_warnings
    from sentprobe.console import announce, err, progress_bar
    from sentprobe.core.arguments import resolve_jobs
    from sentprobe.core.formatting import count_of
    from sentprobe.data.sources import find_sets
    from sentprobe.errors import UsageError
    from sentprobe.run.loop import evaluate
    from sentprobe.run.pair_sets import read_pairs
    from sentprobe.run.pairs import evaluate_pairs

    if not paths:
        raise UsageError(
            "Name a table of triplets or pairs: sentprobe pairs triples.csv -e st:all-MiniLM-L6-v2. It has the columns "
            "anchor, positive and contrast, or two sentences and a score."
        )
    announce(
        f"Comparing the sentences of {count_of(len(paths), 'file')} by {count_of(len(encoder), 'encoder')}; writing to "
        f"{out}/"
    )
    failed = False
    options: dict[str, Any] = {
        "batch_size": batch_size,
        "half": half,
        "store": open_store(no_store, None),
        "command": command_line(),
    }
    with printed_warnings(), progress_bar() as progress:
        if data:
            read_pairs(list(paths), as_language)  # what is wrong with them is said before probes are trained
            sources = find_sets(typed_paths(data), guess=announce)
            failed = bool(evaluate(encoder, sources, out, **options, progress=progress, jobs=resolve_jobs(0)).failures)
        results = evaluate_pairs(
            encoder, list(paths), out, similarity=similarity, language=as_language, progress=progress, **options
        )
    print_results(results)
    err().print(f"\n{count_of(len(results), 'result')}, written to {out}/", markup=False)
    return 2 if failed or results.failures else 0
