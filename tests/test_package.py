"""What importing costs, what is public, and which module may import which."""

import ast
import os
import re
import subprocess
import sys
from functools import cache
from importlib import import_module
from pathlib import Path

import pytest

import sentprobe
from tests.report.runs import beside, result, written

ROOT = Path(sentprobe.__file__).parent
LINE = [
    ["errors", "console", "core", "stats"],
    ["sentence"],
    ["grammar"],
    ["corpus"],
    ["annotate"],
    ["tasks"],
    ["data"],
    ["contrast", "judge"],
    ["audit"],
    ["make"],
    ["encoders", "published"],
    ["probes"],
    ["transfer"],
    ["senteval"],
    ["results"],
    ["run"],
    ["report"],
    ["exchange", "callbacks"],
    ["replicate"],
    ["serve"],
    ["testing"],
    ["cli"],
    ["extend"],
    ["lab"],
]
"""Rooms from left to right; a room imports only rooms to its left."""
LAB_LINE = [
    ["networks", "metrics"],
    ["alignment"],
    ["schemes"],
    ["training"],
    ["words", "xnli", "translator", "word_page"],
    ["run_kinds"],
    ["extensions"],
    ["charts", "sections", "folder_types", "listings", "testing"],
    ["cli", "verbs"],
]
"""The same for the rooms of the lab."""


def run(code, *, cwd=None):
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=cwd).stdout


PUBLIC = {
    "sentprobe": [
        "AnnotatedCorpus", "Audit", "Comparison", "ContrastSet", "ControlComparison", "Corpus", "Dataset",
        "Embeddings", "Example", "Finding", "Policy", "Probe", "Report", "Result", "Run", "ScoredPairs",
        "SentProbeError", "Sentence", "SkippedTask", "Task", "TieGroups", "Tree", "annotate_files",
        "as_encoder", "audit_set", "compare", "compare_with_controls", "embed_texts", "evaluate",
        "evaluate_pairs", "find_sets", "join_runs", "load_encoder", "load_probe", "load_task", "make_contrasts",
        "make_sets", "on_cluster", "read_senteval", "read_xprobe", "select_tasks", "ties", "write_figure",
    ],
    "sentprobe.extend": [
        "TASK_SPECIFIC_FIELDS", "AnnotationModel", "Annotator", "AuditCheck", "Chart", "ChartOptions", "Check",
        "CheckFinding", "Code", "Context", "ContrastRule", "Control", "Encoder", "Features", "Fit", "FitJob",
        "FolderType", "Identity", "Listing", "LoadedAnnotator", "Measure", "Metric", "NumberFormat",
        "Objection", "OnPage", "PageData", "ParametricTask", "Piece", "PlainScore", "Preset", "ProbeKind",
        "ReadOptions", "RowsRead", "RunKind", "Section", "ShortcutScore", "Spec", "Splits", "Summary",
        "SummaryExtension", "Support", "Table", "TextSource", "TrainingScore", "VariantColumn",
        "VariantSummary", "classification_result", "empty_result", "features_of", "figure_style",
        "has_train_test_split", "points", "scores_as_high", "single_view",
    ],
    "sentprobe.lab": [
        "AlignmentFolder", "AlignmentMethod", "Architecture", "DetailNumber", "Encoded", "EvaluationRequest",
        "EvaluationScores", "Loss", "Matrices", "Objective", "Prepared", "Problem", "Queries", "Setting",
        "Stream", "TrainedFolder", "TrainingPreset", "WordEvaluation", "align", "evaluate_words",
        "max_over_time", "mean_over_time", "train", "translate",
    ],
}  # fmt: skip
"""What other people's code may import, besides packages such as `sentprobe.testing` that have a page of their own."""


@pytest.mark.parametrize("module", PUBLIC)
def test_exactly_these_names_are_public(module):
    public = import_module(module)
    assert public.__all__ == PUBLIC[module]
    assert set(public.__all__) <= set(dir(public))
    with pytest.raises(AttributeError, match="has no attribute 'nothing'"):
        public.nothing  # noqa: B018
    assert set(dir(sentprobe)) == {*sentprobe.__all__, "__version__"}
    if module == "sentprobe.lab":
        pytest.importorskip("torch")  # of functions on tensors
    for name in public.__all__:
        if not isinstance(getattr(public, name), tuple):
            assert getattr(public, name).__doc__, name


@pytest.mark.parametrize("module", PUBLIC)
def test_importing_a_public_module_loads_nothing_heavy(module):
    loaded = run(f"import sys, {module}; print(*sorted(m.split('.')[0] for m in sys.modules))").split()
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
    # no package of sentprobe but that of the command line, what finds verbs, and options that verbs derive theirs from;
    # of the lab, its verbs and lists
    options = {"sentprobe.run", "sentprobe.run.options", "sentprobe.probes", "sentprobe.probes.baselines"}
    packages = {m.split(".")[1] for m in loaded - options if m.startswith("sentprobe.")}
    assert packages == {"cli", "core", "errors", "lab"}
    assert {m.split(".")[2] for m in loaded if m.startswith("sentprobe.lab.")} == {"cli", "listings"}


def test_a_built_in_verb_loads_no_other_and_looks_for_no_packages():
    loaded = loaded_by("show", "--help")
    assert {m for m in loaded if m.startswith("sentprobe.cli.") and not m.startswith("sentprobe.cli._")} == {
        "sentprobe.cli.show"
    }
    assert "sentprobe.lab" not in loaded
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
    assert "sentprobe.results.run" in shown
    assert (heavy | {"jinja2", "vl_convert", "sentprobe.audit"}) & shown == set()
    assert heavy & loaded_by("report", "run", cwd=tmp_path) == set()


def test_resuming_a_finished_run_loads_no_optimiser(tmp_path):
    lines = [f"{split}\t{'ab'[i % 2]}\ttext {i}" for split in ("tr", "va", "te") for i in range(20)]
    (tmp_path / "own.txt").write_text("\n".join(lines) + "\n")
    words = ("run", "own.txt", "-e", "baseline:length", "-o", "run", "--no-store", "--resample", "0")
    assert "scipy.optimize" in loaded_by(*words, cwd=tmp_path)
    again = loaded_by(*words, cwd=tmp_path)
    assert "sentprobe.run.loop" in again
    assert {"scipy.optimize", "pyarrow.compute", "sentprobe.probes.baselines.length"}.isdisjoint(again)


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
def test_help_costs_little_more_than_what_reads_the_command_line():
    # processor time, best of seven, as a ratio: machines differ, and busy ones are slow; a heavy import costs much more
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run([sys.executable, *{words!r}], stdout=subprocess.DEVNULL, check=True)\n"
        "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
        "print(used.ru_utime + used.ru_stime)"
    )
    help_code, import_code = (
        code.format(words=words) for words in (["-m", "sentprobe", "--help"], ["-c", "import cyclopts"])
    )
    seconds = [(float(run(help_code)), float(run(import_code))) for _ in range(7)]
    assert min(used for used, _ in seconds) < 5 * min(used for _, used in seconds)


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


@cache
def imports(path):
    """The modules of this package that a file imports, at once or when a function is called."""
    found = []
    for node in ast.walk(Running().visit(ast.parse(path.read_text("utf-8")))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "sentprobe":
            whole = [(node.module, f"{node.module}.{each.name}") for each in node.names]
            found += [name if name in MODULES else module for module, name in whole]
        elif isinstance(node, ast.Import):
            found += [each.name for each in node.names if each.name in MODULES]
    return found


def room(module):
    return module.split(".")[1] if "." in module else ""


def rooms_to_the_right(line, depth):
    """Which module imports one to its right; ``depth``: where the room stands in the name of a module."""
    place = {room: i for i, rooms in enumerate(line) for room in rooms}

    def room(module):
        return next(iter(module.split(".")[depth : depth + 1]), "")

    package = "sentprobe." if depth == 1 else "sentprobe.lab."
    for name, path in MODULES.items():
        if not name.startswith(package) or room(name) == "__main__":
            continue
        assert room(name) in place, f"{room(name)} is new: give it a place in the line"
        others = (other for other in imports(path) if other.startswith(package))
        yield from (f"{name} imports {other}" for other in others if place[room(other)] > place[room(name)])


def test_modules_import_only_what_is_left_of_them():
    assert list(rooms_to_the_right(LINE, 1)) == []
    assert list(rooms_to_the_right(LAB_LINE, 2)) == []


def names_of_the_lab(source):
    """Where a file names the lab in code: in an import, also one for types, or in a text that is not documentation."""
    tree = ast.parse(source)
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            whole = [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            whole = [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            whole = [node.value]
        else:
            continue
        yield from (f"line {node.lineno}: {text}" for text in whole if re.search(r"(sentprobe|^)[./]+lab\b", text))


@pytest.mark.parametrize(
    "source",
    [
        "from sentprobe.lab.words import WORD_EVALUATIONS",
        "from sentprobe import lab",
        "import sentprobe.lab.training",
        "from ..lab import networks",
        "from .. import lab",
        "def f():\n    from sentprobe.lab import alignment",
        "if TYPE_CHECKING:\n    from sentprobe.lab.networks.folder import TrainedFolder",
        "module = import_module('sentprobe.lab.alignment')",
        "kind = resolve_name(f'sentprobe.lab.{name}:METHODS')",
        "import_module('.lab.words', 'sentprobe')",
    ],
)
def test_an_import_of_the_lab_is_seen_however_it_is_written(source):
    assert list(names_of_the_lab(source))


def test_documentation_may_name_the_lab():
    assert list(names_of_the_lab('"""See ``sentprobe.lab.testing``."""\nx = "available"\nlabel = "lab"')) == []


def test_nothing_outside_the_lab_names_it_but_what_finds_parts():
    found = {
        name: list(names_of_the_lab(path.read_text("utf-8")))
        for name, path in MODULES.items()
        if not name.startswith("sentprobe.lab")
    }
    assert {name: names for name, names in found.items() if names} == {
        "sentprobe.core.plugins": [f"line {plugins_line()}: sentprobe.lab"]
    }


def plugins_line():
    lines = MODULES["sentprobe.core.plugins"].read_text("utf-8").splitlines()
    return lines.index('LAB = "sentprobe.lab"') + 1


def test_every_kind_of_part_is_listed():
    from pkgutil import resolve_name

    from sentprobe.cli.listings import LISTINGS
    from sentprobe.core.plugins import Kind

    defined = set()
    for name, path in MODULES.items():
        for node in ast.parse(path.read_text("utf-8")).body:
            call = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Kind":
                target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                defined.add(f"{name}:{target.id}")
    kinds = {home: resolve_name(home) for home in defined}
    assert len(kinds) >= 20
    assert all(isinstance(kind, Kind) for kind in kinds.values())
    listed = [resolve_name(listing.kind) for listing in LISTINGS.parts().values() if listing.kind]
    assert [home for home, kind in kinds.items() if kind not in listed] == []


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


def test_the_hall_holds_what_every_room_uses():
    assert {path.name for path in ROOT.glob("*.py")} == {
        "__init__.py", "__main__.py", "console.py", "errors.py", "extend.py", "sentence.py"
    }  # fmt: skip


def test_the_drawing_is_the_line():
    """The rooms in docs/architecture.md stand in the order in which they may be imported."""
    text = (Path(__file__).parents[1] / "docs" / "architecture.md").read_text("utf-8")
    drawing = text.split("```")[3]
    heads = [re.split(r"\s{2,}", line.strip(" └▶"))[0] for line in drawing.strip().splitlines()]
    drawn = [room for head in heads for room in re.findall(r"\w+", head)]
    rooms = [room for rooms in LINE for room in rooms if (ROOT / room).is_dir() or room == "sentence"]
    assert sorted(drawn) == sorted(rooms)
    place = {room: i for i, rooms in enumerate(LINE) for room in rooms}
    assert [place[room] for room in drawn] == sorted(place[room] for room in drawn)
    in_lab = [re.findall(r"\w+", rooms) for rooms in text.split("```")[5].strip().split("──▶")]
    assert in_lab == [[room for room in rooms if (ROOT / "lab" / room).is_dir()] for rooms in LAB_LINE]


def test_no_room_without_a_name():
    banned = {"utils.py", "helpers.py", "common.py", "base.py", "manager.py", "misc.py"}
    assert [p for p in ROOT.rglob("*.py") if p.name in banned and p != UTILS] == []


UTILS = ROOT / "senteval" / "utils.py"
"""The one file of that name: what was written for SentEval imports ``senteval.utils``."""


PICKLE = ROOT / "core" / "unpickle.py"
"""The one file that may read pickles: SentEval's image features and gensim's .kv are nothing else. Its reader knows
plain containers and arrays only, and tests/transfer/test_unpickle.py shows that it runs nothing."""


def test_no_print_pickle_or_eval_in_the_library():
    for path in ROOT.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("print", "eval", "exec"), path
            if isinstance(node, ast.Import):
                assert "pickle" not in {a.name for a in node.names} or path == PICKLE, path
            if isinstance(node, ast.ImportFrom):
                assert node.module != "pickle", path
