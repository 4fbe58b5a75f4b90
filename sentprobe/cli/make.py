"""`sentprobe make`: annotated text → probing sets; or raw text, which is annotated first."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Group, Parameter

from sentprobe.cli._options import OUTPUT, STDIN, ClusterName, Jobs

order = 20

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
To try it out, without a corpus:
  sentprobe make --builtin 6000 -o probes/
"""

CORPUS = Group("The corpus", sort_key=10)
RAW = Group("Raw text", sort_key=15)
SETS = Group("The sets", sort_key=20)


def make(
    *corpus: Annotated[str, Parameter(group=CORPUS)],
    builtin: Annotated[int, Parameter(group=CORPUS)] = 0,
    trees: Annotated[tuple[str, ...], Parameter(consume_multiple=True, group=CORPUS)] = (),
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
    skip_bad: Annotated[bool, Parameter(group=CORPUS)] = False,
    audit: Annotated[bool, Parameter(group=OUTPUT)] = False,
    relax: Annotated[bool, Parameter(group=SETS)] = False,
    as_published: Annotated[bool, Parameter(group=SETS)] = False,
    name: Annotated[str | None, Parameter(group=CORPUS)] = None,
    language: Annotated[str | None, Parameter(group=CORPUS)] = None,
    format: Annotated[str | None, Parameter(group=CORPUS)] = None,
    tokenise: Annotated[str, Parameter(group=CORPUS)] = "",
    with_: Annotated[str | None, Parameter(("--with", "-w"), group=RAW)] = None,
    text: Annotated[str | None, Parameter(group=RAW)] = None,
    id: Annotated[str | None, Parameter(group=RAW)] = None,
    lines: Annotated[Literal["wrapped", "paragraphs", "sentences"] | None, Parameter(group=RAW)] = None,
    gold: Annotated[str | None, Parameter(group=RAW)] = None,
) -> int:
    """Make probing sets from annotated text.

    Parameters
    ----------
    corpus: str
        CoNLL-U, bracketed or plain-text files (also .gz .bz2 .xz .zst), globs, folders, or - for standard input; or a
        treebank of Universal Dependencies by name, ud:UD_English-EWT or, of another release, ud:UD_English-EWT@r2.15,
        which is downloaded; ud:LANGUAGE lists the treebanks of a language and makes nothing.
    builtin: int
        Use this many sentences of the built-in synthetic corpus instead: English, or with --language qto their
        translations into an invented language.
    trees: tuple[str, ...]
        Bracket files with the constituency trees of the same sentences.
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
    cluster: str
        Work on a cluster: ray or dask to start one on this machine; ray:auto, ray:HOST:PORT, dask:tcp://HOST:PORT or
        dask:FILE, the file of its scheduler, to join one. Results are those of --jobs 1.
    skip_bad: bool
        Skip malformed sentences; the manifest counts and lists them.
    audit: bool
        Run all audit checks on the sets, not only the quick ones, and keep the findings in the manifests.
    relax: bool
        Make sets that the corpus is too small for with wider settings: smaller classes, target forms of any frequency,
        fewer classes, other lengths, in this order and no further than needed. The manifest says which.
    as_published: bool
        Where the settings of a suite differ from what its paper says or released, follow the paper; docs/tasks.md
        lists where. --set comes after it.
    name: str
        The name of the corpus. Default: from the file names.
    language: str
        Its language code. Default: from the file names.
    format: str
        The format of the files: conllu, brackets or text; with --with one of `sentprobe ls text-sources`. Default: from
        their names and contents.
    tokenise: str
        How plain text is split into words: moses-fr and other languages, jieba (Chinese), janome (Japanese), pythainlp
        (Thai), simple or space. Default: at white space and punctuation.
    with_: str
        Annotate the files first, which are raw text then, with KIND:MODEL, as `sentprobe annotate` does, which has more
        options. The corpus is kept in the folder of the sets, and the same command goes on where it was interrupted.
    text: str
        The field of JSON lines or Parquet that has the text. Default: text.
    id: str
        The field that has the id of a document. Default: ids are made from the name of the file and the line.
    lines: str
        What a line break means: wrapped, paragraphs or sentences. Default: wrapped for plain text, else paragraphs.
    gold: str
        A treebank on which the annotator is scored, and its labels are compared with gold ones, class by class, for
        the manifests and audits. With a corpus that is annotated already, --with names its annotator.
    """
    from sentprobe.cli._annotated import annotate_first, is_annotated_by, print_annotations
    from sentprobe.cli._options import workers_of
    from sentprobe.cli._shown_sets import print_sets
    from sentprobe.cli.listings.tables import list_treebanks
    from sentprobe.console import announce, err, progress_bar
    from sentprobe.core.formatting import count_of
    from sentprobe.corpus.corpus import Corpus
    from sentprobe.corpus.treebanks.catalogue import is_spec, treebanks_of
    from sentprobe.data.dataset import MANIFEST_FILE, Dataset
    from sentprobe.errors import UsageError
    from sentprobe.make import make_sets
    from sentprobe.make.filters import EXCLUDED_REASON, ExcludedSentences
    from sentprobe.make.request import check_writable, read_excluded, select_tasks
    from sentprobe.tasks import SUITES, parametric_suites

    if bool(corpus) == bool(builtin):
        raise UsageError("Expected either corpus files or --builtin N, for the built-in corpus.")
    given = {"--trees": trees, "--name": name, "--format": format, "--skip-bad": skip_bad,
             "--tokenise": tokenise}  # fmt: skip
    if builtin and (idle := [option for option, value in given.items() if value]):
        raise UsageError(f"{idle[0]} is for corpus files, and has no effect on the built-in corpus: leave it out.")
    typed = tuple("-" if c == STDIN else c for c in corpus)
    named = [path for path in typed if is_spec(path)]
    if languages := {path: known for path in named if (known := treebanks_of(path))}:
        return list_treebanks(languages, out)
    raw = {"--text": text, "--id": id, "--lines": lines, "--gold": gold}
    if with_ is None:
        if idle := [option for option, value in raw.items() if value]:
            raise UsageError(f"{idle[0]} is for raw text: add --with ANNOTATOR, or leave it out.")
    else:
        if idle := [o for o, v in {"--builtin": builtin, "--tokenise": tokenise}.items() if v]:
            raise UsageError(f"{idle[0]} has no effect on raw text that is annotated: leave it out, or --with.")
        if named:
            raise UsageError(f"{named[0]} is annotated already: leave --with out.")
        is_raw = not is_annotated_by(typed, with_)
        if not is_raw and (idle := [o for o, v in {"--text": text, "--id": id, "--lines": lines}.items() if v]):
            raise UsageError(f"{idle[0]} is for raw text, and {typed[0]} is annotated: leave it out.")
        if not is_raw and not gold:
            raise UsageError(f"{typed[0]} is annotated: --with has an effect with --gold TREEBANK only. Leave it out.")
        if trees and is_raw:
            raise UsageError("--trees has no effect on raw text that is annotated: leave it out, or --with.")
    check_writable(out)
    excluded = read_excluded(exclude) if exclude else ExcludedSentences()
    if (with_ is not None or named) and not set(suite) & parametric_suites().keys():
        # what is wrong with them is said before anything is annotated or downloaded
        select_tasks(suite, task, sizes=sizes, length=length, settings=set_, as_published=as_published)
    if with_ is not None and is_raw:
        with workers_of(jobs, cluster) as workers:
            typed, trees = annotate_first(
                typed, with_, out, name, jobs=workers, format=format, text=text, id=id, lines=lines, language=language,
                skip_bad=skip_bad, gold=gold,
            )  # fmt: skip
        format = None
    source = (
        Corpus.synthetic(builtin, language=language or "en")
        if builtin
        else Corpus.read(*typed, name=name, language=language, format=format, trees=trees, tokenise=tokenise)
    )
    source_name = f"{builtin:,} built-in sentences" if builtin else source.name
    made: list[Any] = []
    skipped: list[Any] = []
    with workers_of(jobs, cluster, reads=(*source.files, *source.trees)) as workers, _naming_skip_bad(skip_bad):
        requests = select_tasks(
            suite,
            task,
            sizes=sizes,
            length=length,
            settings=set_,
            as_published=as_published,
            corpus=source,
            jobs=workers,
            skip_bad=skip_bad,
        )
        errors = None
        if with_ is not None and gold:
            from sentprobe.make.label_errors import measure_label_errors

            announce(f"Comparing labels of {with_} with those of {gold}")
            errors = measure_label_errors(with_, gold, requests, source.language)
        announce(
            f"Making {count_of(len(requests), 'set')} from {source_name}, in two passes over it; "
            f"{count_of(workers, 'job')}; writing to {out}/"
        )
        with progress_bar() as progress:
            for found in make_sets(
                source, requests, seed=seed, jobs=workers, exclude=excluded, exclusive=exclusive,
                skip_bad=skip_bad, audit=audit, relax=relax, label_errors=errors, progress=progress,
            ):  # fmt: skip
                if isinstance(found, Dataset):
                    found.save(out / found.name)
                    made.append(found.manifest)
                else:
                    # that of an earlier run would pass for this one's
                    (out / found.name / MANIFEST_FILE).unlink(missing_ok=True)
                    skipped.append(found)
    if made:
        print_sets(made)
        print_annotations(made)
        facts = made[0]["corpus"]
        source_of = f"{facts['sentences']:,} {'synthetic ' * facts['synthetic']}sentences of {facts['name']}"
        err().print(f"\n{len(made)} set{'s' * (len(made) > 1)} from {source_of}, written to {out}/", markup=False)
        if bad := facts["skipped"]["sentences"]:
            err().print(f"{count_of(bad, 'malformed sentence')} skipped; the manifests list them.")
        for incomplete in facts["skipped"]["incomplete files"]:
            err().print(f"not read to its end: {incomplete}", style="yellow", markup=False, soft_wrap=True)
        short = [m for m in made if sum(m["sizes"]["drawn"].values()) < sum(m["sizes"]["requested"].values()) * 0.99]
        exhausted = not any(m["stages"]["cells cut to their limit"] for m in short)
        if short:
            err().print(f"{len(short)} smaller than requested{': the corpus has no more candidates' * exhausted}.")
        if excluded and not any(EXCLUDED_REASON in m["stages"]["rejected"] for m in made):
            err().print(
                f"No sentence of {exclude} is in the corpus: does it have one sentence per line, and no other columns?"
            )
    for wider in (m for m in made if m.get("relaxed")):
        settings = " ".join(f"--set {wider['task']}.{setting}" for setting in wider["relaxed"])
        err().print(f"relaxed: {wider['name']}: {settings}", markup=False, soft_wrap=True)
    for lacking in skipped:
        err().print(f"not made: {lacking.name}: {lacking.reason}", style="yellow", markup=False, soft_wrap=True)
    # a suite of all that the corpus supports has no task that must be made
    skipped = [found for found in skipped if found.kind != "too few" or found.name.partition("/")[0] in SUITES]
    return 0 if not skipped and made else 2 if made or any(found.kind == "failed" for found in skipped) else 1


@contextmanager
def _naming_skip_bad(given: bool) -> Iterator[None]:
    """Add the way out to the error about a malformed corpus."""
    from sentprobe.errors import CorpusError, DataError

    try:
        yield
    except CorpusError as e:
        if given:
            raise
        rest = "uses what can be read of the file" if e.ends_file else "leaves out what is malformed, and counts it"
        raise DataError(f"{e}. --skip-bad {rest}.") from e
