"""What importing costs, what is public, and which module may import which."""

import ast
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import sentprobe
from tests.report.runs import beside, result, written

ROOT = Path(sentprobe.__file__).parent
LINE = [
    ["errors", "console", "core", "stats"],
    ["corpus"],
    ["annotate"],
    ["task"],
    ["tasks"],
    ["data"],
    ["judge"],
    ["audit"],
    ["make"],
    ["networks"],
    ["encoders", "published"],
    ["alignment"],
    ["training"],
    ["baselines"],
    ["probes"],
    ["transfer"],
    ["senteval"],
    ["result"],
    ["run"],
    ["words"],
    ["compare"],
    ["report"],
    ["serve"],
    ["testing"],
    ["cli"],
]
"""Rooms from left to right; a room imports only rooms to its left."""


def run(code, *, cwd=None):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=cwd).stdout


def test_exactly_these_names_are_public():
    assert sentprobe.__all__ == [
        "Audit", "Corpus", "Dataset", "Embeddings", "Example", "Finding", "Policy", "Probe", "Report", "Result",
        "Run", "SentProbeError", "Sentence", "SkippedTask", "Task", "Tree", "audit_set", "embed_texts", "evaluate",
        "find_sets", "load_encoder", "load_task", "make_sets", "read_senteval", "read_xprobe", "select_tasks",
    ]  # fmt: skip
    for name in sentprobe.__all__:
        assert getattr(sentprobe, name).__doc__
    assert set(dir(sentprobe)) == {*sentprobe.__all__, "__version__"}


def test_importing_sentprobe_loads_nothing_heavy():
    loaded = run("import sys, sentprobe; print(*sorted(m.split('.')[0] for m in sys.modules))").split()
    heavy = {"numpy", "pyarrow", "torch", "scipy", "sklearn", "pandas", "joblib", "rich", "cyclopts", "msgspec"}
    assert heavy.isdisjoint(loaded)


def loaded_by(*words, cwd=None):
    """The modules that a command has loaded when it ends."""
    code = (
        f"import sys; sys.argv = ['sentprobe', *{words!r}]\n"
        "from sentprobe.cli import main\n"
        "try: main()\n"
        "except SystemExit as e: assert e.code == 0, e.code\n"
        "print(*sorted(sys.modules))"
    )
    return set(run(code, cwd=cwd).splitlines()[-1].split())


def test_help_loads_no_numbers_and_no_sentences():
    loaded = loaded_by("--help")
    assert {"cyclopts", "sentprobe.cli.make", "sentprobe.cli.show"} <= loaded
    heavy = {"numpy", "pyarrow", "torch", "scipy", "sklearn", "joblib", "msgspec", "jinja2", "pandas"}
    assert heavy.isdisjoint(loaded)
    # no package of sentprobe but that of the command line, and what finds verbs
    assert {m.split(".")[1] for m in loaded if m.startswith("sentprobe.")} == {"cli", "core", "errors"}


def test_a_built_in_verb_loads_no_other_and_looks_for_no_packages():
    loaded = loaded_by("show", "--help")
    assert {m for m in loaded if m.startswith("sentprobe.cli.") and not m.startswith("sentprobe.cli._")} == {
        "sentprobe.cli.show"
    }
    assert "importlib.metadata" not in loaded


def test_reading_a_run_loads_nothing_that_computes_one(tmp_path):
    written(tmp_path / "run", *beside(limit=None), result("mine", forms=40), result("other", forms=40))
    heavy = {
        "torch",
        "numba",
        "pandas",
        "joblib",
        "scipy.optimize",
        "scipy.stats",
        "sentprobe.make",
        "sentprobe.run.loop",
    }
    heavy.add("pyarrow.compute")
    shown = loaded_by("show", "run", cwd=tmp_path)
    assert "sentprobe.run.folder" in shown
    assert (heavy | {"jinja2", "vl_convert", "sentprobe.audit"}) & shown == set()
    assert heavy & loaded_by("report", "run", cwd=tmp_path) == set()


def test_resuming_a_finished_run_loads_no_optimiser(tmp_path):
    lines = [f"{split}\t{'ab'[i % 2]}\ttext {i}" for split in ("tr", "va", "te") for i in range(20)]
    (tmp_path / "own.txt").write_text("\n".join(lines) + "\n")
    words = ("run", "own.txt", "-e", "baseline:length", "-o", "run", "--no-store", "--resample", "0")
    assert "scipy.optimize" in loaded_by(*words, cwd=tmp_path)
    again = loaded_by(*words, cwd=tmp_path)
    assert "sentprobe.run.loop" in again
    assert {"scipy.optimize", "pyarrow.compute", "sentprobe.baselines.length"}.isdisjoint(again)


def test_a_run_without_measures_loads_none(tmp_path):
    code = (
        "import sys\n"
        "from sentprobe import Dataset, Example, evaluate\n"
        "rows = [Example('ab'[i % 2], ('text', str(i)), f'text {i}') for i in range(20)]\n"
        "data = Dataset('own/set', 'set', 1, 'en', ('a', 'b'), {'tr': rows, 'va': rows, 'te': rows})\n"
        "evaluate('baseline:length', data, 'run', baselines=['majority'], resample=0)\n"
        "print(*sorted(sys.modules))"
    )
    loaded = set(run(code, cwd=tmp_path).split())
    assert "sentprobe.run.loop" in loaded
    assert {"sentprobe.probes.mix", "sentprobe.run.measures.mix", "sentprobe.make", "scipy.stats", "joblib"}.isdisjoint(
        loaded
    )


@pytest.mark.skipif(sys.platform == "win32", reason="needs the module resource")
def test_help_takes_under_300_milliseconds_of_processor_time():
    # processor time of the best of seven: a busy machine does not count against us, a heavy import does
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, '-m', 'sentprobe', '--help'], stdout=subprocess.DEVNULL, check=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)"
    )
    assert min(float(run(code)) for _ in range(7)) < 0.3


def test_importing_sentprobe_writes_nothing(tmp_path):
    homes = ("HOME", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR")
    environment = {**os.environ, **dict.fromkeys(homes, str(tmp_path)), "PYTHONDONTWRITEBYTECODE": "1"}
    code = "import sentprobe; [getattr(sentprobe, name) for name in sentprobe.__all__]"
    subprocess.run([sys.executable, "-c", code], check=True, cwd=tmp_path, env=environment)
    assert list(tmp_path.rglob("*")) == []


class Running(ast.NodeTransformer):
    """What is imported when the program runs, and not only when types are checked."""

    def visit_If(self, node):
        checking = isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
        return None if checking else self.generic_visit(node)


MODULES = {
    ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted(ROOT.rglob("*.py"))
}


def imports(path):
    """The modules of this package that a file imports, at once or when a function is called."""
    for node in ast.walk(Running().visit(ast.parse(path.read_text("utf-8")))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sentprobe":
            for each in node.names:
                whole = f"{node.module}.{each.name}"
                yield whole if whole in MODULES else node.module
        elif isinstance(node, ast.Import):
            yield from (each.name for each in node.names if each.name in MODULES)


def room(module):
    return module.split(".")[1] if "." in module else ""


def test_modules_import_only_what_is_left_of_them():
    place = {room: i for i, rooms in enumerate(LINE) for room in rooms}
    wrong = []
    for name, path in MODULES.items():
        if room(name) in ("", "__main__"):
            continue
        assert room(name) in place, f"{room(name)} is new: give it a place in the line"
        rooms_to_the_right = (o for o in imports(path) if o != "sentprobe" and place[room(o)] > place[room(name)])
        wrong += [f"{name} imports {other}" for other in rooms_to_the_right]
    assert wrong == []


def test_no_modules_import_each_other():
    graph = {name: set(imports(path)) - {name} for name, path in MODULES.items()}
    found = {frozenset(each) for each in _cycles(graph)}
    assert found == set()


def _cycles(graph):
    """Modules from which each can be reached from the other; of a graph without cycles there are none."""
    reached = {name: set() for name in graph}
    for name in graph:
        waiting = [name]
        while waiting:
            for other in graph[waiting.pop()] - reached[name]:
                reached[name].add(other)
                waiting.append(other)
    return ({other for other in reached[name] if name in reached[other]} for name in graph if name in reached[name])


MAX_LINES = 300
LONGER = {"sentprobe.probes.network.kernels_numba"}
"""Files that are longer: numba's cache on disk watches a kernel's own file only, so that its kernels stay together."""


def test_a_file_is_one_idea():
    assert {name for name, path in MODULES.items() if len(path.read_text("utf-8").splitlines()) > MAX_LINES} == LONGER


def test_the_hall_holds_what_every_room_uses():
    assert {path.name for path in ROOT.glob("*.py")} == {
        "__init__.py", "__main__.py", "console.py", "errors.py", "result.py"
    }  # fmt: skip


def test_the_drawing_is_the_line():
    """The rooms in docs/architecture.md stand in the order in which they may be imported."""
    text = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text("utf-8")
    drawing = text.split("```")[3]
    heads = [re.split(r"\s{2,}", line.strip(" └▶"))[0] for line in drawing.strip().splitlines()]
    drawn = [room for head in heads for room in re.findall(r"\w+", head)]
    rooms = [room for rooms in LINE for room in rooms if (ROOT / room).is_dir() or room == "result"]
    assert sorted(drawn) == sorted(rooms)
    place = {room: i for i, rooms in enumerate(LINE) for room in rooms}
    assert [place[room] for room in drawn] == sorted(place[room] for room in drawn)


def test_no_room_without_a_name():
    banned = {"utils.py", "helpers.py", "common.py", "base.py", "manager.py", "misc.py"}
    assert [p for p in ROOT.rglob("*.py") if p.name in banned and p != UTILS] == []


UTILS = ROOT / "senteval" / "utils.py"
"""The one file of that name: what was written for SentEval imports ``senteval.utils``."""


PICKLE = ROOT / "transfer" / "unpickle.py"
"""The one file that may read pickles: SentEval's image features are published as nothing else. Its reader knows plain
containers and arrays only, and tests/transfer/test_unpickle.py shows that it runs nothing."""


def test_no_print_pickle_or_eval_in_the_library():
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("print", "eval", "exec"), path
            if isinstance(node, ast.Import):
                assert "pickle" not in {a.name for a in node.names} or path == PICKLE, path
            if isinstance(node, ast.ImportFrom):
                assert node.module != "pickle", path
