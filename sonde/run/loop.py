"""The one loop: encoder × set × layer × probe × seed, each cell written when it is finished and never done twice."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from sonde import __version__
from sonde.audit.rows import known
from sonde.baselines import BASELINES
from sonde.dataset import Dataset
from sonde.embed import Embeddings, Facts, checked, embed, facts
from sonde.encoders import load
from sonde.errors import SondeError, UsageError
from sonde.probes import Probe, parse
from sonde.result import Cell, Failure
from sonde.run.cells import Plain, Unit, Vectors, baseline_result
from sonde.run.folder import Log, Run, set_failure, writing
from sonde.run.parts import Parts, parts_of, sampled
from sonde.run.transfer import nested_baseline
from sonde.run.variants import Asked, Variant, asked_for, untrained, varied, work_of
from sonde.sources import Source
from sonde.store import Store

ALWAYS = ("baseline:random", "baseline:hash")
"""Encoders that know nothing, or words only: run with the probe ``linear`` on all sets that are learned from in one go,
and shown beside the others. Where there are folds, a hundred fits would tell no more than naive Bayes does."""

Progress = Callable[[str, int, int | None], None]
Encoders = Sequence[str] | Mapping[str, Callable[[Sequence[str]], Any]]


@dataclass(frozen=True)
class _Wish:
    """What does not change over the loop."""

    log: Log
    probes: Mapping[str, Probe]
    seeds: Sequence[int]
    limit: int | None
    device: str | None
    store: Store | None
    half: bool
    batch: int | None
    jobs: int
    tell: Progress | None
    failed: list[Failure] = field(default_factory=list)

    def fail(self, cell: Cell, error: Exception) -> None:
        """Write down that something could not be done, and go on."""
        said = (str(error) or repr(error)).encode(errors="backslashreplace").decode()
        failure = Failure(key=cell.key, cell=cell, error=said, kind=type(error).__name__)
        self.failed.append(failure)
        self.log.add(failure)


def evaluate(
    encoders: Encoders,
    datasets: Iterable[Dataset | Source],
    folder: Path | str,
    *,
    probes: Sequence[str] = ("linear",),
    seeds: Sequence[int] = (1111,),
    limit: int | None = None,
    store: Store | None = None,
    half: bool = False,
    batch: int | None = None,
    device: str | None = None,
    jobs: int = 1,
    beside: Sequence[str] = (*BASELINES, *ALWAYS),
    controls: Sequence[str] = (),
    measures: Sequence[str] = (),
    tell: Progress | None = None,
    command: str | None = None,
) -> Run:
    """Probe encoders on sets and write every result to ``folder`` as it is finished; what is there is not done again.

    ``encoders`` are texts such as ``st:all-MiniLM-L6-v2``, or callables by name. What fails is written down, and the
    loop goes on: look at ``Run.failures``. The baselines of ``beside`` are run on every set. ``limit`` takes a balanced
    sample of each split and marks every number as partial. ``jobs`` probes are fitted at a time, each in one thread, so
    that results do not depend on it. ``controls`` and ``measures``, by name or ``all``, say what a score means: their
    results are ``Run.extras``. ``command`` is what was typed for all this, to be kept in run.json.
    """
    asked = asked_for(controls, measures)
    named = dict.fromkeys(encoders) if not isinstance(encoders, Mapping) else dict(encoders)
    wanted = dict(parse(text) for text in probes)
    if odd := [name for name in named if not _is_text(name)]:
        raise UsageError(f"The encoder {odd[0]!r} has half a character in its name; expected UTF-8.")
    if not wanted or not seeds:
        raise UsageError("A run needs at least one probe and one seed.")
    with writing(folder) as log:
        wish = _Wish(log, wanted, list(dict.fromkeys(seeds)), limit, device, store, half, batch, jobs, tell)
        always = [name for name in beside if name not in named and name not in BASELINES]
        learners = [name for name in BASELINES if name in beside]
        log.describe(
            encoders=[*named, *always, *learners],
            probes=[*wanted, *(["linear"] if always and "linear" not in wanted else [])],
            seeds=wish.seeds,
            sonde=[__version__],
        )
        if command is not None:
            log.describe(commands=[command.encode(errors="backslashreplace").decode()])
        sets = [_Set(parts, scores) for parts, scores in _read_sets(wish, list(datasets), learners)]
        if not sets:
            raise _no_set(wish.failed)
        extra = list(_varied(wish, sets, asked))
        for name, given in named.items():
            _probe_encoder(wish, name, given, sets, extra)
            if "untrained" in asked.controls and (other := untrained(name, wish.seeds[0])):
                same = [_Set(replace(s.parts, variant="untrained"), {}, s.parts) for s in sets]
                _probe_encoder(wish, name, None, (), same, other)
        for name in always:
            some = [s for s in sets if s.parts.protocol == "split"]
            _probe_encoder(replace(wish, probes=dict([parse("linear")]), seeds=wish.seeds[:1]), name, None, some)
    return Run.load(folder)


def _is_text(name: str) -> bool:
    return name.encode(errors="replace").decode() == name


def _no_set(failed: Sequence[Failure]) -> SondeError:
    if not failed:
        return UsageError("No set was given; name a file or a folder of probing sets.")
    return UsageError(f"None of the sets can be used. {failed[0].cell.dataset}: {failed[0].error}")


@dataclass(frozen=True)
class _Set:
    parts: Parts
    baselines: Mapping[str, float]
    plain: Parts | None = None
    """Of a control or a measure, the set as it is."""
    variant: Variant | None = None


def _varied(wish: _Wish, sets: Sequence[_Set], asked: Asked) -> Iterator[_Set]:
    """The sets once more for every control and measure that fits them."""
    for s in sets:
        for variant in varied(s.parts, asked, [other.parts for other in sets], wish.seeds[0]):
            if isinstance(variant.parts, Exception):
                for name in variant.names:
                    cell = Cell(
                        task=s.parts.task, version=s.parts.version, dataset=s.parts.name, data=s.parts.digest,
                        encoder="", variant=name,
                    )  # fmt: skip
                    wish.fail(cell, variant.parts)
            else:
                yield _Set(variant.parts, {}, s.parts, variant)


def _read_sets(
    wish: _Wish, datasets: Sequence[Dataset | Source], learners: Sequence[str]
) -> Iterator[tuple[Parts, Mapping[str, float]]]:
    """Read each set once, run the baselines that learn from words, and keep what the loop needs."""
    seen: set[tuple[str, str]] = set()
    for i, given in enumerate(datasets):
        if wish.tell:
            wish.tell("sets", i, len(datasets))
        if not _is_text(given.name):
            raise UsageError(f"The set {given.name!r} has half a character in its name; expected UTF-8.")
        try:
            dataset = given if isinstance(given, Dataset) else given.load()
            parts = parts_of(dataset, wish.limit)
        except SondeError as e:
            wish.fail(set_failure(given.task, given.name), e)
            continue
        wish.log.forget(set_failure(given.task, given.name).key)
        if (parts.name, parts.digest) in seen:
            continue
        seen.add((parts.name, parts.digest))
        wish.log.describe(datasets=[_about(dataset, given)])
        wish.log.keep_rows(sampled(dataset, wish.limit), parts.digest, wish.limit)
        yield parts, dict(_baselines(wish, dataset, parts, learners))
    if wish.tell:
        wish.tell("sets", len(datasets), len(datasets))


def _about(dataset: Dataset, given: Dataset | Source) -> dict[str, Any]:
    """What run.json says about a set."""
    manifest = dataset.manifest
    return {
        "name": dataset.name, "task": dataset.task, "version": dataset.version, "language": dataset.language,
        "digest": dataset.digest, "labels": list(dataset.labels), "question": manifest.get("question"),
        "inputs": list(known(dataset).inputs), "corpus": manifest.get("corpus", {}).get("name"),
        "rows": {split: len(rows) for split, rows in dataset.rows.items()},
        "source": _kept(given) if isinstance(given, Source) else None, "audit": manifest.get("audit"),
    }  # fmt: skip


def _kept(source: Source) -> Any:
    """A source as plain data, to be found again from anywhere."""
    return msgspec.to_builtins(replace(source, paths=tuple(map(os.path.abspath, source.paths))))


def _baselines(wish: _Wish, dataset: Dataset, parts: Parts, learners: Sequence[str]) -> Iterator[tuple[str, float]]:
    for name in learners if parts.labels else ():
        cell = Cell(
            task=parts.task, version=parts.version, dataset=parts.name, data=parts.digest, encoder=name,
            identity=name, limit=wish.limit, sonde=__version__,
        )  # fmt: skip
        done = wish.log.done.get(cell.key)
        if done is None:
            work = nested_baseline if parts.protocol == "nested" else baseline_result
            try:
                done, arrays = work(cell, dataset, parts)
            except Exception as e:  # the others, and the encoders, are still to be asked
                wish.fail(cell, e)
                continue
            wish.log.add(done, arrays)
        yield name, done.accuracy


def _probe_encoder(
    wish: _Wish,
    name: str,
    given: Callable[..., Any] | None,
    sets: Sequence[_Set],
    extra: Sequence[_Set] = (),
    other: str | None = None,
) -> None:
    """All cells of one encoder: those that are left are encoded together and fitted, controls and measures last.

    ``other`` names the encoder that stands in for it.
    """
    left = every = [*sets, *extra]
    try:
        encoder: Any = given if given is not None else load(other or name)
        if getattr(encoder, "needs_fit", False):  # on all sets, done or not, or a resumed run would have other vectors
            encoder = encoder.fit(_texts(sets))
        about = facts(encoder)
        identity = _identity(about, wish.half)
        if identity is None:  # it may be another one by now, so that what it gave before does not stand beside this
            for key in [r.key for r in wish.log.done.values() if r.cell.encoder == name and r.cell.identity is None]:
                wish.log.forget(key)
        left = [s for s in every if any(_left(wish, name, s, identity, about.layers))]
        if not left:
            for s in every:
                wish.log.forget(_encoder_failure(name, s.parts).key)
            return
        found = embed(encoder, _texts(left), store=wish.store, batch=wish.batch, half=wish.half, tell=wish.tell)
        place = {text: i for i, text in enumerate(found.texts)}
        first = [s for s in left if s.plain is None]
        units = [unit for s in first for unit in _units(wish, name, s, found, place, encoder, identity)]
    except Exception as e:  # whatever an encoder does, the others are still to be asked
        for s in left:
            wish.fail(_encoder_failure(name, s.parts), e)
        return
    for s in every:
        wish.log.forget(_encoder_failure(name, s.parts).key)
    _finish(wish, units)
    later = [s for s in left if s.plain is not None]
    _finish(wish, [unit for s in later for unit in _units(wish, name, s, found, place, encoder, identity)])


def _finish(wish: _Wish, units: Sequence[Unit]) -> None:
    """Do units and write down each as it is done."""
    if not units:
        return
    if wish.tell:
        wish.tell("probe", 0, len(units))
    for done, (unit, outcome) in enumerate(_work(units, wish.jobs), 1):
        if isinstance(outcome, Exception):
            for cell in unit.cells:
                wish.fail(cell, outcome)
        else:
            for finished in outcome:
                wish.log.add(*finished)
        if wish.tell:
            wish.tell("probe", done, len(units))


def _encoder_failure(name: str, parts: Parts) -> Cell:
    """What an encoder that fails on a whole set goes by, whatever was asked of it."""
    return Cell(task=parts.task, version=0, dataset=parts.name, data=parts.digest, encoder=name)


def _work(units: Sequence[Unit], jobs: int) -> Iterator[tuple[Unit, Any]]:
    """Units with their results or errors, as they are finished; each is fitted in one thread."""
    from threadpoolctl import threadpool_limits

    def attempt(unit: Unit) -> tuple[Unit, Any]:
        try:
            return unit, work_of(unit)(unit)
        except Exception as e:  # out of memory, numbers without a solution: of this cell, not of the run
            return unit, e

    with threadpool_limits(limits=1):
        if jobs == 1 or len(units) == 1:
            yield from map(attempt, units)
            return
        from joblib import Parallel, delayed

        work = Parallel(n_jobs=jobs, prefer="threads", return_as="generator_unordered")
        yield from work(delayed(attempt)(unit) for unit in units)


def _identity(about: Facts, half: bool) -> str | None:
    if about.identity is None:
        return None
    return str(about.identity.with_facts(kept="float16") if half else about.identity)


def _texts(sets: Sequence[_Set]) -> list[str]:
    return list(dict.fromkeys(text for s in sets for text in s.parts.texts()))


def _cells(wish: _Wish, name: str, s: _Set, identity: str | None, layer: str | None, probe: str) -> list[Cell]:
    parts = s.parts
    cell = Cell(
        task=parts.task, version=parts.version, dataset=parts.name, data=parts.digest, encoder=name,
        identity=identity, layer=layer, probe=probe, limit=wish.limit, device=wish.device, sonde=__version__,
        variant=parts.variant,
    )  # fmt: skip
    if s.plain is None:
        return [replace(cell, seed=seed) for seed in wish.seeds]
    names = s.variant.names if s.variant is not None else (parts.variant,)
    return [replace(cell, seed=wish.seeds[0], variant=variant) for variant in names]


def _asked(wish: _Wish, s: _Set, layers: Sequence[str]) -> Iterator[tuple[str | None, str, Probe]]:
    """The layers and probes that a set is asked about."""
    probes = wish.probes
    if s.variant is not None and s.variant.measures:  # which are about one kind of probe
        probes = dict([parse("linear")])
    across = s.variant is not None and s.variant.across
    for layer in (None,) if across else layers or (None,):
        yield from ((layer, probe, spec) for probe, spec in probes.items())


def _left(wish: _Wish, name: str, s: _Set, identity: str | None, layers: Sequence[str]) -> Iterator[Cell]:
    """The cells of a set that are not done."""
    if s.variant is not None and s.variant.across and len(layers) < 2:
        return
    for layer, probe, _ in _asked(wish, s, layers):
        yield from (
            cell for cell in _cells(wish, name, s, identity, layer, probe)
            if identity is None or cell.key not in wish.log.done
        )  # fmt: skip


def _units(
    wish: _Wish,
    name: str,
    s: _Set,
    found: Embeddings,
    place: Mapping[str, int],
    encoder: Any,
    identity: str | None,
) -> Iterator[Unit]:
    words = _words(encoder, s.parts)
    share = found.seconds * len(s.parts.texts()) / max(1, len(found.texts))
    left = set(_left(wish, name, s, identity, found.layers))
    tables = {layer: Vectors(found.layer(layer), place, *words) for layer in found.layers}
    for layer, probe, spec in _asked(wish, s, found.layers):
        cells = [cell for cell in _cells(wish, name, s, identity, layer, probe) if cell in left]
        if not cells:
            continue
        vectors = next(iter(tables.values())) if tables else Vectors(found.vectors, place, *words)
        vectors = tables.get(layer, vectors) if layer is not None else vectors
        plain = None
        if s.plain is not None:
            done = wish.log.done.get(replace(cells[0], variant=None).key)
            plain = Plain(
                s.plain, done.chosen.get("l2") if done else None, s.variant.others if s.variant else (), tables,
                _given(wish, s),
            )  # fmt: skip
        yield Unit(s.parts, cells, spec.of_task(s.parts.task), vectors, s.baselines, share, plain)


def _given(wish: _Wish, s: _Set) -> Vectors | None:
    """The vectors of the encoder that a measure takes for given."""
    if s.variant is None or s.variant.given is None:
        return None
    found = embed(load(s.variant.given), s.parts.texts(), store=wish.store, batch=wish.batch)
    return Vectors(found.vectors, {text: i for i, text in enumerate(found.texts)})


def _words(encoder: Any, parts: Parts) -> tuple[Any, Mapping[str, int]] | tuple[None, None]:
    """The encoder's own vectors of the words that the probe is given, if it has such."""
    own = getattr(encoder, "words", None)
    if not parts.train.inputs or not parts.words or not callable(own):
        return None, None
    inputs = (values for part in (parts.train, parts.dev, parts.test) for values in part.inputs.values())
    words = list(dict.fromkeys(word for values in inputs for word in values))
    return checked(own(words), words)[0], {word: i for i, word in enumerate(words)}
