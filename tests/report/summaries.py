"""Summaries written by hand, typed: with what a chart, check or section reads, and plausible values elsewhere."""

from dataclasses import replace

from sentprobe.report.cells import Score
from sentprobe.report.types import CellSummary, Column, Seconds, SetSummary, Summary
from sentprobe.results.result import Signature


def column(encoder, **more):
    return Column(encoder=encoder, **{"label": (encoder,), "probe": "linear", "sentprobe": "0.1.0", **more})


def cell(value, low=None, high=None, **more):
    """A cell with this accuracy, and an interval of ±2 points if none is given."""
    low, high = value - 0.02 if low is None else low, value + 0.02 if high is None else high
    signature = Signature(task="x.v1", data="x#1", enc="x", n="4000/1000/1000", seed="1", sentprobe="0.1.0")
    known = {
        "score": Score(value, low, high), "accuracy": value, "low": low, "high": high, "interval": "wilson",
        "about": "probe", "probe_low": low, "probe_high": high, "training_sd": None, "clusters": None, "sd": None,
        "seeds": 1, "n": 1000, "macro_f1": None, "log2_loss": None, "log2_loss_calibrated": None, "temperature": None,
        "dev_score": value, "layer": None, "information": None, "dimension": 100, "train_n": 4000, "edge": None,
        "chosen": (), "partial": False, "signatures": (str(signature),),
    }  # fmt: skip
    return CellSummary(**{**known, **more})


def set_summary(name, cells, baselines=(), **more):
    known = {
        "label": name, "data": f"{len(name):016x}", "task": name, "version": 1, "language": "en", "classes": 2,
        "n": {"tr": 4000, "va": 1000, "te": 1000}, "scored_by": "accuracy", "synthetic": False, "question": None,
        "corpus": None, "source": None, "inputs": (), "audit": (), "printed_for": None, "human": None, "published": (),
    }  # fmt: skip
    return SetSummary(name=name, cells=tuple(cells), baselines=tuple(baselines), **{**known, **more})


def summary(sets=(), columns=(), baselines=(), **more):
    known = {
        "folder": "run", "metric": "accuracy", "transfer": (None,) * len(columns), "layers": (), "interpretations": {},
        "diagnoses": (), "failures": (), "notes": (), "versions": {}, "seconds": Seconds(encode=1, fit=1, score=1),
    }  # fmt: skip
    return Summary(sets=tuple(sets), columns=tuple(columns), baselines=tuple(baselines), **{**known, **more})


def with_set(whole, i, **changes):
    """The summary with one of its sets changed."""
    sets = list(whole.sets)
    sets[i] = replace(sets[i], **changes)
    return replace(whole, sets=tuple(sets))


def with_cell(whole, i, j, new):
    """The summary with one of its cells replaced."""
    cells = list(whole.sets[i].cells)
    cells[j] = new
    return with_set(whole, i, cells=tuple(cells))
