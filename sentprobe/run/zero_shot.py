"""Results of a classifier that was trained in one language, kept as a run, for `show`, `compare` and `report`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from sentprobe import __version__
from sentprobe.data.dataset import Dataset
from sentprobe.data.layouts.catalogue import LAYOUTS
from sentprobe.encoders import encoder_info, load
from sentprobe.published.content import content_digests
from sentprobe.result import Cell, Result
from sentprobe.run.log import Log
from sentprobe.run.scoring import versions
from sentprobe.stats.classification import accuracy, macro_f1
from sentprobe.task import Example
from sentprobe.transfer.xnli.pairs import LABELS, Pair
from sentprobe.transfer.xnli.zero_shot import ZeroShot, labelled

TASK = "XNLI"


def nli_dataset(file: str, pairs: Sequence[Pair]) -> Dataset:
    """The pairs of one language of a file as a set that has test rows only."""
    own = labelled(pairs)
    stem, language = Path(file).name.partition(".tsv")[0], own[0].language
    name = f"{TASK}/{stem}" if not language or stem.endswith(f"-{language}") else f"{TASK}/{stem}-{language}"
    (second,) = LAYOUTS[TASK].inputs
    rows = [
        Example(pair.label, tuple(pair.premise.split()), pair.premise, f"{i}", extra=((second, pair.hypothesis),))
        for i, pair in enumerate(own, 1)
    ]
    return Dataset(name, TASK, 0, language or None, LABELS, {"te": rows})


def keep_zero_shot(log: Log, file: str, dataset: Dataset, found: ZeroShot, classifier: str) -> Result:
    """Add a result to a run: under the encoder, whose identity has that of the classifier as well."""
    identity, other = (encoder_info(load(name)).identity for name in (found.encoder, classifier))
    cell = Cell(
        task=TASK, version=0, dataset=dataset.name, data=dataset.digest, encoder=found.encoder,
        identity=f"{identity} with the classifier of {other}" if identity and other else None, sentprobe=__version__,
    )  # fmt: skip
    log.describe(encoders=[found.encoder], classifiers=[classifier], datasets=[_about(file, dataset)])
    log.save_rows(dataset, dataset.digest, None)
    truth, predicted = (np.array(each, np.int32) for each in (found.truth, found.predicted))
    result = Result(
        key=cell.key,
        cell=cell,
        language=dataset.language,
        labels=LABELS,
        n={"tr": 0, "va": 0, "te": found.n},
        trained_on="",
        chosen_on=None,
        score=accuracy(predicted, truth),
        scores={"macro_f1": macro_f1(predicted, truth)},
        interval=found.interval,
        versions=versions(),
    )
    log.add(result, {"predicted": predicted, "truth": truth})
    return result


def _about(file: str, dataset: Dataset) -> dict[str, object]:
    """What run.json records about the set."""
    return {
        "name": dataset.name, "task": TASK, "version": 0, "language": dataset.language, "digest": dataset.digest,
        "labels": list(LABELS), "question": None, "inputs": list(LAYOUTS[TASK].inputs), "corpus": None,
        "rows": {"te": len(dataset)}, "content": content_digests(dataset),
        "source": {"kind": TASK, "name": dataset.name, "paths": [str(Path(file).absolute())]}, "audit": None,
    }  # fmt: skip
