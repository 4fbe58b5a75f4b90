"""A run that somebody else wrote."""

import pytest

from sonde.errors import RunError
from sonde.run import Run
from tests.run.sets import dataset
from tests.run.test_evaluate import Knowing, evaluate


@pytest.mark.parametrize("field", ["key", "data"])
def test_a_record_that_leads_out_of_its_folder_is_refused(field, tmp_path):
    run = evaluate({"k": Knowing()}, [dataset()], tmp_path / "run", beside=())
    told = {"key": run.results[0].key, "data": run.results[0].cell.data}[field]
    lines = (tmp_path / "run/results.jsonl").read_text("utf-8").replace(told, "../../" + told)
    (tmp_path / "run/results.jsonl").write_text(lines, "utf-8")
    with pytest.raises(RunError, match=r"results\.jsonl:1"):
        Run.load(tmp_path / "run")
