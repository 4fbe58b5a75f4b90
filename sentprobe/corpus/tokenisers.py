"""Tokenisers by name or language, for plain text of `sentprobe make`, for `sentprobe train`, and for XNLI's tools.

    simple          at white space, with punctuation split off both ends of words
    space           at white space only
    moses-CODE      that of Moses with the rules of a language, by sacremoses; those of English where it has none
    nltk            English, by nltk's word_tokenize: sentences by Punkt, whose data nltk downloads, and their words
    treebank        the same rules for words, by nltk, without splitting into sentences, and without data
    jieba           Chinese, by jieba
    janome          Japanese, by janome
    pythainlp       Thai, by pythainlp

Those of other packages are optional, and the extra ``tokenisers`` has them.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.words import split_punctuation
from sentprobe.corpus.languages import code_of
from sentprobe.errors import NotInstalled, UsageError

Tokeniser = Callable[[str], list[str]]
SIMPLE, SPACE, MOSES = "simple", "space", "moses"
SEGMENTERS = {"zh": "jieba", "ja": "janome", "th": "pythainlp"}
"""Of languages that are written without spaces."""
NLTK, TREEBANK = "nltk", "treebank"
NAMES = (SIMPLE, SPACE, f"{MOSES}-en", NLTK, TREEBANK, *SEGMENTERS.values())
MOSES_LANGUAGES = (
    "as", "bn", "ca", "cs", "de", "el", "en", "es", "et", "fi", "fr", "ga", "gu", "hi", "hu", "is", "it", "kn", "lt",
    "lv", "ml", "mni", "mr", "nl", "or", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "ta", "tdt", "te",
)  # fmt: skip
"""Languages for which Moses has rules of its own."""
MOSES_SCRIPTS = ("ja", "ko", "zh")
"""Languages whose letters sacremoses takes for punctuation unless it is told the language."""


def check_tokeniser(name: str) -> str:
    """The name. UsageError if there is no such tokeniser; whether its package is installed is not known then."""
    if name in NAMES or (name.startswith(f"{MOSES}-") and name[len(MOSES) + 1 :].isalnum()):
        return name
    hint = did_you_mean(name, NAMES)
    raise UsageError(
        f"There is no tokeniser {name!r}.{hint} Expected one of {', '.join(NAMES)}, or moses with another language."
    )


def tokeniser_for(language: str | None) -> str:
    """The name of the tokeniser for a language: a segmenter where there are no spaces, else Moses."""
    code = code_of(language)
    return SEGMENTERS.get(code) or f"{MOSES}-{code or 'en'}"


@lru_cache(maxsize=32)
def tokeniser(name: str) -> Tokeniser:
    """The tokeniser of this name: a function from a text to its tokens.

    Raises
    ------
    UsageError
        If there is none of this name.
    NotInstalled
        If it is of a package that is not installed.

    Examples
    --------
    >>> tokeniser("simple")("Is it (really) so?")
    ['Is', 'it', '(', 'really', ')', 'so', '?']
    """
    kind, _, language = check_tokeniser(name).partition("-")
    match kind:
        case "simple":
            return lambda text: [token for word in text.split() for token in split_punctuation(word)]
        case "space":
            return str.split
        case "moses":
            return _moses(code_of(language))
        case "nltk":
            return _nltk()
        case "treebank":
            words: Any = _imported("nltk.tokenize", name).NLTKWordTokenizer()
            return lambda text: list(words.tokenize(text))
        case "jieba":
            segment: Any = _imported("jieba", name)
            segment.setLogLevel(60)  # it reports on standard error that it loads its dictionary
            return lambda text: [token for token in segment.lcut(text) if token.strip()]
        case "janome":
            found: Any = _imported("janome.tokenizer", name).Tokenizer(wakati=True)
            return lambda text: [token for token in found.tokenize(text) if token.strip()]
        case _:
            thai: Any = _imported("pythainlp.tokenize", name)
            return lambda text: [token for token in thai.word_tokenize(text, keep_whitespace=False) if token.strip()]


def _moses(language: str) -> Tokeniser:
    module: Any = _imported("sacremoses", f"moses-{language}")
    own = module.MosesTokenizer(lang=language if language in (*MOSES_LANGUAGES, *MOSES_SCRIPTS) else "en")
    return lambda text: list(own.tokenize(text, escape=False))


def _nltk() -> Tokeniser:
    words: Any = _imported("nltk.tokenize", NLTK).word_tokenize
    try:
        words("a")
    except LookupError:
        raise NotInstalled(
            "The tokeniser nltk splits texts into sentences by Punkt, whose data are not on this machine: "
            "python -m nltk.downloader punkt_tab. treebank has the same rules for words, and needs no data."
        ) from None
    return lambda text: list(words(text))


def tokeniser_package(name: str) -> str | None:
    """The package that a tokeniser comes from, with its version; None for our own."""
    kind = check_tokeniser(name).partition("-")[0]
    package = {MOSES: "sacremoses", TREEBANK: NLTK}.get(kind, kind)
    if package in (SIMPLE, SPACE):
        return None
    from importlib.metadata import PackageNotFoundError, version

    try:
        return f"{package} {version(package)}"
    except PackageNotFoundError:
        return package


def _imported(module: str, name: str) -> Any:
    import importlib

    try:
        return importlib.import_module(module)
    except ImportError:
        package = module.partition(".")[0]
        raise NotInstalled(
            f"The tokeniser {name} needs {package}: pip install {package}. simple and space need nothing."
        ) from None
