"""The files around the package agree with it and with each other."""

import re
import tomllib
from collections import Counter
from pathlib import Path
from pkgutil import resolve_name

import pytest
import yaml

import sonde

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
    matrix = read(".github/workflows/ci.yml")["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == classified()
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
    assert citation["version"] == sonde.__version__
    assert citation["license"] == PROJECT["license"]
    assert [author["name"] for author in citation["authors"]] == [author["name"] for author in PROJECT["authors"]]
    assert ("date-released" in citation) == ("dev" not in sonde.__version__)


def test_there_is_one_address():
    repository = PROJECT["urls"]["Repository"]
    assert read("CITATION.cff")["repository-code"] == repository
    for url in PROJECT["urls"].values():
        assert url.startswith(repository)
    assert repository in (ROOT / "RELEASE.md").read_text("utf-8")


def test_the_changelog_begins_with_what_is_not_released_or_with_this_version():
    first = re.search(r"^## (.*)", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.MULTILINE)[1]
    version, _, dev = sonde.__version__.partition(".dev")
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
    for name in sonde.__all__:
        assert f"sonde.{name}" in found
    for name in found:
        assert resolve_name(name).__doc__, name
    said = re.findall(r"^from sonde import (.*)", (ROOT / "docs/api/index.md").read_text("utf-8"), re.MULTILINE)
    assert all(hasattr(sonde, name) for names in said for name in names.split(", "))


def test_the_site_is_self_contained():
    config = read("mkdocs.yml")
    assert config["theme"]["font"] is False
    assert "repo_url" not in config  # the theme would ask GitHub's server for its stars
    assert not any("://" in each for each in (*config.get("extra_css", ()), *config.get("extra_javascript", ())))
    for path in PAGES:  # the theme fetches what draws these from elsewhere
        assert "```mermaid" not in path.read_text("utf-8"), path.name


# the architecture


ARCHITECTURE = (ROOT / "docs/architecture.md").read_text("utf-8")
ADDITION = re.compile(r"^\| ([\w ]+) \| `([\w/]+)/` \| (.*) \| `([\w.]+)` \|$", re.MULTILINE)


def test_the_files_that_the_architecture_names_exist():
    named = set(re.findall(r"`([\w/]+(?:/|\.py))`", ARCHITECTURE))
    assert len(named) > 40
    assert [name for name in sorted(named) if not any((ROOT / at / name).exists() for at in ("sonde", "."))] == []


def test_the_architecture_says_where_each_addition_goes():
    from sonde.alignment import METHODS
    from sonde.annotate.annotator import ANNOTATORS
    from sonde.annotate.source import TEXT_SOURCES
    from sonde.audit import AUDIT_CHECKS
    from sonde.cli._verbs import GROUP as VERBS
    from sonde.encoders.scheme import GROUP as ENCODERS
    from sonde.encoders.scheme import PACKAGE as SCHEMES
    from sonde.networks import ARCHITECTURES
    from sonde.probes.kind import PROBE_KINDS
    from sonde.report.charts import CHARTS
    from sonde.report.checks import CHECKS
    from sonde.report.page.sections import SECTIONS
    from sonde.run.control import CONTROLS
    from sonde.run.measure import MEASURES
    from sonde.tasks import GROUP as TASKS
    from sonde.tasks.parametric import PARAMETRIC_TASKS
    from sonde.training import OBJECTIVES, PRESETS
    from sonde.words import WORD_EVALUATIONS

    kinds = {
        "probe kind": PROBE_KINDS, "control": CONTROLS, "measure": MEASURES, "chart": CHARTS,
        "page section": SECTIONS, "report check": CHECKS, "audit check": AUDIT_CHECKS,
        "architecture of an encoder": ARCHITECTURES, "training objective": OBJECTIVES, "training preset": PRESETS,
        "alignment method": METHODS, "word evaluation": WORD_EVALUATIONS, "parametric task": PARAMETRIC_TASKS,
        "annotator": ANNOTATORS, "format of raw text": TEXT_SOURCES,
    }  # fmt: skip
    rows = {
        noun: (f"sonde.{folder.replace('/', '.')}", text, group)
        for noun, folder, text, group in ADDITION.findall(ARCHITECTURE)
    }
    assert rows.keys() == {*kinds, "task", "encoder scheme", "verb"}
    for noun, kind in kinds.items():
        variable = f"`{kind.noun.replace(' ', '_')} = {kind.type.__name__}(…)`"
        assert rows[noun] == (kind.package, variable, kind.group)
    assert rows["task"] == ("sonde.tasks", "`task = Task(…)`", TASKS)
    assert rows["encoder scheme"] == (SCHEMES, "`load(spec)`", ENCODERS)
    assert rows["verb"] == ("sonde.cli", "a function with the name of the file", VERBS)
