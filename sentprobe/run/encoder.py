"""All cells of one encoder: its texts are encoded in groups, and fit jobs are submitted to the pool and collected.

load ▶ encode the texts of the sets ▶ plain cells ▶ collect ▶ encode what controls need ▶ controls and measures
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from sentprobe.core.cluster import current_cluster
from sentprobe.core.resources import return_free_memory
from sentprobe.core.third_party import third_party_code
from sentprobe.data.splits import Split, Splits
from sentprobe.encoders import encoder_info, load
from sentprobe.encoders.call import check_vectors
from sentprobe.encoders.embed import embed
from sentprobe.encoders.identity import Identity
from sentprobe.encoders.schemes.family import Family, without_language
from sentprobe.errors import DataError, SentProbeWarning, UsageError
from sentprobe.results.result import Cell
from sentprobe.run.cells import (
    PreparedSet,
    RunContext,
    all_cells,
    cells_of,
    encoder_failure,
    encoder_name,
    key_of_plain,
    requested_probes,
    superseded,
    unfinished_cells,
    vectors_identity,
)
from sentprobe.run.info import (
    UNLOADABLE_KEY,
    why_not_reloadable,
    write_diagnosis,
    write_languages,
    write_sent,
    write_training_score,
)
from sentprobe.run.job import EmbeddingPool, FitJob, PlainCell, SharedCache, Table, TextIndex, Vectors
from sentprobe.run.progress import untrained_name

SET_BY_SET_SCHEME = "baseline:"
"""Encoders whose vectors cost so little, and depend on a text alone, that only those of one set are made at a time."""
MAX_UNFINISHED_BYTES = 2**29
"""Vectors in memory whose probes are not fitted yet, while another encoder encodes."""


@dataclass(frozen=True)
class LoadedEncoder:
    """An encoder that is being probed."""

    name: str
    """As its cells have it."""
    title: str
    """What it is called in the progress, where its untrained counterpart has a name of its own."""
    encoder: Any
    identity: str | None
    """The identity of its vectors."""
    layers: Sequence[str]
    loadable_name: str | None
    """What a worker loads it by, if that is all it takes."""
    shared: SharedCache = field(default_factory=SharedCache)

    def cells(self, context: RunContext, prepared: PreparedSet) -> Iterator[Cell]:
        """All its cells on a set."""
        return all_cells(context, self.name, prepared, self.identity, self.layers)

    def unfinished(self, context: RunContext, prepared: PreparedSet) -> Iterator[Cell]:
        """Its cells on a set that have no result yet."""
        return unfinished_cells(context, self.name, prepared, self.identity, self.layers)


def probe_encoder(
    context: RunContext,
    name: str,
    function: Callable[..., Any] | None,
    sets: Sequence[PreparedSet],
    variants: Sequence[PreparedSet] = (),
    counterpart: str | None = None,
) -> None:
    """Submit the unfinished cells of an encoder, to be collected.

    ``function`` is the encoder, if it is not loaded by its name; ``counterpart`` names one that is loaded instead.
    Plain cells come first, and do not depend on what else is requested: controls have other texts, on which an encoder
    may fail, or which would change the batches.
    """
    title = name if counterpart is None else untrained_name(name)
    context.progress.report_encoder("loading", title)
    return_free_memory()
    try:
        with third_party_code:
            encoder: Any = function if function is not None else load(counterpart or name)
            if isinstance(encoder, Family):
                sets, variants = (sets_in_languages(context, name, encoder, group) for group in (sets, variants))
            is_fitted = getattr(encoder, "needs_fit", False)
            if is_fitted:  # on all sets, so that a resumed run has the same vectors
                texts = dict.fromkeys(text for s in sets or variants for text in s.splits.texts())
                encoder = encoder.fit(list(texts))
            info = encoder_info(encoder)
    except KeyboardInterrupt:
        raise
    except BaseException as e:  # whatever goes wrong in one encoder, the others continue
        for prepared in (*sets, *variants):
            context.fail(encoder_failure(name, prepared.splits), e)
        context.progress.finish(title)
        return
    identity = vectors_identity(info, context.options.half)
    if identity is None:  # it may have changed, so earlier results must not be mixed with new ones
        for key in [r.key for r in context.log.done.values() if r.cell.encoder == name and r.cell.identity is None]:
            context.log.forget(key)
    if counterpart is None:
        why = why_not_reloadable(name, is_object=function is not None, is_fitted=is_fitted, identity=identity)
        if why is not None:
            context.log.describe(**{UNLOADABLE_KEY: [[name, why]]})
        write_training_score(context.log, name, identity, info.training_score)
        if not isinstance(encoder, Family):  # of which each member has a language of its own
            of_sets = [(prepared.splits.language, prepared.splits.test.texts) for prepared in sets]
            write_languages(context.log, name, identity, encoder, of_sets)
    loadable_name = None if function or is_fitted else counterpart or name
    loaded = LoadedEncoder(name, title, encoder, identity, info.layers, loadable_name)
    try:
        _submit_all(context, loaded, sets, variants)
    finally:
        write_sent(context.log, name, encoder)


def _submit_all(
    context: RunContext, loaded: LoadedEncoder, sets: Sequence[PreparedSet], variants: Sequence[PreparedSet]
) -> None:
    """Submit the unfinished cells of a loaded encoder, one group of sets with common texts after the other."""
    _expect_cells(context, loaded, (*sets, *variants))
    by_name = loaded.loadable_name is not None
    if by_name and not variants and encodes_set_by_set(loaded.name) and share_few_texts(sets):
        for prepared in sets:
            _submit(context, loaded, [prepared], EmbeddingPool())
        return
    embeddings = _submit(context, loaded, sets, EmbeddingPool())
    if not variants:
        return
    collect(context, lambda: not context.pool.unfinished[loaded.name])  # variants refer to plain results
    if embeddings.tables:  # unnamed layers are known once texts are encoded
        loaded = replace(loaded, layers=embeddings.layers)
        _expect_cells(context, loaded, (*sets, *variants))
    # what needs other texts, or another encoder, is done separately: it may fail, and takes memory
    same_texts, *groups = encoding_groups(sets, variants)
    embeddings = _submit(context, loaded, same_texts, embeddings)
    for group in groups:
        _submit(context, loaded, group, embeddings)


def _expect_cells(context: RunContext, loaded: LoadedEncoder, sets: Sequence[PreparedSet]) -> None:
    """Tell the progress how many cells an encoder has, now that its layers are known, and how many are unfinished."""
    total = (cell for prepared in sets for cell in loaded.cells(context, prepared))
    unfinished = (cell for prepared in sets for cell in loaded.unfinished(context, prepared))
    context.progress.expect(loaded.title, total, unfinished)


def _submit(
    context: RunContext, loaded: LoadedEncoder, sets: Sequence[PreparedSet], embeddings: EmbeddingPool
) -> EmbeddingPool:
    """Submit the unfinished cells of sets, encoding texts without vectors; return all vectors."""
    unfinished = [prepared for prepared in sets if any(loaded.unfinished(context, prepared))]
    try:
        extended = _encode_missing(context, loaded, unfinished, embeddings)
        jobs = [job for prepared in unfinished for job in _fit_jobs(context, loaded, prepared, extended)]
    except KeyboardInterrupt:
        raise
    except BaseException as e:
        for prepared in unfinished:
            context.fail(encoder_failure(loaded.name, prepared.splits), e)
        failed_cells = [cell for prepared in unfinished for cell in loaded.unfinished(context, prepared)]
        context.progress.finish(loaded.title, failed_cells)
        return embeddings
    for prepared in sets:
        context.log.forget(encoder_failure(loaded.name, prepared.splits).key)
    return_free_memory()
    context.pool.submit(jobs)
    if context.pool.workers == 1:
        collect(context)
    return extended


def _encode_missing(
    context: RunContext, loaded: LoadedEncoder, sets: Sequence[PreparedSet], embeddings: EmbeddingPool
) -> EmbeddingPool:
    """The vectors with those of texts that had none; the first ones of an encoder are diagnosed."""
    missing = embeddings.missing([column for prepared in sets for column in prepared.columns()])
    if not missing:
        return embeddings
    _wait_for_memory(context, loaded)
    options = context.options
    new = embed(
        loaded.encoder,
        missing,
        store=options.store,
        batch_size=options.batch_size,
        half=options.half,
        jobs=context.pool.workers,
        sparse=True,
        progress=partial(_encode_progress, context, loaded.title),
        name=loaded.loadable_name,
    )
    extended = embeddings.plus(new)
    # diagnoses of a family are about its members, which can be run alone
    if not embeddings.tables and sets[0].plain is None and not isinstance(loaded.encoder, Family):
        splits = [split for s in sets for split in (s.splits.train, s.splits.dev, s.splits.test)]
        texts = (text for split in splits for text in split.texts)  # other inputs are mostly single words
        write_diagnosis(
            context.log, options.store, loaded.name, loaded.identity, loaded.encoder, new, texts, half=options.half
        )
    return extended


def _wait_for_memory(context: RunContext, loaded: LoadedEncoder) -> None:
    """Wait until an encoder may encode: its own probes are fitted, and so are those of others with large vectors.

    One that computes with several threads waits for all, since there is one thread only while probes are fitted. One
    that encodes set by set does not wait for its own, or only one probe would be fitted at a time.
    """
    pool = context.pool
    is_parallel = encoder_info(loaded.encoder).parallel or current_cluster() is not None
    max_bytes = MAX_UNFINISHED_BYTES if is_parallel else 0
    waits_for_own = not encodes_set_by_set(loaded.name)
    collect(
        context,
        lambda: not (waits_for_own and pool.unfinished[loaded.name]) and pool.vectors_bytes <= max_bytes,
    )


def _encode_progress(context: RunContext, title: str, stage: str, done: int, total: int | None) -> None:
    """Between two batches: save what was finished meanwhile."""
    collect_finished(context)
    context.progress.report_encoding(title, done, total)
    if context.options.progress:
        context.options.progress(stage, done, total)


# Collecting results


def collect(context: RunContext, until: Callable[[], bool] = lambda: False) -> None:
    """Save jobs as they are finished, until a condition holds or all are."""
    for outcome in context.pool.outcomes(until):
        _save(context, *outcome)
        context.progress.report_jobs(list(context.pool.running.values()))


def collect_finished(context: RunContext) -> None:
    """Save the jobs that have finished meanwhile."""
    for outcome in context.pool.ready():
        _save(context, *outcome)


def _save(context: RunContext, job: FitJob, outcome: Any) -> None:
    failed = isinstance(outcome, BaseException)
    seconds = None if failed else sum(result.seconds.get("fit", 0.0) for result, *_ in outcome)
    context.progress.finish(encoder_name(job.cells[0]), job.cells, seconds)
    if failed:
        for cell in job.cells:
            context.fail(cell, outcome)
        return
    for result, *arrays in outcome:
        try:
            context.log.add(result, *arrays)
            for key in superseded(context, result.cell):
                context.log.forget(key)
        except DataError as e:
            context.fail(result.cell, e)


# Encoding groups: which sets an encoder encodes together


def encodes_set_by_set(name: str) -> bool:
    """Whether an encoder encodes set by set; the workers of a cluster should have the probes of all at once."""
    return name.startswith(SET_BY_SET_SCHEME) and current_cluster() is None


def share_few_texts(sets: Sequence[PreparedSet]) -> bool:
    """Whether encoding set by set takes at most twice as long: a text of several sets is then encoded for each."""
    columns = [column for prepared in sets for column in prepared.columns()]
    return 2 * len(set().union(*columns)) >= sum(map(len, columns))


def encoding_groups(sets: Sequence[PreparedSet], variants: Sequence[PreparedSet]) -> Iterator[list[PreparedSet]]:
    """Variants that need only the texts of the sets; those that need others; each one that needs another encoder."""
    index = TextIndex(dict.fromkeys(text for prepared in sets for column in prepared.columns() for text in column))
    same_texts: list[PreparedSet] = []
    other_texts: list[PreparedSet] = []
    conditional: list[PreparedSet] = []
    for prepared in variants:
        if prepared.variant is not None and prepared.variant.given_encoders:
            conditional.append(prepared)
        elif all(map(index.has, prepared.columns())):
            same_texts.append(prepared)
        else:
            other_texts.append(prepared)
    yield same_texts
    yield other_texts
    yield from ([prepared] for prepared in conditional)  # last, because the other encoder stays in memory


# Fit jobs


def _fit_jobs(
    context: RunContext, loaded: LoadedEncoder, prepared: PreparedSet, embeddings: EmbeddingPool
) -> Iterator[FitJob]:
    """The jobs of the unfinished cells of a set: one for each layer and probe."""
    splits, variant, layers = prepared.splits, prepared.variant, embeddings.layers
    words, encode_seconds = _word_vectors(loaded, splits), embeddings.seconds(splits.columns())
    unfinished = set(unfinished_cells(context, loaded.name, prepared, loaded.identity, layers))

    def vectors_of(layer: str | None) -> Vectors:
        tables = [(t.vectors if layer is None else t.layer(layer), index) for t, index in embeddings.tables]
        return Vectors(tables, words, _stored_as(context, loaded, embeddings, layer))

    by_layer = {layer: vectors_of(layer) for layer in layers}
    single = None if by_layer else vectors_of(None)
    given_encoders = variant.given_encoders if variant is not None and unfinished else ()
    given_vectors = tuple(_given_vectors(context, loaded, prepared, name) for name in given_encoders)
    for layer, probe, spec in requested_probes(context, prepared, layers):
        cells = [
            cell
            for cell in cells_of(context, loaded.name, prepared, loaded.identity, layer, probe)
            if cell in unfinished
        ]
        if not cells:
            continue
        plain = None
        if prepared.plain is not None:
            key = key_of_plain(cells[0], loaded.identity)
            plain = PlainCell(
                prepared.plain,
                context.log.done.get(key),
                erased_sets=variant.erased_sets if variant else (),
                layers=by_layer,
                given_vectors=given_vectors,
                model=partial(context.log.model, key),
                shared=loaded.shared,
                layer=layer,
            )
            if splits.nth_fold is not None and prepared.plain.folds:
                plain = plain.of_fold(splits.nth_fold[0])
        yield FitJob(
            splits,
            cells,
            spec.of_task(splits.task),
            single or by_layer[layer if layer is not None else layers[0]],
            prepared.baselines,
            encode_seconds,
            resample=context.options.resample if prepared.plain is None else 0,
            plain=plain,
        )


def _stored_as(
    context: RunContext, loaded: LoadedEncoder, embeddings: EmbeddingPool, layer: str | None
) -> list[Identity | None]:
    """What the vectors of each table are stored as; None for those that are not stored."""
    if context.options.store is None or not encoder_info(loaded.encoder).cacheable:
        return [None] * len(embeddings.tables)
    facts = {} if layer is None else {"layer": layer}
    identities = [table.identity for table, _ in embeddings.tables]
    return [identity and identity.with_facts(**facts) for identity in identities]


def _given_vectors(context: RunContext, loaded: LoadedEncoder, prepared: PreparedSet, name: str) -> Vectors:
    """The vectors of an encoder that a measure is conditional on."""
    encoder = loaded.shared.get(name, 0, partial(load, name))
    layers = encoder_info(encoder).layers
    if not layers:
        texts = prepared.splits.texts()
        # of a family, texts have their language before them, which only another family understands
        is_marked = isinstance(loaded.encoder, Family) and not isinstance(encoder, Family)
        inputs = [without_language(text) for text in texts] if is_marked else texts
        embeddings = embed(
            encoder,
            inputs,
            store=context.options.store,
            batch_size=context.options.batch_size,
            sparse=True,
        )
        if not embeddings.layers:
            rows = {text: i for i, text in enumerate(embeddings.texts)}
            return Vectors([(embeddings.vectors[[rows[text] for text in inputs]], TextIndex(texts))])
        layers = embeddings.layers
    raise UsageError(
        f"Expected given:{name} to have one layer, got {', '.join(layers)}; choose one, as in layer={layers[-1]}."
    )


def _word_vectors(loaded: LoadedEncoder, splits: Splits) -> list[Table]:
    """The encoder's own word vectors for the word inputs of a probe, if it has any."""
    encode_words = getattr(loaded.encoder, "words", None)
    encode_sparse = getattr(loaded.encoder, "sparse_words", None)
    if not splits.train.inputs or not splits.words or not callable(encode_words):
        return []
    inputs = (values for split in (splits.train, splits.dev, splits.test) for values in split.inputs.values())
    words = list(dict.fromkeys(word for values in inputs for word in values))
    with third_party_code:
        if callable(encode_sparse):
            return [(encode_sparse(words), TextIndex(words))]
        vectors = encode_words(words)
    return [(check_vectors(vectors, words)[0], TextIndex(words))]


# Families: encoders with a member for each language, to which every text says its language


def sets_in_languages(context: RunContext, name: str, family: Family, sets: Sequence[PreparedSet]) -> list[PreparedSet]:
    """The sets that a family has members for; for the others, a failure is recorded."""
    marked = []
    for prepared in sets:
        try:
            marked.append(_in_languages(prepared, family))
        except UsageError as e:
            context.fail(encoder_failure(name, prepared.splits), e)
    # variants have the languages of their sets
    if marked and marked[0].plain is None and (unused := set(family.members) - _languages(marked, family)):
        warnings.warn(
            SentProbeWarning(f"{name} has members for {', '.join(sorted(unused))}, and no set is in that language."),
            stacklevel=2,
        )
    return marked


def _in_languages(prepared: PreparedSet, family: Family) -> PreparedSet:
    if prepared.plain is not None and prepared.plain.train.language and prepared.splits.same_rows is not None:
        raise UsageError(
            f"The control {prepared.splits.variant} samples train and test from all rows, which are in several "
            "languages."
        )
    plain = splits_in_languages(prepared.plain, family) if prepared.plain is not None else None
    variant = prepared.variant
    if variant is not None and variant.erased_sets:
        erased = tuple(splits_in_languages(splits, family) for splits in variant.erased_sets)
        variant = replace(variant, erased_sets=erased)
    return replace(prepared, splits=splits_in_languages(prepared.splits, family), plain=plain, variant=variant)


def _languages(sets: Sequence[PreparedSet], family: Family) -> set[str]:
    """The languages of the members that sets need."""
    codes = {code for s in sets for code in (s.splits.language, s.splits.train.language) if code}
    return {family.language(code) for code in codes}


def splits_in_languages(splits: Splits, family: Family) -> Splits:
    """The set with languages before its texts: that of its training rows may be another one, as in XNLI.

    Splits that are one object stay one: a probe that is tested on its training rows is recognised by that.
    """
    by_id: dict[int, Split] = {}

    def marked(split: Split) -> Split:
        if id(split) not in by_id:
            language = split.language or splits.language
            inputs = {name: family.in_language(values, language) for name, values in split.inputs.items()}
            by_id[id(split)] = replace(split, texts=family.in_language(split.texts, language), inputs=inputs)
        return by_id[id(split)]

    same_rows = splits_in_languages(splits.same_rows, family) if splits.same_rows is not None else None
    return replace(
        splits,
        train=marked(splits.train),
        dev=marked(splits.dev),
        test=marked(splits.test),
        same_rows=same_rows,
        folds=tuple(splits_in_languages(fold, family) for fold in splits.folds),
    )
