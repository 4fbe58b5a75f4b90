"""The example notebooks run, and print what is stored in them."""

import json
import re
import sys
from pathlib import Path

import pytest

NOTEBOOKS = sorted((Path(__file__).parent.parent / "examples").glob("*.ipynb"))
ADVICE = "python examples/execute.py stores what the notebooks print"


def kinds(cell):
    """What a cell shows, kind by kind."""
    return [sorted(output["data"]) if "data" in output else output["output_type"] for output in cell["outputs"]]


def text(cell):
    """What a cell prints; numbers differ in their last digits from one processor to another."""
    printed = "\n".join("".join(o.get("text", o.get("data", {}).get("text/plain", ""))) for o in cell["outputs"])
    printed = re.sub(r"sentprobe=[\w.]+", "sentprobe=…", printed)
    return re.sub(r"\d+\.\d+", "…", printed)


def code(notebook):
    return [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]


def test_there_are_three():
    assert [path.stem for path in NOTEBOOKS] == ["compare_layers", "make_sets_for_my_language", "probe_my_model"]


@pytest.mark.filterwarnings(
    "default"
)  # of the client that talks to the kernel; those of sentprobe are seen in the cells
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_prints_what_is_stored_in_it(path):
    pytest.importorskip("nbclient", reason="needs nbclient")
    pytest.importorskip("ipykernel", reason="needs ipykernel")
    pytest.importorskip("sentence_transformers", reason="what is stored was printed with sentence-transformers")
    from examples.execute import execute

    stored, now = code(json.loads(path.read_text("utf-8"))), code(execute(path))
    assert any(cell["outputs"] for cell in stored), ADVICE
    for before, after in zip(stored, now, strict=True):
        assert kinds(after) == kinds(before), ADVICE
        if sys.platform == "linux":  # elsewhere a row near the boundary may fall on its other side
            assert text(after) == text(before), ADVICE


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda p: p.stem)
def test_a_notebook_is_small_and_says_nothing_of_the_machine_it_ran_on(path):
    content = path.read_text("utf-8")
    assert len(content) < 40_000
    assert not re.search(r"/(tmp|home|root|Users|var)/", content)
    assert '"stderr"' not in content
