"""Schemes of encoders: a kind of part, each in a module of ``encoders/schemes`` or offered by an installed package.

A scheme is one module with a function ``load`` from a Spec to an encoder. Its docstring begins with a one-line summary,
and shows how to write the encoder; ``OPTIONS``, if it is there, has its options by name. In other packages, an entry
point of the group ``sentprobe.encoders`` names the scheme, and the module or its ``load``:

    [project.entry-points."sentprobe.encoders"]
    mine = "my_package.my_scheme"

A name may stand for several encoders, such as all checkpoints of one: ``expand``, a function from a Spec to a list of
names, says which. ``REPLACED_BY_RANDOM`` has the options that choose weights, and mean nothing for random ones. Of a
built-in scheme, ``named_file``, a function from a Spec to the path of a file or folder, or None, says what must be
there, and ``members``, a function from a Spec to the names of other encoders, which of them it consists of, so that a
run can be refused before it begins. ``trainings``, a function from a Spec to names by title, says which encoders are
trainings of the one that was named (``encoders/recipes.py``). ``TITLES`` has what encoders are called in words, by the
name after the colon.

A built-in scheme whose encoders are loaded in no time, as those of a server are, says ``LOADS_AT_ONCE = True``: what it
lacks, such as a key, is then said before anything is computed.

Built-in schemes that run code named by the spec say ``RUNS_CODE = True``, and those that send texts to a server say
``SENDS_TEXTS = True``. A scheme of another package may do either, so it is always treated as if it did both.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

from sentprobe.core.arguments import did_you_mean
from sentprobe.core.plugins import Kind, PartSource
from sentprobe.core.third_party import third_party_code
from sentprobe.encoders.encoder import Encoder
from sentprobe.encoders.identity import SCHEME_NAME, Spec
from sentprobe.errors import EncoderError, SentProbeError, UsageError, describe_error

USUAL_NAMES = {
    **dict.fromkeys(("huggingface", "transformers"), "hf"),
    **dict.fromkeys(("sbert", "sentence-transformers", "sentencetransformers"), "st"),
    **dict.fromkeys(("word2vec", "glove", "gensim"), "vec"),
}
"""What users call schemes that have another name here."""
NEEDS_PATH = frozenset({"fasttext", "infersent", "npy", "sent2vec", "skipthought", "trained", "vec"})
"""Schemes of which every name has a path, so that a lone scheme is refused before anything is computed."""


@dataclass(frozen=True, slots=True)
class Scheme:
    """A way to name and load encoders."""

    name: str
    load: Callable[[Spec], Encoder]
    summary: str
    """One line."""
    options: tuple[str, ...]
    """The options after the question mark, if the scheme lists them."""
    package: str
    """The package that it comes with; empty for a built-in one."""
    expand: Callable[[Spec], Sequence[str]] | None = None
    """The names that a name stands for, for a scheme whose names may stand for several encoders."""
    replaced_by_random: tuple[str, ...] = ()
    """The options that an untrained copy does not have."""
    named_file: Callable[[Spec], Path | None] | None = None
    """The file or folder that a name stands for, for a scheme of which that is known."""
    members: Callable[[Spec], Iterable[str]] | None = None
    """The names of the encoders that an encoder consists of, for a scheme that combines others."""
    trainings: Callable[[Spec], Mapping[str, str]] | None = None
    """The names of the trainings of an encoder by title, for a scheme that lists them."""
    runs_code: bool = False
    """Whether it runs code that a name names."""
    sends_texts: bool = False
    """Whether it sends texts to a server."""
    titles: Mapping[str, str] = field(default_factory=dict)
    """What its encoders are called in words, by their names."""
    loads_at_once: bool = False
    """Whether loading takes no time, so that it is tried before anything is computed."""


def _read(source: PartSource, content: object) -> Scheme:
    """The scheme that a file or an entry point defines, as a module or as its ``load``."""
    module = content if isinstance(content, ModuleType) else sys.modules.get(getattr(content, "__module__", None) or "")
    load = getattr(content, "load", None) if isinstance(content, ModuleType) else content
    if not callable(load):
        name = source.entry.value if source.entry else source.module
        raise UsageError(
            f"{source} cannot be used: expected {name} to be a module with a function load(spec), or that function, "
            f"got {type(content).__name__} without one."
        )
    doc = (getattr(module, "__doc__", None) or getattr(load, "__doc__", None) or "").strip()
    options = getattr(module, "OPTIONS", ())
    is_listed = isinstance(options, Collection) and not isinstance(options, str)
    expand = getattr(module, "expand", None)
    is_ours = not source.package
    return Scheme(
        source.name,
        load,
        doc.partition("\n")[0],
        tuple(map(str, options)) if is_listed else (),
        source.package,
        expand if callable(expand) else None,
        tuple(map(str, getattr(module, "REPLACED_BY_RANDOM", ()))),
        getattr(module, "named_file", None) if is_ours else None,
        getattr(module, "members", None) if is_ours else None,
        getattr(module, "trainings", None) if is_ours else None,
        not is_ours or bool(getattr(module, "RUNS_CODE", False)),
        not is_ours or bool(getattr(module, "SENDS_TEXTS", False)),
        dict(getattr(module, "TITLES", {})) if is_ours else {},
        is_ours and bool(getattr(module, "LOADS_AT_ONCE", False)),
    )


def _name_fault(name: str) -> str:
    if SCHEME_NAME.fullmatch(name):
        return ""
    return "expected a name of lower-case letters and digits that begins with a letter"


SCHEMES = Kind(
    "encoder scheme",
    "sentprobe.encoders.schemes",
    Scheme,
    "sentprobe.encoders",
    by_file=True,
    read=_read,
    name_fault=_name_fault,
)
"""All schemes, also those that other packages offer as entry points of the group ``sentprobe.encoders``."""


def check_name(text: str) -> None:
    """Raise UsageError if a text cannot name an encoder: its syntax is wrong, or its scheme is unknown.

    Nothing is loaded for it: whether there is such an encoder turns out when it is loaded.
    """
    head = text.partition("?")[0]
    if ":" not in head and (hint := did_you_mean(head, SCHEMES, n=1)):
        raise UsageError(f"{text!r} names no encoder: expected scheme:name.{hint.replace('?', ':?')}")
    spec = Spec.parse(text)
    if spec.scheme not in SCHEMES:
        if scheme := USUAL_NAMES.get(spec.scheme):
            raise UsageError(
                f"There is no encoder scheme {spec.scheme!r}. Did you mean {scheme}:{text.partition(':')[2]}?"
            )
        SCHEMES.get(spec.scheme)  # says what is meant
    if spec.scheme in NEEDS_PATH and not spec.name:
        raise UsageError(f"{text} names no file or folder; expected {spec.scheme}:PATH.")


def load(text: str) -> Encoder:
    """Load the encoder that a text names.

    Parameters
    ----------
    text : str
        ``scheme:name[@revision][?key=value&…]``, such as ``static:`` or ``hf:bert-base-uncased?layer=*``.
        ``sentprobe ls encoders`` lists the schemes.

    Returns
    -------
    Encoder
        A callable from a list of texts to an array (n, d), or (layers, n, d).

    Raises
    ------
    UsageError
        If there is no such scheme, name or option.
    EncoderError
        If the encoder cannot be loaded; Offline if it needs the network, NotInstalled if it needs a package.

    Examples
    --------
    >>> from sentprobe import load_encoder
    >>> encoder = load_encoder("static:?dim=64")
    >>> encoder
    <Static static:minilm, 64 dimensions>
    >>> encoder(["A short text.", "Another one."]).shape
    (2, 64)
    """
    if not isinstance(text, str):
        raise UsageError(f"Expected an encoder as text, scheme:name, got {text!r:.80} of type {type(text).__name__}.")
    spec = Spec.parse(text)
    scheme = SCHEMES.get(spec.scheme)
    if not scheme.package:
        try:
            return scheme.load(spec)
        except SentProbeError:
            raise
        except Exception as e:  # what it reads may be damaged in any way: the other encoders of a command go on
            raise EncoderError(f"{spec} cannot be loaded: {_describe_failure(e)}.") from e
    try:
        with third_party_code:
            encoder = scheme.load(spec)
    except (SentProbeError, KeyboardInterrupt):
        raise
    except BaseException as e:
        raise EncoderError(
            f"{spec} cannot be loaded by the scheme {scheme.name!r} of {scheme.package}: {describe_error(e)}"
        ) from e
    if not callable(encoder):
        raise EncoderError(
            f"The scheme {scheme.name!r} of {scheme.package} returned {type(encoder).__name__} for {spec}; expected a "
            "callable from a list of texts to an array."
        )
    return encoder


def _describe_failure(error: Exception) -> str:
    if isinstance(error, OSError) and error.strerror:
        return error.strerror if error.filename is None else f"{str(error.filename)[:200]}: {error.strerror}"
    return describe_error(error).rstrip(".")


def expand_names(texts: Iterable[str]) -> list[str]:
    """The names of encoders, with those that stand for several replaced by what they stand for; each once.

    A name that cannot be expanded stays as it is: loading it says what is wrong.
    """
    return list(dict.fromkeys(name for text in texts for name in _expand(text)))


def _expand(text: str) -> Sequence[str]:
    try:
        spec = Spec.parse(text)
        expand = SCHEMES.get(spec.scheme).expand
        if expand is None or not spec.options:
            return [text]
        with third_party_code:
            names = [str(name) for name in expand(spec)]
    except KeyboardInterrupt:
        raise
    except BaseException:  # perhaps another package's
        return [text]
    return names if names and names != [str(spec)] else [text]


def sends_texts(text: str) -> bool:
    """Whether an encoder may send texts to a server: one of another package may, for all we know."""
    scheme = text.partition(":")[0]
    return scheme in SCHEMES and (_is_installed(scheme) or SCHEMES[scheme].sends_texts)


def refuse_untrusted(text: str, trusted: Collection[str], *, remote: bool = False) -> None:
    """Raise UsageError if an encoder may run code, or with ``remote`` send texts, and is not one of ``trusted``.

    For names that come with a run or a signature, which somebody else may have written: what a built-in scheme does
    with a name is known, what one of another package does with it is not.
    """
    scheme = text.partition(":")[0]
    if text in trusted or scheme not in SCHEMES:
        return
    if _is_installed(scheme):
        what = f"is loaded by {SCHEMES.sources()[scheme].package}, which may run code or send texts"
    elif SCHEMES[scheme].runs_code:
        what = "is a program"
    elif dict(Spec.parse(text).options).get("trust_remote_code", "false") != "false":
        what = "runs the code that comes with the model"
    elif remote and SCHEMES[scheme].sends_texts:
        what = "sends texts to a server"
    else:
        return
    raise UsageError(
        f"{text} {what}, and is named by a file or text that may come from somebody else. To use it, name it "
        f"yourself: --trust '{text}'."
    )


def _is_installed(scheme: str) -> bool:
    """Whether a scheme is another package's, which is not loaded to find out what it does."""
    return bool(SCHEMES.sources()[scheme].package)
