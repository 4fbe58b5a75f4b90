"""Execute the notebooks and store what they print.

    python examples/execute.py [NAME…]

The test suite executes them too, and compares what they print with what is stored. Needs nbclient and ipykernel.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient

HERE = Path(__file__).parent


def execute(path: Path) -> nbformat.NotebookNode:
    """The notebook with what its cells print, from a new kernel in a new folder."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        place = {"metadata": {"path": folder}}
        NotebookClient(notebook, timeout=300, kernel_name="python3", record_timing=False, resources=place).execute()
    for cell in notebook.cells:
        cell.metadata.clear()
        if cell.cell_type == "code":
            # progress bars and warnings depend on what is installed
            cell.outputs = _joined([output for output in cell.outputs if output.get("name") != "stderr"])
            for data in (output.data for output in cell.outputs if "data" in output):
                if "text/html" in data:  # which is what everybody shows
                    data.pop("text/plain", None)
    notebook.metadata.language_info = {"name": "python"}
    return notebook


def _joined(outputs: list[nbformat.NotebookNode]) -> list[nbformat.NotebookNode]:
    """Outputs, with what is printed at once, which may come in several pieces, as one of them."""
    found: list[nbformat.NotebookNode] = []
    for output in outputs:
        if found and output.output_type == found[-1].output_type == "stream":
            found[-1].text += output.text
        else:
            found.append(output)
    return found


def main() -> None:
    """Write them all, or those that are named."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    names = parser.parse_args().names or sorted(path.stem for path in HERE.glob("*.ipynb"))
    for name in names:
        nbformat.write(execute(HERE / f"{name}.ipynb"), HERE / f"{name}.ipynb")


if __name__ == "__main__":
    main()
