"""`sentprobe annotate`: raw text → an annotated corpus."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Group, Parameter

from sentprobe.cli._options import OUTPUT, ClusterName, Jobs

order = 15
group = "Sets"
resumes = True

examples = """
A book, with a spaCy pipeline that is installed:
  sentprobe annotate book.txt --with spacy:fr_core_news_sm -o book.conllu.gz
Documents in JSON lines, in two processes:
  sentprobe annotate news.jsonl --text body -w udpipe:fr.udpipe -o n.conllu -j2
How well it does on a treebank:
  sentprobe annotate --evaluate fr_gsd-ud-test.conllu -w spacy:fr_core_news_sm
"""

TEXTS = Group("The texts", sort_key=10)
ANNOTATOR = Group("The annotator", sort_key=15)
KEPT = Group("What is kept", sort_key=20)


def annotate(
    *texts: Annotated[str, Parameter(group=TEXTS)],
    with_: Annotated[str, Parameter(("--with", "-w"), group=ANNOTATOR)],
    out: Annotated[Path | None, Parameter(("--out", "-o"), group=OUTPUT)] = None,
    format: Annotated[str | None, Parameter(group=TEXTS)] = None,
    text: Annotated[str | None, Parameter(group=TEXTS)] = None,
    id: Annotated[str | None, Parameter(group=TEXTS)] = None,
    lines: Annotated[Literal["wrapped", "paragraphs", "sentences"] | None, Parameter(group=TEXTS)] = None,
    split: Annotated[str, Parameter(group=ANNOTATOR)] = "",
    as_language: Annotated[str | None, Parameter(group=ANNOTATOR)] = None,
    gold: Annotated[str | None, Parameter(("--gold", "--evaluate"), group=ANNOTATOR)] = None,
    skip_bad: Annotated[bool, Parameter(group=TEXTS)] = False,
    check_language: Annotated[bool, Parameter(group=KEPT)] = False,
    dedupe: Annotated[Literal["exact", "near"] | None, Parameter(group=KEPT)] = None,
    length: Annotated[str, Parameter(group=KEPT)] = "",
    limit: Annotated[int, Parameter(group=KEPT)] = 0,
    non_trees: Annotated[Literal["repair", "drop"], Parameter(group=KEPT)] = "repair",
    jobs: Jobs = 1,
    cluster: ClusterName = None,
) -> int:
    """Annotate raw text: sentences, parts of speech, features and trees, as CoNLL-U that `sentprobe make` reads.

    The same command goes on where it was interrupted. Without texts, --evaluate prints scores on a treebank.

    Parameters
    ----------
    texts: str
        Text files (also .gz .bz2 .xz .zst), globs, folders, addresses such as s3://…, or - for standard input.
    with_: str
        What annotates: KIND:MODEL, such as spacy:fr_core_news_sm. `sentprobe ls annotators` lists the kinds.
    out: Path
        The file to write: .conllu or .conllu.gz.
    format: str
        The format of the texts, by name: `sentprobe ls text-sources` lists them. Default: from the names of the files.
    text: str
        The field of JSON lines or Parquet that has the text. Default: text.
    id: str
        The field that has the id of a document. Default: ids are made from the name of the file and the line.
    lines: str
        What a line break means: nothing, as in wrapped text, where blank lines end paragraphs; or the end of a
        paragraph, or of a sentence. Default: wrapped for plain text, paragraphs in JSON lines and Parquet.
    split: str
        Split sentences with moses-fr and other languages, marks (Chinese, Japanese, Hindi, …) or pythainlp (Thai).
        Default: the annotator does, or if it cannot, what suits the language.
    as_language: str
        The language of the texts. Default: that of the model.
    gold: str
        A treebank on which the annotator is scored by the rules of CoNLL 2018, for the record of the corpus.
    skip_bad: bool
        Skip what cannot be read or annotated; it is counted.
    check_language: bool
        Drop paragraphs and sentences that are clearly in another language.
    dedupe: str
        Drop sentences that occurred before: exact, or near, which ignores case, digits and punctuation.
    length: str
        Shortest and longest sentence in tokens, such as 5-50. Default: all.
    limit: int
        Stop after this many sentences, the first ones. Default: all.
    non_trees: str
        Repair heads that are not a tree, or drop the sentence. Default: repair.
    jobs: int
        Worker processes; 0 means one per core. Default: 1.
    """
    from sentprobe.annotate.request import AnnotationRequest, find_inputs, parse_length
    from sentprobe.annotate.run import annotate_corpus, measure
    from sentprobe.cli._annotated import print_accuracy, print_card
    from sentprobe.cli._options import typed_paths, workers_of
    from sentprobe.console import announce, progress_bar
    from sentprobe.core.formatting import count_of
    from sentprobe.errors import UsageError

    if gold and not texts:
        if out is not None:
            raise UsageError(f"--out {out}: nothing is written if there are no texts. Leave it out, or name the texts.")
        announce(f"Scoring {with_} on {gold}")
        print_accuracy(*measure(with_, gold, split=split, language=as_language, lines=lines))
        return 0
    if out is None:
        raise UsageError("Expected --out FILE: where the corpus is written, such as corpus.conllu.gz.")
    inputs = find_inputs(typed_paths(texts), format)
    request = AnnotationRequest(
        with_,
        inputs,
        text,
        id,
        lines,
        split,
        as_language,
        check_language,
        dedupe,
        parse_length(length),
        limit,
        non_trees,
        skip_bad,
        gold,
    )
    with workers_of(jobs, cluster) as workers:
        files = count_of(len(inputs), "file")
        announce(f"Annotating {files} with {with_}; {count_of(workers, 'job')}; writing to {out}")
        with progress_bar() as progress:
            corpus = annotate_corpus(request, out, jobs=workers, progress=progress)
    print_card(corpus)
    return 0 if corpus.card["counts"].get("sentences") else 1
