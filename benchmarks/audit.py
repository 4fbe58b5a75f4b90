"""How long an audit takes: beside scikit-learn fitting the same classifiers, and for a whole collection.

    python benchmarks/audit.py FOLDER_OR_FILE…

Prints the CPU time of auditing each set, everything included, over that of scikit-learn's vectorisers and naive Bayes
for the five bags of words and characters alone, in the same process and on the same rows; then the wall time of
`sentprobe audit` with two workers, and the most memory that any process of it held. Needs scikit-learn.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import time

from sklearn.feature_extraction.text import CountVectorizer
from sklearn.naive_bayes import MultinomialNB

from sentprobe.audit import audit_set
from sentprobe.audit.checks.shortcuts import _plan
from sentprobe.data.expectations import expectations_for
from sentprobe.data.sources import find_sets
from sentprobe.data.splits import Split

SHORT = "{sets}"

BAGS = [
    {"lowercase": True}, {"lowercase": False}, {"lowercase": True, "ngram_range": (1, 2)},
    {"lowercase": False, "ngram_range": (1, 2)}, {"analyzer": "char", "ngram_range": (2, 4), "lowercase": False},
]  # fmt: skip


def oracle(rows: Split) -> float:
    """CPU seconds of scikit-learn for the bags, on the rows that the audit uses."""
    plan = _plan(rows)
    assert plan is not None
    before = time.process_time()
    for options in BAGS:
        words = {} if "analyzer" in options else {"tokenizer": str.split, "token_pattern": None}
        matrix = CountVectorizer(**options, **words).fit_transform(rows.texts)
        for train, test in plan.folds:
            MultinomialNB().fit(matrix[train], [rows.label_names[i] for i in train]).predict(matrix[test])
    return time.process_time() - before


def main() -> None:
    """Print a line per set and one for all."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+")
    paths = parser.parse_args().paths
    ratios = []
    for source in find_sets(paths):
        dataset = source.load()
        rows = Split.of_set(dataset, expectations_for(dataset).inputs)
        before = time.process_time()
        audit_set(dataset)
        ours = time.process_time() - before
        line = f"{source.name:32} {len(rows):7,} rows  audit {ours:5.1f} CPU s"
        if len(rows.classes) <= 20:  # scikit-learn holds a dense table of classes and features
            theirs = oracle(rows)
            ratios.append(ours / theirs)
            line += f"  scikit-learn's five bags {theirs:5.1f}  ratio {ours / theirs:.2f}"
        print(line, flush=True)
    before = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "sentprobe", "audit", *paths, "--jobs", "2", "--json"], stdout=subprocess.DEVNULL
    )
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"sentprobe audit, two workers: {time.perf_counter() - before:.0f} s, at most {peak:.0f} MB in a process")
    if ratios:
        print(f"= audit/over-sklearn {max(ratios):.3f}")


if __name__ == "__main__":
    main()
