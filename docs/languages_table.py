"""The table of docs/languages.md: which sets can be made from which treebanks.

    python docs/languages_table.py TREEBANKS > table.md

TREEBANKS is a folder with a folder of CoNLL-U files per treebank, as Universal Dependencies releases them.
"""

from __future__ import annotations

import sys
from collections import defaultdict
from pathlib import Path

from sentprobe import Corpus, Dataset, make_sets, select_tasks
from sentprobe.tasks import SUITES

PARAMETRIC = ("morphology", "relations")


def main(folder: Path) -> None:
    """Make every set of every treebank, and print how large they are."""
    treebanks = sorted(path for path in folder.iterdir() if any(path.glob("*.conllu*")))
    sizes: dict[tuple[str, str], dict[str, str]] = defaultdict(dict)
    facts: dict[str, tuple[int, int, int]] = {}
    for path in treebanks:
        name = path.name.removeprefix("UD_")
        files = sorted(map(str, path.glob("*.conllu*")))
        corpus = Corpus.read(*files, name=name)
        extra = [len(_made(corpus, suite)) for suite in PARAMETRIC]
        facts[name] = (sum(1 for _ in corpus.sentences(on_error=_ignore)), *extra)
        for found in make_sets(corpus, select_tasks(tuple(SUITES)), skip_bad=True):
            suite, _, task = found.name.partition("/")
            sizes[suite, task][name] = _cell(found)
        sys.stderr.write(f"{name}\n")
    rows = [["", *facts], ["---", *("---:" for _ in facts)], ["sentences", *(f"{n:,}" for n, _, _ in facts.values())]]
    suites: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for (suite, task), cells in sizes.items():  # suites whose sets of a task have the same sizes share a row
        suites[task, *(cells.get(n, "") for n in facts)].append(suite)
    rows += [[f"`{task}` ({', '.join(names)})", *cells] for (task, *cells), names in suites.items()]
    rows += [[f"sets of `{suite}`", *(str(f[k]) for f in facts.values())] for k, suite in enumerate(PARAMETRIC, 1)]
    sys.stdout.write("".join(f"| {' | '.join(row)} |\n" for row in rows))


def _ignore(error: object) -> None:
    """Malformed sentences are skipped."""


def _made(corpus: Corpus, suite: str) -> list[Dataset]:
    requests = select_tasks(suite, corpus=corpus, skip_bad=True)
    return [found for found in make_sets(corpus, requests, skip_bad=True) if isinstance(found, Dataset)]


def _cell(found: object) -> str:
    """Rows of train and test; or why there are none."""
    if isinstance(found, Dataset):
        return f"{len(found.rows['tr']):,} / {len(found.rows['te']):,}"
    return {"too few": "too few", "columns": "no annotation"}.get(found.kind, found.kind)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
