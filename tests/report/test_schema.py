"""The JSON of a summary: its schema is published, up to date and followed."""

import json
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from sentprobe.report import Report
from sentprobe.report.schema import schema_text, summary_schema
from sentprobe.report.tables import json_text
from sentprobe.report.types import Summary
from tests.report.runs import SETS, beside, cell, failure, result, written

PUBLISHED = Path(__file__).parents[2] / "docs" / "summary.schema.json"


@pytest.fixture(scope="module")
def summary(tmp_path_factory):
    """Layers, seeds, target forms, a failure, published results and errors."""
    layers = [result("hf:a", s, layer=layer, forms=20) for s in SETS for layer in ("0", "1")]
    seeds = [result("st:b", s, seed=seed) for s in SETS for seed in (1, 2)]
    records = [*layers, *seeds, failure(cell("st:c")), *beside()]
    return Report.of(written(tmp_path_factory.mktemp("schema") / "run", *records), published=True).summary


def test_the_published_schema_is_up_to_date():
    """If not: python -m sentprobe.report.schema > docs/summary.schema.json."""
    assert PUBLISHED.read_text("utf-8") == schema_text()


def test_it_can_be_printed():
    command = [sys.executable, "-m", "sentprobe.report.schema"]
    done = subprocess.run(command, capture_output=True, check=True, encoding="utf-8", env=None)
    assert done.stdout == schema_text()


def test_a_summary_follows_it(summary):
    jsonschema = pytest.importorskip("jsonschema")
    schema = summary_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    validator = jsonschema.Draft202012Validator(schema)
    found = json.loads(json_text(summary))
    validator.validate(found)
    # and it is strict enough to tell when something is missing or wrong
    for wrong in (
        {**found, "version": 3},
        {name: value for name, value in found.items() if name != "columns"},
        {**found, "sets": [{**found["sets"][0], "cells": [{"accuracy": "high"}]}]},
    ):
        assert not validator.is_valid(wrong)


def test_a_summary_is_read_back_as_it_was(summary):
    assert msgspec.json.decode(json_text(summary), type=Summary) == summary


def test_every_type_says_what_it_is():
    schema = summary_schema()
    assert {"Summary", "SetSummary", "CellSummary", "Score", "VariantSummary"} <= set(schema["$defs"])
    for name, each in schema["$defs"].items():
        assert each["description"].endswith("."), name
    fields = schema["$defs"]["SetSummary"]["properties"]
    assert fields["audit"]["description"] == "None: the set was not audited."
