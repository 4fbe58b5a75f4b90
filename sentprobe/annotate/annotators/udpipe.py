"""UDPipe: a model file of UDPipe 1, or a server of UDPipe 1 or 2.

    udpipe:french-sequoia-ud-2.5-191206.udpipe
    udpipe:https://lindat.mff.cuni.cz/services/udpipe/api?model=french

A file is used by ``ufal.udpipe``, on this machine. To a server, texts are sent: requests go to its ``/process``, after
one to ``/models``. Servers normalise texts (NFC), so that sentences are of the normalised text.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from sentprobe.annotate.annotator import Annotator, Loaded, Model
from sentprobe.annotate.conversion import fit
from sentprobe.annotate.http_annotator import (
    OPTIONS,
    TRIAL_TEXT,
    HttpAnnotator,
    columns_of,
    endpoint_of,
    is_address,
    read_response,
    send,
)
from sentprobe.core.arguments import did_you_mean
from sentprobe.core.files import nearest
from sentprobe.core.install import pip_install
from sentprobe.errors import AnnotatorError, NotInstalled, UsageError
from sentprobe.sentence import Sentence

FORM = "application/x-www-form-urlencoded"
RELEASED = re.compile(r"(?P<language>[a-z_]+)-[a-z0-9_]+-(?P<version>ud-[0-9.]+-[0-9]{6})(?:\.udpipe)?")
"""The name of a released model: language, treebank, version of UD and date."""
LICENCE = re.compile(r"^# udpipe_model_licence = (.+)$", re.M)
RELEASED_LICENCE = "CC BY-NC-SA 4.0"
"""That of the models that the authors of UDPipe release; a model file does not say."""
MODELS_HINT = "Models for UDPipe 1 are at https://hdl.handle.net/11234/1-3131; download one and name its file."


def load(name: str, options: Mapping[str, str]) -> Loaded:
    """Load a model file, or ask a server which models it has."""
    if is_address(name):
        return _server(name, options)
    if options:
        raise UsageError(f"udpipe:{name} has the option {next(iter(options))!r}, which is for servers: leave it out.")
    return _file(name)


def _file(name: str) -> Loaded:
    try:
        from ufal import udpipe
    except ImportError:
        raise NotInstalled(f"udpipe: with a model file needs ufal.udpipe: {pip_install('annotate')}") from None
    if not name:
        raise UsageError(f"udpipe: needs a model file, or the address of a server. {MODELS_HINT}")
    path = Path(name).expanduser()
    if not path.is_file():
        raise UsageError(f"There is no UDPipe model {name!r}{nearest(str(path)) or '.'} {MODELS_HINT}")
    loaded = udpipe.Model.load(str(path))
    if loaded is None:
        raise UsageError(f"{name} is not a model of UDPipe 1, or it is damaged: expected a .udpipe file. {MODELS_HINT}")
    annotate = _UdpipeModel(loaded, name)
    released = RELEASED.fullmatch(path.name)
    model = Model(
        name=path.name,
        version=blake2b(path.read_bytes(), digest_size=8).hexdigest(),
        software=f"UDPipe {_version(udpipe)}",
        licence=RELEASED_LICENCE if released else "",
        language=_language(released),
        universal=True,
        columns=columns_of([sentence for sentences in annotate([TRIAL_TEXT], False) for sentence in sentences]),
        splits=True,
    )
    return Loaded(model, annotate)


def _version(udpipe: Any) -> str:
    current = udpipe.Version.current()
    return f"{current.major}.{current.minor}.{current.patch}"


class _UdpipeModel:
    """A model file, applied to texts."""

    def __init__(self, model: Any, name: str) -> None:
        self._model, self._name = model, name

    def __call__(self, texts: Sequence[str], is_split: bool, /) -> Iterator[list[Sentence]]:
        """The sentences of each text."""
        from ufal import udpipe

        for text in texts:
            tokenizer = self._model.newTokenizer("presegmented" if is_split else "")
            if tokenizer is None:
                raise UsageError(f"udpipe:{self._name} has no tokenizer; expected a model that splits text into words.")
            tokenizer.setText(text)
            failure = udpipe.ProcessingError()
            sentences: list[Sentence] = []
            while True:
                sentence = udpipe.Sentence()
                if not tokenizer.nextSentence(sentence, failure):
                    break
                tagged = self._model.tag(sentence, self._model.DEFAULT, udpipe.ProcessingError())
                parsed = tagged and self._model.parse(sentence, self._model.DEFAULT, udpipe.ProcessingError())
                sentences.append(_sentence(sentence, tagged, parsed))
            if failure.occurred():
                raise AnnotatorError(f"udpipe:{self._name} failed on {text[:60]!r}: {failure.message}")
            yield fit(sentences, text)


def _sentence(sentence: Any, tagged: bool, parsed: bool) -> Sentence:
    words = list(sentence.words)[1:]  # the first is the root

    def column(name: str) -> tuple[str, ...] | None:
        values = [getattr(word, name) or "_" for word in words]
        return tuple(values) if tagged and set(values) != {"_"} else None

    return Sentence(
        id="",
        text="",
        forms=tuple([word.form for word in words]),
        lemmas=column("lemma"),
        upos=column("upostag"),
        xpos=column("xpostag"),
        feats=column("feats"),
        heads=tuple([word.head - 1 for word in words]) if parsed else None,
        deprels=tuple([word.deprel or "dep" for word in words]) if parsed else None,
        mwts=tuple([(token.idFirst - 1, token.idLast, token.form) for token in sentence.multiwordTokens]),
    )


def _server(name: str, options: Mapping[str, str]) -> Loaded:
    typed = f"udpipe:{name}"
    endpoint, batch = endpoint_of(typed, name, "/process", options)
    listing, _ = endpoint_of(typed, name.rstrip("/").removesuffix("/process"), "/models", options)
    chosen = _chosen(send(listing, b"", FORM), options.get("model"), listing.url)
    service = HttpAnnotator(endpoint, partial(_request, chosen), partial(_content, endpoint.url), batch)
    response = send(endpoint, *_request(chosen, [TRIAL_TEXT], False))
    full = str(_fields(response, endpoint.url).get("model") or chosen)
    content = _content(endpoint.url, response)
    licence = LICENCE.search(content.decode(errors="replace"))
    released = RELEASED.fullmatch(full)
    model = Model(
        name=full,
        version=released["version"] if released else "unknown",
        software=f"UDPipe on {endpoint.url}",
        licence=licence[1].strip() if licence else "",
        language=_language(released),
        universal=True,
        columns=columns_of(read_response(content, [TRIAL_TEXT], endpoint.url)[0]),
        splits=True,
        notes=(f"Texts are sent to {endpoint.url}.",),
    )
    return Loaded(model, _Normalised(service))


class _Normalised:
    """A service that is given texts as it would normalise them."""

    def __init__(self, service: HttpAnnotator) -> None:
        self._service = service

    def __call__(self, texts: Sequence[str], is_split: bool, /) -> Iterator[list[Sentence]]:
        """The sentences of each text."""
        return self._service([unicodedata.normalize("NFC", text) for text in texts], is_split)


def _chosen(response: bytes, model: str | None, url: str) -> str:
    """The model to use, of those that a server lists: a name, or the beginning of one."""
    listed = _fields(response, url)
    models, default = listed.get("models"), listed.get("default_model")
    if not isinstance(models, dict) or not all(isinstance(name, str) for name in models):
        raise AnnotatorError(f"{url} does not list models; expected a UDPipe server. Is the address right?")
    if model is None:
        if isinstance(default, str) and default:
            return default
        raise UsageError(f"{url} has no default model; add ?model=NAME, one of {', '.join(sorted(models))}.")
    if any(f"{name}-".startswith(f"{model}-") for name in models) or model == default:
        return model
    hint = did_you_mean(model, [*models, *(name.partition("-")[0] for name in models)])
    raise UsageError(f"{url} has no model {model!r}.{hint} It has {len(models)}: {', '.join(sorted(models)[:20])}.")


def _request(model: str, texts: Sequence[str], is_split: bool) -> tuple[bytes, str]:
    fields = {"model": model, "tokenizer": "presegmented" if is_split else "", "tagger": "", "parser": ""}
    return urlencode({**fields, "data": "\n\n".join(texts)}).encode(), FORM


def _fields(response: bytes, url: str) -> dict[str, Any]:
    try:
        fields = json.loads(response)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict):
        tail = " ".join(response[-200:].decode(errors="replace").split())
        raise AnnotatorError(f"{url} answered, but not with JSON that is complete; it ends with {tail!r}.")
    return fields


def _content(url: str, response: bytes) -> bytes:
    result = _fields(response, url).get("result")
    if not isinstance(result, str):
        raise AnnotatorError(f"{url} answered without a result; expected a UDPipe server. Is the address right?")
    return result.encode(errors="surrogatepass")


def _language(released: re.Match[str] | None) -> str | None:
    return None if released is None else LANGUAGES.get(released["language"])


LANGUAGES = {
    "afrikaans": "af", "ancient_greek": "grc", "arabic": "ar", "armenian": "hy", "basque": "eu", "belarusian": "be",
    "bulgarian": "bg", "catalan": "ca", "chinese": "zh", "coptic": "cop", "croatian": "hr", "czech": "cs",
    "danish": "da", "dutch": "nl", "english": "en", "estonian": "et", "finnish": "fi", "french": "fr",
    "galician": "gl", "german": "de", "gothic": "got", "greek": "el", "hebrew": "he", "hindi": "hi", "hungarian": "hu",
    "icelandic": "is", "indonesian": "id", "irish": "ga", "italian": "it", "japanese": "ja", "kazakh": "kk",
    "korean": "ko", "latin": "la", "latvian": "lv", "lithuanian": "lt", "maltese": "mt", "marathi": "mr",
    "norwegian": "no", "persian": "fa", "polish": "pl", "portuguese": "pt", "romanian": "ro", "russian": "ru",
    "scottish_gaelic": "gd", "serbian": "sr", "slovak": "sk", "slovenian": "sl", "spanish": "es", "swedish": "sv",
    "tamil": "ta", "telugu": "te", "turkish": "tr", "ukrainian": "uk", "urdu": "ur", "uyghur": "ug",
    "vietnamese": "vi", "welsh": "cy", "wolof": "wo",
}  # fmt: skip
"""Codes of the languages that released models are named after."""


annotator = Annotator(
    name="udpipe",
    summary="UDPipe: a model file of UDPipe 1, or a server of UDPipe 1 or 2, to which texts are sent.",
    load=load,
    options={"model": "for servers: which of its models, such as french (default: the server's)", **OPTIONS},
    order=30,
)
