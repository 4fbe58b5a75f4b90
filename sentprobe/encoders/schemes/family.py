"""One encoder in several languages: for each language its own, such as an English one and its copies.

    family:FILE.toml[?random=SEED]

The file has a line for each language, with an encoder as it is typed elsewhere:

    en = "trained:en"
    fr = "trained:fr"

`sentprobe run` encodes the sentences of a set with the member of their language, which the manifest of the set or
``--as-language`` states. With ``random=SEED`` every member is untrained.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from operator import attrgetter
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sentprobe.core.arguments import as_texts
from sentprobe.corpus.languages import code_of
from sentprobe.encoders.encoder import encoder_info, short_repr
from sentprobe.encoders.identity import Identity, Spec
from sentprobe.encoders.scheme import SCHEMES
from sentprobe.encoders.scheme import load as load_encoder
from sentprobe.errors import DataError, EncoderError, UsageError

RUNS_CODE = SENDS_TEXTS = True
"""What a member does is not known before the file is read."""
named_file = attrgetter("file")
OPTIONS = {"random": "a seed, 0 or more: every member is untrained"}
"""What may follow the question mark."""
MARK = "\t"
"""Between the language and the text."""


@dataclass(frozen=True, eq=False, repr=False)
class Family:
    """Encoders by language, which are called with texts that say theirs, as ``in_language`` makes them."""

    name: str
    members: Mapping[str, Callable[[Sequence[str]], Any]]
    identity: Identity | None
    layers: tuple[str, ...] | None

    def __repr__(self) -> str:
        return short_repr(self, f"family:{self.name}", ", ".join(self.members))

    def language(self, code: str | None) -> str:
        """The language of the member for a language code: ``pt`` for ``pt-BR``. UsageError if there is none."""
        for language in (code or "", code_of(code)):
            if language in self.members:
                return language
        have = f"{self.name} has members for {', '.join(self.members)}"
        if not code:
            raise UsageError(f"The language of the set is not known, and {have}: name it with --as-language.")
        raise UsageError(f"There is no member for the language {code}: {have}. Add one, or leave the set out.")

    def in_language(self, texts: Sequence[str], code: str | None) -> list[str]:
        """Texts with their language before them."""
        mark = self.language(code) + MARK
        return [mark + text for text in texts]

    def __call__(self, texts: Sequence[str], /) -> NDArray[Any]:
        """The vectors (n, d), or (layers, n, d), of texts with their language before them."""
        vectors: NDArray[Any] = self._by_language(as_texts(texts), lambda member: member)
        return vectors

    @property
    def words(self) -> Callable[[Sequence[str]], NDArray[Any]] | None:
        """The members' own vectors of words with their language before them, if all members have such."""
        if not all(callable(getattr(member, "words", None)) for member in self.members.values()):
            return None
        return lambda words: self._by_language(as_texts(words), lambda member: member.words)

    def cost(self, texts: Sequence[str], /) -> list[int]:
        """What each text takes, by the measure of its member, or its length."""
        costs = self._by_language(as_texts(texts), lambda member: encoder_info(member).cost or partial(map, len), list)
        return [int(cost) for cost in costs]

    def _by_language(
        self, texts: Sequence[str], pick: Callable[[Any], Any], convert: Callable[[Any], Any] = np.asarray
    ) -> Any:
        indices: dict[str, list[int]] = {}
        for i, text in enumerate(texts):
            language, mark, _ = text.partition(MARK)
            if not mark or language not in self.members:
                raise UsageError(
                    f"{self.name} encodes texts of known languages only, as `sentprobe run` gives it: name the member "
                    "itself, such as trained:fr."
                )
            indices.setdefault(language, []).append(i)
        parts = {
            language: np.asarray(convert(pick(self.members[language])([without_language(texts[i]) for i in members])))
            for language, members in indices.items()
        }
        if len({(part.ndim, part.shape[:-2], part.shape[-1:] if part.ndim > 1 else ()) for part in parts.values()}) > 1:
            sizes = ", ".join(f"{language} {part.shape[-1]}" for language, part in parts.items())
            raise EncoderError(f"The members of {self.name} differ in the dimensions of a vector: {sizes}.")
        whole = np.concatenate(list(parts.values()), axis=-2 if next(iter(parts.values())).ndim > 1 else 0)
        order = np.argsort([i for members in indices.values() for i in members])
        return np.take(whole, order, axis=-2 if whole.ndim > 1 else 0)


def without_language(text: str) -> str:
    """A text without the language before it."""
    return text.partition(MARK)[2]


def load(spec: Spec) -> Family:
    """The family that ``family:FILE.toml`` names."""
    spec.check_options(OPTIONS)
    path = Path(spec.path).expanduser()
    loaded = {language: load_encoder(name) for language, name in _names(spec).items()}
    about = {language: encoder_info(member) for language, member in loaded.items()}
    if len({info.layers for info in about.values()}) > 1:
        have = "; ".join(f"{language} {', '.join(info.layers) or 'none'}" for language, info in about.items())
        raise UsageError(f"The members of {path} differ in their layers: {have}. Choose the same, such as layer=1.")
    identity = None
    if all(info.identity is not None for info in about.values()):
        identity = Identity.of(
            "family", path.stem, **{language: str(info.identity) for language, info in about.items()}
        )
    return Family(path.name, loaded, identity, next(iter(about.values())).layers or None)


def members(spec: Spec) -> list[str]:
    """The names of its encoders."""
    return list(_names(spec).values())


def _names(spec: Spec) -> dict[str, str]:
    """The encoders by language, untrained if that is requested."""
    seed = spec.integer("random", low=0)
    return {language: _name(name, seed) for language, name in _read(Path(spec.path).expanduser()).items()}


def _read(path: Path) -> dict[str, str]:
    """The encoders of a file by language."""
    return read_encoders(path, "fr", "a language code", not_in=("family", "seeds"))


def read_encoders(path: Path, example: str, key_kind: str, not_in: Collection[str]) -> dict[str, str]:
    """The encoders that a TOML file lists, by key; ``not_in`` are schemes of encoders that cannot be in one."""
    line = f'{example} = "trained:{example}"'
    try:
        content = tomllib.loads(path.read_text("utf-8"))
    except OSError as e:
        raise DataError(f"{path} cannot be read: {e.strerror}. Expected a file with lines such as {line}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as e:
        raise DataError(f"{path}: {e}; expected lines such as {line}.") from None
    for key, name in content.items():
        if not isinstance(name, str) or not key.replace("-", "").isalnum():
            raise DataError(f"{path} has {key} = {name!r}; expected {key_kind} and an encoder, in quotes.")
        if (scheme := Spec.parse(name).scheme) in not_in:
            raise DataError(f"{path} has {key} = {name!r}; expected a single encoder, and not one of {scheme}:.")
    if not content:
        raise DataError(f"{path} names no encoder; expected lines such as {line}.")
    return content


def _name(name: str, seed: int | None) -> str:
    """The name of a member, or of its untrained counterpart."""
    if seed is None:
        return name
    spec = Spec.parse(name)
    replaced = SCHEMES.get(spec.scheme).replaced_by_random
    options = [(key, value) for key, value in spec.options if key not in (*replaced, "random")]
    return str(Spec(spec.scheme, spec.name, spec.revision, (*options, ("random", str(seed)))))
