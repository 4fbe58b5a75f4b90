"""Word vectors from a file (word2vec, GloVe, fastText), pooled.

    vec:PATH[?pool=…&case=…&oov=…&tokenise=…&limit=…&freq=…&component=…]

PATH is a file of word vectors in any format that ``sentprobe.encoders.wordvectors`` reads. A text without a known word
has the zero vector. A vector depends on its text and on the identity, never on the other texts.

``pool``
    ``mean`` (default), ``max``, ``sum``.
    ``sif``, Arora et al. 2017: the mean of vectors times a / (a + p(w)), a = 0.001. p(w) comes from a file ``freq=``
    of lines ``word count``, where the word is looked up as in the vectors, then in lower case, otherwise p = 0; without
    such a file, from the rank r of the word among the vectors, as 1 / r, normalised (Zipf's law), and 0 for words made
    of n-grams. With ``component=1`` (default 0) the first principal component, not centred, of the texts given to
    ``fit`` is removed from every vector.
    ``idf``: the mean weighted by log((1 + n) / (1 + df)) + 1, with the frequencies df in the n texts given to ``fit``.
    ``pe``, Sukhbaatar et al. 2015: the sum weighted by (1 - j/J) - (k/d) (1 - 2j/J) for word j of J, dimension k of d.
``case``
    ``fallback`` (default): the word as it is, then in lower case, then capitalised. ``lower``. ``as-is``.
``oov``, for words without a vector
    ``skip`` (default): ignored. ``zero``: they have the zero vector, and count in means, maxima and positions.
    ``subword`` (default where the file has n-grams, that is fastText .bin): a vector made of their n-grams.
``tokenise``
    ``space`` (default): split at white space. ``simple``: also split punctuation and symbols off both ends of words.
``limit``
    Only this many vectors, from the beginning of the file.

Two poolings depend on other texts than the one they encode: ``idf``, and ``sif`` with a component. They see these once,
in ``fit``, which returns another encoder whose identity has the digest of those texts; order and duplicates do not
matter. Before that they refuse to encode. All other poolings need no ``fit``, which returns them as they are.
"""

from __future__ import annotations

from operator import attrgetter
from pathlib import Path

from sentprobe.core.folders import cache_folder
from sentprobe.encoders.identity import Spec
from sentprobe.encoders.wordvectors import read_frequencies, read_vectors
from sentprobe.encoders.wordvectors.pooled import Pooled
from sentprobe.errors import UsageError

WORD_POOLINGS = ("mean", "max", "sum", "sif", "idf", "pe")
CASES = ("fallback", "lower", "as-is")
OOV_POLICIES = ("skip", "zero", "subword")
TOKENISERS = ("space", "simple")
named_file = attrgetter("file")
OPTIONS = {
    "pool": "mean (default), max, sum, sif, idf or pe: how the vectors of words become one",
    "case": "fallback (default), lower or as-is: how words are looked up",
    "oov": "skip (default), zero or subword: what is done with words that have no vector",
    "tokenise": "space (default) or simple: whether punctuation is split off words",
    "limit": "number of vectors to read, from the beginning of the file (default: all)",
    "freq": "a file of lines `word count`, for pool=sif",
    "component": "0 (default) or 1: whether the first principal component is removed, for pool=sif",
}
"""What may follow the question mark."""


def load(spec: Spec) -> Pooled:
    """The encoder that a spec names."""
    options, path = spec.check_options(OPTIONS), spec.path
    if not path:
        raise UsageError(f"{spec} names no file; expected vec:PATH, such as vec:glove.6B.300d.txt.")
    pool = spec.choice("pool", WORD_POOLINGS)
    for option in ("freq", "component"):
        if option in options and pool != "sif":
            raise UsageError(f"{spec}: {option} is for pool=sif, not for pool={pool}.")
    limit = spec.integer("limit")
    frequency = read_frequencies(options["freq"]) if "freq" in options else None
    component = spec.choice("component", ("0", "1")) == "1"
    case, tokenise = spec.choice("case", CASES), spec.choice("tokenise", TOKENISERS)
    oov = spec.choice("oov", OOV_POLICIES) if "oov" in options else None
    vectors = read_vectors(Path(path).expanduser(), cache_folder() / "vectors", limit)
    if oov == "subword" and vectors.subword is None:
        raise UsageError(f"{spec}: oov=subword needs a file with n-grams, a fastText .bin; {path} has none.")
    oov = oov or ("skip" if vectors.subword is None else "subword")
    return Pooled(vectors, Path(path).name, pool, case, oov, tokenise, component, frequency)
