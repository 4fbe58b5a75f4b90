"""Every example in the README and the docs is run, and must print what it says it prints."""

import doctest
import re
import shlex
import subprocess
import sys
import tomllib
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

from sentprobe.cli import app
from sentprobe.corpus import Corpus
from sentprobe.errors import NotInstalled

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r'^```(console|python|toml)(?: title="(\S+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


def run(command, capsys):
    """What a command prints, in this process: to start one takes longer than most commands do."""
    words = shlex.split(command)
    assert words[0] == "sentprobe"
    capsys.readouterr()
    code = app(words[1:], result_action="return_value", exit_on_error=False)
    printed = capsys.readouterr()
    # 2: some of the sets asked for cannot be made from plain text, which is what the page shows
    assert code in (None, 0, 2), f"{command}\n{printed.err}"
    return "\n".join(line.rstrip() for line in printed.out.splitlines()) + "\n"


def execute(code, folder):
    """Run an example in a namespace of its own, in this process unless it changes where modules are found."""
    if "sys.path" in code:
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        return
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(folder)
        exec(compile(code, "<example>", "exec"), {"__name__": "__main__"})
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", None)).startswith(str(folder)):
            del sys.modules[name]


@pytest.fixture(scope="module")
def text():
    return "\n".join(s.text for s in Corpus.synthetic(2500))


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_the_examples_of_a_page(page, text, tmp_path, monkeypatch, capsys):
    (tmp_path / "one-sentence-a-line.txt").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "160")
    monkeypatch.setenv("NO_COLOR", "1")
    try:
        run_examples(page, tmp_path, capsys)
    except NotInstalled:
        pytest.importorskip("torch")  # training needs it
        raise


def run_examples(page, tmp_path, capsys):
    same = doctest.OutputChecker().check_output
    for kind, title, body in BLOCK.findall(page.read_text("utf-8")):
        if title:
            (tmp_path / title).write_text(body, "utf-8")
        elif kind == "toml":
            tomllib.loads(body)
        elif kind == "python":
            execute(body, tmp_path)
        else:
            for part in re.split(r"^\$ ", body, flags=re.MULTILINE)[1:]:
                command, _, expected = part.partition("\n")
                met = run(command, capsys)
                flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
                assert same(expected, met, flags), f"$ {command}\n{met}\ndoes not match\n{expected}"


def test_every_task_and_verb_has_its_place_in_the_docs():
    from sentprobe.cli._verbs import built_in_verbs
    from sentprobe.tasks import SUITES, TASKS, load_task

    tasks = (ROOT / "docs/tasks.md").read_text("utf-8")
    for name in TASKS.built_in():
        assert re.search(rf"^## .*\b{name}\b", tasks, re.MULTILINE), f"docs/tasks.md has no section on {name}"
        suites = {suite for suite, names in SUITES.items() if name in names}
        assert suites == SUITES.keys() & load_task(name).policies.keys(), (
            f"{name}: its policies and SUITES do not agree"
        )
    for verb in built_in_verbs():
        page = ROOT / f"docs/{verb}.md"
        assert page.exists(), f"{verb} has no page: write docs/{verb}.md"
        assert page.read_text("utf-8").startswith(f"# sentprobe {verb}")


def test_the_page_of_codes_is_what_the_command_prints():
    from sentprobe.audit.show import codes_page

    assert (ROOT / "docs/audit-codes.md").read_text("utf-8") == codes_page(), (
        "sentprobe audit --explain all > docs/audit-codes.md"
    )


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links_lead_somewhere(page):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", page.read_text("utf-8")):
        assert (page.parent / target).exists(), target


# what examples import

IMPORT = re.compile(r"(?:^|[\"\s>])from (sentprobe[\w.]*) import ([\w, ]+?)(?=\\n|\s*$|#)", re.MULTILINE)
WHOLE = re.compile(r"(?:^|[\"\s>`])import (sentprobe[\w.]*)", re.MULTILINE)
EXAMPLES = [*PAGES, *sorted((ROOT / "docs/api").glob("*.md")), *sorted((ROOT / "examples").glob("*.ipynb"))]


def is_module(name):
    """Whether this names a module; names in it are not loaded, since some need an extra."""
    try:
        return find_spec(name) is not None
    except ModuleNotFoundError:  # its parent is no package
        return False


@cache
def public_modules():
    """What has a page in the reference: a module by itself, or one that a page takes names from."""
    text = "\n".join(path.read_text("utf-8") for path in (ROOT / "docs/api").glob("*.md"))
    named = set(re.findall(r"^::: ([\w.]+)$", text, re.MULTILINE)) | set(re.findall(r"`(sentprobe[\w.]*)` has", text))
    return {name if is_module(name) else name.rpartition(".")[0] for name in named}


@pytest.mark.parametrize("page", EXAMPLES, ids=lambda p: p.name)
def test_examples_import_public_names(page):
    text = page.read_text("utf-8")
    public = public_modules()
    for module, names in IMPORT.findall(text):
        assert module in public, f"{module} has no page in docs/api"
        exported = import_module(module).__all__
        for name in re.split(r",\s*", names.strip(" ,")):
            assert name.split(" as ")[0] in exported, f"{module} does not export {name}"
    assert set(WHOLE.findall(text)) <= public


def test_imports_of_examples_are_found():
    assert IMPORT.findall("from sentprobe import Run, evaluate\n") == [("sentprobe", "Run, evaluate")]
    assert IMPORT.findall('    "from sentprobe.lab import align\\n",') == [("sentprobe.lab", "align")]
    assert {"sentprobe", "sentprobe.extend", "sentprobe.lab"} <= public_modules()
    assert sum(len(IMPORT.findall(page.read_text("utf-8"))) for page in EXAMPLES) > 40
