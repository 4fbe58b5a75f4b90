"""Summaries written by hand, without a run."""

from sonde.report.types import Cell, Column, Score, Seconds, SetSummary, Summary


def make_cell(value, low=None, high=None, **more):
    """A cell with this accuracy."""
    values = {
        "score": Score(value, low, high), "accuracy": value, "low": low, "high": high, "interval": "wilson",
        "about": "probe", "probe_low": low, "probe_high": high, "training_sd": None, "clusters": None, "sd": None,
        "seeds": 1, "n": 100, "macro_f1": None, "log2_loss": None, "log2_loss_calibrated": None, "temperature": None,
        "dev_score": None, "layer": None, "information": None, "dimension": None, "train_n": 400, "edge": None,
        "chosen": (), "partial": False, "signatures": (),
    }  # fmt: skip
    return Cell(**{**values, **more})


def make_column(encoder, probe="linear", limit=None, sonde="0.1.0"):
    return Column(encoder=encoder, label=(encoder,), probe=probe, limit=limit, sonde=sonde)


def make_set(name, values=(), language="en", **more):
    """A set with these scores, None where there is none."""
    values = {
        "name": name, "label": name, "data": "0" * 16, "task": name.split("/")[-1], "version": 1,
        "language": language, "classes": 2, "n": {"tr": 400, "va": 100, "te": 100}, "scored_by": "accuracy",
        "synthetic": False, "question": None, "corpus": None, "source": None, "inputs": (), "audit": None,
        "printed_for": None, "human": None, "published": (),
        "cells": tuple(None if v is None else make_cell(v, v, v) for v in values),
    }  # fmt: skip
    return SetSummary(**{**values, **more})


def make_summary(sets=(), columns=None, **more):
    if columns is None:
        columns = [make_column(f"st:{i}") for i in range(len(sets[0].cells) if sets else 0)]
    values = {
        "folder": "run", "metric": "accuracy", "columns": tuple(columns), "baselines": (), "sets": tuple(sets),
        "transfer": (None,) * len(columns), "layers": (), "interpretations": {}, "diagnoses": (), "failures": (),
        "notes": (), "versions": {}, "seconds": Seconds(encode=0.0, fit=0.0, score=0.0),
    }  # fmt: skip
    return Summary(**{**values, **more})
