"""Sentence vectors of a fastText model, as its ``get_sentence_vector`` computes them.

    fasttext:MODEL.bin[?limit=…]

The mean of the vectors of the words between spaces, each scaled to length 1 and, if need be, made of its n-grams: it is
``vec:MODEL.bin?pool=unit&case=as-is``, whose other options pool in other ways. Of a classifier fastText takes the mean
of words, n-grams of words and the end of the line, which is not supported.
"""

from __future__ import annotations

from dataclasses import replace
from operator import attrgetter
from pathlib import Path

from sentprobe.encoders.identity import Spec
from sentprobe.encoders.schemes import vec
from sentprobe.encoders.wordvectors.fasttext import read_header
from sentprobe.errors import UsageError

named_file = attrgetter("file")
OPTIONS = {"limit": "number of words to read, from the beginning of the file (default: all); n-grams are all read"}
"""What may follow the question mark."""
CLASSIFIER = 3


def load(spec: Spec) -> vec.Pooled:
    """The encoder that a spec names."""
    spec.check_options(OPTIONS)
    path = Path(spec.path).expanduser()
    if not path.is_file():
        raise UsageError(f"{spec} names no file; expected fasttext:MODEL.bin, such as fasttext:cc.en.300.bin.")
    if read_header(str(path)).model == CLASSIFIER:
        raise UsageError(f"{spec} is a classifier, whose sentence vectors are not supported; use vec:{spec.path}.")
    return vec.load(replace(spec, scheme="vec", options=(*spec.options, ("pool", "unit"), ("case", "as-is"))))
