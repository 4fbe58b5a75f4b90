"""A run that somebody else wrote."""

import json

import pytest

from sentprobe.core.seal import seal_line
from sentprobe.errors import CorruptionWarning
from sentprobe.results.records import from_line
from sentprobe.run import Run
from tests.run.sets import dataset
from tests.run.test_evaluate import Knowing, evaluate


@pytest.mark.parametrize("field", ["key", "data"])
def test_a_record_that_leads_out_of_its_folder_is_refused(field, tmp_path):
    run = evaluate({"k": Knowing()}, [dataset()], tmp_path / "run", baselines=())
    value = {"key": run.results[0].key, "data": run.results[0].cell.data}[field]
    lines = (tmp_path / "run/results.jsonl").read_text("utf-8").replace(value, "../../" + value)
    (tmp_path / "run/results.jsonl").write_text(lines, "utf-8")
    with pytest.warns(CorruptionWarning, match=r"results\.jsonl:1"):
        assert Run.load(tmp_path / "run").results == ()


@pytest.mark.parametrize("change", [{"key": "../../x"}, {"cell": {"data": "../../x"}}])
def test_a_line_that_points_outside_its_folder_is_not_a_record(change, tmp_path):
    run = evaluate({"k": Knowing()}, [dataset()], tmp_path / "run", baselines=())
    record = json.loads((tmp_path / "run/results.jsonl").read_bytes())["result"]
    record = {**record, **change, "cell": {**record["cell"], **change.get("cell", {})}}
    line = seal_line(json.dumps({"number": 0, "result": record}).encode())  # as one who knows checksums writes it
    assert from_line(line) is None
    assert run.results
