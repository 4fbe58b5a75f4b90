"""The encoders of a run: loaded on first use, kept in memory, and called by one thread at a time.

Some pool by maximum: of these also which words give the maxima, beside the same encoder before training.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import Any

from sentprobe.core.arguments import StringsOrPaths, as_strings
from sentprobe.core.third_party import third_party_code
from sentprobe.encoders import SCHEMES, Spec, encoder_info, load, refuse_untrusted
from sentprobe.encoders.embed import Embeddings, embed
from sentprobe.errors import EncoderError, SentProbeError, UsageError, describe_error
from sentprobe.results.records import read_info
from sentprobe.results.result import FLOAT16_FACT
from sentprobe.run.controls.untrained import untrained
from sentprobe.run.info import base_folders, resolve_encoder
from sentprobe.serve.choices import Choice

FILE_SCHEMES = ("npy", "py", "trained", "vec")
"""Schemes whose names are always files or folders."""
WordShares = list[tuple[str, float]]
"""The words of a sentence, and the share of dimensions whose maximum each gives."""
ComparedShares = list[dict[str, Any]]
"""``word``, ``share`` of the dimensions, and ``untrained``, the share without training; None if there is none."""


class Encoders:
    """The encoders that a server holds in memory.

    ``trusted``: those of the scheme ``py:`` that may be loaded; ``run``: the folder of the run, from which relative
    paths are looked for.
    """

    def __init__(self, trusted: StringsOrPaths = (), run: Path | None = None) -> None:
        self.run = run
        self.trusted = frozenset(as_strings(trusted, "an encoder"))
        self._lock = Lock()
        self._locks: dict[str, Lock] = {}
        self._loaded: dict[str, Any] = {}

    def vectors(self, name: str, identity: str | None, sentences: Sequence[str]) -> Embeddings:
        """The vectors of texts, from the same encoder as in the run: (n, d), or (layers, n, d)."""
        with self._loaded_encoder(name) as encoder:
            half = identity is not None and FLOAT16_FACT in identity
            _check(name, encoder, identity, half=half)
            return embed(encoder, sentences, half=half)

    def selection(self, name: str, sentences: Sequence[str]) -> list[WordShares] | None:
        """Per sentence, its words and the share of dimensions whose maximum each gives; None if it cannot be said."""
        with self._loaded_encoder(name) as encoder:
            select = getattr(encoder, "selection", None)
            if not callable(select):
                return None
            try:
                with third_party_code:
                    return [[(str(word), float(share)) for word, share in words] for words in select(sentences)]
            except (SentProbeError, KeyboardInterrupt):
                raise
            except BaseException as e:
                raise EncoderError(f"selection() of {name} failed: {describe_error(e)}") from e

    @contextmanager
    def _loaded_encoder(self, name: str) -> Iterator[Any]:
        """An encoder, loaded if need be, for one thread."""
        with self._lock:
            lock = self._locks.setdefault(name, Lock())
        with lock:
            if name not in self._loaded:
                self._loaded[name] = self._load(name)
            yield self._loaded[name]

    def _load(self, name: str) -> Any:
        try:
            scheme = Spec.parse(name).scheme
        except SentProbeError:
            scheme = ""
        if scheme not in SCHEMES:
            raise UsageError(
                f"{name} was passed to the run as a function, not as a name such as st:all-MiniLM-L6-v2, and cannot be "
                "loaded again."
            )
        refuse_untrusted(name, self.trusted)  # remote encoders are called only if the user selects them
        folders = [] if self.run is None else base_folders(self.run, read_info(self.run) or {})
        path = resolve_encoder(name, folders)
        try:
            encoder = load(path)
        except SentProbeError as e:
            if path != name or not folders or scheme not in FILE_SCHEMES:
                raise
            looked = ", ".join(map(str, folders))
            raise EncoderError(f"{str(e).rstrip('.')}. A relative path was looked for in {looked}.") from e
        except KeyboardInterrupt:
            raise
        except BaseException as e:
            raise EncoderError(f"{name} cannot be loaded: {describe_error(e)}") from e
        if getattr(encoder, "needs_fit", False):
            raise UsageError(f"{name} is fitted on the texts of all sets of its run, and cannot be loaded on its own.")
        return encoder


def _check(name: str, encoder: Any, identity: str | None, *, half: bool) -> None:
    """Refuse an encoder that is not the one whose vectors the probes were trained on."""
    now = encoder_info(encoder).identity
    if identity is None or now is None:
        raise EncoderError(
            f"{name} has no identity, and may not be the one of the run. Give it one, as in ?version=1, and run again."
        )
    identity_now = str(now.with_facts(kept="float16") if half else now)
    if identity_now != identity:
        raise EncoderError(
            f"{name} has changed since the run: expected {identity}, got {identity_now}. Its probes do not fit these "
            "vectors; run again in a new folder."
        )


def find_selections(
    encoders: Encoders,
    selected: Sequence[Choice],
    vectors: Mapping[str, Embeddings | None],
    sentences: Sequence[str],
    problems: list[dict[str, str]],
) -> list[tuple[dict[str, Any], list[ComparedShares]]]:
    """For each encoder that pools by maximum: what it is, and the shares of its words, sentence by sentence."""
    selections: dict[str, tuple[dict[str, Any], list[ComparedShares]]] = {}
    for choice in selected:
        name = choice.column.encoder
        if name in selections or vectors[choice.name] is None:  # several probes on one encoder; or it has failed
            continue
        try:
            trained = encoders.selection(name, sentences)
            if trained is None:
                continue
            copy = untrained(name)
            before = None if copy is None else encoders.selection(copy, sentences)
        except SentProbeError as e:
            problems.append({"encoder": choice.name, "error": str(e)})
            continue
        about = {"encoder": choice.short, "untrained": copy if before is not None else None}
        compared = [_compared(trained[i], before[i] if before else None) for i in range(len(sentences))]
        selections[name] = about, compared
    return list(selections.values())


def _compared(trained: WordShares, before: WordShares | None) -> ComparedShares:
    """The shares of a sentence's words, beside those before training if the words are the same."""
    shares: Sequence[float | None] = [None] * len(trained)
    if before is not None and [word for word, _ in before] == [word for word, _ in trained]:
        shares = [round(share, 6) for _, share in before]
    return [
        {"word": word, "share": round(share, 6), "untrained": untrained_share}
        for (word, share), untrained_share in zip(trained, shares, strict=True)
    ]
