"""`sentprobe make`: annotated text → probing sets; or raw text, which is annotated first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Group, Parameter

from sentprobe.cli._contrasts import CONTRASTS, ContrastOptions
from sentprobe.cli._options import OUTPUT, ClusterName, Jobs, with_options
from sentprobe.core.arguments import option

if TYPE_CHECKING:
    from sentprobe.corpus.corpus import Corpus
    from sentprobe.make import SkippedTask
    from sentprobe.tasks import Policy, Task

order = 20
group = "Sets"

examples = """
From a treebank of Universal Dependencies, which is downloaded:
  sentprobe make ud:UD_English-EWT -o probes/
The treebanks of a language, with size and licence:
  sentprobe make ud:fi
The sets of a suite from files:
  sentprobe make en_ewt-ud-*.conllu --suite universal2019 -o probes/
Two tasks, in other sizes:
  sentprobe make corpus.conllu -t past_present -t passive --sizes 4000/500/500
From raw text, which is annotated first; the corpus is kept in the folder of the sets:
  sentprobe make book.txt -w spacy:fr_core_news_sm -s universal2019 -o probes/
A contrast set, for `sentprobe pairs`:
  sentprobe make ud:UD_English-EWT --contrast negation,roles,order -o contrasts/
To try it out, without a corpus:
  sentprobe make --builtin 6000 -o probes/
"""

MAX_FULL_REASONS = 2
"""Of more sets that were not made, only the first sentence of each reason is printed."""
CORPUS = Group("The corpus", sort_key=10)
RAW = Group("Raw text", sort_key=15)
SETS = Group("The sets", sort_key=20)


@dataclass(frozen=True, kw_only=True)
class CorpusOptions:
    """Which corpus sets are made from: files, a treebank, the built-in corpus, or raw text, which is annotated first.

    Parameters
    ----------
    builtin
        Use this many sentences of the built-in synthetic corpus instead: English, or with --language qto their
        translations into an invented language.
    trees
        Bracket files with the constituency trees of the same sentences.
    skip_bad
        Skip malformed sentences; the manifest counts and lists them.
    name
        The name of the corpus. Default: from the file names.
    language
        With --builtin: en, or qto, an invented language. Default: en.
    as_language
        The language code of files. Default: from their names.
    format
        The format of the files: conllu, brackets or text; with --with one of `sentprobe ls text-sources`. Default: from
        their names and contents.
    tokenise
        How plain text is split into words: moses-fr and other languages, jieba (Chinese), janome (Japanese), pythainlp
        (Thai), simple or space. Default: at white space and punctuation.
    with_
        Annotate the files first, which are raw text then, with KIND:MODEL, as `sentprobe annotate` does, which has more
        options. The corpus is kept in the folder of the sets, and the same command goes on where it was interrupted.
    text
        The field of JSON lines or Parquet that has the text. Default: text.
    id
        The field that has the id of a document. Default: ids are made from the name of the file and the line.
    lines
        What a line break means: wrapped, paragraphs or sentences. Default: wrapped for plain text, else paragraphs.
    gold
        A treebank on which the annotator is scored, and its labels are compared with gold ones, class by class, for
        the manifests and audits. With a corpus that is annotated already, --with names its annotator.
    """

    builtin: int = option(0, CORPUS.name)
    trees: Annotated[tuple[str, ...], Parameter(consume_multiple=True)] = option((), CORPUS.name)
    skip_bad: bool = option(False, CORPUS.name)
    name: str | None = option(None, CORPUS.name)
    language: str | None = option(None, CORPUS.name)
    as_language: str | None = option(None, CORPUS.name)
    format: str | None = option(None, CORPUS.name)
    tokenise: str = option("", CORPUS.name)
    with_: Annotated[str | None, Parameter(("--with", "-w"))] = option(None, RAW.name)
    text: str | None = option(None, RAW.name)
    id: str | None = option(None, RAW.name)
    lines: Literal["wrapped", "paragraphs", "sentences"] | None = option(None, RAW.name)
    gold: str | None = option(None, RAW.name)

    def check_source(self, paths: Sequence[str]) -> None:
        """Raise UsageError unless there are either files or the built-in corpus, with options that fit."""
        from sentprobe.errors import UsageError

        if bool(paths) == bool(self.builtin):
            raise UsageError("Expected either corpus files or --builtin N, for the built-in corpus.")
        if self.builtin:
            self._refuse(
                ("trees", "name", "format", "skip_bad", "tokenise", "as_language"),
                "is for corpus files, and has no effect on the built-in corpus: leave it out.",
            )
        else:
            hint = f"To name the language of files, use --as-language {self.language}."
            self._refuse(("language",), f"is for --builtin. {hint}")

    def needs_annotation(self, paths: Sequence[str], treebanks: Sequence[str]) -> bool:
        """Whether the files are raw text; UsageError if an option does not fit them."""
        from sentprobe.cli._annotated import is_annotated_by
        from sentprobe.errors import UsageError

        if self.with_ is None:
            self._refuse(("text", "id", "lines", "gold"), "is for raw text: add --with ANNOTATOR, or leave it out.")
            return False
        idle = "has no effect on raw text that is annotated: leave it out, or --with."
        self._refuse(("builtin", "tokenise"), idle)
        if treebanks:
            raise UsageError(f"{treebanks[0]} is annotated already: leave --with out.")
        if not is_annotated_by(paths, self.with_):
            self._refuse(("trees",), idle)
            return True
        self._refuse(("text", "id", "lines"), f"is for raw text, and {paths[0]} is annotated: leave it out.")
        if not self.gold:
            raise UsageError(f"{paths[0]} is annotated: --with has an effect with --gold TREEBANK only. Leave it out.")
        return False

    def _refuse(self, names: Sequence[str], reason: str) -> None:
        """Raise UsageError if one of these options was typed."""
        from sentprobe.errors import UsageError

        for name in names:
            if getattr(self, name):
                raise UsageError(f"--{name.replace('_', '-')} {reason}")

    def annotate(self, paths: Sequence[str], folder: Path, jobs: int) -> tuple[tuple[str, ...], CorpusOptions]:
        """Annotate raw text; the files of the corpus, and these options for them."""
        from sentprobe.cli._annotated import annotate_first

        assert self.with_ is not None
        files, trees = annotate_first(
            paths, self.with_, folder, self.name, jobs=jobs, format=self.format, text=self.text, id=self.id,
            lines=self.lines, language=self.as_language, skip_bad=self.skip_bad, gold=self.gold,
        )  # fmt: skip
        return files, replace(self, trees=trees, format=None)

    def open(self, paths: Sequence[str]) -> Corpus:
        """The corpus; nothing is read yet."""
        from sentprobe.corpus.corpus import Corpus

        if self.builtin:
            return Corpus.synthetic(self.builtin, language=self.language or "en")
        return Corpus.read(
            *paths,
            name=self.name,
            language=self.as_language,
            format=self.format,
            trees=self.trees,
            tokenise=self.tokenise,
        )


@with_options(ContrastOptions, (CONTRASTS,), before="jobs")
@with_options(CorpusOptions, (CORPUS, RAW), before="suite")
def make(
    *corpus: Annotated[str, Parameter(group=CORPUS)],
    suite: Annotated[tuple[str, ...], Parameter(("--suite", "-s"), group=SETS)] = (),
    task: Annotated[tuple[str, ...], Parameter(("--task", "-t"), group=SETS)] = (),
    out: Annotated[Path, Parameter(("--out", "-o"), group=OUTPUT)] = Path("probes"),
    sizes: Annotated[str, Parameter(group=SETS)] = "",
    length: Annotated[str, Parameter(group=SETS)] = "",
    seed: Annotated[int, Parameter(group=SETS)] = 1111,
    exclude: Annotated[Path | None, Parameter(group=SETS)] = None,
    exclusive: Annotated[bool, Parameter(group=SETS)] = False,
    set_: Annotated[tuple[str, ...], Parameter("--set", group=SETS)] = (),
    jobs: Jobs = 1,
    cluster: ClusterName = None,
    audit: Annotated[bool, Parameter(group=OUTPUT)] = False,
    relax: Annotated[bool, Parameter(group=SETS)] = False,
    as_published: Annotated[bool, Parameter(group=SETS)] = False,
    **options: Any,
) -> int:
    """Make probing sets, or a contrast set, from annotated text.

    Parameters
    ----------
    corpus: str
        CoNLL-U, bracketed or plain-text files (also .gz .bz2 .xz .zst), globs, folders, or - for standard input; or a
        treebank of Universal Dependencies by name, ud:UD_English-EWT or, of another release, ud:UD_English-EWT@r2.15,
        which is downloaded; ud:LANGUAGE lists the treebanks of a language and makes nothing.
    suite: tuple[str, ...]
        Make every task of a suite: conneau2018, universal2019 (the default), xprobe2019, adi2017; or of morphology and
        relations, all that the corpus supports. May be repeated.
    task: tuple[str, ...]
        Make only this task: a name, such as past_present or morph:obj.Case, package.module:attribute, or a path to a
        Python file. May be repeated.
    out: Path
        The folder to write to. Default: probes.
    sizes: str
        Rows in train/dev/test, such as 10000/1000/1000. Default: the paper's sizes.
    length: str
        Shortest and longest sentence in tokens, such as 5-28. Default: the paper's window.
    seed: int
        All random choices derive from it. Default: 1111.
    exclude: Path
        Sentences not to use: a file with one per line, or sets, whose original sentences are not used either. Case,
        digits and punctuation are ignored.
    exclusive: bool
        Use a sentence in one set only; scarce sentences are shared out fairly among the sets.
    set_: tuple[str, ...]
        Change a policy, such as --set decorrelate=gaussian or --set odd_man_out.tolerance=0.5. May be repeated.
    jobs: int
        Worker processes; 0 means one per core. Default: 1.
    audit: bool
        Run all audit checks on the sets, not only the quick ones, and keep the findings in the manifests.
    relax: bool
        Make sets that the corpus is too small for with wider settings: smaller classes, target forms of any frequency,
        fewer classes, other lengths, in this order and no further than needed. The manifest says which.
    as_published: bool
        Where the settings of a suite differ from what its paper says or released, follow the paper; docs/tasks.md
        lists where. --set comes after it.
    """
    from sentprobe.cli._options import typed_paths, workers_of
    from sentprobe.cli.listings.tables import list_treebanks
    from sentprobe.corpus.treebanks.catalogue import is_spec, treebanks_of
    from sentprobe.make.filters import ExcludedSentences
    from sentprobe.make.request import check_writable, read_excluded, select_tasks
    from sentprobe.tasks import parametric_suites

    for_probing_sets = (suite, task, set_, exclusive, relax, audit, as_published)
    contrasts = ContrastOptions.taken_from(options, any(for_probing_sets))
    paths, corpus_options = typed_paths(corpus), CorpusOptions(**options)
    corpus_options.check_source(paths)
    treebanks = [path for path in paths if is_spec(path)]
    if languages := {path: of_language for path in treebanks if (of_language := treebanks_of(path))}:
        return list_treebanks(languages, out)
    needs_annotation = corpus_options.needs_annotation(paths, treebanks)
    check_writable(out)
    excluded = read_excluded(exclude) if exclude else ExcludedSentences()
    settings: dict[str, Any] = {"sizes": sizes, "length": length, "settings": set_, "as_published": as_published}
    fetches = corpus_options.with_ is not None or treebanks
    if fetches and not contrasts.contrast and not set(suite) & parametric_suites().keys():
        select_tasks(suite, task, **settings)  # its errors come before anything is annotated or downloaded
    if needs_annotation:
        with workers_of(jobs, cluster) as workers:
            paths, corpus_options = corpus_options.annotate(paths, out, workers)
    source, skip_bad = corpus_options.open(paths), corpus_options.skip_bad
    with workers_of(jobs, cluster, reads=(*source.files, *source.trees)) as workers, _naming_skip_bad(skip_bad):
        if contrasts.contrast:
            return contrasts.make(source, out, sizes, length, seed, workers, excluded, skip_bad)
        requests = select_tasks(suite, task, **settings, corpus=source, jobs=workers, skip_bad=skip_bad)
        manifests, skipped = _make_sets(
            source, requests, out, corpus_options, seed=seed, jobs=workers, exclude=excluded, exclusive=exclusive,
            skip_bad=skip_bad, audit=audit, relax=relax,
        )  # fmt: skip
    if manifests:
        _write_card(out)
        _print_sets(manifests, out, exclude)
    code = _print_incomplete(manifests, skipped)
    if any(task.kind == "columns" for task in skipped):
        _suggest_annotating(source, paths)
    return code


def _suggest_annotating(source: Corpus, paths: Sequence[str]) -> None:
    """Say how plain text gets the annotation that most tasks need."""
    from sentprobe.console import say
    from sentprobe.core.formatting import printable
    from sentprobe.corpus.files import detect_format

    if source.files and all((source.format or detect_format(file)) == "text" for file in source.files):
        example = f"sentprobe make {' '.join(map(quote, paths[:2]))} --with stanza:en"
        say(
            printable(
                f"{source.name} is plain text: --with annotates it first, such as {example}; `sentprobe ls "
                "annotators` lists annotators."
            )
        )


def _make_sets(
    source: Corpus,
    requests: Sequence[tuple[str, Task, Policy]],
    out: Path,
    corpus_options: CorpusOptions,
    **settings: Any,
) -> tuple[list[Mapping[str, Any]], list[SkippedTask]]:
    """Make sets and save them; their manifests, and the tasks of which no set could be made."""
    from sentprobe.console import announce, progress_bar
    from sentprobe.core.formatting import count_of
    from sentprobe.data.dataset import MANIFEST_FILE, Dataset
    from sentprobe.make import make_sets
    from sentprobe.make.card import write_splits

    label_errors = None
    if corpus_options.with_ is not None and corpus_options.gold:
        from sentprobe.make.label_errors import measure_label_errors

        announce(f"Comparing labels of {corpus_options.with_} with those of {corpus_options.gold}")
        label_errors = measure_label_errors(corpus_options.with_, corpus_options.gold, requests, source.language)
    name = count_of(corpus_options.builtin, "built-in sentence") if corpus_options.builtin else source.name
    announce(
        f"Making {count_of(len(requests), 'set')} from {name}, in two passes over it; "
        f"{count_of(settings['jobs'], 'job')}; writing to {out}/"
    )
    manifests: list[Mapping[str, Any]] = []
    skipped: list[SkippedTask] = []
    with progress_bar() as progress:
        for result in make_sets(source, requests, **settings, label_errors=label_errors, progress=progress):
            if isinstance(result, Dataset):
                result.save(out / result.name)
                write_splits(result, out / result.name)
                manifests.append(result.manifest)
            else:
                # that of an earlier run would pass for this one's
                (out / result.name / MANIFEST_FILE).unlink(missing_ok=True)
                skipped.append(result)
    return manifests, skipped


def _write_card(out: Path) -> None:
    """Write the dataset card of all sets in the folder, and say if there is another README."""
    from sentprobe.console import warn
    from sentprobe.make.card import CARD_FILE, write_card

    if not write_card(out):
        warn(
            f"{out / CARD_FILE} was not written by `sentprobe make`, or edited since, and is left as it is. Move it "
            "away and repeat the command for a dataset card of these sets."
        )


def _print_sets(manifests: Sequence[Mapping[str, Any]], out: Path, exclude: Path | None) -> None:
    """Print the sets that were made, and what was left out of the corpus and of them."""
    from sentprobe.cli._annotated import print_annotations
    from sentprobe.cli._sets import differences_text, print_sets
    from sentprobe.console import err, print_wrapped, warn
    from sentprobe.core.formatting import count_of
    from sentprobe.make.filters import EXCLUDED_REASON

    print_sets(manifests)
    print_annotations(manifests)
    corpus = manifests[0]["corpus"]
    size = count_of(corpus["sentences"], f"{'synthetic ' * corpus['synthetic']}sentence")
    sets = count_of(len(manifests), "set")
    err().print(f"\n{sets} from {size} of {corpus['name']}, written to {out}/", markup=False)
    if malformed := corpus["skipped"]["sentences"]:
        err().print(f"{count_of(malformed, 'malformed sentence')} skipped; the manifests list them.")
    for incomplete in corpus["skipped"]["incomplete files"]:
        warn(f"not read to its end: {incomplete}")
    short = [m for m in manifests if sum(m["sizes"]["drawn"].values()) < sum(m["sizes"]["requested"].values()) * 0.99]
    exhausted = not any(m["stages"]["cells cut to their limit"] for m in short)
    if short:
        err().print(f"{len(short)} smaller than requested{': the corpus has no more candidates' * exhausted}.")
    print_wrapped(err(), differences_text(manifests, out))
    if exclude and not any(EXCLUDED_REASON in m["stages"]["rejected"] for m in manifests):
        err().print(
            f"No sentence of {exclude} is in the corpus: does it have one sentence per line, and no other columns?"
        )


def _print_incomplete(manifests: Sequence[Mapping[str, Any]], skipped: Sequence[SkippedTask]) -> int:
    """Print which sets were made with other settings or not at all; the exit code."""
    from sentprobe.console import say, warn
    from sentprobe.tasks import SUITES

    for manifest in (m for m in manifests if m.get("relaxed")):
        settings = " ".join(f"--set {manifest['task']}.{setting}" for setting in manifest["relaxed"])
        say(f"relaxed: {manifest['name']}: {settings}")
    in_full = len(skipped) <= MAX_FULL_REASONS
    for task in skipped:
        warn(f"not made: {task.name}: {task.reason if in_full else task.reason.partition('. ')[0]}")
    if any(". " in task.reason for task in skipped) and not in_full:
        relax = " --relax tries smaller sets." * any("--relax" in task.reason for task in skipped)
        say(f"-t TASK says of one task what was left out, and which settings would keep it.{relax}")
    # a suite of all that the corpus supports has no task that must be made
    failures = [task for task in skipped if task.kind != "too few" or task.name.partition("/")[0] in SUITES]
    return 0 if not failures and manifests else 2 if manifests or any(t.kind == "failed" for t in failures) else 1


@contextmanager
def _naming_skip_bad(skip_bad: bool) -> Iterator[None]:
    """Add the way out to the error about a malformed corpus."""
    from sentprobe.errors import CorpusError, DataError

    try:
        yield
    except CorpusError as e:
        if skip_bad:
            raise
        effect = "uses what can be read of the file" if e.ends_file else "leaves out what is malformed, and counts it"
        raise DataError(f"{e}. --skip-bad {effect}.") from e
