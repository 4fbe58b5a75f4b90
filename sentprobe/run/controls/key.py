"""The control task of Hewitt and Liang (2019), adapted from words to sentences: labels that depend on one word only.

They give every word type a random label, drawn once from the distribution of the real labels; a probe can only memorise
it, and is tested on other tokens of the same types. Here every *key* gets a label, and a row has the label of its key:

    the target form     if all rows of the set have one, and it occurs in the text (that of odd_man_out occurs only in
                        the changed texts): the verb of past_present, the noun of subj_number
    a rare word         otherwise: among the words of a row that occur in at least ``MIN_KEY_TEXTS`` texts of the set,
                        the rarest; of several the longest, then the first alphabetically

A rare word replaces the "first content word": function words occur in many texts, so they are not chosen if there
is another word, and no list of them is needed for any language. Without the lower bound, keys would be words that occur
two or three times, which no probe could learn; with it there are about eight rows per key, where target forms have
three to six. Words are lower-cased and stripped of outer punctuation. Without spaces between words there are no keys.

The splits of the set cannot be used, because target forms are disjoint between them. So the rows of all splits are
re-split: keys with a single text are left out, sentences that differ only in case, digits or punctuation stay together,
every key of dev and test also occurs in train, and the proportions of the splits are preserved. Labels and splits are
sampled by seeded hashes: neither depends on the order of the rows.

In this split, words seen in training help with the task as well. The control is therefore subtracted from the task on
the same rows (``Splits.same_rows``), not from the score on the set's own splits, whose test words are new: that
difference may be below 0 even for an encoder that knows everything.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import Literal

import numpy as np

from sentprobe.core.hashing import hash_64
from sentprobe.core.words import split_punctuation
from sentprobe.corpus.folding import fold, fold_text, near_duplicate_key
from sentprobe.data.splits import Split, Splits, has_train_test_split
from sentprobe.errors import TooFewError
from sentprobe.run.control import Control
from sentprobe.run.variant import Objection, PlainScore, VariantColumn, VariantSummary, estimate, percent, points

MIN_KEY_TEXTS = 10
"""Texts that a word must occur in to be a key. In six sets made from UD_English-EWT and GUM, 2 leaves out a sixth to a
half of the rows and gives keys of two or three rows; 50 makes keys of *of* and *and*."""
MIN_FORM_SHARE = 0.9
"""The share of rows whose target form must occur in the text; contracted tokens may not."""
MIN_SEEN_SHARE = 0.5
"""The share of test rows whose target forms must be in train, for selectivity to say something about the score."""
MIN_TEST_ROWS = 10
"""Dev and test rows that the control needs."""

Kind = Literal["target form", "rare word"]
Key = str | None


def lexical_keys(splits: Splits) -> tuple[Kind, tuple[list[Key], list[Key], list[Key]]]:
    """The kind of keys of a set, and the keys of its train, dev and test rows; None for a row without one."""
    train_dev_test = (splits.train, splits.dev, splits.test)
    pairs = [pair for split in train_dev_test for pair in zip(split.keys, split.texts, strict=True)]
    occurring = sum(key is not None and fold(key) in fold_text(text) for key, text in pairs)
    if all(key is not None for key, _ in pairs) and occurring >= MIN_FORM_SHARE * len(pairs):
        train, dev, test = (list(split.keys) for split in train_dev_test)
        return "target form", (train, dev, test)
    words_of = _words(text for split in train_dev_test for text in split.texts)
    count = Counter(chain.from_iterable(words_of.values()))
    usable = (word for word in count if count[word] >= MIN_KEY_TEXTS)
    rarest_first = sorted(usable, key=lambda word: (count[word], -len(word), word))
    rank = {word: i for i, word in enumerate(rarest_first)}
    by_rank: list[Key] = [*rarest_first, None]  # the last is for texts without any of them
    key = {text: by_rank[min([rank[w] for w in words if w in rank], default=-1)] for text, words in words_of.items()}
    train, dev, test = ([key[text] for text in split.texts] for split in train_dev_test)
    return "rare word", (train, dev, test)


def _words(texts: Iterable[str]) -> dict[str, set[str]]:
    """The distinct words of each text, lower-cased and without outer punctuation."""
    bare = cache(_bare)  # each word once
    return {text: {token for word in text.lower().split() for token in bare(word)} for text in texts}


def _bare(word: str) -> list[str]:
    return [token for token in split_punctuation(word) if any(map(str.isalpha, token))]


Row = tuple[int, int, str]
"""The split of a row (0 to 2), its number there, and its key."""


def key_control(splits: Splits, seed: int) -> Splits:
    """The set with a random label for each key, and its rows re-split; ``Split.keys`` are the keys.

    ``Splits.same_rows`` holds the same rows with the labels of the task.
    """
    old = (splits.train, splits.dev, splits.test)
    kind, keys = lexical_keys(splits)
    # a row whose label is not in train could get into the new train split, where the task has no index for it
    rows: list[Row] = [
        (which, i, key)
        for which, (split, split_keys) in enumerate(zip(old, keys, strict=True))
        for i, (key, label) in enumerate(zip(split_keys, split.labels.tolist(), strict=True))
        if key is not None and label >= 0
    ]
    sizes = [len(split) for split in old]
    groups = _groups(old, rows)
    new = _split(groups, [size / sum(sizes) for size in sizes], seed)
    if min(len(new[1]), len(new[2])) < MIN_TEST_ROWS:
        usable = sum(map(len, groups.values()))
        raise TooFewError(
            f"{splits.name}: {usable} of {sum(sizes)} rows have a {kind} that occurs in at least two texts, which "
            f"leaves fewer than {MIN_TEST_ROWS} dev or test rows. The key control needs more rows."
        )
    shares = np.bincount(splits.train.labels, minlength=len(splits.labels)) / len(splits.train)
    label_of = _sample_labels(sorted({key for rows in new for _, _, key in rows}), shares, seed)
    in_train = sorted({label_of[key] for _, _, key in new[0]})
    if len(in_train) < 2 or len({int(old[which].labels[i]) for which, i, _ in new[0]}) < 2:
        raise TooFewError(
            f"{splits.name}: with seed {seed} all keys have the same label; expected at least two labels."
        )
    number = {label: i for i, label in enumerate(in_train)}
    task = [_take(old, rows) for rows in new]
    train, dev, test = (
        replace(split, labels=np.array([number[label_of[key]] for _, _, key in rows], np.int64))
        for split, rows in zip(task, new, strict=True)
    )
    labels = tuple(splits.labels[i] for i in in_train)
    same_rows = replace(splits, train=task[0], dev=task[1], test=task[2])
    return replace(splits, labels=labels, train=train, dev=dev, test=test, same_rows=same_rows)


def _groups(old: Sequence[Split], rows: Sequence[Row]) -> dict[int, list[Row]]:
    """Rows of near-duplicate sentences together; without rows whose key occurs in one sentence only."""
    sentence = {text: near_duplicate_key(text) for split in old for text in split.texts}
    sentences: defaultdict[str, set[int]] = defaultdict(set)
    for which, i, key in rows:
        sentences[key].add(sentence[old[which].texts[i]])
    groups: defaultdict[int, list[Row]] = defaultdict(list)
    for which, i, key in rows:
        if len(sentences[key]) > 1:
            groups[sentence[old[which].texts[i]]].append((which, i, key))
    return groups


def _split(groups: dict[int, list[Row]], shares: Sequence[float], seed: int) -> tuple[list[Row], list[Row], list[Row]]:
    """Train, dev and test rows in their original order: groups stay together; keys of dev and test are in train."""
    order = sorted(groups, key=lambda group: (hash_64(f"key control\t{seed}\t{group}"), group))
    train: list[Row] = []
    free: list[list[Row]] = []  # groups whose keys are all in train, so that they may be in any split
    in_train: set[str] = set()
    for group in order:
        keys = {key for _, _, key in groups[group]}
        if keys <= in_train:
            free.append(groups[group])
        else:
            train += groups[group]
            in_train |= keys
    free_rows = sum(map(len, free))
    total = len(train) + free_rows
    scale = min(1.0, free_rows / max(1.0, total * (shares[1] + shares[2])))
    ends = [total * shares[2] * scale, total * (shares[1] + shares[2]) * scale]
    test: list[Row] = []
    dev: list[Row] = []
    assigned = 0
    for rows in free:
        # a group goes where its midpoint falls
        midpoint = assigned + len(rows) / 2
        (test if midpoint <= ends[0] else dev if midpoint <= ends[1] else train).extend(rows)
        assigned += len(rows)
    return sorted(train), sorted(dev), sorted(test)


def _sample_labels(keys: Sequence[str], shares: np.ndarray, seed: int) -> dict[str, int]:
    """A label for each key, sampled from the label distribution of the training rows."""
    ends = np.cumsum(shares)
    sampled = [hash_64(f"key label\t{seed}\t{key}") / 2**64 * ends[-1] for key in keys]
    return dict(zip(keys, np.searchsorted(ends, sampled, side="right").tolist(), strict=True))


def _take(old: Sequence[Split], rows: Sequence[Row]) -> Split:
    """These rows with their own labels and the lexical keys."""
    inputs = {name: [old[which].inputs[name][i] for which, i, _ in rows] for name in old[0].inputs}
    texts = [old[which].texts[i] for which, i, _ in rows]
    labels = np.array([old[which].labels[i] for which, i, _ in rows], np.int64)
    return Split(texts, inputs, labels, [key for _, _, key in rows])


def _applies_to(splits: Splits) -> bool:
    return has_train_test_split(splits) and (not splits.train.inputs or splits.words)


def _objection(v: VariantSummary, plain: PlainScore) -> Objection | None:
    """Whether random labels of the same words are learned as well, where the words of test rows are also in train.

    An encoder that knows both words and answers has no selectivity either; if test words are new, its score tells.
    """
    low, text = v.scores.get("selectivity_low"), estimate(v, "selectivity")
    if low is None or text is None or low > 0 or v.scores.get("seen", 0.0) < MIN_SEEN_SHARE:
        return None
    return Objection("memorised", f"selectivity {text.text} {text.margin}".replace("-", "\u2212"))


control = Control(
    name="key",
    order=10,
    interpretation=(
        "Hewitt and Liang's control task: each word gets a random label, and every test word also occurs in train, so "
        "only memorising words helps. Selectivity is the accuracy on the task minus that on this control, on the same "
        "rows; near 0, a probe that memorises words would do as well. It is not subtracted from the score, which is "
        "from another split."
    ),
    columns=(
        VariantColumn(("selectivity",), lambda v: estimate(v, "selectivity")),
        VariantColumn(("task in the", "split of key"), lambda v: percent(v.scores.get("task"))),
        VariantColumn(("key",), points),
    ),
    encodes=False,
    applies_to=_applies_to,
    splits=key_control,
    probe="used",
    same_test=False,
    objection=_objection,
)
