"""What run.json records about encoders, for later commands: each key with the function that writes it and its reader.

    aliases        names that a user gives to encoders: ``MiniLM=hf:sentence-transformers/all-MiniLM-L6-v2?layer=*``
                   (``sentprobe.results.records`` reads them)
    recipes        encoders that are trainings of one recipe: ``mine=trained:run-*``
                   (``sentprobe.results.records`` reads them)
    places         the folders that commands ran in, from which relative paths lead
    unloadable     encoders that cannot be loaded again by name, and why
    sent           what was sent to servers
    training       how well encoders do what they were trained for
    diagnoses      symptoms of broken encoders
    languages      languages of sets for which encoders were not made

Of entries about the same encoder, the last one counts.
"""

from __future__ import annotations

import hashlib
import os
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from sentprobe.core.files import write_atomically
from sentprobe.data.sources import Source
from sentprobe.encoders import Spec, TrainingScore, expand_names
from sentprobe.encoders.diagnosis import REENCODING_CODES, Symptom, diagnose
from sentprobe.encoders.languages import language_problem
from sentprobe.encoders.recipes import trainings
from sentprobe.encoders.server import Server
from sentprobe.errors import DataError, RunError, SentProbeError, SentProbeWarning, UsageError
from sentprobe.probes.baselines import ALL_BASELINES
from sentprobe.results.records import INFO, Recipe, read_aliases
from sentprobe.results.run import Run

if TYPE_CHECKING:
    from sentprobe.encoders.embed import Embeddings
    from sentprobe.encoders.store import Store
    from sentprobe.results.log import Log

T = TypeVar("T")

WORKING_FOLDERS_KEY = "places"
UNLOADABLE_KEY = "unloadable"
SENT_KEY = "sent"
TRAINING_KEY = "training"
DIAGNOSES_KEY = "diagnoses"
LAYER = ", layer "
"""What joins the name of an encoder and that of one of its layers, where each is a system of its own."""
LANGUAGES_KEY = "languages"


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode(errors="backslashreplace"), digest_size=8).hexdigest()


def _read_list(folder: Path, info: Mapping[str, Any], key: str, type_: type[T]) -> list[T]:
    """The entries under a key of run.json; RunError if they are not what sentprobe writes."""
    try:
        return msgspec.convert(info.get(key, []), list[type_])  # type: ignore[valid-type]
    except msgspec.ValidationError as e:
        raise RunError(f"{folder / INFO} cannot be read: {key}: {e}. It was edited; choose a new folder.") from e


# Aliases: what tables, pages and figures show, and what selects an encoder. Results have the encoder as it is loaded,
# so that signatures, resuming and the live page do not depend on its alias.

_ALIAS = re.compile(r"([^=:?/\\|]*)=([a-z][\w-]*:.*)", re.DOTALL)
"""A scheme has no equals sign, so one before the first colon ends an alias."""


def split_aliases(encoders: Iterable[Any]) -> tuple[list[Any], dict[str, str]]:
    """Encoders without their aliases, and the alias of each that has one; what is not a string stays as it is.

    A name that stands for several encoders gives each of them its alias, with the options that tell them apart.
    """
    without_aliases: list[Any] = []
    aliases: dict[str, str] = {}
    for text in encoders:
        match = _ALIAS.fullmatch(text) if isinstance(text, str) else None
        if match is None:
            without_aliases.append(text)
            continue
        typed_alias, encoder = match[1].strip(), match[2]
        _check_alias(typed_alias, text)
        names = expand_names([encoder])
        for name in names:
            suffix = "" if len(names) == 1 else name[name.index("?") :] if "?" in name else f" {name}"
            alias = f"{typed_alias}{suffix}"
            if aliases.setdefault(name, alias) != alias:
                raise UsageError(f"{name} has two names, {aliases[name]!r} and {alias!r}; expected one.")
        without_aliases.append(encoder)
    if repeated := [alias for alias in aliases.values() if list(aliases.values()).count(alias) > 1]:
        raise UsageError(f"Two encoders are called {repeated[0]!r}; expected different names before the equals sign.")
    return without_aliases, aliases


def split_recipes(encoders: Iterable[Any]) -> tuple[list[Any], dict[str, Recipe]]:
    """Encoders with trainings in place of the recipes that stand for them, and the recipe of each training.

    A training is called as its recipe and what tells it apart.
    """
    split: list[Any] = []
    recipes: dict[str, Recipe] = {}
    for text in encoders:
        match = _ALIAS.fullmatch(text) if isinstance(text, str) else None
        typed_alias, encoder = (match[1].strip(), match[2]) if match else ("", text)
        of_recipe = trainings(encoder) if isinstance(encoder, str) else {}
        if not of_recipe:
            split.append(text)
            continue
        if match:
            _check_alias(typed_alias, text)
        add_recipe(recipes, Recipe(typed_alias or encoder.rstrip("/"), text), list(of_recipe.values()))
        split += [f"{typed_alias} {title}={name}" if match else name for title, name in of_recipe.items()]
    return split, recipes


def add_recipe(recipes: dict[str, Recipe], recipe: Recipe, encoders: Sequence[str]) -> None:
    """Add the trainings of a recipe, by encoder; UsageError if one is listed twice, or is a training of another.

    If a name stands for several encoders in turn, such as all checkpoints, those with the same options are trainings of
    one recipe.
    """
    if len(set(encoders)) < len(encoders):
        raise UsageError(f"{recipe.name}: an encoder is listed twice; expected each training once.")
    for encoder in encoders:
        names = expand_names([encoder])
        for name in names:
            options = f"?{name.partition('?')[2]}" if len(names) > 1 else ""
            of_name = recipe._replace(name=f"{recipe.name}{options}")
            if (earlier := recipes.setdefault(name, of_name)) != of_name:
                raise UsageError(f"{name} is a training of both {earlier.name} and {of_name.name}; expected one.")


def _check_alias(alias: str, text: str) -> None:
    if not alias or not alias.isprintable():
        raise UsageError(f"{text!r}: expected a name before the equals sign, as in MiniLM=st:all-MiniLM-L6-v2.")
    if alias in ALL_BASELINES:
        raise UsageError(f"{text!r}: {alias} is the name of a baseline; choose another one.")


def alias_entries(aliases: Mapping[str, str]) -> list[list[str]]:
    """Aliases as run.json has them: pairs of an alias and an encoder."""
    return [[alias, encoder] for encoder, alias in aliases.items()]


# Paths: encoders and sets were named from some folder, and the run may have been moved. A relative path is looked for
# in the folder that run.json records, in the one that is where it was as seen from the run (a run that was moved with
# what is around it), in the run itself, and in the current folder.


def working_folder_entry(run_folder: Path) -> list[str]:
    """The current folder, as run.json records it: its path, and its path relative to the run."""
    current = os.getcwd()  # noqa: PTH109 - as text
    try:
        relative = os.path.relpath(current, run_folder)
    except ValueError:  # on another drive
        relative = current
    return [path.encode(errors="backslashreplace").decode() for path in (current, relative)]


def working_folders(info: Mapping[str, Any]) -> list[str]:
    """The folders in which the commands of a run were called."""
    return [path for path, _ in info.get(WORKING_FOLDERS_KEY, ())]


def base_folders(run_folder: Path, info: Mapping[str, Any]) -> list[Path]:
    """The folders that a relative path of a run may start from, the last command's first."""
    recorded = info.get(WORKING_FOLDERS_KEY, [])[::-1]
    paths = [Path(path) for path, _ in recorded] + [run_folder / relative for _, relative in recorded]
    absolute = dict.fromkeys(Path(os.path.abspath(path)) for path in (*paths, run_folder, Path.cwd()))  # noqa: PTH100
    return [path for path in absolute if path.is_dir()]


def resolve_encoder(name: str, folders: Sequence[Path]) -> str:
    """The name with an absolute path, if it is a relative one that leads somewhere; otherwise the name."""
    try:
        spec = Spec.parse(name)
    except SentProbeError:  # a function
        return name
    path, *attributes = spec.path.split(":") if spec.scheme == "py" else (spec.path,)
    if not path or Path(path).expanduser().is_absolute():
        return name
    absolute = next((folder / path for folder in folders if (folder / path).exists()), None)
    if absolute is None:
        return name
    return str(replace(spec, name=":".join((str(absolute), *attributes)), revision=None))


def resolve_source(source: Source, folders: Sequence[Path], recorded: Sequence[str]) -> Source:
    """A set whose files are gone, at the same path below another folder; the same one if it is in none."""
    if all(Path(path).exists() for path in source.paths):
        return source
    for base in recorded:
        for folder in folders:
            paths = [folder / os.path.relpath(path, base) for path in source.paths]
            if all(path.exists() for path in paths):
                return replace(source, paths=tuple(map(str, paths)))
    return source


# Encoders that cannot be loaded again by name, so that `sentprobe serve` cannot try their probes on new sentences


def why_not_reloadable(name: str, *, is_object: bool, is_fitted: bool, identity: str | None) -> str | None:
    """Why an encoder cannot be loaded again; None if it can.

    ``is_object``: it was passed as an object, not as a name; ``is_fitted``: on the texts of the run.
    """
    consequence = "`sentprobe serve` cannot try its probes on new sentences"
    if is_object:
        return f"it was passed as a function; name it as py:FILE.py:FUNCTION?version=1 instead, or {consequence}"
    if is_fitted:
        return f"it is fitted on the texts of all sets of the run, so that {consequence}"
    if identity is None:
        return f"it has no identity; give it one, as in {name}{'&' if '?' in name else '?'}version=1, or {consequence}"
    return None


def read_unloadable(info: Mapping[str, Any]) -> dict[str, str]:
    """The encoders of a run that cannot be loaded again, and why; the last command counts."""
    requested = info.get("asked", {}).get("encoders")
    return {name: why for name, why in info.get(UNLOADABLE_KEY, ()) if requested is None or name in requested}


# What was sent to servers


def write_sent(log: Log, name: str, encoder: object) -> None:
    """Record what was sent to the server of an encoder, if it is one."""
    if isinstance(encoder, Server) and (sent := encoder.usage.sentence(encoder.price)):
        log.describe(**{SENT_KEY: [[name, datetime.now(UTC).isoformat(timespec="seconds"), sent]]})


def read_sent(info: Mapping[str, Any]) -> list[tuple[str, str, str]]:
    """What was sent to servers: the encoder, when, and how much."""
    return [(name, when, sent) for name, when, sent in info.get(SENT_KEY, ())]


# Training scores


class _TrainingEntry(msgspec.Struct, frozen=True):
    name: str
    """The encoder."""
    identity: str | None
    metric: str
    value: float
    maximise: bool
    digest: str
    """Of all fields, by which joined runs tell two of them apart."""


def write_training_score(log: Log, name: str, identity: str | None, score: TrainingScore | None) -> None:
    """Record the training score of an encoder, if it has one."""
    if score is None:
        return
    facts = (name, identity, score.metric, score.value, score.maximise)
    log.describe(**{TRAINING_KEY: [msgspec.to_builtins(_TrainingEntry(*facts, _digest(repr(facts))))]})


def read_training_scores(run: Run) -> dict[tuple[str, str | None], TrainingScore]:
    """Training scores by the name and identity of the encoder; the last one counts."""
    entries = _read_list(run.folder, run.info, TRAINING_KEY, _TrainingEntry)
    return {(entry.name, entry.identity): TrainingScore(entry.metric, entry.value, entry.maximise) for entry in entries}


# Diagnoses


class Diagnosis(msgspec.Struct, frozen=True):
    """The symptoms of one encoder."""

    name: str
    identity: str | None
    number: int
    """How many diagnoses were written before this one."""
    symptoms: list[Symptom]
    digest: str
    """Of all fields, by which joined runs tell two diagnoses apart."""


def write_diagnosis(
    log: Log,
    store: Store | None,
    name: str,
    identity: str | None,
    encoder: Any,
    embeddings: Embeddings,
    texts: Iterable[str],
    *,
    half: bool,
) -> None:
    """Diagnose an encoder by its vectors of texts, once; again only if it has no identity, as it may have changed."""
    previous = _last_diagnoses(log.folder, log.info).get((name, identity))
    if previous is not None and identity is not None:
        return
    cache = _SymptomCache(store, identity)
    cached = None if embeddings.encoded else cache.read()
    symptoms = diagnose(encoder, embeddings, texts, half=half, call_symptoms=cached)
    if cached is None:
        cache.write(symptoms)
    if previous is not None and previous.symptoms == symptoms:
        return
    number = len(log.info.get(DIAGNOSES_KEY, ()))
    digest = _digest(f"{name} {identity} {number} {symptoms}")
    log.describe(**{DIAGNOSES_KEY: [msgspec.to_builtins(Diagnosis(name, identity, number, symptoms, digest))]})


@dataclass(frozen=True)
class _SymptomCache:
    """Symptoms found by encoding texts again, cached with the vectors, for runs that only read these."""

    store: Store | None
    identity: str | None

    @property
    def path(self) -> Path | None:
        """The file."""
        if self.store is None or self.identity is None:
            return None
        # the folder name of the store
        return self.store.root / hashlib.blake2b(self.identity.encode(), digest_size=16).hexdigest() / "symptoms.json"

    def read(self) -> list[Symptom] | None:
        """The symptoms; None if there are none, or if the file is damaged."""
        if self.path is None:
            return None
        try:
            content = msgspec.json.decode(self.path.read_bytes(), type=dict[str, str])
            if content["digest"] != _digest(content["symptoms"]):
                return None
            return msgspec.json.decode(content["symptoms"], type=list[Symptom])
        except (OSError, KeyError, ValueError, msgspec.MsgspecError):
            return None

    def write(self, symptoms: Sequence[Symptom]) -> None:
        """Save the symptoms that need calls; a store that is not writable has already been reported."""
        if self.path is not None and self.path.parents[1].is_dir():
            to_cache = [symptom for symptom in symptoms if symptom.code in REENCODING_CODES]
            encoded = msgspec.json.encode(to_cache).decode()
            with suppress(OSError, DataError):
                self.path.parent.mkdir(exist_ok=True)
                write_atomically(self.path, msgspec.json.encode({"symptoms": encoded, "digest": _digest(encoded)}))


class _LanguageEntry(msgspec.Struct, frozen=True):
    """That an encoder was not made for a language."""

    name: str
    identity: str | None
    language: str
    """Empty: it is not known."""
    problem: str
    """As ``language_problem`` has it."""
    digest: str
    """Of all fields, by which joined runs tell two of them apart."""


def write_languages(
    log: Log, name: str, identity: str | None, encoder: Any, sets: Iterable[tuple[str | None, Sequence[str]]]
) -> None:
    """Record and warn, for each language of these sets of texts, if an encoder was not made for it."""
    entries = _read_list(log.folder, log.info, LANGUAGES_KEY, _LanguageEntry)
    recorded = {entry.language for entry in entries if (entry.name, entry.identity) == (name, identity)}
    by_language: dict[str, list[str]] = {}
    for language, texts in sets:
        if (language or "") not in recorded:
            by_language.setdefault(language or "", []).extend(texts)
    for language, texts_in_language in by_language.items():
        if problem := language_problem(encoder, language, texts_in_language):
            facts = (name, identity, language, problem)
            log.describe(**{LANGUAGES_KEY: [msgspec.to_builtins(_LanguageEntry(*facts, _digest(repr(facts))))]})
            title = read_aliases(log.info).get(name, name.removesuffix(":"))
            warnings.warn(f"{title} {problem}.", SentProbeWarning, stacklevel=2)


def _wrong_languages(run: Run) -> dict[tuple[str, str | None], list[Symptom]]:
    """By encoder, for which of the languages of a run it was not made."""
    problems: dict[tuple[str, str | None], list[Symptom]] = {}
    for entry in _read_list(run.folder, run.info, LANGUAGES_KEY, _LanguageEntry):
        symptom = Symptom("wrong-language", f"It {entry.problem}.")
        problems.setdefault((entry.name, entry.identity), []).append(symptom)
    return problems


def read_diagnoses(run: Run) -> list[Diagnosis]:
    """The diagnosis of each encoder that has results, in their order."""
    last, languages = _last_diagnoses(run.folder, run.info), _wrong_languages(run)
    diagnoses = []
    for system in dict.fromkeys((result.cell.encoder, result.cell.identity) for result in run.results):
        encoder = system if system in last or system in languages else _of_layer(*system)
        diagnosis = last.get(encoder)
        symptoms, digest = (diagnosis.symptoms, diagnosis.digest) if diagnosis else ([], "")
        if encoder in languages:
            # words without vectors are those of another language: one warning is enough
            symptoms = [*(s for s in symptoms if s.code != "unknown-tokens"), *languages[encoder]]
        if diagnosis is not None or encoder in languages:
            diagnoses.append(Diagnosis(*system, diagnosis.number if diagnosis else 0, symptoms, digest))
    return diagnoses


def layer_system(name: str, identity: str | None, layer: str) -> tuple[str, str | None]:
    """The name and the identity of one layer of an encoder, where each is a system of its own."""
    return f"{name}{LAYER}{layer}", identity and f"{identity} layer={layer}"


def _of_layer(name: str, identity: str | None) -> tuple[str, str | None]:
    """The name and the identity of the encoder that such a layer is of."""
    encoder, _, layer = name.rpartition(LAYER)
    return encoder, identity and identity.removesuffix(f" layer={layer}")


def _last_diagnoses(folder: Path, info: Mapping[str, Any]) -> dict[tuple[str, str | None], Diagnosis]:
    diagnoses = _read_list(folder, info, DIAGNOSES_KEY, Diagnosis)
    return {(diagnosis.name, diagnosis.identity): diagnosis for diagnosis in diagnoses}
