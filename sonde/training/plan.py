"""What an objective works with: the request, the rows of its sources without those withheld, and word inputs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sonde.core.hashing import mix
from sonde.core.settings import Settings
from sonde.corpus.near_duplicates import near_duplicate_key
from sonde.errors import DataError, UsageError
from sonde.networks.config import NetworkConfig
from sonde.networks.vocabulary import BEGIN, END, Vocabulary
from sonde.training.examples import ExampleWriter
from sonde.training.reading import Row, read_rows
from sonde.training.request import Request

if TYPE_CHECKING:
    from sonde.networks.encoder import SentenceEncoder

LABEL = "label"
"""The one field that is not text."""
MAX_UNKNOWN = 0.5
"""The largest share of the running words that may have no vector."""


@dataclass(frozen=True, eq=False)
class Inputs:
    """The words of an encoder and their vectors."""

    vocabulary: Vocabulary
    config: NetworkConfig
    table: NDArray[np.float32] | None
    """Given vectors (words + 1, width), or None."""
    facts: Mapping[str, Any]

    def encoder(self) -> SentenceEncoder:
        """The network, with random weights."""
        import torch

        from sonde.networks.encoder import build_encoder

        table = None if self.table is None else torch.from_numpy(self.table)
        return build_encoder(self.config, table, self.config.seed)


@dataclass(eq=False)
class Plan:
    """A request, and what its objective has read so far."""

    request: Request
    folder: Path
    """Where examples are written to; it is deleted when training has ended."""
    withheld: frozenset[int] = frozenset()
    """Sentences of probing sets, by their near-duplicate keys."""
    counts: dict[str, Counter[str]] = field(default_factory=dict)
    """Rows by role (train, dev) and what became of them: read, used, withheld, too long, …"""
    _largest: int | None = None

    @property
    def settings(self) -> Settings:
        """The settings of the objective."""
        return self.request.objective_settings

    def rows(self, role: str, fields: Sequence[str]) -> Iterator[Row]:
        """The rows of train or dev, without those withheld, those too long, and those with an empty field."""
        request = self.request
        if not request.train:
            from sonde.training import OBJECTIVES

            raise UsageError(f"Name training data: --train, with {OBJECTIVES.get(request.objective).data}.")
        texts = [i for i, name in enumerate(fields) if name != LABEL]
        counts = self.counts[role] = Counter()
        sources = request.dev if role == "dev" and request.dev else request.train
        for row in (row for source in sources for row in read_rows(source, fields, request.columns)):
            if not request.dev and self._is_held_out(row, fields) != (role == "dev"):
                continue
            counts["read"] += 1
            if not all(value.strip() for value in row.values):
                counts["empty"] += 1
            elif any(len(row.values[i].split()) > request.max_length for i in texts):
                counts["too long"] += 1
            elif role == "train" and any(near_duplicate_key(row.values[i]) in self.withheld for i in texts):
                counts["withheld"] += 1
            else:
                counts["used"] += 1
                yield row
        if not counts["used"]:
            left = ", ".join(f"{n:,} {why}" for why, n in counts.items() if n) or "no rows"
            raise DataError(
                f"{', '.join(sources)}: nothing is left to {'train on' if role == 'train' else 'score'} ({left})."
            )

    def writer(self, name: str, sequences: Sequence[str], numbers: Sequence[str] = ()) -> ExampleWriter:
        """Files for the examples of this name."""
        return ExampleWriter(self.folder / name, sequences, numbers)

    def inputs(self, texts: Callable[[], Iterable[str]], **extra: str | int | float | bool) -> Inputs:
        """The words of the encoder: those of the word vectors, or the most frequent ones of the training texts.

        ``texts`` is called once, and gives all training texts.
        """
        request = self.request
        counts: Counter[str] = Counter()
        splitter = Vocabulary((), request.tokenise)
        for text in texts():
            for word in text.split():
                counts[word] += 1
        tokens: Counter[str] = Counter()
        for word, n in counts.items():
            for token in splitter.split(word):
                tokens[token.lower() if request.case == "lower" else token] += n
        table: NDArray[np.float32] | None = None
        facts: dict[str, Any] = {}
        if request.vectors:
            words, table, facts = self._given_vectors(tokens)
        else:
            most = sorted(tokens.items(), key=lambda item: (-item[1], item[0]))[: request.words]
            words = [BEGIN, END, *(word for word, _ in most if word not in (BEGIN, END))]
        vocabulary = Vocabulary(words, request.tokenise, request.case, "drop" if request.vectors else "keep")
        config = NetworkConfig(
            architecture=request.encoder,
            settings=dict(request.encoder_settings),
            words=len(words),
            width=request.width if table is None else table.shape[1],
            projection=request.projection,
            frozen=table is not None and not request.fine_tune,
            tokenise=request.tokenise,
            case=request.case,
            unknown=vocabulary.unknown,
            seed=request.options.seed,
            extra=extra,
        )
        unknown = sum(n for token, n in tokens.items() if not vocabulary.number(token)) / max(1, tokens.total())
        if request.vectors and unknown > MAX_UNKNOWN:
            raise DataError(
                f"{request.vectors} has no vector for {100 * unknown:.0f} % of the running words of the training data. "
                "Is it of this language, and cased like the texts? --case lower looks all words up in lower case."
            )
        return Inputs(vocabulary, config, table, {**facts, "unknown words": unknown})

    def _given_vectors(self, tokens: Counter[str]) -> tuple[list[str], NDArray[np.float32], dict[str, Any]]:
        """The most frequent words of a file of vectors, and those of the training texts."""
        from sonde.core.cache import cache_folder
        from sonde.encoders.wordvectors import read_vectors

        found = read_vectors(Path(self.request.vectors).expanduser(), cache_folder() / "vectors")
        keep = np.zeros(len(found.words), bool)
        keep[: self.request.words] = True
        index = found.index
        for token in (BEGIN, END, *tokens):
            for form in (token, token.lower(), token.capitalize()):
                if (row := index.get(form)) is not None:
                    keep[row] = True
        rows = np.flatnonzero(keep)
        table = np.zeros((len(rows) + 1, found.dim), np.float32)
        table[1:] = found.matrix[rows]
        facts = {"vectors": Path(self.request.vectors).name, "vectors digest": found.digest}
        return [found.words[i] for i in rows.tolist()], table, facts

    def _is_held_out(self, row: Row, fields: Sequence[str]) -> bool:
        return self._priority(row) <= self._threshold(fields)

    def _priority(self, row: Row) -> int:
        """The same for rows whose first texts differ little, so that these are held out together or not at all."""
        return mix(near_duplicate_key(row.values[0]) ^ self.request.options.seed)

    def _threshold(self, fields: Sequence[str]) -> int:
        """The largest priority of a row that is held out."""
        request = self.request
        if not request.held_out:
            raise UsageError("There is no dev data: name it with --dev, or hold out training rows with --held-out N.")
        if self._largest is None:
            rows = (row for source in request.train for row in read_rows(source, fields, request.columns))
            priorities = np.sort(np.fromiter(map(self._priority, rows), np.uint64))
            if len(priorities) <= request.held_out:
                have = f"there are {len(priorities):,} rows"
                raise UsageError(f"--held-out {request.held_out:,} leaves nothing to train on: {have}.")
            self._largest = int(priorities[request.held_out - 1])
        return self._largest
