"""`sentprobe sentences`: the texts of sets, to be encoded elsewhere."""

from __future__ import annotations

import sys
from collections import Counter

order = 60
group = "Sets"
SPLITS = {"train": "tr", "dev": "va", "test": "te"}
"""The names of splits, and how they are written in files."""


def sentences(
    *paths: str, split: str = "", sources: bool = False, builtin: int = 0, language: tuple[str, ...] = (), seed: int = 0
) -> int:
    """Print the distinct texts of probing sets, to be encoded elsewhere for `npy:`; or text of the built-in corpus.

    One per line; line breaks, tabs and backslashes are written \\n, \\t and \\\\.

    Parameters
    ----------
    paths: str
        Sets, or folders of sets, as for `sentprobe audit`.
    split: str
        Only the texts of one split: train, dev or test. The training text of a set gives `tfidf:` its frequencies.
    sources: bool
        Print the original sentences, too, where rows have words exchanged or replaced: none of them should be in the
        training text of an encoder. Exit code 2 if a set does not have them all.
    builtin: int
        Print this many sentences of the built-in corpus instead, several languages in columns, with tabs between them.
    language: tuple[str, ...]
        For --builtin: en (the default), or qto, an invented language; may be repeated, for parallel text.
    seed: int
        For --builtin: another seed gives other sentences. Default: 0, as for `sentprobe make --builtin`.
    """
    from sentprobe.cli._sets import readable_sets
    from sentprobe.console import warn
    from sentprobe.data.expectations import origins
    from sentprobe.encoders.embed import collect_texts
    from sentprobe.encoders.schemes.npy import to_line
    from sentprobe.errors import DataError, UsageError

    if bool(paths) == bool(builtin):
        raise UsageError("Expected either sets whose texts to print, or --builtin N, for the built-in corpus.")
    if builtin and (sources or split):
        option = "--sources" if sources else "--split"
        raise UsageError(f"{option} is for probing sets, and has no effect on the built-in corpus: leave it out.")
    if split and sources:
        raise UsageError("--sources needs all splits: leave out --split.")
    if split and split not in SPLITS:
        raise UsageError(f"--split is {split!r}; expected train, dev or test.")
    if builtin:
        _print_builtin(builtin, language or ("en",), seed)
        return 0
    if language or seed:
        raise UsageError(f"--{'language' if language else 'seed'} is for --builtin N: leave it out.")
    unread: list[str] = []
    datasets = list(readable_sets(paths, unread))
    if not datasets:
        return 1
    if split and (without := [d.name for d in datasets if not d.rows.get(SPLITS[split])]):
        raise DataError(f"{', '.join(without)}: there are no rows for {split}.")
    texts = dict.fromkeys(collect_texts(datasets, SPLITS.get(split)))
    incomplete: Counter[str] = Counter()
    for dataset in datasets if sources else ():
        for _, text in origins(dataset):
            if text is None:
                incomplete[dataset.name] += 1
            else:
                texts[text] = None
    for text in texts:
        sys.stdout.buffer.write(f"{to_line(text)}\n".encode())
    sys.stdout.flush()
    for name, rows in incomplete.items():
        warn(
            f"{name}: {rows:,} rows are changed sentences whose originals are not recorded; only sets that "
            "`sentprobe make` wrote have them."
        )
    return 2 if incomplete or unread else 0


def _print_builtin(n: int, languages: tuple[str, ...], seed: int) -> None:
    """Print sentences of the built-in corpus, a language in each column."""
    from sentprobe.corpus.corpus import Corpus

    for row in zip(*(Corpus.synthetic(n, seed, language) for language in languages), strict=True):
        sys.stdout.buffer.write(("\t".join(sentence.text for sentence in row) + "\n").encode())
    sys.stdout.flush()
