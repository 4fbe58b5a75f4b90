"""Encoders that differ in their seed alone, trained and probed: how often do they differ, one by one and in sets?

    python benchmarks/recipe_seeds.py [--seeds 10] [--rows 3000] [--sizes 2000/500/4000]

Small encoders are trained for NLI on made-up pairs of the built-in grammar, each with a seed of its own, and probed on
sets of that grammar. As all are of one recipe, whatever is said of them must not differ: the table has the share of
pairs of single trainings that differ significantly (unadjusted, at 5 %), which is no error, as these are other
encoders; and of all ways to divide the trainings into two sets, the share in which the two sets differ, which is one.
These divisions have the same trainings, so the share is a check, and no estimate: ``recipe_coverage.py`` has that.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import combinations
from pathlib import Path

from sentprobe import evaluate, make_sets, select_tasks
from sentprobe.corpus import Corpus
from sentprobe.lab import train
from sentprobe.results.compare import compare_results, tested_metric
from sentprobe.results.metric import DEFAULT_METRIC
from sentprobe.results.sides import select_side
from sentprobe.stats.seeds import spread

SHORT = "--seeds 4 --rows 300 --sizes 200/60/200 --sentences 1500"
TASKS = ("past_present", "bigram_shift", "sentence_length")
KINDS = ("entailment", "neutral", "contradiction")


def write_pairs(path, rows):
    """NLI pairs: the second sentence is the first, another one, or the first negated."""
    texts = [sentence.text for sentence in Corpus.synthetic(2 * rows, seed=7)]
    seconds = [{0: text, 1: texts[rows + i], 2: f"not {text}"}[i % 3] for i, text in enumerate(texts[:rows])]
    lines = [f"{texts[i]}\t{second}\t{KINDS[i % 3]}\n" for i, second in enumerate(seconds)]
    path.write_text("".join(lines), "utf-8")


def trained(folder, args):
    """The names of the encoders, one per seed."""
    write_pairs(folder / "pairs.tsv", args.rows)
    for seed in range(args.seeds):
        train(
            "nli", folder / f"seed-{seed}", encoder=args.architecture, train=[str(folder / "pairs.tsv")],
            held_out=args.rows // 10, width=32, settings={"hidden": 32}, options={"epochs": 2, "seed": seed},
        )  # fmt: skip
    return [f"trained:{folder / f'seed-{seed}'}" for seed in range(args.seeds)]


def main():
    """Print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=3000)
    parser.add_argument("--sizes", default="2000/500/4000", help="train, dev and test rows of each set")
    parser.add_argument("--sentences", type=int, default=24000, help="of the built-in corpus")
    parser.add_argument("--architecture", default="bilstm-max")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        names = trained(Path(scratch), args)
        requests = select_tasks(["conneau2018"], list(TASKS), sizes=args.sizes)
        sets = list(make_sets(Corpus.synthetic(args.sentences), requests))
        run = evaluate(names, sets, Path(scratch) / "run", baselines=[], folds=0)
        metric, sides = tested_metric(DEFAULT_METRIC), [select_side(run, name).results for name in names]
        print(f"{'set':<28}{'sd':>6}{'lowest':>8}{'highest':>9}{'single differ':>16}{'sets differ':>14}")
        differing, divided = 0, 0
        for key in sides[0]:
            results = [side[key] for side in sides]
            scores = spread([of_one[0].score for of_one in results])
            pairs = [compare_results(run, a, b, metric).p <= 0.05 for a, b in combinations(results, 2)]
            halves = [half for half in combinations(range(len(names)), len(names) // 2) if 0 in half]
            sets_differ = []
            for half in halves:
                first = [results[i][0] for i in half]
                second = [results[i][0] for i in range(len(names)) if i not in half]
                sets_differ.append(compare_results(run, first, second, metric).p <= 0.05)
            differing, divided = differing + sum(pairs) / len(pairs) / len(sides[0]), divided + sum(sets_differ)
            print(
                f"{key.partition('#')[0]:<28}{100 * scores.std:>6.1f}{100 * scores.minimum:>8.1f}"
                f"{100 * scores.maximum:>9.1f}{f'{sum(pairs)} of {len(pairs)}':>16}"
                f"{f'{sum(sets_differ)} of {len(halves)}':>14}",
                flush=True,
            )
        print(f"{100 * differing:.1f} % of pairs of single trainings differ")
        print(f"= recipe_seeds/sets {100 * divided / len(halves) / len(sides[0]):.1f}")


if __name__ == "__main__":
    main()
