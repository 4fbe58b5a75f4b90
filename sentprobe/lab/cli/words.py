"""`sentprobe words`: translate words, compare them and retrieve sentences in a space of two languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Group, Parameter

from sentprobe.cli._options import OUTPUT, command_line, open_store

if TYPE_CHECKING:
    from sentprobe.run import Run

order = 75
group = "Train and align"
resumes = True

ON = Group("What to evaluate on", sort_key=10)
HOW = Group("How", sort_key=20)


def words(
    *systems: str,
    dictionary: Annotated[tuple[str, ...], Parameter(("--dictionary", "-d"), group=ON)] = (),
    similarity: Annotated[tuple[str, ...], Parameter(group=ON)] = (),
    sentences: Annotated[tuple[str, ...], Parameter(group=ON)] = (),
    word_by_word: Annotated[tuple[str, ...], Parameter(group=ON)] = (),
    identical: Annotated[int, Parameter(group=ON)] = 0,
    evaluate: Annotated[tuple[str, ...], Parameter(group=ON)] = (),
    out: Annotated[Path, Parameter(("--out", "-o"), group=OUTPUT)] = Path("run"),
    scoring: Annotated[tuple[str, ...], Parameter(group=HOW)] = ("nn", "csls"),
    reverse: Annotated[bool, Parameter(group=HOW)] = False,
    both: Annotated[bool, Parameter(group=HOW)] = False,
    common: Annotated[bool, Parameter(group=HOW)] = False,
    pos: Annotated[str | None, Parameter(group=HOW)] = None,
    idf: Annotated[str | None, Parameter(group=HOW)] = None,
    weights: Annotated[str | None, Parameter(group=HOW)] = None,
    unit: Annotated[bool, Parameter(group=HOW)] = False,
    tokenise: Annotated[str | None, Parameter(group=HOW)] = None,
    center: Annotated[bool, Parameter(group=HOW)] = False,
    queries: Annotated[int, Parameter(group=HOW)] = 2000,
    languages: Annotated[str | None, Parameter(group=HOW)] = None,
    limit: Annotated[int | None, Parameter(group=HOW)] = None,
    seed: Annotated[int, Parameter(group=HOW)] = 0,
) -> int:
    """Evaluate spaces of words of two languages: translation, similarity, retrieval. The same command resumes.

    A file is used in the direction in which more of its words are known; results are in a run, as those of `sentprobe
    run` are, for `sentprobe show`, `sentprobe compare`, `sentprobe report` and `sentprobe figure`.

    Parameters
    ----------
    systems: str
        What `sentprobe align` wrote (FOLDER; FOLDER?epoch=3 or ?seed=2 for another of its maps, FOLDER?epoch=all for
        every map along the way; 'FOLDER/seed-*', quoted, for those of --seeds as one system), two files of word vectors
        in one space (A.vec,B.vec), or one (A.vec). With --sentences also sentence encoders: one for each language, or
        one for both ([NAME=]ENCODER,ENCODER).
    dictionary: tuple[str, ...]
        A file of words and their translations: precision at 1, 5 and 10, and closeness of the pairs; may be repeated.
    similarity: tuple[str, ...]
        A file of pairs of words, of one language or two, with scores of people: Pearson's and Spearman's correlation.
    sentences: tuple[str, ...]
        A,B: two files that are aligned line by line: precision at 1, 5 and 10 of retrieving the translation.
    word_by_word: tuple[str, ...]
        A,B: two files that are aligned line by line: BLEU of translating word by word.
    identical: int
        Ask for this many words that both spaces have, sampled evenly over frequency, each its own translation: for two
        spaces of one language.
    evaluate: tuple[str, ...]
        NAME=FILE or NAME=A,B: another evaluation, as `sentprobe ls word-evaluations` lists them.
    out: Path
        The folder to write to, or to resume in. Default: run.
    scoring: tuple[str, ...]
        How neighbours are scored, comma-separated: nn (cosine), csls, isf (inverted softmax). Default: nn,csls.
    reverse: bool
        Exchange the two columns, or files: from the second language to the first.
    both: bool
        Evaluate in both directions.
    common: bool
        Only ask for words that all systems know, so that systems with different vocabularies can be compared.
    pos: str
        A file of lines of a word, a tab and its part of speech, to report precision by part of speech.
    idf: str
        A,B: two files of sentences for inverse document frequencies. Default: the sentences that are not looked for.
    weights: str
        How words are weighted in the mean that is a sentence's vector: muse (the inverse document frequencies of MUSE,
        each word once), smooth (those of vec:, every occurrence), equal. Default: muse.
    unit: bool
        Give the vectors of words length one before sentences are made of them. MUSE does not.
    tokenise: str
        A tokeniser for the sentences, or one per file (A,B): space, simple, moses-fr, ...; all of its tokens are words,
        punctuation too. Default: words without punctuation.
    center: bool
        Subtract from the vectors of sentences the mean of their language.
    queries: int
        Sentences to look for, at most; all are candidates. Default: 2000.
    languages: str
        The languages of the columns, or files, such as en-fr. Default: from the names of the files.
    limit: int
        Only this many of the most frequent words of each space. Default: all.
    seed: int
        Samples of identical words and sentences depend on it. Default: 0.
    """
    from sentprobe.cli._printing import printed_warnings
    from sentprobe.console import announce, progress_bar
    from sentprobe.core.formatting import count_of
    from sentprobe.errors import UsageError
    from sentprobe.lab.words.evaluate import evaluate_words
    from sentprobe.lab.words.evaluation import EvaluationRequest

    if not systems:
        raise UsageError("Name a system: sentprobe words FOLDER --dictionary FILE, with FOLDER from `sentprobe align`.")
    if reverse and both:
        raise UsageError("--both evaluates in both directions, the reverse one included: leave out --reverse.")
    evaluations = _evaluations(dictionary, similarity, sentences, word_by_word, identical, evaluate)
    shared = {"languages": _languages(languages), "queries": queries, "seed": seed}
    typed = {"pos": pos, "idf": idf, "weights": weights, "unit": unit, "tokenise": tokenise, "center": center}
    options = _options({name: value for name, value in typed.items() if value not in (None, False)}, evaluations)
    requests = []
    for name, files in evaluations:
        fields: dict[str, Any] = {**shared, **options[name], "identical": 0 if files else identical}
        directions = _directions(name, reverse, both)
        requests += [
            EvaluationRequest(evaluation=name, files=files, reverse=is_reverse, **fields) for is_reverse in directions
        ]
    announce(
        f"Evaluating {count_of(len(systems), 'system')} in {count_of(len(requests), 'evaluation')}, neighbours by "
        f"{' and '.join(scoring).replace(',', ' and ')}; writing to {out}/"
    )
    store, scorings = open_store(no_store=False, limit=None), [name for text in scoring for name in text.split(",")]
    with printed_warnings(), progress_bar() as progress:
        results = evaluate_words(
            systems, requests, out, scorings=scorings, common=common, limit=limit, store=store, progress=progress,
            command=command_line(),
        )  # fmt: skip
    _print_results(results, common, out)
    return 2 if results.failures else 0


def _evaluations(
    dictionary: Sequence[str],
    similarity: Sequence[str],
    sentences: Sequence[str],
    word_by_word: Sequence[str],
    identical: int,
    evaluate: Sequence[str],
) -> list[tuple[str, tuple[str, ...]]]:
    """The evaluations that were named, each with its files; UsageError if there are none."""
    from sentprobe.errors import UsageError
    from sentprobe.lab.words import WORD_EVALUATIONS

    def of_flag(flag: str, texts: Sequence[str]) -> list[tuple[str, tuple[str, ...]]]:
        parts = [part for part in WORD_EVALUATIONS.parts().values() if part.flag == flag]
        return [(part.name, (text,) if part.files == 1 else _two(text, flag)) for text in texts for part in parts]

    evaluations = [
        *of_flag("--dictionary", dictionary),
        *([("translation", ())] if identical else []),
        *of_flag("--similarity", similarity),
        *of_flag("--sentences", sentences),
        *of_flag("--word-by-word", word_by_word),
        *map(_named, evaluate),
    ]
    if not evaluations:
        raise UsageError("Name what to evaluate on, such as --dictionary en-fr.5000-6500.txt.")
    return evaluations


def _print_results(results: Run, common: bool, out: Path) -> None:
    """Print the table of a run, and whether its systems were asked for different words."""
    from sentprobe.console import err, say
    from sentprobe.core.formatting import count_of
    from sentprobe.report.summary import summarise
    from sentprobe.report.tables import print_table

    print_table(summarise(results))
    digests: dict[str, set[str]] = {}
    for result in results:
        digests.setdefault(result.cell.dataset, set()).add(result.cell.data)
    if any(len(several) > 1 for several in digests.values()) and not common:
        err().print()
        say("A set with several lines (#…) asks systems only for what they know: --common asks all of them the same.")
    err().print(f"\n{count_of(len(results), 'result')}, written to {out}/", markup=False)


def _directions(name: str, reverse: bool, both: bool) -> Sequence[bool]:
    """The directions that an evaluation is made in; cosines are the same in both."""
    from sentprobe.lab.words import WORD_EVALUATIONS

    if not WORD_EVALUATIONS.get(name).directed:
        return (False,)
    return (False, True) if both else (reverse,)


def _two(text: str, option: str) -> tuple[str, ...]:
    from sentprobe.errors import UsageError

    files = tuple(text.split(","))
    if len(files) != 2 or not all(files):
        raise UsageError(f"{option} {text}: expected two files, separated by a comma: A,B.")
    return files


def _named(text: str) -> tuple[str, tuple[str, ...]]:
    from sentprobe.errors import UsageError
    from sentprobe.lab.words import WORD_EVALUATIONS

    name, equals, files = text.partition("=")
    if not equals or not files:
        raise UsageError(f"--evaluate {text}: expected NAME=FILE, or NAME=A,B.")
    file_count = WORD_EVALUATIONS.get(name).files
    return name, (files,) if file_count == 1 else _two(files, f"--evaluate {name}")


def _languages(text: str | None) -> tuple[str, str] | None:
    from sentprobe.errors import UsageError

    if text is None:
        return None
    source, _, target = text.partition("-")
    if not source or not target:
        raise UsageError(f"--languages {text}: expected two languages, such as en-fr.")
    return source, target


def _options(typed: Mapping[str, Any], evaluations: Sequence[tuple[str, tuple[str, ...]]]) -> dict[str, dict[str, Any]]:
    """By evaluation, its options among those that were typed; one that no evaluation has is refused."""
    from sentprobe.errors import UsageError
    from sentprobe.lab.words import WORD_EVALUATIONS
    from sentprobe.lab.words.sentences import weighting

    names = {name for name, _ in evaluations}
    parts = WORD_EVALUATIONS.parts().values()
    for option in typed:
        users = [part for part in parts if option in part.options]
        if names.isdisjoint(part.name for part in users):
            needed = " and ".join(part.flag or f"--evaluate {part.name}=FILE" for part in users)
            raise UsageError(f"--{option} is for {needed}: leave it out.")
    values = dict(typed)
    if "idf" in values:
        values["idf"] = _two(values["idf"], "--idf")
    if "weights" in values:
        weighting(values["weights"])
    if "tokenise" in values:
        values["tokenise"] = tuple(values["tokenise"].split(","))
    return {
        name: {option: value for option, value in values.items() if option in WORD_EVALUATIONS.get(name).options}
        for name in names
    }
