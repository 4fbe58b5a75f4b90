"""All cells of one encoder: texts encoded together, probes fitted, controls and measures after the plain cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sentprobe.core.cluster import current_cluster
from sentprobe.core.resources import return_free_memory
from sentprobe.core.third_party import third_party_code
from sentprobe.data.splits import Splits
from sentprobe.encoders import encoder_info, load
from sentprobe.encoders.call import check_vectors
from sentprobe.encoders.embed import embed
from sentprobe.encoders.identity import Identity
from sentprobe.encoders.schemes.family import Family, without_language
from sentprobe.errors import DataError, UsageError
from sentprobe.run.config import PreparedSet, RunConfig
from sentprobe.run.diagnoses import write_diagnosis
from sentprobe.run.encoder_cells import (
    all_cells,
    cells_left,
    cells_of,
    encoder_failure,
    key_of_plain,
    requested,
    superseded,
    vectors_identity,
)
from sentprobe.run.family import in_languages
from sentprobe.run.reload import UNLOADABLE, why_not_reloadable
from sentprobe.run.shared import EmbeddingPool, SharedCache, TextIndex
from sentprobe.run.tally import name_of, untrained_name
from sentprobe.run.together import group_variants, one_by_one, share_few_texts
from sentprobe.run.training_scores import write_training_score
from sentprobe.run.unit import Plain, Table, Unit, Vectors

SPARSE_SCHEMES = ("baseline:", "tfidf:")
"""Encoders whose vectors may be sparse arrays of scipy."""
MAX_UNFINISHED_BYTES = 2**29
"""Vectors in memory whose probes are not fitted yet, while another encoder encodes."""


def probe_encoder(
    config: RunConfig,
    name: str,
    given: Callable[..., Any] | None,
    sets: Sequence[PreparedSet],
    extra: Sequence[PreparedSet] = (),
    other: str | None = None,
) -> None:
    """Submit the unfinished cells of an encoder, to be collected. ``other`` names the encoder that is used instead.

    Plain cells come first, and do not depend on what else is requested: controls have other texts, on which an encoder
    may fail, or which would change the batches.
    """
    own = name if other is None else untrained_name(name)
    config.tally.report_encoder("loading", own)
    return_free_memory()
    try:
        with third_party_code:
            encoder: Any = given if given is not None else load(other or name)
            if isinstance(encoder, Family):
                sets, extra = (in_languages(config, name, encoder, some) for some in (sets, extra))
            fitted = getattr(encoder, "needs_fit", False)
            if fitted:  # on all sets, so that a resumed run has the same vectors
                encoder = encoder.fit(list(dict.fromkeys(text for s in sets or extra for text in s.parts.texts())))
            about = encoder_info(encoder)
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # whatever goes wrong in one encoder, the others continue
        for s in (*sets, *extra):
            config.fail(encoder_failure(name, s.parts), e)
        config.tally.finish(own)
        return
    identity = vectors_identity(about, config.options.half)
    if identity is None:  # it may have changed, so earlier results must not be mixed with new ones
        for key in [r.key for r in config.log.done.values() if r.cell.encoder == name and r.cell.identity is None]:
            config.log.forget(key)
    if other is None:
        why = why_not_reloadable(name, given=given is not None, fitted=fitted, identity=identity)
        if why is not None:
            config.log.describe(**{UNLOADABLE: [[name, why]]})
        write_training_score(config.log, name, identity, about.training_score)
    one = _Encoder(name, own, encoder, identity, about.layers, None if given or fitted else other or name)
    _count(config, one, (*sets, *extra))
    if given is None and not extra and one_by_one(name) and share_few_texts(sets):
        for s in sets:
            _do(config, one, [s], EmbeddingPool())
        return
    known = _do(config, one, sets, EmbeddingPool())
    if not extra:
        return
    collect(config, lambda: not config.pool.unfinished[name])  # controls and measures refer to plain results
    if known.tables:  # unnamed layers are known once texts are encoded
        one = replace(one, layers=known.layers)
        _count(config, one, (*sets, *extra))
    # what needs other texts, or another encoder, is done separately: it may fail, and takes memory
    same, *others = group_variants(sets, extra)
    known = _do(config, one, same, known)
    for some in others:
        _do(config, one, some, known)


@dataclass(frozen=True)
class _Encoder:
    name: str
    own: str
    """What it is called in the progress, where its untrained twin has a name of its own."""
    encoder: Any
    identity: str | None
    layers: Sequence[str]
    loadable: str | None
    """What it is loaded by, if that is all it takes."""
    shared: SharedCache = field(default_factory=SharedCache)


def _count(config: RunConfig, one: _Encoder, sets: Sequence[PreparedSet]) -> None:
    """How many cells an encoder has, now that its layers are known, and how many are left."""
    every, left = (
        sum(1 for s in sets for _ in cells(config, one.name, s, one.identity, one.layers))
        for cells in (all_cells, cells_left)
    )
    config.tally.expect(one.own, every, left)


def _do(config: RunConfig, one: _Encoder, sets: Sequence[PreparedSet], known: EmbeddingPool) -> EmbeddingPool:
    """Submit the unfinished cells of sets, encoding texts without vectors; return all vectors."""
    left = [s for s in sets if any(cells_left(config, one.name, s, one.identity, one.layers))]
    try:
        found = known
        if missing := known.missing([column for s in left for column in s.columns()]):
            _make_room(config, one)
            new = embed(
                one.encoder,
                missing,
                store=config.options.store,
                batch_size=config.options.batch_size,
                half=config.options.half,
                jobs=config.pool.jobs,
                sparse=one.name.startswith(SPARSE_SCHEMES),
                progress=partial(_encode_progress, config, one.own),
                name=one.loadable,
            )
            found = known.plus(new)
            # those of a family are about its members, which can be run alone
            if not known.tables and left[0].plain is None and not isinstance(one.encoder, Family):
                parts = [s.parts for s in left]
                half = config.options.half
                store = config.options.store
                write_diagnosis(config.log, store, one.name, one.identity, one.encoder, new, parts, half=half)
        units = [unit for s in left for unit in _units(config, one, s, found)]
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        for s in left:
            config.fail(encoder_failure(one.name, s.parts), e)
        lost = [cell for s in left for cell in cells_left(config, one.name, s, one.identity, one.layers)]
        config.tally.finish(one.own, len(lost))
        return known
    for s in sets:
        config.log.forget(encoder_failure(one.name, s.parts).key)
    return_free_memory()
    config.pool.submit(units)
    if config.pool.jobs == 1:
        collect(config)
    return found


def collect(config: RunConfig, until: Callable[[], bool] = lambda: False) -> None:
    """Save units as they are finished, until a condition holds or all are."""
    for outcome in config.pool.outcomes(until):
        _save(config, *outcome)
        config.tally.report_units(list(config.pool.running.values()))


def collect_finished(config: RunConfig) -> None:
    """Save the units that are finished by now."""
    for outcome in config.pool.ready():
        _save(config, *outcome)


def _save(config: RunConfig, unit: Unit, outcome: Any) -> None:
    config.tally.finish(name_of(unit.cells[0]), len(unit.cells))
    if isinstance(outcome, BaseException):
        for cell in unit.cells:
            config.fail(cell, outcome)
        return
    for result, *arrays in outcome:
        try:
            config.log.add(result, *arrays)
            for key in superseded(config, result.cell):
                config.log.forget(key)
        except DataError as e:
            config.fail(result.cell, e)


def _make_room(config: RunConfig, one: _Encoder) -> None:
    """Wait until an encoder may encode: its own probes are fitted, and so are those of others with large vectors.

    One that computes with several threads waits for all, since there is one thread only while probes are fitted. One
    that encodes set by set does not wait for its own, or only one probe would be fitted at a time.
    """
    pool, apart = config.pool, encoder_info(one.encoder).parallel or current_cluster() is not None
    most, own = MAX_UNFINISHED_BYTES if apart else 0, not one_by_one(one.name)
    collect(config, lambda: not (own and pool.unfinished[one.name]) and pool.vectors_bytes <= most)


def _encode_progress(config: RunConfig, name: str, stage: str, done: int, of: int | None) -> None:
    """Between two batches: save what was finished meanwhile."""
    collect_finished(config)
    config.tally.report_encoder("encoding with", name)
    if config.options.progress:
        config.options.progress(stage, done, of)


def _units(config: RunConfig, one: _Encoder, s: PreparedSet, known: EmbeddingPool) -> Iterator[Unit]:
    words, share = _words(one.name, one.encoder, s.parts), known.seconds(s.parts.columns())
    left = set(cells_left(config, one.name, s, one.identity, known.layers))
    tables = {
        layer: Vectors(
            [(table.layer(layer), place) for table, place in known.tables], words, _stored(config, one, known, layer)
        )
        for layer in known.layers
    }
    alone = None
    if not tables:
        alone = Vectors(
            [(table.vectors, place) for table, place in known.tables], words, _stored(config, one, known, None)
        )
    names = s.variant.given if s.variant is not None and left else ()
    given = tuple(_given(config, one, s, name) for name in names)
    for layer, probe, spec in requested(config, s, known.layers):
        cells = [cell for cell in cells_of(config, one.name, s, one.identity, layer, probe) if cell in left]
        if not cells:
            continue
        vectors = alone or tables[layer if layer is not None else known.layers[0]]
        plain = None
        if s.plain is not None:
            key = key_of_plain(cells[0], one.identity)
            plain = Plain(
                s.plain, config.log.done.get(key), s.variant.others if s.variant else (), tables, given,
                partial(config.log.model, key), one.shared, layer,
            )  # fmt: skip
        resample = config.options.resample if s.plain is None else 0
        yield Unit(s.parts, cells, spec.of_task(s.parts.task), vectors, s.baselines, share, resample, plain)


def _stored(config: RunConfig, one: _Encoder, known: EmbeddingPool, layer: str | None) -> list[Identity | None]:
    """What the vectors of each table are stored as; None for those that are not stored."""
    if config.options.store is None or not encoder_info(one.encoder).cacheable:
        return [None] * len(known.tables)
    facts = {} if layer is None else {"layer": layer}
    found = [table.identity for table, _ in known.tables]
    return [identity and identity.with_facts(**facts) for identity in found]


def _given(config: RunConfig, one: _Encoder, s: PreparedSet, name: str) -> Vectors:
    """The vectors of an encoder that a measure is conditional on."""
    encoder = one.shared.get(name, 0, partial(load, name))
    layers = encoder_info(encoder).layers
    if not layers:
        texts = s.parts.texts()
        # of a family, texts have their language before them, which only another family understands
        marked = isinstance(one.encoder, Family) and not isinstance(encoder, Family)
        own = [without_language(text) for text in texts] if marked else texts
        sparse = name.startswith(SPARSE_SCHEMES)
        found = embed(encoder, own, store=config.options.store, batch_size=config.options.batch_size, sparse=sparse)
        if not found.layers:
            rows = {text: i for i, text in enumerate(found.texts)}
            return Vectors([(found.vectors[[rows[text] for text in own]], TextIndex(texts))])
        layers = found.layers
    raise UsageError(
        f"Expected given:{name} to have one layer, got {', '.join(layers)}; choose one, as in layer={layers[-1]}."
    )


def _words(name: str, encoder: Any, parts: Splits) -> list[Table]:
    """The encoder's own word vectors for the word inputs of a probe, if it has any."""
    own = getattr(encoder, "words", None)
    sparse = getattr(encoder, "sparse_words", None) if name.startswith(SPARSE_SCHEMES) else None
    if not parts.train.inputs or not parts.words or not callable(own):
        return []
    inputs = (values for part in (parts.train, parts.dev, parts.test) for values in part.inputs.values())
    words = list(dict.fromkeys(word for values in inputs for word in values))
    with third_party_code:
        if callable(sparse):
            return [(sparse(words), TextIndex(words))]
        vectors = own(words)
    return [(check_vectors(vectors, words)[0], TextIndex(words))]
