"""What keeps the code readable: names that say something, functions and modules of a size that one can read."""

import ast
from collections import Counter, defaultdict
from pkgutil import resolve_name

import pytest

from tools.house import EMPTY_NAMES, MAX_FUNCTION_LINES, MIN_MODULE_LINES, PACKAGE, assigned_names, read_package

EMPTY = {
    "report": 2,
    "results": 1,
    "run": 1,
}
"""By room, how many variables and parameters have a name without content, since it is public or a key of a file."""

SMALL = {
    "sentprobe.callbacks.evaluator",
    "sentprobe.core.formatting",
    "sentprobe.core.hashing",
    "sentprobe.core.public",
    "sentprobe.corpus.artifacts",
    "sentprobe.encoders.checksums",
    "sentprobe.encoders.wordvectors.rows",
    "sentprobe.errors",
    "sentprobe.lab.networks.sequences",
    "sentprobe.report.extension",
    "sentprobe.report.page.set_sections.audit",
    "sentprobe.report.page.set_sections.classes",
    "sentprobe.report.page.set_sections.features",
    "sentprobe.report.page.set_sections.making",
    "sentprobe.report.page.set_sections.sets",
    "sentprobe.results.run_kind",
    "sentprobe.run.control",
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
    "Model": 2,
    "SentenceEncoder": 2,
    "Server": 2,
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
    assert {room: names for room, names in found.items() if len(names) != EMPTY.get(room, 0)} == {}


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
    assert long == set()


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
