"""Runs written by hand: results as a probe could have left them, without a probe."""

from zlib import crc32

import numpy as np

from sentprobe.data.dataset import Dataset
from sentprobe.results.log import open_log
from sentprobe.results.result import Cell, Failure, Result
from sentprobe.results.run import Run
from sentprobe.run.scoring import without_interval
from sentprobe.stats.intervals import cluster_bootstrap, wilson
from sentprobe.tasks import Example

BASELINES = {"majority": 0.5, "length": 0.53, "nb-uni": 0.66, "nb-bi": 0.64}
FIXED = {"baseline:random": 0.5, "baseline:hash": 0.68}
SETS = ("conneau2018/subj_number", "conneau2018/bigram_shift")
SUBJ, SHIFT = SETS


def number(text):
    """The same for the same text, on every machine."""
    return crc32(text.encode())


def cell(
    encoder, dataset=SUBJ, *, probe="linear", layer=None, seed=1111, limit=None, sentprobe="0.1.0", data=None, **more
):
    return Cell(
        task=dataset.split("/")[-1], version=1, dataset=dataset, data=data or f"{number(dataset):016x}",
        encoder=encoder, identity=more.pop("identity", f"identity of {encoder}"), layer=layer, probe=probe, seed=seed,
        limit=limit, sentprobe=sentprobe, **more,
    )  # fmt: skip


def result(encoder, dataset=SUBJ, *, p=0.8, n=400, dev=None, forms=0, language="en", synthetic=False, **asked):
    """A result with about this accuracy, and its predictions. Encoders find the same rows hard."""
    of = cell(encoder, dataset, **asked)
    n = min(n, of.limit or n)
    hard = np.random.default_rng(number(dataset)).random(n)
    luck = np.random.default_rng(number(f"{encoder} {of.layer} {of.probe} {of.seed}")).normal(0, 0.1, n)
    right = hard + luck < p
    truth = (np.arange(n) % 2).astype(np.int32)
    predicted = np.where(right, truth, 1 - truth).astype(np.int32)
    bits = np.where(right, -0.2, -2.5).astype(np.float32)
    calm = np.where(right, -0.4, -1.8).astype(np.float32)
    losses = {"log2_loss": -float(bits.mean()), "log2_loss_calibrated": -float(calm.mean()), "temperature": 1.7}
    words = of.probe is None
    found = Result(
        key=of.key, cell=of, language=language, labels=("NN", "NNS"), n={"tr": 4 * n, "va": n, "te": n},
        score=float(right.mean()),
        scores={"macro_f1": float(right.mean()) - 0.01, **({} if words else losses)},
        interval=wilson(float(right.sum()), n),
        clusters=forms or None,
        cluster_interval=cluster_bootstrap(right, np.arange(n) % forms, seed=0, draws=200) if forms else None,
        dev_score=None if words else p if dev is None else dev, chosen={} if words else {"l2": 1e-4}, dimension=8,
        seconds={"fit": 0.5} if words else {"encode": 2.0, "fit": 1.0, "score": 0.25}, synthetic=synthetic,
        versions={"sentprobe": of.sentprobe, "numpy": "2.0"},
    )  # fmt: skip
    found = without_interval(found)
    return found, {"predicted": predicted, "truth": truth} | ({} if words else {"log2": bits, "log2_calibrated": calm})


def beside(sets=SETS, limit=None, **more):
    """What is run beside every encoder."""
    for dataset in sets:
        for name, p in BASELINES.items():
            yield result(name, dataset, p=p, probe=None, limit=limit, seed=0, **more)
        for name, p in FIXED.items():
            yield result(name, dataset, p=p, limit=limit, **more)


def failure(of, error="out of memory", kind="RuntimeError"):
    return Failure(key=of.key, cell=of, error=error, kind=kind)


def with_forms(record):
    """The test rows of a result, with as many target forms as it says."""
    rows = [
        Example(("NN", "NNS")[i % 2], ("word",), "word", key=str(i % record.clusters)) for i in range(record.n["te"])
    ]
    return Dataset(record.cell.dataset, record.cell.task, 1, "en", ("NN", "NNS"), {"te": rows})


def written(folder, *records):
    """A run with these records, in the order in which they come."""
    pairs = [(r, None) if isinstance(r, Failure) else r for r in records]
    cells = [record.cell for record, _ in pairs]
    of = {c.data: c for c in cells if c.data}
    with open_log(folder) as log:
        log.describe(
            encoders=sorted({c.encoder: None for c in cells if c.encoder}, key=lambda e: e in {*BASELINES, *FIXED}),
            probes=list({c.probe: None for c in cells if c.probe}),
            seeds=list({c.seed: None for c in cells}),
            datasets=[
                {"digest": d, "name": c.dataset, "task": c.task, "language": "en", "labels": ["NN", "NNS"],
                 "rows": {"tr": 1600, "va": 400, "te": 400}, "question": f"What about {c.task}?"}
                for d, c in of.items()
            ],
        )  # fmt: skip
        for record, arrays in pairs:
            if arrays is not None and record.clusters:
                log.save_rows(with_forms(record), record.cell.data, record.cell.limit)
            log.add(record, arrays)
    return Run.load(folder)
