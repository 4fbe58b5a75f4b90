"""`sonde sentences`: the texts of sets, to be encoded elsewhere."""

from __future__ import annotations

import sys
from collections import Counter

order = 60


def sentences(*paths: str, sources: bool = False) -> int:
    """Print the distinct texts of probing sets, to be encoded elsewhere for `npy:`.

    One per line; line breaks, tabs and backslashes are written \\n, \\t and \\\\.

    Parameters
    ----------
    paths: str
        Sets, or folders of sets, as for `sonde audit`.
    sources: bool
        Print the original sentences, too, where rows have words exchanged or replaced: none of them should be in the
        training text of an encoder. Exit code 2 if a set does not have them all.
    """
    from sonde.cli._sets import readable_sets
    from sonde.console import err
    from sonde.data.origins import origins
    from sonde.encoders.embed import collect_texts
    from sonde.encoders.schemes.npy import to_line
    from sonde.errors import UsageError

    if not paths:
        raise UsageError("Name the sets whose texts to print.")
    unread: list[str] = []
    datasets = list(readable_sets(paths, unread))
    if not datasets:
        return 1
    texts = dict.fromkeys(collect_texts(datasets))
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
        err().print(
            f"{name}: {rows:,} rows are changed sentences whose originals are not recorded; only sets that "
            "`sonde make` wrote have them.",
            style="yellow", markup=False, soft_wrap=True,
        )  # fmt: skip
    return 2 if incomplete or unread else 0
