"""LASER as its authors released it, versions 1 and 2: the maximum over a BiLSTM's states, for 93 languages.

    laser:PATH[?language=CODE&device=…]

PATH is the file of weights, or a folder with it: ``bilstm.93langs.2018-12-26.pt`` or ``bilstm.eparl21.2018-11-19.pt``
of version 1 (Artetxe and Schwenk 2019), or ``laser2.pt``. The subwords are in files next to it: ``93langs.fcodes`` and
``93langs.fvocab``, or ``laser2.spm``. ``language`` (en) chooses the rules of Moses for punctuation and, in version 1,
the tokeniser.

A text is prepared as the authors' code does it: characters that are not printed become spaces, punctuation is
normalised, version 1 is tokenised by Moses, then by jieba for Chinese and janome for Japanese (the authors used MeCab,
with the same dictionary), Greek is written in Latin letters, all is lower-cased and split into subwords. Moses is that
of sacremoses, where the authors used the original in Perl; a few tokens may differ. Every text ends with ``</s>``, so
that the empty one has a vector, too. The encoders of LASER 3 are Transformers of fairseq whose files hold pickled
objects; they are not read.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from sentprobe.corpus.languages import code_of
from sentprobe.corpus.tokenisers import MOSES, SEGMENTERS, Tokeniser, tokeniser, tokeniser_package
from sentprobe.encoders.hub import find_device, import_optional
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.errors import EncoderError, UsageError
from sentprobe.lab.networks.inference import Floats
from sentprobe.lab.schemes._fast_bpe import read_fast_bpe
from sentprobe.lab.schemes._released import (
    EXTRA,
    MaxOverStates,
    PublishedFile,
    content_of,
    path_of,
    read_tensors,
    require_files,
)

named_file = attrgetter("file")
OPTIONS = {
    "language": "the code of the language, for punctuation and tokenisation (default en)",
    "device": "cuda if available (default), else cpu; or cuda:1, mps, …",
}
"""What may follow the question mark."""
END, UNKNOWN = "</s>", "<unk>"
NUMBERS = {"<s>": 0, "<pad>": 1, END: 2, UNKNOWN: 3}
"""Tokens whose numbers are fixed, whatever the dictionary says."""
QUOTES = {"‘": '"', "‚": '"'}
"""What LASER changes in sacremoses' rules of punctuation, to have those of Moses 4.0."""
VERSION_1, VERSION_2 = "https://dl.fbaipublicfiles.com/laser/models", "https://dl.fbaipublicfiles.com/nllb/laser"


class LaserModel(NamedTuple):
    """A released encoder, and the files that its subwords come from."""

    weights: str
    subwords: tuple[str, ...]
    address: str


MODELS = (
    LaserModel("laser2.pt", ("laser2.spm",), VERSION_2),
    LaserModel("bilstm.93langs.2018-12-26.pt", ("93langs.fcodes", "93langs.fvocab"), VERSION_1),
    LaserModel("bilstm.eparl21.2018-11-19.pt", ("eparl21.fcodes", "eparl21.fvocab"), VERSION_1),
)
FILES = tuple(
    PublishedFile(name, f"{model.address}/{name}", "weights" if name == model.weights else "subwords")
    for model in MODELS
    for name in (model.weights, *model.subwords)
)


def load(spec: Spec) -> MaxOverStates:
    """The encoder that ``laser:…`` names."""
    options = spec.check_options(OPTIONS)
    weights, subword_files = _files(spec)
    language = code_of(options.get("language", "en"))
    if not language:
        raise UsageError(f"{spec} has language={options['language']}; expected a code such as en or fr.")
    split, packages = _preparation(spec, subword_files, language)
    content = content_of(weights, *subword_files)
    state = read_tensors(spec, weights)
    if not (isinstance(state, dict) and {"params", "model", "dictionary"} <= set(state)):
        raise EncoderError(
            f"{spec}: {weights} is not an encoder of LASER 1 or 2: expected params, model and dictionary, got "
            f"{', '.join(map(str, state))[:80] if isinstance(state, dict) else type(state).__name__}."
        )
    from sentprobe.lab.networks.inference_torch import bilstm_max

    network = bilstm_max(str(weights), state["model"], "lstm.", find_device(spec, options.get("device")))
    table, numbers = _dictionary(spec, weights, state, network.width)

    def look_up(tokens: Sequence[str]) -> Floats:
        return table[np.array([numbers.get(token, NUMBERS[UNKNOWN]) for token in tokens], np.int64)]

    identity = Identity.of("laser", weights.name, content=content, language=language, packages=packages)
    return MaxOverStates(identity, network, split, look_up, end=(END,))


def _files(spec: Spec) -> tuple[Path, list[Path]]:
    """The file of weights, and those of the subwords."""
    path = path_of(spec, FILES)
    if path.is_dir():
        models = [model for model in MODELS if (path / model.weights).is_file()]
        if len(models) > 1:
            raise UsageError(f"{spec}: {path} has {' and '.join(m.weights for m in models)}; name one of them.")
        require_files(spec, [path / models[0].weights if models else path / MODELS[0].weights], FILES)
        path /= models[0].weights
    names = next((model.subwords for model in MODELS if model.weights == path.name), None)
    if names is None:
        stem = path.name.removesuffix(".pt")
        pieces = path.with_name(f"{stem}.spm").is_file()
        names = (f"{stem}.spm",) if pieces else (f"{stem}.fcodes", f"{stem}.fvocab")
    subword_files = [path.with_name(name) for name in names]
    require_files(spec, subword_files, FILES)
    return path, subword_files


def _preparation(spec: Spec, files: Sequence[Path], language: str) -> tuple[Callable[[str], list[str]], str]:
    """From a text to its subwords; and the packages that do it, with their versions."""
    normalise, moses = _punctuation(language), tokeniser(f"{MOSES}-{language}")
    packages = str(tokeniser_package(f"{MOSES}-{language}"))
    if len(files) == 1:
        module: Any = import_optional("sentencepiece", "laser: needs", EXTRA)
        try:
            pieces: Any = module.SentencePieceProcessor(model_file=str(files[0]))
        except (OSError, RuntimeError, ValueError) as why:
            raise EncoderError(f"{spec}: {files[0]} is not a model of SentencePiece: {why}.") from None
        packages += f", sentencepiece {module.__version__}"
        return lambda text: " ".join(pieces.encode(normalise(text).lower(), out_type=str)).split(), packages
    bpe = read_fast_bpe(*files)
    segment: Tokeniser | None = None
    romanise: Callable[[str], str] = str
    if language in ("zh", "ja"):
        segment = tokeniser(SEGMENTERS[language])
        packages += f", {tokeniser_package(SEGMENTERS[language])}"
    elif language == "el":
        module = import_optional("transliterate", "laser: needs for Greek", EXTRA)
        romanise = partial(module.translit, language_code="el", reversed=True)
        packages += f", transliterate {module.__version__}"

    def split(text: str) -> list[str]:
        line = " ".join(moses(normalise(text)))
        if segment is not None:
            line = " ".join(segment(line))
        return bpe(" ".join(romanise(line).lower().split()))

    return split, packages


def _punctuation(language: str) -> Callable[[str], str]:
    """Moses' normalisation of punctuation, of texts whose characters are printed."""
    normaliser: Any = import_optional("sacremoses", "laser: needs", EXTRA).MosesPunctNormalizer(
        language, perl_parity=True
    )
    normaliser.substitutions = [(pattern, QUOTES.get(pattern, by)) for pattern, by in normaliser.substitutions]

    def normalise(text: str) -> str:
        printed = "".join(c if not unicodedata.category(c).startswith("C") else " " for c in text)
        return str(normaliser.normalize(printed))

    return normalise


def _dictionary(spec: Spec, path: Path, state: Mapping[str, Any], width: int) -> tuple[Floats, dict[str, int]]:
    """The vectors of tokens (n, width), and the number of each token."""
    table, numbers = state["model"].get("embed_tokens.weight"), state["dictionary"]
    is_dictionary = isinstance(numbers, dict) and all(
        isinstance(k, str) and isinstance(v, int) for k, v in numbers.items()
    )
    if not is_dictionary or table is None or tuple(table.shape[1:]) != (width,):
        raise EncoderError(f"{spec}: {path} has no dictionary, or no vectors of {width} numbers for its tokens.")
    vectors: Floats = np.array(table.float().numpy())
    merged = {**numbers, **NUMBERS}
    if (highest := max(merged.values())) >= len(vectors) or min(merged.values()) < 0:
        raise EncoderError(f"{spec}: {path} has {len(vectors)} vectors, and a token with the number {highest}.")
    return vectors, merged
