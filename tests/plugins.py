"""Other packages that offer parts: modules with entry points, installed in a temporary folder on the path."""

import importlib
import sys
from textwrap import dedent

import pytest


@pytest.fixture
def plugin(tmp_path, monkeypatch):
    """Install a package with one module: ``plugin("charts", '''chart = …''')`` offers it in the group sentprobe.charts,
    under the name of the module or another one.

    Parts are found by the path, so that they are gone again after the test.
    """
    number = 0

    def install(group, source, name=None):
        nonlocal number
        number += 1
        module = f"own_{group}_{number}"
        folder = tmp_path / f"site-{number}"
        info = folder / f"{module}-1.dist-info"
        info.mkdir(parents=True)
        (folder / f"{module}.py").write_text(dedent(source), "utf-8")
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n", "utf-8")
        (info / "entry_points.txt").write_text(f"[sentprobe.{group}]\n{name or module} = {module}\n", "utf-8")
        monkeypatch.syspath_prepend(folder)
        importlib.invalidate_caches()
        monkeypatch.delitem(sys.modules, module, raising=False)
        return module

    return install
