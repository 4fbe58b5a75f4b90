"""Skip-thought vectors as their authors released them: GRUs over word vectors, computed by numpy, for English.

    skipthought:FOLDER[?model=combine|uni|bi&tokenise=…&eos=no|yes&norm=yes|no]

FOLDER has the files of Kiros et al. 2015: ``uni_skip.npz`` and ``bi_skip.npz``, the weights; ``utable.npy`` and
``btable.npy``, the vectors of words; ``dictionary.txt``, the words. Tables are read in place, 4.6 GB in all. The files
``uni_skip.npz.pkl`` and ``bi_skip.npz.pkl`` have options alone, which follow from the sizes of the weights: they are
not needed and not read, since a pickle could run any code.

``model``
    ``combine`` (default): both, 4,800 dimensions. ``uni``: one GRU that reads forwards, 2,400. ``bi``: two, that read
    forwards and backwards, 1,200 each.
``tokenise``
    ``nltk`` (default), as the authors' code does, or another tokeniser; ``treebank`` has the same rules without nltk's
    data, and ``space`` is for texts that are tokenised. Unknown words have the vector of ``UNK``.
``eos``
    ``yes``: every text ends with the word ``<eos>``; the authors' code does that on request.
``norm``
    ``yes`` (default): the vectors of ``uni`` and ``bi`` each have the norm 1, as by default in the authors' code.

A text without words has the zero vector, unless it ends with ``<eos>``.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np

from sentprobe.core.arguments import as_texts
from sentprobe.core.files import describe_damage, map_array
from sentprobe.core.resources import single_threaded
from sentprobe.core.words import replace_surrogates
from sentprobe.corpus.tokenisers import NLTK, Tokeniser, tokeniser, tokeniser_package
from sentprobe.encoders.encoder import short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import DataError, EncoderError, SentProbeWarning
from sentprobe.lab.networks.inference import Floats, Ints
from sentprobe.lab.networks.inference_numpy import FORMS, NumpyBody
from sentprobe.lab.schemes._released import (
    PublishedFile,
    content_of,
    encode_tokens,
    mean_inputs,
    path_of,
    require_files,
)

named_file = attrgetter("file")
OPTIONS = {
    "model": "combine (default), uni or bi",
    "tokenise": "nltk (default), treebank, space or another tokeniser",
    "eos": "no (default) or yes: whether a text ends with the word <eos>",
    "norm": "yes (default) or no: whether vectors have the norm 1",
}
"""What may follow the question mark."""
ADDRESS = "http://www.cs.toronto.edu/~rkiros/models"
WEIGHTS, TABLES = {"uni": "uni_skip.npz", "bi": "bi_skip.npz"}, {"uni": "utable.npy", "bi": "btable.npy"}
DICTIONARY = "dictionary.txt"
FILES = tuple(
    PublishedFile(name, f"{ADDRESS}/{name}", what)
    for names, what in ((WEIGHTS.values(), "weights"), (TABLES.values(), "word vectors"), ([DICTIONARY], "words"))
    for name in names
)
UNKNOWN, END = "UNK", "<eos>"
DIRECTIONS = {"uni": {"forwards": "encoder"}, "bi": {"forwards": "encoder", "backwards": "encoder_r"}}
"""How the weights of each direction are named."""


@dataclass(frozen=True, eq=False)
class Reader:
    """One of both models: word vectors, and GRUs over them."""

    table: Any
    """(words, width), in the file."""
    body: NumpyBody
    width: int
    size: int

    def network(self, inputs: Floats, lengths: Ints) -> Floats:
        """Vectors (n, size)."""
        with single_threaded():
            return self.body(inputs, lengths)[0]


@dataclass(frozen=True, eq=False, repr=False)
class SkipThought:
    """Where GRUs end that have read a text."""

    identity: Identity
    readers: tuple[Reader, ...]
    index: dict[str, int]
    split: Tokeniser
    eos: bool
    norm: bool
    batch_size: int = 1024
    languages: tuple[str, ...] = ("en",)

    def __repr__(self) -> str:
        size = sum(reader.size for reader in self.readers)
        return short_repr(self, f"skipthought:{self.identity.name}", f"{size} dimensions")

    def __call__(self, texts: Sequence[str], /) -> Floats:
        """Vectors (n, d)."""
        end = [END] if self.eos else []
        rows = [[*self._tokens(text), *end] for text in as_texts(texts)]
        return np.concatenate([self._encode(reader, rows) for reader in self.readers], axis=1)

    def words(self, words: Sequence[str], /) -> Floats:
        """The vectors (n, width) of single words, those of the first model."""
        reader = self.readers[0]
        rows = [self._tokens(word) for word in as_texts(words)]
        return mean_inputs(rows, lambda tokens: self._look_up(reader, tokens), reader.width)

    def _tokens(self, text: str) -> list[str]:
        return [token if token in self.index else UNKNOWN for token in self.split(replace_surrogates(text))]

    def _encode(self, reader: Reader, rows: Sequence[Sequence[str]]) -> Floats:
        vectors = encode_tokens(rows, lambda tokens: self._look_up(reader, tokens), reader.network, reader.size)
        if self.norm:
            norms = np.linalg.norm(vectors, axis=1, keepdims=True)
            vectors /= np.where(norms > 0, norms, 1)
        return vectors

    def _look_up(self, reader: Reader, tokens: Sequence[str]) -> Floats:
        return np.asarray(reader.table[[self.index[token] for token in tokens]], np.float32).reshape(-1, reader.width)


def load(spec: Spec) -> SkipThought:
    """The encoder that ``skipthought:…`` names."""
    options, folder = spec.check_options(OPTIONS), path_of(spec, FILES)
    if not folder.is_dir():
        raise EncoderError(f"{spec}: {folder} is a file; expected the folder of the released files.")
    model = spec.choice("model", ("combine", "uni", "bi"))
    kinds = ["uni", "bi"] if model == "combine" else [model]
    files = [folder / DICTIONARY, *(folder / names[kind] for kind in kinds for names in (WEIGHTS, TABLES))]
    require_files(spec, files, FILES)
    split = options.get("tokenise", NLTK)
    tokens = tokeniser(split)
    try:
        # as the authors read it: a word that occurs twice has its last vector
        lines = (folder / DICTIONARY).read_bytes().decode().removesuffix("\n").split("\n")
    except UnicodeDecodeError as why:
        raise DataError(f"{folder / DICTIONARY} is not UTF-8 at byte {why.start}. Download the file again.") from None
    index = {line.strip(): row for row, line in enumerate(lines)}
    readers = tuple(_reader(folder, kind) for kind in kinds)
    sizes = [len(reader.table) for reader in readers]
    if {*sizes} != {len(lines)}:
        warnings.warn(
            SentProbeWarning(
                f"{spec}: {DICTIONARY} has {len(lines):,} words, but there are {', '.join(f'{n:,}' for n in sizes)} "
                "vectors; as in the authors' code, what is beyond the shortest is not used."
            ),
            stacklevel=2,
        )
        index = {word: row for word, row in index.items() if row < min(sizes)}
    if missing := [word for word in (UNKNOWN, END) if word not in index]:
        raise DataError(f"{folder / DICTIONARY} has no line {missing[0]}; expected the dictionary that was released.")
    eos, norm = spec.choice("eos", ("no", "yes")) == "yes", spec.choice("norm", ("yes", "no")) == "yes"
    identity = Identity.of(
        "skipthought",
        model,
        content=content_of(*files),
        tokenise=split,
        tokeniser=tokeniser_package(split),
        eos="yes" if eos else None,
        norm=None if norm else "no",
    )
    return SkipThought(identity, readers, index, tokens, eos, norm)


def _reader(folder: Path, kind: str) -> Reader:
    """One model from its files: arrays of numbers, and nothing that could run code."""
    path, table_path = folder / WEIGHTS[kind], folder / TABLES[kind]
    try:
        table: Any = map_array(table_path)
        with path.open("rb") as file, np.load(file, allow_pickle=False) as stored:
            weights = {name: np.array(stored[name], np.float32) for name in stored.files if name.startswith("encoder")}
    except Exception as why:  # numpy and zipfile raise many kinds of errors for a damaged file
        raise DataError(
            f"{path} or {table_path.name} is not a file of numbers in numpy's format: {describe_damage(why)}."
        ) from None
    if not isinstance(table, np.ndarray) or table.ndim != 2 or table.dtype.kind != "f":
        raise DataError(
            f"{table_path} is {getattr(table, 'shape', 'no array')}; expected an array (words, dimensions)."
        )
    directions = {
        direction: _gru(path, weights, prefix, table.shape[1]) for direction, prefix in DIRECTIONS[kind].items()
    }
    body = FORMS["gru" if kind == "uni" else "bigru-last"].build(
        {
            f"recurrent.{direction}.0.{name}": value
            for direction, direction_weights in directions.items()
            for name, value in direction_weights.items()
        },
        {"layers": 1},
    )
    hidden = directions["forwards"]["weight_hh_l0"].shape[1]
    return Reader(table, body, table.shape[1], hidden * len(directions))


def _gru(path: Path, weights: dict[str, Floats], prefix: str, width: int) -> dict[str, Floats]:
    """The weights of one direction as torch arranges them, by rows: reset, update, new."""
    hidden = weights[name].shape[-1] if (name := f"{prefix}_Ux") in weights else 0
    shapes = {
        "W": (width, 2 * hidden),
        "Wx": (width, hidden),
        "U": (hidden, 2 * hidden),
        "Ux": (hidden, hidden),
        "b": (2 * hidden,),
        "bx": (hidden,),
    }
    for name, shape in shapes.items():
        weight = weights.get(f"{prefix}_{name}")
        if weight is None or weight.shape != shape or not np.isfinite(weight).all():
            defect = "is missing" if weight is None else f"is {weight.shape}, or not finite"
            raise DataError(f"{path}: the weight {prefix}_{name} {defect}; expected {shape}. Download the file again.")
    arrays = [weights[f"{prefix}_{name}"] for name in shapes]
    return {
        "weight_ih_l0": np.concatenate(arrays[:2], axis=1).T,
        "weight_hh_l0": np.concatenate(arrays[2:4], axis=1).T,
        "bias_ih_l0": np.concatenate(arrays[4:]),
        "bias_hh_l0": np.zeros(3 * hidden, np.float32),
    }
