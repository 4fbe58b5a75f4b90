"""The control task of Hewitt and Liang (2019), carried over from words to sentences: labels that only a word tells.

Theirs gives every word type a label of its own, drawn once from the distribution of the real labels; a probe can learn
it only by heart, and is tested on other tokens of the same types. Here every *key* is given one, and a row has the
label of its key:

    the target form     where all rows of the set have one, and it stands in the text (that of odd_man_out stands in
                        the changed texts only): the verb of past_present, the noun of subj_number
    a rare word         elsewhere: of the row's words that ``FEWEST`` texts of the set have or more, that which the
                        fewest have; of several the longest, then the first by alphabet

A rare word stands in for the "first content word": function words are in many texts, so none is chosen where there is
another, and no language needs a list of them. Without the lower bound the keys would be words met twice or thrice,
which no probe could learn; with it there are some eight rows to a key, where target forms have three to six. Words are
lower-cased and lose the punctuation at their ends. Where words are not set off by spaces, there are no keys.

The splits of a set are of no use to this, since target forms are kept apart there. So the rows of all splits are dealt
anew: keys of one text only are left out, sentences that differ in case, digits or punctuation only stay together, every
key of the other two parts is in train as well, and the parts have the proportions they had. A seed draws both labels
and parts, by hashes: neither depends on the order of the rows.

On rows dealt so, words that were met in training help with the task as well. What the control is subtracted from is
therefore the task on these very rows (``Parts.same_rows``), and not the score on the set's own splits, whose test words
are new: the difference of those two may be below 0 for an encoder that knows all there is to know.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from typing import Literal

import numpy as np

from sonde.core.hashing import hash_64
from sonde.corpus.near_duplicates import near_duplicate_key
from sonde.encoders.words import split_punctuation
from sonde.errors import TooFewError
from sonde.run.control import Control
from sonde.run.parts import Part, Parts, has_train_test_split
from sonde.run.variant import VariantColumn, estimate, percent, points
from sonde.task import fold

MIN_KEY_TEXTS = 10
"""Texts that must have a word before it can be a key. In six sets made from UD_English-EWT and GUM, 2 leaves out from a
sixth to a half of the rows and gives keys of two rows or three; 50 makes keys of *of* and *and*."""
MIN_FORM_SHARE = 0.9
"""The share of rows whose target form must stand in the text; some do not where tokens were contracted."""
MIN_TEST_ROWS = 10
"""Rows that the control must have to be tested on."""

Kind = Literal["target form", "rare word"]
Key = str | None


def lexical_keys(parts: Parts) -> tuple[Kind, tuple[list[Key], list[Key], list[Key]]]:
    """What the keys of a set are, and those of the rows of train, dev and test; None for a row that has none."""
    three = (parts.train, parts.dev, parts.test)
    pairs = [pair for part in three for pair in zip(part.keys, part.texts, strict=True)]
    stand = sum(key is not None and key in fold(text) for key, text in pairs)
    if all(key is not None for key, _ in pairs) and stand >= MIN_FORM_SHARE * len(pairs):
        train, dev, test = (list(part.keys) for part in three)
        return "target form", (train, dev, test)
    words = _words(text for part in three for text in part.texts)
    met = Counter(word for found in words.values() for word in found)
    best = sorted((word for word in met if met[word] >= MIN_KEY_TEXTS), key=lambda word: (met[word], -len(word), word))
    place = {word: i for i, word in enumerate(best)}
    ends: list[Key] = [*best, None]  # the last is for texts that have none of them
    key = {text: ends[min([place[w] for w in found if w in place], default=-1)] for text, found in words.items()}
    train, dev, test = ([key[text] for text in part.texts] for part in three)
    return "rare word", (train, dev, test)


def _words(texts: Iterable[str]) -> dict[str, set[str]]:
    """The different words of each text, without case and outer punctuation."""
    bare = cache(_bare)  # of each word once
    return {text: {token for word in text.lower().split() for token in bare(word)} for text in texts}


def _bare(word: str) -> list[str]:
    return [token for token in split_punctuation(word) if any(map(str.isalpha, token))]


def key_control(parts: Parts, seed: int) -> Parts:
    """The set with labels drawn at random for each key, and its rows re-split; ``Part.keys`` are the keys.

    ``Parts.same_rows`` is what is dealt, with the labels of the task.
    """
    three = (parts.train, parts.dev, parts.test)
    kind, keys = lexical_keys(parts)
    # a row whose label no training row has could be dealt into train, where the task has no number for it
    rows = [
        (p, i, key)
        for p, (part, found) in enumerate(zip(three, keys, strict=True))
        for i, key in enumerate(found)
        if key is not None and part.labels[i] >= 0
    ]
    sentence = {text: near_duplicate_key(text) for part in three for text in part.texts}
    texts: defaultdict[str, set[int]] = defaultdict(set)
    for p, i, key in rows:
        texts[key].add(sentence[three[p].texts[i]])
    groups: defaultdict[int, list[tuple[int, int, str]]] = defaultdict(list)
    for p, i, key in rows:
        if len(texts[key]) > 1:
            groups[sentence[three[p].texts[i]]].append((p, i, key))
    sizes = [len(part) for part in three]
    dealt = _deal(groups, [size / sum(sizes) for size in sizes], seed)
    if min(len(dealt[1]), len(dealt[2])) < MIN_TEST_ROWS:
        usable = sum(map(len, groups.values()))
        raise TooFewError(
            f"{parts.name} has {usable} of {sum(sizes)} rows with a {kind} that is in two texts or more, "
            f"which leaves fewer than {MIN_TEST_ROWS} to choose or test on. The key control needs more rows."
        )
    shares = np.bincount(parts.train.labels, minlength=len(parts.labels)) / len(parts.train)
    drawn = _draw(sorted({key for part in dealt for _, _, key in part}), shares, seed)
    met = sorted({drawn[key] for _, _, key in dealt[0]})
    if len(met) < 2 or len({int(three[p].labels[i]) for p, i, _ in dealt[0]}) < 2:
        raise TooFewError(f"{parts.name} has keys of one label only under the seed {seed}; expected two labels.")
    number = {label: i for i, label in enumerate(met)}
    task = [_part(three, part) for part in dealt]
    train, dev, test = (
        replace(part, labels=np.array([number[drawn[key]] for _, _, key in rows], np.int64))
        for part, rows in zip(task, dealt, strict=True)
    )
    labels = tuple(parts.labels[i] for i in met)
    same_rows = replace(parts, train=task[0], dev=task[1], test=task[2])
    return replace(parts, labels=labels, train=train, dev=dev, test=test, same_rows=same_rows)


Row = tuple[int, int, str]


def _deal(groups: dict[int, list[Row]], shares: Sequence[float], seed: int) -> tuple[list[Row], list[Row], list[Row]]:
    """Rows of train, dev and test, each in its old order: whole groups, and in dev and test no key that train lacks."""
    order = sorted(groups, key=lambda group: (hash_64(f"key control\t{seed}\t{group}"), group))
    train: list[Row] = []
    rest: list[list[Row]] = []
    seen: set[str] = set()
    for group in order:
        keys = {key for _, _, key in groups[group]}
        if keys <= seen:
            rest.append(groups[group])
        else:
            train += groups[group]
            seen |= keys
    spare = sum(map(len, rest))
    whole = len(train) + spare
    scale = min(1.0, spare / max(1.0, whole * (shares[1] + shares[2])))
    ends = [whole * shares[2] * scale, whole * (shares[1] + shares[2]) * scale]
    test: list[Row] = []
    dev: list[Row] = []
    given = 0
    for found in rest:
        # a group goes where its middle falls
        at = given + len(found) / 2
        (test if at <= ends[0] else dev if at <= ends[1] else train).extend(found)
        given += len(found)
    return sorted(train), sorted(dev), sorted(test)


def _draw(keys: Sequence[str], shares: np.ndarray, seed: int) -> dict[str, int]:
    """A label for each key, each with the probability that it has among the training rows."""
    ends = np.cumsum(shares)
    drawn = [hash_64(f"key label\t{seed}\t{key}") / 2**64 * ends[-1] for key in keys]
    return dict(zip(keys, np.searchsorted(ends, drawn, side="right").tolist(), strict=True))


def _part(three: Sequence[Part], rows: Sequence[Row]) -> Part:
    """These rows with their own labels, and the keys that were found."""
    inputs = {name: [three[p].inputs[name][i] for p, i, _ in rows] for name in three[0].inputs}
    texts = [three[p].texts[i] for p, i, _ in rows]
    labels = np.array([three[p].labels[i] for p, i, _ in rows], np.int64)
    return Part(texts, inputs, labels, [key for _, _, key in rows])


def _applies_to(parts: Parts) -> bool:
    return has_train_test_split(parts) and (not parts.train.inputs or parts.words)


control = Control(
    name="key",
    order=10,
    interpretation=(
        "Hewitt and Liang's control task: each word gets a random label, and every test word also occurs in train, so "
        "only memorising words helps. Selectivity is the accuracy on the task minus that on this control, on the same "
        "rows; near 0, a probe that memorises words would do as well. It is not subtracted from the score, which is "
        "from "
        "another split."
    ),
    columns=(
        VariantColumn(("selectivity",), lambda v: estimate(v, "selectivity")),
        VariantColumn(("task in the", "split of key"), lambda v: percent(v.scores.get("task"))),
        VariantColumn(("key",), points),
    ),
    encodes=False,
    applies_to=_applies_to,
    parts=key_control,
    probe="used",
    same_test=False,
)
