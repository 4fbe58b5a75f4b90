"""Every set of a run is audited quickly, and errors in it stand above the scores, wherever these are shown."""

import json
from dataclasses import replace

import msgspec
import pytest

from sentprobe.audit import AUDIT_CHECKS
from sentprobe.errors import SentProbeWarning
from sentprobe.report import Report, summarise
from sentprobe.report.set_summary import MAX_FINDINGS, data_errors
from sentprobe.report.tables import csv_text, json_text, latex, markdown, print_table
from sentprobe.run import Run, evaluate, inputs
from tests.browser import CHROMIUM, needs_chromium
from tests.command_line import sentprobe
from tests.run.sets import Knowing, dataset

MESSAGE = "dev and test are the same set: 60 of the 60 test rows are in dev"


def leaked(name="own/leaked", one="va"):
    """A set of which a split is the test split."""
    sound = dataset(name)
    return replace(sound, rows={**sound.rows, one: sound.rows["te"]})


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("audited") / "run"
    return evaluate({"k": Knowing()}, [leaked(), dataset("own/sound")], folder, resample=0)


@pytest.mark.parametrize(
    ("split", "says"),
    [
        ("va", MESSAGE),
        ("tr", "train and test are the same set: 60 of the 60 test rows are in train"),
    ],
)
def test_identical_splits_are_recorded(tmp_path, split, says):
    found = evaluate({"k": Knowing()}, leaked(one=split), tmp_path / "run", baselines=["majority"], resample=0)
    (described,) = json.loads((tmp_path / "run/run.json").read_text())["datasets"]
    errors = [finding for finding in described["audit"] if finding["severity"] == "error"]
    assert [(e["code"], e["message"]) for e in errors] == [("same-split", says)]
    assert data_errors(summarise(found)) == [
        "Data errors in 1 set: scores there do not mean what they seem to.",
        f"own/leaked: {says} (same-split).",
    ]


def rows_with(change):
    given = dataset()
    return replace(given, rows={split: change(split, list(rows)) for split, rows in given.rows.items()})


@pytest.mark.parametrize(
    ("given", "code"),
    [
        (rows_with(lambda s, rows: [rows[0], *rows]), None),
        (rows_with(lambda s, rows: [*rows, *dataset().rows["te"][:3]] if s == "tr" else rows), "copies-across-splits"),
        (rows_with(lambda s, rows: [*rows, rows[0]._replace(label="c1")] if s == "te" else rows), "two-labels"),
        (rows_with(lambda s, rows: [r for r in rows if r.label == "c0"] if s == "te" else rows), "one-class"),
    ],
)
def test_other_errors_are_recorded(tmp_path, given, code):
    found = evaluate({"k": Knowing()}, given, tmp_path / "run", baselines=["majority"], resample=0)
    errors = [f["code"] for f in found.info["datasets"][0]["audit"] if f["severity"] == "error"]
    assert errors == ([code] if code else [])


def test_errors_are_above_the_table(run, capsys):
    print_table(summarise(run))
    shown = " ".join(capsys.readouterr().out.split())
    assert f"own/leaked: {MESSAGE} (same-split)." in shown
    assert shown.index(MESSAGE) < shown.index("set test")


def test_errors_are_in_every_file(run):
    summary = summarise(run)
    text = markdown(summary)
    assert text.startswith(
        "**Data errors in 1 of 2 sets: scores there do not mean what they seem to.**\n\n- own/leaked:"
    )
    assert text.index(MESSAGE) < text.index("| set |")
    text = latex(summary)
    assert text.index(MESSAGE) < text.index("\\begin{tabular}")
    assert not next(line for line in text.splitlines() if MESSAGE in line).startswith("%")
    header, *lines = [line.split(",") for line in csv_text(run, summary).splitlines()]
    place = header.index("audit_errors")
    assert {(line[0], line[place]) for line in lines} == {("own/leaked", "same-split"), ("own/sound", "")}
    by_name = {s["name"]: [f["code"] for f in s["audit"]] for s in json.loads(json_text(summary))["sets"]}
    assert by_name == {"own/leaked": ["same-split", "small-test"], "own/sound": ["small-test"]}
    report = Report.of(run)
    page = report.html()
    assert page.index(f"own/leaked: {MESSAGE}") < page.index("</header>")
    assert f"own/leaked: {MESSAGE}" in report._repr_html_()


def test_without_errors_nothing_is_said(run):
    summary = summarise(run)
    summary = replace(summary, sets=tuple(s for s in summary.sets if s.name == "own/sound"))
    assert data_errors(summary) == []
    assert "Data errors" not in markdown(summary) + latex(summary)


def test_of_many_errors_the_first_are_shown(run):
    summary = summarise(run)
    wrong = next(s for s in summary.sets if s.name == "own/leaked")
    many = replace(summary, sets=tuple(replace(wrong, name=f"s{i}", label=f"s{i}") for i in range(20)))
    heading, *lines = data_errors(many)
    assert heading.startswith("Data errors in 20 sets")
    assert len(lines) == MAX_FINDINGS
    assert lines[-1] == "15 more errors in 15 sets: `sentprobe audit` lists them."


@needs_chromium
def test_errors_are_on_the_first_screen(run, tmp_path):
    sync_api = pytest.importorskip("playwright.sync_api")
    Report.of(run).save(tmp_path / "page.html")
    with sync_api.sync_playwright() as started:
        browser = started.chromium.launch_persistent_context(
            tmp_path / "browser", executable_path=CHROMIUM, args=["--no-sandbox"], headless=True,
            viewport={"width": 390, "height": 844},
        )  # fmt: skip
        page = browser.new_page()
        page.goto((tmp_path / "page.html").as_uri())
        assert "dev = test in 1 set" in page.locator(".badges .issue").all_inner_texts()
        box = page.locator("#data-errors")
        place = box.bounding_box()
        assert place["y"] + place["height"] < 844
        assert "Data errors in 1 of 2 sets" in box.inner_text()
        box.locator("summary").click()
        assert MESSAGE in box.inner_text()
        copies = {kind: page.evaluate(f"window.sentprobe.copies.{kind}()") for kind in ("markdown", "latex", "csv")}
        assert copies["markdown"].index(MESSAGE) < copies["markdown"].index("| Set |")
        assert copies["latex"].index(MESSAGE) < copies["latex"].index("\\begin{tabular}")
        assert not next(line for line in copies["latex"].splitlines() if MESSAGE in line).startswith("%")
        assert "leaked, same-split" in copies["csv"]
        page.locator("#data-errors a").click()
        assert page.url.endswith("#quality")
        browser.close()


def test_an_audit_is_made_once(tmp_path, monkeypatch):
    """In the same folder it is not repeated, and that of a manifest is taken as it is."""
    calls = []
    real = inputs.audit_quickly
    monkeypatch.setattr(inputs, "audit_quickly", lambda *given: calls.append(given) or real(*given))
    for _ in "ab":
        evaluate({"k": Knowing()}, leaked(), tmp_path / "run", baselines=["majority"], resample=0)
    assert len(calls) == 1
    own = [{"code": "own", "severity": "error", "message": "as made"}]
    made = evaluate({"k": Knowing()}, dataset(audit=own), tmp_path / "made", baselines=["majority"], resample=0)
    assert len(calls) == 1
    assert data_errors(summarise(made))[1:] == ["own/task: as made (own)."]


def test_a_check_that_fails_stops_no_run(tmp_path, monkeypatch):
    def broken(*given):
        raise ZeroDivisionError("of a plug-in")

    monkeypatch.setattr(inputs, "audit_quickly", broken)
    with pytest.warns(SentProbeWarning, match=r"own/leaked was not audited: .*of a plug-in"):
        found = evaluate({"k": Knowing()}, leaked(), tmp_path / "run", baselines=["majority"], resample=0)
    assert len(found) == 2
    (own,) = summarise(found).sets
    assert own.audit is None


def test_the_commands_say_it(tmp_path):
    lines = [f"{split}\t{row.label}\t{' '.join(row.tokens)}\n" for split, row in leaked()]
    (tmp_path / "leaked.txt").write_text("".join(lines))
    done = sentprobe(
        "run", "-e", "baseline:length", "-e", "builtin:", "-d", tmp_path / "leaked.txt", "-o", tmp_path / "run",
        "--no-store", "--resample", "0",
    )  # fmt: skip
    assert MESSAGE in " ".join(done.stdout.split())
    assert MESSAGE in " ".join(sentprobe("show", tmp_path / "run").stdout.split())
    assert MESSAGE in " ".join(sentprobe("show", tmp_path / "run", "--means").stdout.split())
    assert "Data errors: differences on leaked (same-split)" in sentprobe("compare", tmp_path / "run").stderr
    assert {part.name for part in AUDIT_CHECKS.parts().values() if part.quick} >= {"duplicates", "labels", "size"}
    assert msgspec.json.decode((tmp_path / "run/run.json").read_bytes())["datasets"][0]["audit"]
    assert Run.load(tmp_path / "run").info["datasets"][0]["audit"]
