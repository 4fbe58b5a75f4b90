"""InferSent as its authors released it, versions 1 and 2: the maximum over a BiLSTM's states, for English.

    infersent:PATH[?vectors=FILE&version=1|2&tokenise=…&random=SEED&device=…]

PATH is ``infersent1.pkl`` or ``infersent2.pkl`` (Conneau et al. 2017), or a folder with one of them. ``vectors`` are
the word vectors it was trained with, in any format that ``vec:`` reads: GloVe's ``glove.840B.300d.txt`` for version 1,
fastText's ``crawl-300d-2M.vec`` for version 2, by default in the folder of PATH. ``version`` is needed where the name
of the file does not say it.

A text is split by ``tokenise``: ``nltk`` (default), as the authors' code does, or the name of any other tokeniser;
``treebank`` has the same rules without nltk's data, and ``space`` is for texts that are tokenised. Words without a
vector are left out. A sentence begins and ends with ``<s>`` and ``</s>`` in version 1, ``<p>`` and ``</p>`` in version
2, where these have vectors; a text of which nothing is left has the zero vector.

With ``random=SEED`` the LSTM has random weights instead of those of the file, as before training; the same seed gives
the same weights with the same version of torch.

The vectors of version 1 are those that the authors' code gives to a text in a batch of its own. In larger batches it
takes the maximum over zeros after the end of shorter texts as well, so that a vector depends on the batch; here it
does not.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib.metadata import version as version_of
from operator import attrgetter
from pathlib import Path

import numpy as np

from sentprobe.core.folders import cache_folder
from sentprobe.core.words import replace_surrogates
from sentprobe.corpus.tokenisers import NLTK, TREEBANK, tokeniser, tokeniser_package
from sentprobe.encoders.hub import find_device
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.wordvectors import read_vectors
from sentprobe.errors import EncoderError, UsageError
from sentprobe.lab.networks.inference import Floats
from sentprobe.lab.schemes._released import (
    MaxOverStates,
    PublishedFile,
    content_of,
    path_of,
    read_tensors,
    require_files,
)

named_file = attrgetter("file")
OPTIONS = {
    "vectors": "the file of word vectors (default: glove.840B.300d.txt or crawl-300d-2M.vec in the same folder)",
    "version": "1 (GloVe) or 2 (fastText); by default, what the name of the file says",
    "tokenise": "nltk (default), treebank, space or another tokeniser",
    "random": "a seed, 0 or more: weights are initialised at random instead of read, as before training",
    "device": "cuda if available (default), else cpu; or cuda:1, mps, …",
}
"""What may follow the question mark."""
WORD_VECTORS = {"1": "glove.840B.300d.txt", "2": "crawl-300d-2M.vec"}
MARKS = {"1": ("<s>", "</s>"), "2": ("<p>", "</p>")}
"""What stands before and after a sentence, by version."""
FILES = (
    PublishedFile("infersent1.pkl", "https://dl.fbaipublicfiles.com/infersent/infersent1.pkl", "version 1"),
    PublishedFile(WORD_VECTORS["1"], "https://nlp.stanford.edu/data/glove.840B.300d.zip", "its word vectors"),
    PublishedFile("infersent2.pkl", "https://dl.fbaipublicfiles.com/infersent/infersent2.pkl", "version 2"),
    PublishedFile(
        WORD_VECTORS["2"],
        "https://dl.fbaipublicfiles.com/fasttext/vectors-english/crawl-300d-2M.vec.zip",
        "its word vectors",
    ),
)


def load(spec: Spec) -> MaxOverStates:
    """The encoder that ``infersent:…`` names."""
    options = spec.check_options(OPTIONS)
    weights, version = _weights(spec)
    vectors_file = Path(options.get("vectors") or weights.parent / WORD_VECTORS[version]).expanduser()
    require_files(spec, [vectors_file], FILES)
    split = options.get("tokenise", NLTK)
    tokens = tokeniser(split)
    content = content_of(weights)
    state = read_tensors(spec, weights)
    if not isinstance(state, dict):
        raise EncoderError(f"{spec}: {weights} holds a {type(state).__name__}; expected weights by name.")
    from sentprobe.lab.networks.inference_torch import bilstm_max

    seed = spec.integer("random", low=0)
    network = bilstm_max(str(weights), state, "enc_lstm.", find_device(spec, options.get("device")), seed)
    vectors = read_vectors(vectors_file, cache_folder() / "vectors")
    if vectors.dim != network.width:
        raise EncoderError(
            f"{spec}: the vectors of {vectors_file} have {vectors.dim} dimensions; {weights.name} was trained with "
            f"{network.width}, those of {WORD_VECTORS[version]}."
        )
    index = vectors.index
    begin, end = ([mark] if mark in index else [] for mark in MARKS[version])

    def split_text(text: str) -> list[str]:
        words = tokens(replace_surrogates(text))
        if version == "2" and split in (NLTK, TREEBANK):  # what the authors do to come closer to Moses
            words = " ".join(words).replace(" n't ", "n 't ").split()
        return [word for word in words if word in index]

    def look_up(words: Sequence[str]) -> Floats:
        return vectors.matrix[np.array([index[word] for word in words], np.int64)]

    identity = Identity.of(
        "infersent",
        f"infersent{version}",
        content=content,
        vectors=vectors.digest,
        tokenise=split,
        tokeniser=tokeniser_package(split),
        random=seed,
        drawn_by=None if seed is None else f"torch {version_of('torch')}",
    )
    return MaxOverStates(identity, network, split_text, look_up, tuple(begin), tuple(end), languages=("en",))


def _weights(spec: Spec) -> tuple[Path, str]:
    """The file of weights and the version."""
    path, typed_version = path_of(spec, FILES), dict(spec.options).get("version")
    version = spec.choice("version", ("1", "2")) if typed_version else ""
    if not path.is_dir():
        named_version = re.search(r"infersent.?([12])", path.name.lower())
        if not version and not named_version:
            raise UsageError(f"{spec}: the name of the file does not say its version; expected version=1 or version=2.")
        return path, version or (named_version[1] if named_version else "")
    versions = [v for v in ("1", "2") if (path / f"infersent{v}.pkl").is_file() and version in ("", v)]
    if len(versions) > 1:
        raise UsageError(f"{spec}: {path} has infersent1.pkl and infersent2.pkl; name one of them, or version=2.")
    require_files(spec, [path / f"infersent{versions[0] if versions else version or 2}.pkl"], FILES)
    return path / f"infersent{versions[0]}.pkl", versions[0]
