"""What keeps the code readable: names that say something, functions and modules of a size that one can read."""

import ast
from collections import Counter, defaultdict
from pkgutil import resolve_name

import pytest

from tools.house import EMPTY_NAMES, MAX_FUNCTION_LINES, MIN_MODULE_LINES, PACKAGE, assigned_names, read_package

EMPTY = {
    "lab/alignment": 180,
    "lab/charts": 39,
    "lab/extensions": 5,
    "lab/networks": 2,
    "lab/schemes": 57,
    "lab/testing": 12,
    "lab/training": 278,
    "lab/translator": 8,
    "lab/word_page": 28,
    "lab/words": 163,
    "lab/xnli": 13,
    "report": 306,
    "results": 83,
    "run": 1,
    "stats": 74,
}
"""By room, how many variables and parameters still have a name without content. Numbers may only get smaller; a room
that has none is taken out."""

LONG = {"sentprobe.lab.testing.architectures.examine_architecture", "sentprobe.lab.training.objectives.align.prepare"}
"""Functions that are too long; no others may be."""

SMALL = {
    "sentprobe.core.formatting",
    "sentprobe.core.hashing",
    "sentprobe.corpus.artifacts",
    "sentprobe.encoders.checksums",
    "sentprobe.encoders.wordvectors.rows",
    "sentprobe.errors",
    "sentprobe.lab.alignment.criterion",
    "sentprobe.lab.alignment.precision",
    "sentprobe.lab.networks.sequences",
    "sentprobe.lab.training.bleu",
    "sentprobe.lab.training.digests",
    "sentprobe.lab.training.installed",
    "sentprobe.lab.training.launch",
    "sentprobe.lab.training.lm.masking",
    "sentprobe.lab.training.mt.noise",
    "sentprobe.lab.training.mt.padding",
    "sentprobe.lab.training.nli_head",
    "sentprobe.lab.training.preset",
    "sentprobe.lab.training.sources",
    "sentprobe.lab.training.withhold",
    "sentprobe.lab.words.neighbours",
    "sentprobe.lab.xnli.agreement",
    "sentprobe.probes.baselines.length",
    "sentprobe.report.extension",
    "sentprobe.report.page.set_sections.audit",
    "sentprobe.report.page.set_sections.classes",
    "sentprobe.report.page.set_sections.features",
    "sentprobe.report.page.set_sections.making",
    "sentprobe.report.page.set_sections.sets",
    "sentprobe.results.html",
    "sentprobe.results.run_kind",
    "sentprobe.senteval.mrpc",
    "sentprobe.senteval.tools.ranking",
    "sentprobe.senteval.trec",
    "sentprobe.stats.agreement",
    "sentprobe.stats.intervals",
    "sentprobe.stats.level",
    "sentprobe.stats.multiple",
}
"""Modules that are small and no parts; no others may be."""

REPEATED = {
    "Agreement": 2,
    "Batch": 6,
    "Cell": 2,
    "Diagnosis": 2,
    "Finding": 2,
    "Information": 2,
    "Inputs": 2,
    "Kind": 2,
    "Layout": 2,
    "Loss": 2,
    "Model": 3,
    "Options": 3,
    "Pair": 2,
    "Pairs": 2,
    "Part": 2,
    "Preset": 2,
    "Reading": 2,
    "Report": 3,
    "Reproduction": 2,
    "Request": 3,
    "Row": 2,
    "Rows": 2,
    "SentenceEncoder": 2,
    "Server": 2,
    "Side": 3,
    "Sources": 2,
    "Symptom": 2,
    "Table": 2,
    "Task": 2,
    "Texts": 2,
    "TrainingScore": 2,
    "Translator": 2,
    "Verdict": 2,
    "WordVectors": 2,
    "Words": 2,
    "_Content": 5,
    "_State": 2,
}
"""Names that several classes have, and how many; no others may have one name."""


@pytest.fixture(scope="module")
def modules():
    return read_package()


def name_of(path):
    return ".".join(("sentprobe", *path.relative_to(PACKAGE).with_suffix("").parts))


def room_of(path):
    """The package of a file below sentprobe; in the lab, the one below that."""
    first, *inner = path.relative_to(PACKAGE).parts
    return f"lab/{inner[0].removesuffix('.py')}" if first == "lab" else first.removesuffix(".py")


def test_variables_say_what_they_hold(modules):
    found = defaultdict(list)
    for module in modules:
        for line, name in module.names:
            if EMPTY_NAMES.fullmatch(name):
                found[room_of(module.path)].append(f"{module.path.relative_to(PACKAGE.parent)}:{line} {name}")
    assert {room: names for room, names in found.items() if len(names) > EMPTY.get(room, 0)} == {}


def assigned(source):
    return sorted(name for _, name in assigned_names(list(ast.walk(ast.parse(source)))))


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("found = 1\nfor own, x in y: pass", ["found", "own", "x"]),
        ("def f(each, *, some=1): print(shown)", ["each", "some"]),
        ("z = [one for one in two]", ["one", "z"]),
        ("a.found = f(given=1)", []),
        ("def f(left): return left", ["left"]),
        ("def f(p):\n    left, right = p", ["p", "right"]),  # by their sides
        ("class A:\n    def merge(self, other): pass", ["self"]),
        ("def merge(self, other, more): pass", ["more", "other", "self"]),
        ("if (rest := 1): pass", ["rest"]),
    ],
)
def test_every_way_to_assign_a_name_is_seen(source, names):
    assert assigned(source) == names


def test_a_function_can_be_read_at_once(modules):
    long = {
        f"{name_of(module.path)}.{name}"
        for module in modules
        for name, lines in module.functions
        if lines > MAX_FUNCTION_LINES
    }
    assert long - LONG == set()


def part_folders():
    """The folders of parts of all kinds: their own, and the lab's of the same last name."""
    for path in PACKAGE.rglob("*.py"):
        for node in ast.parse(path.read_text("utf-8")).body:
            call = node.value if isinstance(node, ast.Assign | ast.AnnAssign) else None
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Kind":
                target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
                package = resolve_name(f"{name_of(path).removesuffix('.__init__')}:{target.id}").package
                yield package
                yield f"sentprobe.lab.{package.rpartition('.')[2]}"


def test_a_module_is_an_idea_or_a_part(modules):
    folders = set(part_folders())
    assert {"sentprobe.cli", "sentprobe.lab.cli", "sentprobe.run.controls", "sentprobe.lab.charts"} <= folders
    small = {
        name_of(module.path)
        for module in modules
        if module.code < MIN_MODULE_LINES
        and module.path.name not in ("__init__.py", "__main__.py")
        and name_of(module.path).rpartition(".")[0] not in folders
    }
    assert small - SMALL == set()


def test_a_class_has_a_name_of_its_own(modules):
    classes = Counter(name for module in modules for name in module.classes)
    assert {name: count for name, count in classes.items() if count > REPEATED.get(name, 1)} == {}
