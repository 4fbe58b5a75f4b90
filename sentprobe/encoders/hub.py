"""Where the models of ``hf:`` and ``st:`` are, in a folder or on the hub; which of their files are read; and by what.

A folder is identified by the content of its files, a model on the hub by its commit: whatever may change a vector is in
the revision of a ``ModelLocation``.
"""

from __future__ import annotations

import glob
import hashlib
import importlib
import importlib.util
import logging
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from sentprobe.core.folders import check_model_files
from sentprobe.core.hashing import b2sum
from sentprobe.core.install import pip_install
from sentprobe.core.network import call_within
from sentprobe.core.third_party import summarise_error
from sentprobe.encoders.identity import HUB_NAME, Spec
from sentprobe.errors import EncoderError, NotInstalled, Offline, UsageError

MODEL_DTYPES = ("float32", "float16", "bfloat16")
HUB_TIMEOUT_SECONDS = 5.0
"""How long the model hub may take to answer, in all, before it counts as unreachable."""

REMOTE_CODE = "transformers_modules."
"""The package in which transformers runs the code that comes with models."""
WEIGHTS = re.compile(r"(?:pytorch_)?model(?:-\d+-of-\d+)?\.(safetensors|bin)")
_UNREAD = re.compile(
    r".*\.(bin|ckpt|gguf|gif|gz|h5|jpg|md|msgpack|npz|onnx|ot|pb|pdf|pkl|png|pth?|py|safetensors|svg|tflite|xml|zip)"
)
_UNREAD_FOLDERS = re.compile(r"\..*|checkpoint.*|onnx|openvino|original|runs|__pycache__")


def import_optional(package: str, needed_by: str = "hf: and st: need", extra: str = "transformers") -> Any:
    """Import an optional package, of an extra of sentprobe."""
    try:
        return importlib.import_module(package)
    except ImportError as why:
        raise NotInstalled(
            f"{needed_by} {package}, which cannot be imported ({summarise_error(why)}): {pip_install(extra)}"
        ) from why


def require(*packages: str) -> None:
    """NotInstalled if a package is missing; none is imported, which would take seconds before a model is missing."""
    for package in packages:
        if importlib.util.find_spec(package) is None:
            import_optional(package)  # which says what to do


def find_device(spec: Spec, name: str | None) -> Any:
    """The device of this name, tried out; the default is cuda if there is one, otherwise cpu."""
    torch = import_optional("torch")
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).cpu()
    except Exception as why:
        raise UsageError(f"{spec} has device={name}, which cannot be used here: {summarise_error(why)}.") from why
    return device


def trusts_code(spec: Spec) -> bool:
    """Whether the user has said that the code that comes with a model may be run."""
    return spec.choice("trust_remote_code", ("false", "true")) == "true"


def code_digest(*objects: Any) -> str | None:
    """A hash of the code that came with a model, of which these are objects; None if all are of installed packages."""
    names = {type(each_object).__module__ for each_object in objects}
    modules = [sys.modules[name] for name in sorted(names) if name.startswith(REMOTE_CODE)]
    files = {path for module in modules for path in Path(str(module.__file__)).parent.glob("*.py")}
    if not files:
        return None
    total = hashlib.blake2b(digest_size=16)
    for name, content in sorted((path.name, b2sum(path)) for path in files):
        total.update(f"{name}\0{content}\n".encode())
    return f"blake2b:{total.hexdigest()}"


@contextmanager
def loading(spec: Spec) -> Iterator[None]:
    """Load something without progress bars and log messages; whatever fails is an EncoderError."""
    # submodules by their full names: a package may load them only when they are imported by name
    bars, utils = import_optional("transformers.utils.logging"), import_optional("huggingface_hub.utils")
    # where the environment decides about progress bars, nothing else can
    mute = (
        bars.is_progress_bar_enabled()
        and import_optional("huggingface_hub.constants").HF_HUB_DISABLE_PROGRESS_BARS is None
    )
    muted = utils.are_progress_bars_disabled()
    loggers = [logging.getLogger(name) for name in ("transformers", "sentence_transformers", "huggingface_hub")]
    levels = [logger.level for logger in loggers]
    try:
        if mute:
            bars.disable_progress_bar()
        for logger in loggers:
            logger.setLevel(logging.ERROR)
        yield
    except Exception as why:
        if "trust_remote_code" in str(why):
            raise EncoderError(
                f"{spec} comes with code of its own, which sentprobe does not run unless you add "
                "trust_remote_code=true; read that code first."
            ) from why
        raise EncoderError(f"{spec} cannot be loaded: {summarise_error(why)}.") from why
    finally:
        for logger, level in zip(loggers, levels, strict=True):
            logger.setLevel(level)
        if mute:
            bars.enable_progress_bar()
            if muted:
                utils.disable_progress_bars()


class ModelLocation(NamedTuple):
    """Where a model is."""

    folder: Path
    name: str
    revision: str
    """The commit, or ``blake2b:`` and a hash of all files that may affect vectors."""
    stamp: tuple[tuple[str, int, int, int], ...]
    """Names, sizes and times of these files before they were hashed."""


def check_unchanged(spec: Spec, location: ModelLocation) -> None:
    """Reject a model whose files changed between the hash and the end of loading: it is not the one that was hashed."""
    if _stamp(spec, location.folder) != location.stamp:
        raise EncoderError(f"{spec} changed while it was loaded. Run the same command again.")


def _stamp(spec: Spec, folder: Path) -> tuple[tuple[str, int, int, int], ...]:
    try:
        files = [(p.relative_to(folder).as_posix(), p.stat()) for p in sorted(folder.rglob("*")) if p.is_file()]
    except OSError as why:
        raise EncoderError(f"{spec} cannot be read: {summarise_error(why)}.") from why
    return tuple((name, of.st_size, of.st_mtime_ns, of.st_ctime_ns) for name, of in files if may_affect_vectors(name))


def locate(
    spec: Spec, marker: str, other_marker: str = "", *, recursive: bool = False, owner: str = ""
) -> ModelLocation:
    """The folder of a model: the one that was named, or the hub's, downloaded if need be.

    ``marker`` is a file that it must have, unless it has ``other_marker``; ``recursive`` includes subfolders; ``owner``
    is put before hub names without one.
    """
    folder, name = Path(spec.name).expanduser(), spec.name
    if name and folder.is_dir():
        if spec.revision is not None:
            raise UsageError(
                f"{spec} is a folder, which has no revisions; write %40 for an @ that is part of its name."
            )
        if not any((folder / name).is_file() for name in (marker, other_marker) if name):
            raise EncoderError(f"{spec} is not a model folder: expected {marker} in it, got {list_contents(folder)}.")
        return local_model(spec, folder, recursive=recursive)
    if not HUB_NAME.fullmatch(name) or folder.exists():
        raise UsageError(f"{spec} names neither an existing folder nor a model on the hub (owner/name).")
    name = name if "/" in name else owner + name
    with _supported_client(spec, name):
        folder = _from_hub(spec, name, tuple(filter(None, (marker, other_marker))), recursive=recursive)
    stamp = _stamp(spec, folder)
    _check_blobs(spec, folder, recursive=recursive)
    return ModelLocation(folder, name, folder.name, stamp)


def local_model(spec: Spec, folder: Path, *, recursive: bool) -> ModelLocation:
    """A folder as a model, whose revision is the content of its files."""
    stamp = _stamp(spec, folder)
    inside = (p.relative_to(folder).as_posix() for p in folder.glob("**/*" if recursive else "*") if p.is_file())
    total = hashlib.blake2b(digest_size=16)
    try:
        digests = {path: b2sum(folder / path) for path in sorted(filter(may_affect_vectors, inside))}
    except OSError as why:
        raise EncoderError(f"{spec} cannot be read: {summarise_error(why)}.") from why
    check_model_files(folder, digests)
    for path, content in digests.items():
        total.update(f"{path}\0{content}\n".encode())
    return ModelLocation(folder, folder.resolve().name, f"blake2b:{total.hexdigest()}", stamp)


def may_affect_vectors(path: str) -> bool:
    """Whether a file of a local folder may change a vector: all but hidden files, pictures and documents."""
    *folders, name = path.split("/")
    hidden = any(part.startswith(".") or part == "__pycache__" for part in (*folders, name))
    return not hidden and not re.fullmatch(r".*\.(gif|jpe?g|md|pdf|png|svg)", name)


def loadable_files(paths: Iterable[str], *, recursive: bool, code: bool = False) -> list[str]:
    """The files that loading a model may read, sorted; pickled weights only where there are no others.

    Code only if it is trusted.
    """
    weights_kind: dict[str, str] = {}
    for path in sorted(paths):
        *folders, name = path.split("/")
        weights = WEIGHTS.fullmatch(name)
        if name.startswith(".") or (folders and not recursive) or any(map(_UNREAD_FOLDERS.fullmatch, folders)):
            continue
        if weights or not _UNREAD.fullmatch(name) or (code and name.endswith(".py")):
            weights_kind[path] = weights[1] if weights else ""
    safe = {path.rpartition("/")[0] for path, kind in weights_kind.items() if kind == "safetensors"}
    return [path for path, kind in weights_kind.items() if kind != "bin" or path.rpartition("/")[0] not in safe]


def check_vocabulary(spec: Spec, tokenizer: Any, folder: Path) -> None:
    """Reject a folder without a vocabulary, from which transformers makes a tokenizer that knows no words."""
    names = set(tokenizer.vocab_files_names.values())  # none for tokenizers of bytes
    if names and not any([*folder.rglob(name)] for name in (*names, "tekken.json")):
        raise EncoderError(
            f"{spec} has no tokenizer: expected {' or '.join(sorted(names))}, got {list_contents(folder)}."
        )


@contextmanager
def _supported_client(spec: Spec, name: str) -> Iterator[None]:
    """Name the version of the hub's client if it lacks something that is used here."""
    try:
        yield
    except (AttributeError, TypeError) as why:
        raise EncoderError(
            f"{spec}: huggingface_hub {import_optional('huggingface_hub').__version__} is not a supported version "
            f"({summarise_error(why)}): {pip_install('transformers')}, or `hf download {name} --local-dir "
            f"FOLDER` and use {spec.scheme}:FOLDER."
        ) from why


def _check_blobs(spec: Spec, folder: Path, *, recursive: bool) -> None:
    """Reject files of the hub's cache whose content does not match their names, where these are hashes.

    The cache keeps a file under its hash, SHA-256 of large ones and git's SHA-1 of others, and links to it. A model on
    the hub is identified by its commit, so a file that was damaged since would give wrong vectors under the right name.
    """
    inside = (
        path.relative_to(folder).as_posix() for path in folder.glob("**/*" if recursive else "*") if path.is_symlink()
    )
    for name in loadable_files(inside, recursive=recursive, code=trusts_code(spec)):
        blob = (folder / name).resolve()
        if blob.parent.name != "blobs" or not re.fullmatch("[0-9a-f]{40}|[0-9a-f]{64}", blob.name):
            continue
        try:
            fits = blob.name in _hashes(blob, large=len(blob.name) == 64)
        except OSError as why:
            raise EncoderError(f"{spec} cannot be read: {summarise_error(why)}.") from why
        if not fits:
            raise EncoderError(
                f"{spec}: {name} in the local cache is damaged: its content does not match its hash. Delete "
                f"{folder / name} and {blob}, and run the same command again with a network connection."
            )


def _hashes(path: Path, *, large: bool) -> set[str]:
    """SHA-256 of a large file; of another SHA-1 as git computes it, or over the content alone, as some mirrors do."""
    with path.open("rb") as file:
        if large:
            return {hashlib.file_digest(file, "sha256").hexdigest()}
        content = file.read()
    heads = (b"blob %d\0" % len(content), b"")
    return {hashlib.sha1(head + content, usedforsecurity=False).hexdigest() for head in heads}


def _from_hub(spec: Spec, name: str, markers: tuple[str, ...], *, recursive: bool) -> Path:
    """The folder of the hub's model in the local cache; if the hub does not answer, what is in the cache."""
    hub, errors = import_optional("huggingface_hub"), import_optional("huggingface_hub.errors")
    constants, why = import_optional("huggingface_hub.constants"), "HF_HUB_OFFLINE is set"
    try:
        import_optional("huggingface_hub.utils").validate_repo_id(name)
    except errors.HFValidationError as error:
        raise UsageError(
            f"{spec} names neither an existing folder nor a model on the hub: {summarise_error(error)}."
        ) from error
    if not constants.HF_HUB_OFFLINE:
        try:
            info = call_within(
                HUB_TIMEOUT_SECONDS,
                partial(hub.HfApi().model_info, name, revision=spec.revision, timeout=HUB_TIMEOUT_SECONDS),
            )
            siblings = [file.rfilename for file in info.siblings]
            files = loadable_files(siblings, recursive=recursive, code=trusts_code(spec))
            if not set(markers) & set(files):
                raise EncoderError(f"{spec} is not such a model: {name} on the hub has no {markers[0]}.")
            # its card says which languages it was made for
            patterns = [*(glob.escape(path) for path in files), "README.md"]
            # by the name that was given, so that it is found again without the hub
            return Path(
                hub.snapshot_download(
                    name, revision=spec.revision, allow_patterns=patterns, etag_timeout=HUB_TIMEOUT_SECONDS
                )
            )
        except (EncoderError, AttributeError, TypeError):  # the last two are not the hub's: see `_supported_client`
            raise
        except errors.GatedRepoError as error:
            address = f"{constants.ENDPOINT}/{name}"
            raise EncoderError(f"{spec} is gated: request access at {address}, then `hf auth login`.") from error
        except errors.RevisionNotFoundError as error:
            raise UsageError(f"{spec}: {name} has no revision {spec.revision}.") from error
        except errors.RepositoryNotFoundError as error:
            raise UsageError(
                f"{spec}: there is no folder {spec.name} here and no model {name} on the hub; "
                "if it is private, `hf auth login` first."
            ) from error
        except Exception as error:  # of whatever HTTP library the hub's client uses
            why = summarise_error(error)
    cached = next(
        (
            path
            for marker in markers
            if isinstance(path := hub.try_to_load_from_cache(name, marker, revision=spec.revision), str)
        ),
        None,
    )
    if cached is None:
        at = f" --revision {spec.revision}" if spec.revision else ""
        raise Offline(
            f"{spec}: the model hub cannot be reached ({why}) and {name} is not in the local cache. Where there is "
            f"a network, `hf download {name}{at} --local-dir FOLDER`; then use {spec.scheme}:FOLDER."
        )
    return Path(cached).parent


def list_contents(folder: Path) -> str:
    """The first few names in a folder."""
    names = sorted(path.name for path in folder.iterdir())
    return ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "") or "nothing"
