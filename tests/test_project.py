"""The files around the package agree with it and with each other."""

import re
import subprocess
import tomllib
from collections import Counter
from pathlib import Path
from pkgutil import resolve_name

import pytest
import yaml

import sentprobe
from tools.wheels import PLATFORMS, requirements

ROOT = Path(__file__).parent.parent
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
PROJECT = PYPROJECT["project"]
MAKEFILE = (ROOT / "Makefile").read_text("utf-8")
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
FORMS = sorted(p for p in (ROOT / ".github/ISSUE_TEMPLATE").glob("*.yml") if p.name != "config.yml")

IDENTIFIER = re.compile(r"^::: ([\w.]+)$", re.MULTILINE)


class Loader(yaml.SafeLoader):
    """Reads `!ENV [NAME, default]` of mkdocs.yml as its default."""


Loader.add_constructor("!ENV", lambda loader, node: loader.construct_sequence(node)[-1])


def read(path):
    return yaml.load((ROOT / path).read_text("utf-8"), Loader)


def steps(workflow):
    """Every command of a workflow."""
    return [step["run"] for job in workflow["jobs"].values() for step in job.get("steps", ()) if "run" in step]


def classified():
    """The versions of Python that the package says it is for."""
    found = (re.fullmatch(r"Programming Language :: Python :: (3\.\d+)", c) for c in PROJECT["classifiers"])
    return [match[1] for match in found if match]


# continuous integration


def test_the_matrix_covers_every_version_and_system():
    jobs = read(".github/workflows/ci.yml")["jobs"]
    matrix, core = jobs["test"]["strategy"]["matrix"], jobs["core"]["strategy"]["matrix"]
    assert core["python"] == classified()
    assert len(core["os"]) == len(PLATFORMS)
    # packages of the test extra take a while to follow a new Python; what the core needs does not
    assert matrix["python"] == classified()[: len(matrix["python"])]
    assert len(matrix["python"]) >= 3
    assert PROJECT["requires-python"] == f">={classified()[0]}"
    assert PYPROJECT["tool"]["ruff"]["target-version"] == f"py{classified()[0].replace('.', '')}"
    assert {system.partition("-")[0] for system in matrix["os"]} == {"ubuntu", "macos", "windows"}


def test_continuous_integration_runs_what_make_test_runs():
    recipe = re.search(r"^test:.*\n((?:\t.*\n)+)", MAKEFILE, re.MULTILINE)[1]
    commands = re.findall(r"^\t\$\(TEST\)/bin/(.*)", recipe, re.MULTILINE)
    words = {
        " ".join(word for word in re.split(r"\s+", command) if word not in ("-n", "2", "auto")) for command in commands
    }
    words = {command for command in words if "tests.browser" not in command}  # ci.yml has a step of its own
    said = {re.sub(r" -n auto\b", "", step) for step in steps(read(".github/workflows/ci.yml"))}
    assert {"ruff check .", "ruff format --check .", "mypy", "python -m pytest --dist worksteal"} <= words
    assert words <= said


def test_continuous_integration_fetches_a_browser_and_builds_the_docs():
    said = steps(read(".github/workflows/ci.yml"))
    assert any("playwright install" in step and "chromium" in step for step in said)
    assert "make docs" in said


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.stem)
def test_a_workflow_has_few_rights_and_an_end(path):
    workflow = read(path)
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in workflow["jobs"].items():
        assert "uses" in job or job["timeout-minutes"] <= 60, name


def test_a_release_is_published_without_a_token_and_only_after_the_tests():
    workflow = read(".github/workflows/release.yml")
    assert workflow[True]["push"]["tags"] == ["v*"]  # YAML reads the key `on` as true
    publish = workflow["jobs"]["publish"]
    assert publish["permissions"] == {"id-token": "write"}
    assert set(publish["needs"]) == {"ci", "build"}
    assert "secrets." not in (ROOT / ".github/workflows/release.yml").read_text("utf-8")
    # the line that the workflow looks for
    assert f'Repository = "{PROJECT["urls"]["Repository"]}"\n' in (ROOT / "pyproject.toml").read_text("utf-8")


def test_the_hooks_before_a_commit_are_the_tools_of_the_suite():
    hooks = {hook["id"] for repo in read(".pre-commit-config.yaml")["repos"] for hook in repo["hooks"]}
    assert {"ruff-check", "ruff-format", "mypy"} <= hooks


# what the project says of itself


def test_the_citation_is_of_this_version():
    citation = read("CITATION.cff")
    assert citation["cff-version"] == "1.2.0"
    assert {"message", "title", "authors"} <= citation.keys()  # what the format requires
    assert citation["version"] == sentprobe.__version__
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in PROJECT["authors"]]
    assert ("date-released" in citation) == ("dev" not in sentprobe.__version__)


def test_there_is_one_address():
    repository = PROJECT["urls"]["Repository"]
    assert read("CITATION.cff")["repository-code"] == repository
    for url in PROJECT["urls"].values():
        assert url.startswith(repository)
    assert repository in (ROOT / "RELEASE.md").read_text("utf-8")


def test_the_changelog_begins_with_what_is_not_released_or_with_this_version():
    first = re.search(r"^## (.*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1]
    version, _, dev = sentprobe.__version__.partition(".dev")
    state = "unreleased" if dev else r"\d{4}-\d\d-\d\d"
    assert re.fullmatch(rf"{re.escape(version)} \({state}\)", first)


@pytest.mark.parametrize("path", FORMS, ids=lambda p: p.stem)
def test_an_issue_form_is_well_formed(path):
    form = read(path)
    assert {"name", "description", "body"} <= form.keys()
    fields = [field for field in form["body"] if field["type"] != "markdown"]
    assert all(field["type"] in ("textarea", "input", "dropdown", "checkboxes") for field in fields)
    assert all(field["attributes"]["label"] for field in fields)
    assert len({field["id"] for field in fields}) == len(fields)
    assert any(field.get("validations", {}).get("required") for field in fields)


# make


def targets():
    return set(re.search(r"^\.PHONY: (.*)", MAKEFILE, re.MULTILINE)[1].split())


def test_targets_that_are_named_exist():
    workflows = "\n".join(step for path in WORKFLOWS for step in steps(read(path)))
    texts = {path.name: path.read_text("utf-8") for path in PAGES} | {"workflows": workflows}
    for name, text in texts.items():
        found = re.findall(r"(?:`|^|\$ )make ([a-z]+)\b(?=`|$| +#| && )", text, re.MULTILINE)
        assert set(found) <= targets(), name


def test_every_target_is_documented():
    said = "\n".join(path.read_text("utf-8") for path in PAGES)
    for target in targets() - {"clean"}:
        assert re.search(rf"^\$?\s*make {target}\b|`make {target}`", said, re.MULTILINE), target
        assert re.search(rf"^{target}:", MAKEFILE, re.MULTILINE), target


# the docs site


def pages(nav):
    """The pages of a menu, from top to bottom."""
    for entry in nav:
        if isinstance(entry, str):
            yield entry
        else:
            for below in entry.values():
                yield from [below] if isinstance(below, str) else pages(below)


def test_the_menu_has_every_page_once():
    from_docs = {path.relative_to(ROOT / "docs").as_posix() for path in (ROOT / "docs").rglob("*.md")}
    notebooks = {f"examples/{path.stem}.md" for path in (ROOT / "examples").glob("*.ipynb")}
    listed = Counter(pages(read("mkdocs.yml")["nav"]))
    assert listed == Counter({*from_docs, *notebooks, "changelog.md", "contributing.md"})


def test_the_reference_has_every_public_name_once():
    found = [name for path in (ROOT / "docs/api").glob("*.md") for name in IDENTIFIER.findall(path.read_text("utf-8"))]
    assert Counter(found).most_common(1)[0][1] == 1
    for module in ("sentprobe", "sentprobe.extend", "sentprobe.lab"):
        for name in resolve_name(module).__all__:
            assert f"{module}.{name}" in found
    said = re.findall(r"^from sentprobe import (.*)", (ROOT / "docs/api/index.md").read_text("utf-8"), re.MULTILINE)
    assert all(hasattr(sentprobe, name) for names in said for name in names.split(", "))
    pytest.importorskip("torch")  # of functions on tensors
    for name in found:
        assert resolve_name(name).__doc__, name


def test_the_site_is_self_contained():
    config = read("mkdocs.yml")
    assert config["theme"]["font"] is False
    assert "repo_url" not in config  # the theme would ask GitHub's server for its stars
    assert not any("://" in each for each in (*config.get("extra_css", ()), *config.get("extra_javascript", ())))
    for path in PAGES:  # the theme fetches what draws these from elsewhere
        assert "```mermaid" not in path.read_text("utf-8"), path.name


# the architecture


ARCHITECTURE = (ROOT / "docs/architecture.md").read_text("utf-8")
ADDITION = re.compile(r"^\| ([\w `]+) \| `([\w/]+)/` \| (.*) \| `([\w.]+)` \|$", re.MULTILINE)


def test_the_files_that_the_architecture_names_exist():
    named = set(re.findall(r"`([\w/]+(?:/|\.py))`", ARCHITECTURE))
    assert len(named) > 40
    assert [name for name in sorted(named) if not any((ROOT / at / name).exists() for at in ("sentprobe", "."))] == []


def folder_of(kind):
    """The folder of the core, or that of the lab if only the lab has such parts."""
    in_lab = f"sentprobe.lab.{kind.package.rpartition('.')[2]}"
    return kind.package if (ROOT / kind.package.replace(".", "/")).is_dir() else in_lab


def test_the_architecture_says_where_each_addition_goes():
    from sentprobe.annotate.annotator import ANNOTATORS
    from sentprobe.annotate.source import TEXT_SOURCES
    from sentprobe.audit import AUDIT_CHECKS
    from sentprobe.cli._verbs import VERBS
    from sentprobe.cli.listings import LISTINGS
    from sentprobe.contrast import CONTRAST_RULES
    from sentprobe.core.folders import FOLDER_TYPES
    from sentprobe.encoders import SCHEMES
    from sentprobe.lab.alignment import METHODS
    from sentprobe.lab.networks import ARCHITECTURES
    from sentprobe.lab.training import OBJECTIVES, PRESETS
    from sentprobe.lab.words import WORD_EVALUATIONS
    from sentprobe.probes.kind import PROBE_KINDS
    from sentprobe.replicate import FINDINGS
    from sentprobe.report.charts import CHARTS
    from sentprobe.report.checks import CHECKS
    from sentprobe.report.extension import SUMMARY_EXTENSIONS
    from sentprobe.report.page.sections import SECTIONS
    from sentprobe.results.metric import METRICS
    from sentprobe.results.run_kind import RUN_KINDS
    from sentprobe.run.control import CONTROLS
    from sentprobe.run.measure import MEASURES
    from sentprobe.tasks import PARAMETRIC_TASKS, TASKS

    kinds = {
        "probe kind": PROBE_KINDS, "control": CONTROLS, "measure": MEASURES, "chart": CHARTS,
        "page section": SECTIONS, "report check": CHECKS, "audit check": AUDIT_CHECKS,
        "architecture of an encoder": ARCHITECTURES, "training objective": OBJECTIVES, "training preset": PRESETS,
        "alignment method": METHODS, "word evaluation": WORD_EVALUATIONS, "parametric task": PARAMETRIC_TASKS,
        "annotator": ANNOTATORS, "format of raw text": TEXT_SOURCES, "task": TASKS, "type of folder": FOLDER_TYPES,
        "list of `sentprobe ls`": LISTINGS, "extension of the summary of a run": SUMMARY_EXTENSIONS,
        "metric": METRICS, "kind of run": RUN_KINDS, "contrast rule": CONTRAST_RULES, "finding of a paper": FINDINGS,
    }  # fmt: skip
    rows = {
        noun: (f"sentprobe.{folder.replace('/', '.')}", text, group)
        for noun, folder, text, group in ADDITION.findall(ARCHITECTURE)
    }
    assert rows.keys() == {*kinds, "encoder scheme", "verb"}
    for noun, kind in kinds.items():
        variable = f"`{kind.noun.replace(' ', '_')} = {kind.type.__name__}(…)`"
        assert rows[noun] == (folder_of(kind), variable, kind.group)
    assert rows["encoder scheme"] == (folder_of(SCHEMES), "`load(spec)`", SCHEMES.group)
    assert rows["verb"] == (folder_of(VERBS), "a function with the name of the file", VERBS.group)


# the name


FORMER_NAME = "".join(("s", "o", "n", "d", "e"))
NAMES = re.compile(rf"(?<![a-z]){FORMER_NAME}|(?-i:{FORMER_NAME.title()})", re.IGNORECASE)


def test_the_former_name_is_gone():
    """It belongs to another project; inside other words, such as the name of json's exception, it is none."""
    assert NAMES.search(f"import {FORMER_NAME}")
    assert NAMES.search(f"raise {FORMER_NAME.title()}Error")
    assert NAMES.search(f"{FORMER_NAME.upper()}_CACHE")
    assert not NAMES.search("json.JSONDecodeError")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip("not a clone")
    names = [name for name in listed.stdout.split("\0") if (ROOT / name).is_file()]
    assert len(names) > 1000
    assert [name for name in names if NAMES.search(name)] == []
    left = []
    for name in names:
        text = (ROOT / name).read_bytes().decode("utf-8", "replace")
        left += [f"{name}: {match[0]}" for match in NAMES.finditer(text)]
    assert left == []


def test_nothing_tells_to_install_an_unreserved_name():
    """Before a release, the name on the index is anyone's: pages say how to install from a clone."""
    if ".dev" not in sentprobe.__version__:
        pytest.skip("released")
    texts = [*PAGES, *ROOT.glob("examples/*.ipynb"), *ROOT.glob("sentprobe/**/*.py")]
    texts = [path for path in texts if path.name not in ("RELEASE.md", "install.py")]
    assert [path.name for path in texts if re.search(r"pip install '?sentprobe", path.read_text("utf-8"))] == []


# platforms


def test_the_core_needs_few_packages_and_none_that_must_be_compiled():
    names = {re.match(r"[\w.-]+", line)[0] for line in requirements("")}
    assert "wordllama" not in names
    assert len(names) <= 13


EXTRAS = PROJECT["optional-dependencies"]
FOR_DEVELOPERS = {"docs", "test", "test-core"}


def test_all_has_every_extra_that_users_choose():
    users = set(EXTRAS) - {"all"} - FOR_DEVELOPERS
    assert set(requirements("all")) >= {line for name in users for line in requirements(name)}
    table = re.findall(r"^\| (`.*`) \|", (ROOT / "docs/index.md").read_text("utf-8"), re.MULTILINE)
    assert sorted(re.findall(r"`([a-z]+)`", " ".join(table))) == sorted({*users, "all"})


def test_an_extra_that_is_named_exists():
    """In messages, in the docs, and in what builds environments."""
    patterns = (
        r"pip_install\(['\"]([a-z]+)['\"]\)",
        r"pip install[^\n]*'\.\[([a-z,-]+)\]'",
        r"-e ['\"]\.\[([a-z,-]+)\]",
    )
    files = [*PAGES, *WORKFLOWS, ROOT / "Makefile", *(ROOT / "sentprobe").rglob("*.py")]
    texts = [path.read_text("utf-8") for path in files]
    groups = {group for text in texts for pattern in patterns for group in re.findall(pattern, text)}
    names = {name for group in groups for name in group.split(",")}
    assert {"transformers", "train", "annotate", "use", "test", "test-core"} <= names <= set(EXTRAS)


def test_torch_is_pinned_in_the_call_that_installs_the_tests():
    """pip would otherwise take the newest one, with gigabytes of CUDA."""
    assert [line for line in EXTRAS["test"] if line.startswith("torch")] == ["torch==2.13.0"]
    assert not any("torch" in line for line in requirements("test-core"))
    repeated = {re.match(r"[\w.-]+", line)[0] for line in EXTRAS["test"]} & {
        re.match(r"[\w.-]+", line)[0] for line in requirements("all") + requirements("test-core")
    }
    assert repeated == {"torch"}
