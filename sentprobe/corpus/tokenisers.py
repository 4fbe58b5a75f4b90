"""Tokenisers and sentence splitters by name or language.

Tokenisers are for plain text of `sentprobe make`, for `sentprobe train`, and for XNLI's tools:

    simple          at white space, with punctuation split off both ends of words
    space           at white space only
    moses-CODE      that of Moses with the rules of a language, by sacremoses; those of English where it has none
    nltk            English, by nltk's word_tokenize: sentences by Punkt, whose data nltk downloads, and their words
    treebank        the same rules for words, by nltk, without splitting into sentences, and without data
    jieba           Chinese, by jieba
    janome          Japanese, by janome
    pythainlp       Thai, by pythainlp

Sentence splitters are for text whose annotator does not split it:

    moses-CODE      that of Moses with the abbreviations of a language, by sentence-splitter; those of English where it
                    has none
    marks           after marks that end nothing but sentences: 。！？ of Chinese and Japanese, the danda of India, …
    pythainlp       Thai, by pythainlp

Those of other packages are optional, and the extra ``tokenisers`` has them.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.words import split_punctuation
from sentprobe.corpus.languages import code_of
from sentprobe.errors import NotInstalled, UsageError

Tokeniser = Callable[[str], list[str]]
Splitter = Callable[[str], list[str]]
SIMPLE, SPACE, MOSES = "simple", "space", "moses"
SEGMENTERS = {"zh": "jieba", "ja": "janome", "th": "pythainlp"}
"""Of languages that are written without spaces."""
NLTK, TREEBANK = "nltk", "treebank"
TOKENISERS = (SIMPLE, SPACE, f"{MOSES}-en", NLTK, TREEBANK, *SEGMENTERS.values())
MOSES_LANGUAGES = (
    "as", "bn", "ca", "cs", "de", "el", "en", "es", "et", "fi", "fr", "ga", "gu", "hi", "hu", "is", "it", "kn", "lt",
    "lv", "ml", "mni", "mr", "nl", "or", "pa", "pl", "pt", "ro", "ru", "sk", "sl", "sv", "ta", "tdt", "te",
)  # fmt: skip
"""Languages for which the tokeniser of Moses has rules of its own."""
MOSES_SCRIPTS = ("ja", "ko", "zh")
"""Languages whose letters sacremoses takes for punctuation unless it is told the language."""

MARKS, THAI = "marks", "pythainlp"
SPLITTERS = (f"{MOSES}-en", MARKS, THAI)
MOSES_SPLITTER_LANGUAGES = (
    "ca", "cs", "da", "de", "el", "en", "es", "fi", "fr", "hu", "is", "it", "lt", "lv", "nl", "no", "pl", "pt", "ro",
    "ru", "sk", "sl", "sv", "tr",
)  # fmt: skip
"""Languages for which the splitter of Moses has abbreviations of its own."""
MARKED_LANGUAGES = frozenset((
    "am", "as", "bn", "bo", "hi", "hy", "ja", "km", "lzh", "mr", "my", "ne", "or", "pa", "sa", "ti", "yue", "zh",
))  # fmt: skip
"""Languages whose sentences end with marks of their own."""
_SENTENCE_END = re.compile(r"[。！？｡．!?।॥።။។։༎]+[」』”’）)\]】》〉\"']*")


def check_tokeniser(name: str) -> str:
    """The name. UsageError if there is no such tokeniser; whether its package is installed is not known then."""
    return _check_name(name, TOKENISERS, "tokeniser")


def _check_name(name: str, names: Sequence[str], kind: str) -> str:
    if name in names or (name.startswith(f"{MOSES}-") and name[len(MOSES) + 1 :].isalnum()):
        return name
    raise UsageError(
        f"There is no {kind} {name!r}.{did_you_mean(name, names)} Expected one of {', '.join(names)}, or moses with "
        "another language."
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
            japanese: Any = _imported("janome.tokenizer", name).Tokenizer(wakati=True)
            return lambda text: [token for token in japanese.tokenize(text) if token.strip()]
        case _:
            thai: Any = _imported("pythainlp.tokenize", name)
            return lambda text: [token for token in thai.word_tokenize(text, keep_whitespace=False) if token.strip()]


def _moses(language: str) -> Tokeniser:
    module: Any = _imported("sacremoses", f"moses-{language}")
    moses = module.MosesTokenizer(lang=language if language in (*MOSES_LANGUAGES, *MOSES_SCRIPTS) else "en")
    return lambda text: list(moses.tokenize(text, escape=False))


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
    return _import(module, f"tokeniser {name}", module.partition(".")[0], "simple and space need nothing.")


def _import(module: str, user: str, package: str, hint: str) -> Any:
    try:
        return importlib.import_module(module)
    except ImportError:
        raise NotInstalled(f"The {user} needs {package}: pip install {package}. {hint}") from None


# Sentence splitters


def check_splitter(name: str) -> str:
    """The name. UsageError if there is no such splitter; whether its package is installed is not known then."""
    return _check_name(name, SPLITTERS, "sentence splitter")


def splitter_for(language: str | None) -> str:
    """The name of the splitter for a language."""
    code = code_of(language)
    return THAI if code == "th" else MARKS if code in MARKED_LANGUAGES else f"{MOSES}-{code or 'en'}"


@lru_cache(maxsize=32)
def splitter(name: str) -> Splitter:
    """The splitter of this name: a function from a paragraph to its sentences, in order and without changes.

    Raises
    ------
    UsageError
        If there is none of this name.
    NotInstalled
        If it is of a package that is not installed.

    Examples
    --------
    >>> splitter("marks")("你好吗？「很好。」他说。")
    ['你好吗？', '「很好。」', '他说。']
    """
    kind, _, language = check_splitter(name).partition("-")
    if kind == MARKS:
        return _after_marks
    if kind == THAI:
        thai: Any = _import_splitter("pythainlp.tokenize", name, "pythainlp")
        _import_splitter("pycrfsuite", name, "python-crfsuite")
        return lambda text: [s.strip() for s in thai.sent_tokenize(text, engine="crfcut") if s.strip()]
    code = code_of(language)
    module: Any = _import_splitter("sentence_splitter", name, "sentence-splitter")
    moses = module.SentenceSplitter(language=code if code in MOSES_SPLITTER_LANGUAGES else "en")
    return lambda text: [s.strip() for s in moses.split(text) if s.strip()]


def _import_splitter(module: str, name: str, package: str) -> Any:
    hint = "If each line is a sentence, --lines sentences needs nothing."
    return _import(module, f"sentence splitter {name}", package, hint)


def _after_marks(text: str) -> list[str]:
    ends = [m.end() for m in _SENTENCE_END.finditer(text)]
    parts = [text[a:b].strip() for a, b in zip([0, *ends], [*ends, len(text)], strict=True)]
    return [part for part in parts if part]
