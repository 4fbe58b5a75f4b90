"""A dataset as the checks read it: parallel columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from operator import itemgetter
from typing import Any

from sentprobe.corpus.near_duplicates import near_duplicate_key
from sentprobe.data.dataset import Dataset
from sentprobe.task import SPLITS, Example


@dataclass(frozen=True)
class Rows:
    """Parallel columns over all rows of a set, split after split."""

    splits: tuple[str, ...]
    """The splits that have rows."""
    split: tuple[str, ...]
    label: tuple[str, ...]
    text: tuple[str, ...]
    tokens: tuple[tuple[str, ...], ...]
    inputs: tuple[tuple[str, ...], ...]
    """What is fed to the probe besides the text: the words of Adi's tasks, the second sentence of a pair."""
    key: tuple[str | None, ...]
    marks: tuple[tuple[int, ...], ...]
    examples: tuple[Example, ...]
    """The rows themselves."""

    def __len__(self) -> int:
        return len(self.text)

    @classmethod
    def of(cls, dataset: Dataset, inputs: tuple[str, ...] = ()) -> Rows:
        """The columns of a set; ``inputs`` names the further columns that are fed to the probe."""
        splits = tuple(s for s in SPLITS if dataset.rows.get(s))
        examples = tuple(row for s in splits for row in dataset.rows[s])
        # not by zip(*examples), whose iterators, one for every row, set off the garbage collector
        label, tokens, text, key, marks, extra = (tuple(map(itemgetter(i), examples)) for i in (0, 1, 2, 4, 6, 7))
        return cls(
            splits=splits,
            split=tuple(s for s in splits for _ in dataset.rows[s]),
            label=label,
            text=text,
            tokens=tokens,
            inputs=tuple(tuple(v for name, v in more if name in inputs) for more in extra)
            if inputs
            else ((),) * len(text),
            key=key,
            marks=marks,
            examples=examples,
        )

    @cached_property
    def exact(self) -> tuple[str, ...]:
        """What the probe is given, as one string."""
        return tuple("\t".join((t, *more)) if more else t for t, more in zip(self.text, self.inputs, strict=True))

    @cached_property
    def sentence(self) -> tuple[int, ...]:
        """The same number for sentences that differ in case, digits, punctuation and spacing only."""
        keys = {text: near_duplicate_key(text) for text in dict.fromkeys(self.text)}
        return tuple(keys[t] for t in self.text)

    @cached_property
    def near(self) -> tuple[int, ...]:
        """The same for all that the probe is given."""
        return tuple(
            hash((key, *map(near_duplicate_key, more))) if more else key
            for key, more in zip(self.sentence, self.inputs, strict=True)
        )

    def only(self, found: Sequence[int]) -> Rows:
        """These rows only."""
        columns = (
            self.split, self.label, self.text, self.tokens, self.inputs, self.key, self.marks, self.examples
        )  # fmt: skip
        kept: list[Any] = [tuple(column[i] for i in found) for column in columns]
        remaining = set(kept[0])
        return Rows(tuple(s for s in self.splits if s in remaining), *kept)

    def further_sentences(self, names: Sequence[str]) -> Iterator[tuple[str, Rows]]:
        """The same rows with each further input that is a sentence, not a word, in place of the text."""
        if any(len(given) != len(names) for given in self.inputs):
            return
        for i, name in enumerate(names):
            text = tuple(given[i] for given in self.inputs)
            if 2 * sum(" " in t for t in text) > len(text):
                yield name, replace(self, text=text, tokens=tuple(tuple(t.split()) for t in text))

    def counts(self, split: str) -> Counter[str]:
        """Rows per label in a split."""
        return Counter(label for s, label in zip(self.split, self.label, strict=True) if s == split)

    @cached_property
    def sizes(self) -> Counter[str]:
        """Rows per split."""
        return Counter(self.split)

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """The labels that occur."""
        return tuple(sorted(set(self.label)))
