"""The tables of docs/from-raw-text.md: what an annotator's errors do to the labels of probing sets.

    python tools/annotation_errors.py spacy:fr_core_news_sm fr_sequoia-ud-dev.conllu fr_sequoia-ud-test.conllu

Each sentence of a treebank is annotated anew, from its text alone, and every task is asked for its label twice: with
the gold annotation, and with the annotator's. What a task learns from the corpus beforehand (frequency bands, the most
frequent classes) is learned from either side on its own, as for two sets that are made independently. Prints the
annotator's scores, and a row per task in Markdown.

``--rows FILE`` writes the sentences whose labels differ, to be read; ``--probe ENCODER`` adds how a linear probe does
if it is trained on the annotator's labels, and tested on these or on gold labels of the same sentences.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from sentprobe import Corpus, Sentence, load_encoder, select_tasks
from sentprobe.annotate.evaluation import evaluate
from sentprobe.make.label_errors import Comparison, annotate_anew, label_all
from sentprobe.stats.intervals import wilson
from sentprobe.tasks import SUITES

PARAMETRIC = ("morphology", "relations")
SEED = 1111
SCORES = ("Words", "UPOS", "UFeats", "UAS", "LAS")
FEW = 30
"""Labels on both sides below which a share says nothing."""
FOLDS = 5


def main() -> None:
    """Annotate, compare and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("annotator")
    parser.add_argument("files", nargs="+")
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--probe")
    args = parser.parse_args()
    gold = [replace(s, id=f"{n}") for n, s in enumerate(Corpus.read(*args.files))]
    language = Corpus.read(*args.files).language
    predicted, faults = annotate_anew(args.annotator, gold)
    scores = evaluate(gold, predicted).scores
    print(f"{args.annotator} on {len(gold):,} sentences, each given by itself:")
    print(", ".join(f"{name} {100 * scores[name].f1:.1f}" for name in SCORES if name in scores))
    print(f"heads repaired in {faults['sentences']} sentences: {dict(faults)}\n")
    found = compare(gold, predicted, language)
    print("| | labelled in both | gold only | annotator only | labels that differ |")
    print("|---|---:|---:|---:|---:|")
    for one in found:
        print(row(one))
    if args.rows:
        by_id = {s.id: (s, p) for s, p in zip(gold, predicted, strict=True)}
        args.rows.write_text("".join(differences(one, by_id) for one in found), encoding="utf-8")
    if args.probe:
        texts = {s.id: s.text for s in gold}
        print(
            "\n| trained on → tested on | n | majority | annotator's → annotator's | annotator's → gold | gold → gold |"
        )
        print("|---|---:|---:|---:|---:|---:|")
        encoder = load_encoder(args.probe)
        vectors = dict(zip(texts, encoder(list(texts.values())), strict=True))
        for one in found:
            if line := probed(one, vectors):
                print(line)


def compare(gold: Sequence[Sentence], predicted: Sequence[Sentence], language: str | None) -> list[Comparison]:
    """The labels of every task that both sides support; those of parametric suites are pooled."""
    sides = [Corpus.of(sentences, language=language) for sentences in (gold, predicted)]
    found: list[Comparison] = []
    for suite in (*SUITES, *PARAMETRIC):
        requests = [
            {f"{name}/{task.name}": (name, task, policy) for name, task, policy in select_tasks(suite, corpus=side)}
            for side in sides
        ]
        common = [name for name in requests[0] if name in requests[1]]
        labels = [label_all(side, [mine[name] for name in common]) for side, mine in zip(sides, requests, strict=True)]
        every = [
            Comparison(name, labels[0][name], labels[1][name]) for name in common if all(name in m for m in labels)
        ]
        if suite in PARAMETRIC:
            found.append(_pooled(suite, every))
        else:
            _add(found, [one for one in every if one.gold])
    return found


def _add(found: list[Comparison], every: Sequence[Comparison]) -> None:
    """Add comparisons; one that equals that of another suite becomes one with it."""
    for one in every:
        suite, _, task = one.name.partition("/")
        same = (i for i, other in enumerate(found) if (other.gold, other.predicted) == (one.gold, one.predicted))
        at = next((i for i in same if found[i].name.endswith(f"/{task}")), None)
        if at is None:
            found.append(one)
        else:
            found[at] = replace(found[at], name=f"{found[at].name.partition('/')[0]}, {suite}/{task}")


def _pooled(suite: str, every: Sequence[Comparison]) -> Comparison:
    gold = {f"{one.name} {s}": label for one in every for s, label in one.gold.items()}
    predicted = {f"{one.name} {s}": label for one in every for s, label in one.predicted.items()}
    return Comparison(f"{suite}, {len(every)} tasks", gold, predicted)


def row(one: Comparison) -> str:
    """A row of the table."""
    both, either = len(one.both), len(one.gold.keys() | one.predicted.keys())
    alone = (len(one.gold) - both, len(one.predicted) - both)
    cells = [f"{both:,}", *(f"{k:,} ({100 * k / either:.0f} %)" for k in alone)]
    k = len(one.differing)
    if both < FEW:
        cells.append(f"{k} of {both}")
    else:
        low, high = wilson(k, both)
        cells.append(f"{100 * k / both:.1f} % ({100 * low:.1f}–{100 * high:.1f})")
    return f"| `{one.name}` | {' | '.join(cells)} |"


def differences(one: Comparison, by_id: Mapping[str, tuple[Sentence, Sentence]]) -> str:
    """The sentences whose labels differ, with both annotations."""
    lines = [f"== {one.name}\n"]
    for s in one.differing:
        if s in by_id:
            lines.append(f"{s}\t{one.gold[s]} | {one.predicted[s]}\t{by_id[s][0].text}\n")
            lines += [f"\t{_short(sentence)}\n" for sentence in by_id[s]]
    return "".join(lines)


def _short(s: Sentence) -> str:
    heads, deprels, upos, feats = s.heads or (), s.deprels or (), s.upos or (), s.feats or ("_",) * len(s)
    words = zip(s.forms, upos, heads, deprels, feats, strict=True)
    return "  ".join(f"{form}/{tag}/{head + 1}:{rel}/{feat}" for form, tag, head, rel, feat in words)


def probed(one: Comparison, vectors: Mapping[str, np.ndarray]) -> str:
    """Accuracies of a linear probe in cross-validation over the sentences with a label on both sides."""
    sizes = Counter(one.predicted[s] for s in one.both)
    both = [s for s in one.both if s in vectors and sizes[one.predicted[s]] >= FEW]
    gold, predicted = (np.array([labels[s] for s in both]) for labels in (one.gold, one.predicted))
    if len(both) < 10 * FEW or len(set(predicted)) < 2 or not one.differing:
        return ""
    from sklearn.linear_model import LogisticRegression
    from sklearn.model_selection import StratifiedKFold
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    x = np.array([vectors[s] for s in both])
    right = np.zeros((3, len(both)))
    for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=SEED).split(x, predicted):
        probe = make_pipeline(StandardScaler(), LogisticRegression(C=0.01, max_iter=1000))
        guesses = probe.fit(x[train], predicted[train]).predict(x[test])
        right[0, test], right[1, test] = guesses == predicted[test], guesses == gold[test]
        right[2, test] = probe.fit(x[train], gold[train]).predict(x[test]) == gold[test]
    majority = Counter(gold.tolist()).most_common(1)[0][1] / len(both)
    shown = " | ".join(f"{100 * value:.1f}" for value in (majority, *right.mean(axis=1)))
    return f"| `{one.name}` | {len(both):,} | {shown} |"


if __name__ == "__main__":
    main()
