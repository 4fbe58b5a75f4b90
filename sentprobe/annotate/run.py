"""`sentprobe annotate`, as a function: load the annotator, write the corpus and its card."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sentprobe.annotate.annotator import Model
from sentprobe.annotate.chunks import annotate_texts, output_files, trees_file
from sentprobe.annotate.evaluation import Accuracy, GoldTreebank, measure_accuracy
from sentprobe.annotate.output import Journal, card_file, check_corpus, header, read_card, unfinished, write_card
from sentprobe.annotate.request import SUFFIXES, AnnotationRequest, find_inputs
from sentprobe.annotate.source import Lines
from sentprobe.annotate.work import Work, model_of
from sentprobe.core.arguments import Progress, StringsOrPaths, as_strings
from sentprobe.core.cluster import current_cluster
from sentprobe.core.files import make_folder
from sentprobe.core.install import pip_install
from sentprobe.core.job_folder import check_same_request
from sentprobe.core.processes import ChildDied, Children
from sentprobe.corpus.languages import detector_code, has_detector
from sentprobe.corpus.tokenisers import splitter, splitter_for
from sentprobe.errors import AnnotatorError, NotInstalled, UsageError


@dataclass(frozen=True)
class AnnotatedCorpus:
    """A corpus that was annotated: its file, its model and its card.

    Parameters
    ----------
    path
        The CoNLL-U file.
    trees
        The file of constituency trees, if the annotator makes them.
    model
        What is known of the annotator's model.
    card
        The counts, the request and the digests, as in the file beside the corpus.
    is_new
        Whether it was written now; it may have been complete before.

    Examples
    --------
    >>> from sentprobe import annotate_files
    >>> annotated = annotate_files("book.txt", "spacy:fr_core_news_sm", "book.conllu")  # doctest: +SKIP
    >>> annotated.card["counts"]["sentences"]  # doctest: +SKIP
    1204
    """

    path: Path
    trees: Path | None
    model: Model
    card: Mapping[str, Any]
    is_new: bool

    def __repr__(self) -> str:
        return f"AnnotatedCorpus({str(self.path)!r}, model: {self.model.identity})"


def annotate_files(
    texts: StringsOrPaths,
    annotator: str,
    out: Path | str,
    *,
    format: str | None = None,
    jobs: int = 1,
    progress: Progress = lambda stage, done, total: None,
    **options: Any,
) -> AnnotatedCorpus:
    """Annotate raw text and write a corpus, as `sentprobe annotate` does; the same call resumes what was begun.

    Parameters
    ----------
    texts
        Files, folders or globs of text.
    annotator
        As in ``sentprobe annotate --with``: ``spacy:fr_core_news_sm``.
    out
        The file to write, .conllu or .conllu.gz.
    format
        The format of the texts, as `sentprobe ls text-sources` lists it; None: by their names.
    jobs
        Processes that annotate; the outcome does not depend on it.
    progress
        Called with a stage, the number of steps done, and the number of steps or None.
    options
        The fields of an ``AnnotationRequest``, as the options of `sentprobe annotate` with the same names: ``lines``,
        ``split``, ``language``, ``dedupe``, ``length``, ``limit``, ``gold``, ….

    Examples
    --------
    >>> from pathlib import Path
    >>> from sentprobe import Corpus, annotate_files
    >>> written = Path("story.txt").write_text("The dog sleeps .\\nIt barks .\\n")
    >>> written = Path("tiny.py").write_text('''
    ... from sentprobe import Sentence
    ...
    ... def annotate(texts):
    ...     for text in texts:
    ...         words = tuple(text.split())
    ...         yield [Sentence("", text, words, upos=("X",) * len(words))]
    ...
    ... annotate.columns = ("upos",)
    ... ''')
    >>> annotated = annotate_files("story.txt", "py:tiny.py", "story.conllu", lines="sentences")
    >>> annotated.path.name, annotated.is_new
    ('story.conllu', True)
    >>> [sentence.upos for sentence in Corpus.read("story.conllu")]
    [('X', 'X', 'X', 'X'), ('X', 'X', 'X')]
    """
    request = AnnotationRequest(annotator, find_inputs(as_strings(texts, "a text"), format), **options)
    return annotate_corpus(request, Path(out), jobs=jobs, progress=progress)


def annotate_corpus(request: AnnotationRequest, out: Path, *, jobs: int = 1, progress: Progress) -> AnnotatedCorpus:
    """Annotate texts and write a corpus; the same call resumes what was begun, and leaves what is finished."""
    if not out.name.endswith(SUFFIXES):
        raise UsageError(f"--out {out}: expected a name that ends in {' or '.join(SUFFIXES)}.")
    on_cluster = current_cluster() is not None
    with Children(1 if on_cluster else jobs) as children:
        return _annotate_corpus(request, out, jobs if on_cluster else children, children, progress)


def _annotate_corpus(
    request: AnnotationRequest, out: Path, workers: Children | int, children: Children, progress: Progress
) -> AnnotatedCorpus:
    model = _model(children, request.annotator)
    request.check(model)
    trees = trees_file(out) if "tree" in model.columns else None
    facts = request.facts(model)
    if (finished := _finished(out, facts)) is not None:
        check_corpus(out, finished, output_files(out, model))
        return AnnotatedCorpus(out, trees, model, finished, is_new=False)
    if trees is not None and trees.exists() and not unfinished(out).is_begun:
        raise UsageError(f"{trees}, where the trees would be written, exists: choose another name, or remove it.")
    work = _work(request, model)
    make_folder(out.parent)
    journal = Journal(out, output_files(out, model), facts)
    with journal.writing() as state:
        if request.gold and state.accuracy is None:
            state.accuracy = _accuracy(children, request, work).plain()
            journal.commit({})
        if not state.is_complete:
            comments = header(request.annotator, model, (state.accuracy or {}).get("text", ""))
            annotate_texts(request, work, journal, comments, workers, progress)
        journal.finish()
        write_card(out, request.annotator, model, state, journal.digests())
        journal.job.dissolve()
    card = read_card(out)
    assert card is not None  # it has just been written
    return AnnotatedCorpus(out, trees, model, card, is_new=True)


def measure(
    annotator: str, treebank: str, *, split: str = "", language: str | None = None, lines: Lines | None = None
) -> tuple[Accuracy, Model]:
    """How well an annotator does on a treebank, from raw text; with ``lines`` as sentences, from gold sentences."""
    request = AnnotationRequest(annotator, (), split=split, language=language, lines=lines, gold=treebank)
    with Children(1) as children:
        model = _model(children, annotator)
        return _accuracy(children, request, _work(request, model)), model


def _model(children: Children, annotator: str) -> Model:
    try:
        return children.call(model_of, annotator)
    except ChildDied as died:
        raise AnnotatorError(
            f"The annotator {annotator} crashes while it is loaded ({died}): its model is damaged or too large for the "
            "memory, or its native code does not fit this machine or the other packages."
        ) from None


def _accuracy(children: Children, request: AnnotationRequest, work: Work) -> Accuracy:
    assert request.gold is not None
    try:
        return children.call(
            measure_accuracy, request.annotator, GoldTreebank.of(request.gold), work.is_split, work.splitter
        )
    except ChildDied as died:
        raise AnnotatorError(
            f"The annotator {request.annotator} crashes on the text of {request.gold} ({died})."
        ) from None


def _work(request: AnnotationRequest, model: Model) -> Work:
    """What workers need to know; raises if a package is missing, before any work is done."""
    splitter_name = request.split
    if not splitter_name and not model.splits and request.lines != "sentences":
        if not (language := request.language or model.language):
            raise UsageError(
                f"{request.annotator} does not split sentences: add --as-language CODE or --split NAME, or --lines "
                "sentences if each line is one."
            )
        splitter_name = splitter_for(language)
    if splitter_name:
        splitter(splitter_name)
    expected_language: str | None = ""
    if request.check_language:
        language = request.language or model.language or ""
        if not has_detector():
            raise NotInstalled(f"--check-language needs py3langid: {pip_install('annotate')}")
        expected_language = detector_code(language)
        if expected_language is None:
            raise UsageError(f"--check-language: the detector does not know {language!r}. Leave it out.")
    return Work(
        annotator=request.annotator,
        readings=request.readings,
        model=model,
        splitter=splitter_name,
        is_split=bool(splitter_name) or request.lines == "sentences",
        language=expected_language or "",
        length=request.length,
        dedupe=request.dedupe,
        non_trees=request.non_trees,
        skip_bad=request.skip_bad,
    )


def _finished(out: Path, facts: Mapping[str, Any]) -> dict[str, Any] | None:
    """The card of a corpus that this request has written before; UsageError if another one has."""
    if not out.exists() or unfinished(out).is_begun:
        return None
    card = read_card(out)
    if card is None:
        raise UsageError(f"{out} exists, and has no card {card_file(out).name}: choose another name, or remove it.")
    check_same_request(out, "a corpus", card["request"], facts, facts, "name")
    return card
