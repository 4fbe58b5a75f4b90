"""The words of an encoder and their vectors: those of a file, or the most frequent ones of the training texts."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.files import make_folder
from sentprobe.core.formatting import WHOLE_POINTS
from sentprobe.errors import DataError, SentProbeWarning, UsageError
from sentprobe.lab.networks.architecture import NetworkConfig
from sentprobe.lab.networks.folder import VECTORS
from sentprobe.lab.networks.vocabulary import BEGIN, END, Vocabulary
from sentprobe.lab.training.request import TrainingRequest

if TYPE_CHECKING:
    from sentprobe.lab.networks.encoder import SentenceEncoder

MAX_UNKNOWN = 0.5
"""The largest share of the running words that may have no vector."""
LONG = 20.0
"""Length of a word vector from which a warning is due: those of GloVe and fastText have 1 to 10, spaCy's some 50."""
MOST_COUNTED = 1 << 21
"""Different words that are counted at a time, some 300 MB; where a corpus has more, the rarest are forgotten."""
TEXTS = 1 << 12
"""Texts that are counted at a time."""
ROWS = 1 << 14
"""Vectors that are copied at a time."""
SCHEME = "vec:"


@dataclass(frozen=True, eq=False)
class EncoderInputs:
    """The words of an encoder and their vectors."""

    vocabulary: Vocabulary
    config: NetworkConfig
    table: NDArray[np.float32] | None
    """Given vectors (words + 1, width), or None: memory-mapped, those of the training texts first, so that training
    does not read the others."""
    facts: Mapping[str, Any]

    def encoder(self) -> SentenceEncoder:
        """The network, with random weights."""
        import torch

        from sentprobe.lab.networks.encoder import build_encoder

        table = None if self.table is None else torch.from_numpy(self.table)
        return build_encoder(self.config, table, self.config.seed)


def make_inputs(request: TrainingRequest, texts: Iterable[str], folder: Path, bag: bool = False) -> EncoderInputs:
    """The inputs of a request; ``texts`` are all training texts, which are read once and not kept.

    Given vectors are written to ``folder``, which is to stay as long as the inputs are used.

    For a ``bag`` of words that are learned, nothing marks where sentences begin and end, and unknown words are left
    out, so that no vector is in all sentences.
    """
    tokens, total = count_tokens(texts, request)
    facts: dict[str, Any] = {}
    table: NDArray[np.float32] | None = None
    if request.vectors:
        words, table, facts = _given_vectors(request, tokens, folder)
    else:
        most = sorted(tokens.items(), key=lambda item: (-item[1], item[0]))[: request.words]
        words = [*(() if bag else (BEGIN, END)), *(word for word, _ in most if word not in (BEGIN, END))]
    vocabulary = Vocabulary(words, request.tokenise, request.case, "drop" if request.vectors or bag else "keep")
    known_tokens = sum(n for token, n in tokens.items() if vocabulary.number(token))
    unknown = 1 - known_tokens / total if total else 0.0
    if request.vectors and unknown > MAX_UNKNOWN:
        raise DataError(
            f"{request.vectors} has no vector for {WHOLE_POINTS.number(unknown)} % of the running words of the "
            "training data. Is it of this language, and cased like the texts? --case lower looks all words up in "
            "lower case."
        )
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
    )
    facts |= {"vocabulary": len(words), "running words": total, "unknown words": unknown}
    return EncoderInputs(vocabulary, config, table, facts)


def count_tokens(texts: Iterable[str], request: TrainingRequest, most: int = MOST_COUNTED) -> tuple[Counter[str], int]:
    """How often each token occurs, and how many tokens there are in all.

    Words are counted as they are between spaces, and split into tokens at the end, each once. If there are too many
    different ones, those that occurred once so far are forgotten, then those that occurred twice, …: as good as exact
    for the most frequent words, and the same for the same texts.
    """
    words: Counter[str] = Counter()
    splitter = Vocabulary((), request.tokenise)
    texts, rarest, total = iter(texts), 0, 0
    while batch := [*islice(texts, TEXTS)]:
        words.update(" ".join(map(splitter.spaced, batch)).split())
        while len(words) > most:
            rarest += 1
            forgotten = {word: n for word, n in words.items() if n <= rarest}
            total += sum(n * len(splitter.split(word)) for word, n in forgotten.items())
            words = Counter({word: n for word, n in words.items() if n > rarest})
    tokens: Counter[str] = Counter()
    lower = request.case == "lower"
    for word, n in words.items():
        for token in splitter.split(word):
            tokens[token.lower() if lower else token] += n
    return tokens, total + tokens.total()


def _given_vectors(
    request: TrainingRequest, tokens: Counter[str], folder: Path
) -> tuple[list[str], NDArray[np.float32], dict[str, Any]]:
    """The words of the training texts that a file of vectors has or can make, and its most frequent ones."""
    from sentprobe.core.folders import cache_folder
    from sentprobe.encoders.wordvectors import read_vectors

    path = Path(request.vectors.removeprefix(SCHEME)).expanduser()
    pretrained = read_vectors(path, cache_folder() / "vectors")
    if request.width not in (TrainingRequest.width, pretrained.dim):
        raise UsageError(
            f"--width {request.width}: the vectors of {path} have {pretrained.dim} dimensions. Leave --width out, or "
            f"project them with --projection {request.width}."
        )
    used = np.zeros(len(pretrained.words), bool)
    index = pretrained.index
    missing: list[str] = []
    for token in (BEGIN, END, *tokens):
        forms = [row for form in (token, token.lower(), token.capitalize()) if (row := index.get(form)) is not None]
        used[forms] = True
        if not forms:
            missing.append(token)
    subword_words: list[str] = []
    if pretrained.subword is not None:
        subword_words = sorted((token for token in missing if tokens[token]), key=lambda token: (-tokens[token], token))
        subword_words = subword_words[: request.words]
    used_rows, unused_rows = np.flatnonzero(used), np.flatnonzero(~used[: request.words])

    def vectors() -> Iterator[NDArray[np.float32]]:
        yield np.zeros((1, pretrained.dim), np.float32)
        yield from (pretrained.matrix[used_rows[at : at + ROWS]] for at in range(0, len(used_rows), ROWS))
        if pretrained.subword is not None:
            yield from (pretrained.subword(subword_words[at : at + ROWS]) for at in range(0, len(subword_words), ROWS))
        yield from (pretrained.matrix[unused_rows[at : at + ROWS]] for at in range(0, len(unused_rows), ROWS))

    words = [
        *(pretrained.words[i] for i in used_rows.tolist()),
        *subword_words,
        *(pretrained.words[i] for i in unused_rows.tolist()),
    ]
    table = _write_table(folder, vectors(), (len(words) + 1, pretrained.dim))
    _warn_if_long(path, table[1 : 1 + min(len(used_rows) or len(words), ROWS)])
    return words, table, {"vectors": path.name, "vectors digest": pretrained.digest}


def _warn_if_long(path: Path, vectors: NDArray[np.float32]) -> None:
    """Warn of vectors so long that the units of a network begin saturated: it learns slowly then, or not at all."""
    length = float(np.median(np.linalg.norm(vectors, axis=1))) if len(vectors) else 0.0
    if length > LONG:
        warnings.warn(
            f"The vectors of {path} have a median length of {length:.0f}; those of GloVe have about 5. Most networks "
            f"learn badly from such large numbers: divide them by {length / 5:.0f}. (A mean of words does not mind.)",
            SentProbeWarning,
            stacklevel=2,
        )


def _write_table(folder: Path, parts: Iterable[NDArray[np.float32]], shape: tuple[int, int]) -> NDArray[np.float32]:
    """Write vectors to a file without having all of them in memory, and map it."""
    make_folder(folder)
    file = folder / VECTORS
    try:
        with file.open("wb") as out:
            header = {"descr": "<f4", "fortran_order": False, "shape": shape}
            np.lib.format.write_array_header_1_0(out, header)
            for part in parts:
                out.write(np.ascontiguousarray(part, "<f4").data)
    except OSError as e:
        raise DataError(f"{file} cannot be written: {e.strerror}. Free some space, or choose another folder.") from e
    return np.load(file, mmap_mode="c", allow_pickle=False)  # type: ignore[no-any-return]
