"""`sentprobe data xnli …`: what XNLI's authors did with their corpus, for any file in its form."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import cyclopts
from cyclopts import Parameter

from sentprobe.cli._options import command_line
from sentprobe.cli._printing import print_published
from sentprobe.core.formatting import POINTS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sentprobe.lab.xnli.pairs import NliPair

xnli = cyclopts.App(
    name="xnli", help="Zero-shot accuracy, votes, lengths, cue words and agreement of NLI pairs.", version_flags=()
)


@xnli.command
def votes(*files: str) -> int:
    """Vote on gold labels: that of three of five annotators, else -, and compare with those of the files.

    Exit code 1 if a gold label of a file is not that of the vote.

    Parameters
    ----------
    files: str
        Files with a header, as xnli.dev.tsv: sentence1, sentence2, gold_label and label1 to label5.
    """
    from sentprobe.errors import DataError
    from sentprobe.lab.xnli.pairs import count_votes

    bad = False
    rows: list[tuple[str, ...]] = [
        ("file", "pairs", "consensus", "without (-)", "unanimous", "as the author", "other than in the file")
    ]
    for file in _named(files):
        tally = count_votes(_pairs(file))
        if not tally.voted:
            raise DataError(f"{file} has no votes; expected columns label1 to label5.")
        counts = (tally.consensus, tally.voted - tally.consensus, tally.unanimous, tally.author_kept)
        shares = [f"{n:,} ({POINTS.number(n / tally.voted)} %)" for n in counts]
        rows.append((file, f"{tally.voted:,}", *shares, f"{len(tally.different):,}"))
        bad = bad or bool(tally.different)
    _print(rows)
    print_published("xnli_votes")
    return int(bad)


@xnli.command
def tokens(*files: str, tokenise: str = "") -> int:
    """Print the mean number of tokens of premises and hypotheses, by language.

    Parameters
    ----------
    files: str
        xnli.dev.tsv, or files such as dev-fr.tsv, whose names say their language.
    tokenise: str
        The tokeniser of all languages. Default: that of each language, as `sentprobe train` has them.
    """
    from sentprobe.console import out
    from sentprobe.corpus.tokenisers import check_tokeniser, tokeniser, tokeniser_for
    from sentprobe.lab.xnli.pairs import mean_lengths
    from sentprobe.published import published

    if tokenise:
        check_tokeniser(tokenise)

    def split(text: str, language: str) -> list[str]:
        return tokeniser(tokenise or tokeniser_for(language))(text)

    rows = [("language", "pairs", "premise", "hypothesis", "published", "tokeniser")]
    for file in _named(files):
        for lengths in mean_lengths(_pairs(file), split):
            name = tokenise or tokeniser_for(lengths.language)
            numbers = f"{lengths.premise:.1f}", f"{lengths.hypothesis:.1f}"
            printed = " / ".join(f"{row.value:.1f}" for row in published("xnli_tokens", language=lengths.language))
            rows.append((lengths.language or "(not known)", f"{lengths.pairs:,}", *numbers, printed, name))
    _print(rows)
    if any(row[4] for row in rows[1:]):
        out().print("published: premises / hypotheses of dev and test, in table 4.8 of conneau2019", style="dim")
    return 0


@xnli.command
def cues(*files: str, language: str = "", tokenise: str = "simple", top: int = 10, least: int = 5) -> int:
    """Print the words of hypotheses that have the most mutual information with each label.

    Parameters
    ----------
    files: str
        Files of pairs, which are counted together.
    language: str
        Only pairs of this language, where a file has several.
    tokenise: str
        How hypotheses are split into words. Default: simple.
    top: int
        Words per label. Default: 10.
    least: int
        Hypotheses in which a word must occur. Default: 5.
    """
    from sentprobe.corpus.tokenisers import tokeniser
    from sentprobe.lab.xnli.pairs import cue_words

    pairs = [pair for file in _named(files) for pair in _pairs(file, language)]
    rows = [("label", "word", "information (millibits)", "of the label", "hypotheses")]
    for label, label_cues in cue_words(pairs, tokeniser(tokenise), top, least).items():
        for cue in label_cues:
            numbers = f"{1000 * cue.information:.2f}", f"{POINTS.number(cue.share)} %", f"{cue.count:,}"
            rows.append((label, cue.word, *numbers))
    _print(rows)
    return 0


@xnli.command
def agreement(gold: str, second: str, /, *, language: str = "") -> int:
    """Compare the labels of a second annotation with gold labels, pair by pair.

    Parameters
    ----------
    gold: str
        A file of pairs.
    second: str
        The same pairs, in the same order, with the labels of the second annotation.
    language: str
        Only pairs of this language, where a file has several.
    """
    from sentprobe.errors import DataError
    from sentprobe.lab.xnli.pairs import LABELS
    from sentprobe.lab.xnli.pairs import label_agreement as compare
    from sentprobe.stats.level import level_text

    gold_pairs, second_pairs = list(_pairs(gold, language)), list(_pairs(second, language))
    if len(gold_pairs) != len(second_pairs):
        raise DataError(
            f"{gold} has {len(gold_pairs):,} pairs and {second} {len(second_pairs):,}: expected the same pairs."
        )
    both = [
        (a.label, b.label)
        for a, b in zip(gold_pairs, second_pairs, strict=True)
        if a.label in LABELS and b.label in LABELS
    ]
    rows = [("label", "pairs", "same", f"{level_text()} interval", "kappa")]
    for label in ("all", *LABELS):
        of_label = [pair for pair in both if label in ("all", pair[0])]
        if of_label:
            result = compare(*zip(*of_label, strict=True))
            interval = f"{POINTS.interval(result.low, result.high)} %"
            kappa = f"{result.kappa:.3f}" if label == "all" else ""
            rows.append((label, f"{result.n:,}", f"{POINTS.number(result.share)} %", interval, kappa))
    _print(rows)
    print_published("xnli_agreement", language or None)
    return 0


@xnli.command
def zero_shot(
    *files: str,
    encoder: Annotated[tuple[str, ...], Parameter(("--encoder", "-e"))] = (),
    classifier: str,
    out: Annotated[Path | None, Parameter(("--out", "-o"))] = None,
) -> int:
    """Apply the classifier of an English encoder to pairs of other languages, as it is.

    Parameters
    ----------
    files: str
        xnli.test.tsv, or files such as test-fr.tsv, whose names say their language.
    encoder: tuple[str, ...]
        The encoders of the pairs: copies of the English one, or a family, which has one for each language. May be
        repeated: others are compared with the first, by the pairs that only one of them has right. Not needed for a
        fine-tuned language model, which encodes pairs itself.
    classifier: str
        The encoder whose classifier is used: trained:FOLDER, of `sentprobe train nli`, or of `sentprobe train xnli`.
    out: Path
        Also keep the results as a run, which `sentprobe show`, `compare` and `report` read. Default: they are printed.
    """
    from sentprobe.lab.training import require_training

    require_training()
    from contextlib import ExitStack

    from sentprobe import __version__
    from sentprobe.console import out as console
    from sentprobe.core.formatting import count_of
    from sentprobe.lab.xnli.zero_shot import keep_zero_shot, nli_dataset
    from sentprobe.lab.xnli.zero_shot import zero_shot as score
    from sentprobe.results.log import open_log
    from sentprobe.stats.level import level_text
    from sentprobe.stats.paired import mcnemar

    rows: list[tuple[str, ...]] = [
        ("language", "pairs", "encoder", "accuracy", f"{level_text()} interval", "from the first")
    ]
    encoders = encoder or (classifier,)
    with ExitStack() as stack:
        log = None if out is None else stack.enter_context(open_log(out))
        if log is not None:
            log.begin(encoders)
            log.describe(sentprobe=[__version__], commands=[command_line().encode(errors="backslashreplace").decode()])
        for file in _named(files):
            groups: dict[str, list[NliPair]] = {}
            for pair in _pairs(file):
                groups.setdefault(pair.language, []).append(pair)
            for language, pairs in groups.items():
                first = None
                for name in encoders:
                    result = score(classifier, name, pairs)
                    first = first or result
                    if log is not None:
                        keep_zero_shot(log, file, nli_dataset(file, pairs), result, classifier)
                    difference = ""
                    if result is not first:
                        test = mcnemar(result.right, first.right)
                        ends = POINTS.interval(test.low, test.high, sign=True)
                        difference = f"{POINTS.number(test.difference, sign=True)} ({ends})"
                    numbers = (
                        f"{POINTS.number(result.accuracy)} %",
                        f"{POINTS.interval(*result.interval)} %",
                        difference,
                    )
                    rows.append((language or "(not known)", f"{result.n:,}", name, *numbers))
    _print(rows)
    if out is not None:
        console().print(f"{count_of(len(rows) - 1, 'result')}, written to {out}/", markup=False, soft_wrap=True)
    return 0


def _named(files: tuple[str, ...]) -> tuple[str, ...]:
    from sentprobe.errors import UsageError

    if not files:
        raise UsageError("Name the files of pairs, such as xnli.dev.tsv.")
    return files


def _pairs(file: str, language: str = "") -> Iterable[NliPair]:
    """The pairs of a file; where it has no column of languages, its name may say which it is: dev-fr.tsv."""
    import re
    from dataclasses import replace

    from sentprobe.lab.xnli.pairs import read_pairs

    named = re.match(r"\w+-([a-z]{2,3})\.tsv", Path(file).name)
    return [
        replace(pair, language=named[1]) if named and not pair.language else pair for pair in read_pairs(file, language)
    ]


def _print(rows: Sequence[tuple[str, ...]]) -> None:
    from sentprobe.console import out
    from sentprobe.core.table import Table

    header, *lines = rows
    Table.of_rows(header, lines, texts=("word", "tokeniser", "encoder")).print(out())
