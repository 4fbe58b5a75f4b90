import gc
import os
import re
import sys
from functools import lru_cache
from pathlib import Path
from traceback import extract_tb

import pytest
from hypothesis import settings

from sentprobe.core.install import pip_install
from sentprobe.corpus import Corpus, spool
from sentprobe.errors import NotInstalled
from sentprobe.make import make_sets
from sentprobe.make.request import select_tasks
from tests.browser import INSTALL, REASON, REQUIRED
from tests.http_server import serving

ROOT = Path(__file__).parents[1]

# a busy machine is no failure: the suite asserts no wall time
settings.register_profile("sentprobe", deadline=None)
settings.load_profile("sentprobe")

# the suite starts some hundred processes: where no bytecode may be written, each of them compiles all that it imports
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)


def pytest_configure():
    """No garbage is collected before the tests are: what imports leave behind stays anyway."""
    gc.disable()


def pytest_collection_finish():
    """From here on, the garbage collector leaves alone what is there already, millions of objects."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def cache(tmp_path_factory):
    """No test touches the user's own cache."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("SENTPROBE_CACHE", str(tmp_path_factory.mktemp("cache")))
        yield


PROXIES = ("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


@pytest.fixture
def server(monkeypatch):
    """An HTTP server on loopback, which is reached without a proxy."""
    for name in (*PROXIES, "SENTPROBE_OFFLINE"):
        monkeypatch.delenv(name, raising=False)
    with serving() as found:
        yield found


@pytest.fixture(scope="session", autouse=True)
def generated_once():
    """A sentence of the built-in corpus is generated once in a process, however many tests read it."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(spool, "sentence", lru_cache(15_000)(spool.sentence))
        yield


@pytest.fixture(scope="session")
def builtin():
    """Twelve thousand sentences of the built-in corpus, held in memory."""
    return Corpus.of(list(Corpus.synthetic(12_000)), name="builtin", language="en")


@pytest.fixture(scope="session")
def small(builtin):
    """The first three thousand of them: enough for every task but tree_depth."""
    return Corpus.of(builtin.loaded[:3000], name="builtin", language="en")


@pytest.fixture(scope="session")
def conneau(builtin):
    """The sets of conneau2018 made from them, by task."""
    made = make_sets(builtin, select_tasks(["conneau2018"], [], sizes="1200/240/240"))
    return {found.task: found for found in made}


@pytest.fixture(scope="session")
def universal(builtin):
    """The sets of universal2019 made from them, by task."""
    made = make_sets(builtin, select_tasks(["universal2019"], [], sizes="1200/240/240"))
    return {found.task: found for found in made}


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    """Skip the modules of tests that import an optional package which is not there.

    Only where the tests or the lab import it: that the core does so at import is an error.
    """
    report = yield
    error = report.call.excinfo and report.call.excinfo.value
    missing = error and error.__cause__
    if isinstance(missing, ModuleNotFoundError) and missing.name:
        where = Path(extract_tb(missing.__traceback__)[-1].filename)
        from_here = ROOT / "tests" in where.parents or ROOT / "sentprobe" / "lab" in where.parents
        if from_here or isinstance(error, NotInstalled):
            report.outcome = "skipped"
            report.longrepr = (str(collector.path), 0, f"Skipped: could not import '{missing.name.partition('.')[0]}'")
    return report


MISSING = re.compile(rf"{REASON}|could not import '(\w+)|needs the extra (\w+)")
"""Why tests are skipped for want of a tool, and not because they cannot apply to this system."""


def pytest_terminal_summary(terminalreporter):
    """Say loudly which tests were skipped for want of a tool, and how to install it."""
    found = {}
    for report in terminalreporter.stats.get("skipped", ()):
        reason = str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
        if match := MISSING.search(reason):
            tool = match[1] or match[2]
            how = pip_install(match[2]) if match[2] else f"pip install {tool}" if tool else INSTALL
            found.setdefault((tool or "Chromium", how), []).append(report.nodeid)
    for (tool, how), tests in found.items():
        terminalreporter.section(f"{len(tests)} TESTS NOT RUN: {tool} IS MISSING", sep="!", red=True, bold=True)
        terminalreporter.line(f"Install it: {how}")
        if tool == "Chromium":
            terminalreporter.line(f"{REQUIRED}=1 turns this into a failure.")
        for place in sorted({test.partition("::")[0] for test in tests}):
            terminalreporter.line(f"  {place}")
