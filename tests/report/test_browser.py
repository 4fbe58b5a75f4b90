"""The page in a browser: it draws, sorts, filters and switches, by keyboard too, asks no network, and runs no text."""

import csv
import io
import json
import os
import re
import time
from pathlib import Path

import pytest

from sentprobe.report import Report
from sentprobe.report.page import Section, render
from sentprobe.report.summary import full_summary
from sentprobe.results.run import Run
from tests.browser import CHROMIUM, needs_chromium
from tests.plugins import plugin  # noqa: F401 - a fixture
from tests.report.runs import SETS, beside, result, written
from tests.report.test_own_parts import CHART, SECTION
from tests.report.test_page import crowd, hostile_run

playwright = pytest.importorskip("playwright.sync_api", reason="needs playwright")
pytestmark = needs_chromium

NAMES = ["Subject number", "Bigram shift", "own/third"]
"""What the page calls the sets of the plain run."""
DRAWN = "[...document.querySelectorAll('figure[data-chart]')].every((f) => f.querySelector('svg'))"


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """One browser, which knows nothing of the user and may ask nothing of itself."""
    arguments = ["--no-sandbox", "--disable-background-networking"]
    with playwright.sync_playwright() as started:
        found = started.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("browser"), executable_path=CHROMIUM, args=arguments, headless=True,
            viewport={"width": 1280, "height": 900}, color_scheme="light", reduced_motion="reduce",
        )  # fmt: skip
        yield found
        found.close()


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Pages by name: a plain run, one whose texts try something, and a large one."""
    folder = tmp_path_factory.mktemp("pages")
    sets = (*SETS, "own/third")
    records = [result(e, s, p=p) for s, lift in zip(sets, (0, 0.02, -0.2), strict=True)
               for e, p in (("st:good", 0.9 + lift), ("static:", 0.7 - lift))]  # fmt: skip
    plain = Report.of(written(folder / "plain", *records, *beside(sets)))
    plain.save(folder / "plain.html")
    Report.of(hostile_run(folder / "hostile"), title="</title><script>window.hurt = 1</script>").save(
        folder / "hostile.html"
    )
    (folder / "crowd.html").write_text(render(crowd(full_summary(plain.run))), "utf-8")
    return folder


class Opened:
    """A page and what it did that it should not."""

    def __init__(self, browser, path, width=1280):
        self.page = browser.new_page()
        self.page.set_viewport_size({"width": width, "height": 900})
        self.errors, self.requests = [], []
        self.page.on("console", lambda m: self.errors.append(m.text) if m.type == "error" else None)
        self.page.on("pageerror", lambda e: self.errors.append(str(e)))
        self.page.on("request", lambda r: self.requests.append(r.url))
        self.page.goto(path.as_uri())

    def wait(self, condition):
        """Until a condition holds; Playwright's own way would need what the page's policy forbids."""
        end = time.monotonic() + 60
        while not self.page.evaluate(condition):
            assert time.monotonic() < end, condition
            self.page.wait_for_timeout(20)

    def tip_at(self, selector):
        """What is said of the first of these when it is pointed at; while the page still moves, that is lost again."""
        for _ in range(50):
            self.page.locator(selector).first.hover(force=True)
            self.page.wait_for_timeout(100)
            if self.page.locator("#tip").is_visible():
                return self.page.locator("#tip").text_content()
            self.page.mouse.move(0, 0)
        raise AssertionError("nothing is said")

    def texts(self, selector):
        return [text.strip() for text in self.page.locator(selector).all_inner_texts()]

    def close(self):
        assert self.errors == []
        assert len(self.requests) == 1, self.requests  # the file itself
        self.page.close()


@pytest.fixture
def opened(browser, pages):
    """Open a page by its name; in the end, see that it did nothing else."""
    found = []

    def open_page(name, width=1280):
        found.append(Opened(browser, pages / f"{name}.html", width))
        return found[-1]

    yield open_page
    for page in found:
        page.close()


def sets_in_order(page):
    return page.texts("#scores tbody tr:not([hidden]) th .label")


def test_charts_are_drawn_and_say_what_they_show(opened):
    page = opened("plain")
    page.wait(DRAWN)
    assert "Bigram shift" in page.page.locator('[data-chart="heatmap"] svg').text_content()
    assert page.tip_at('[data-chart="heatmap"] .mark-rect path').startswith("good on Subject number: ")
    page.page.locator('[data-chart="heatmap"] summary').click()
    page.wait("document.querySelectorAll('[data-chart=heatmap] .numbers tbody tr').length === 6")


def test_charts_keep_their_names_and_so_do_their_numbers(opened):
    """Vega would call each of them a visualization."""
    page = opened("plain")
    page.wait("[...document.querySelectorAll('figure[data-chart] .plot')].every((f) => f.matches('.drawn'))")
    page.page.evaluate("document.querySelectorAll('details').forEach((found) => (found.open = true))")
    page.wait("[...document.querySelectorAll('.numbers')].every((f) => f.querySelector('.scroll'))")
    named = "found => found.map((one) => [one.getAttribute('role'), one.getAttribute('aria-label')])"
    plots = page.page.eval_on_selector_all(".plot", named)
    numbers = page.page.eval_on_selector_all(".numbers .scroll", named)
    assert len(plots) > 1
    assert {role for role, _ in plots} == {"img"}
    assert len({name for _, name in plots}) == len(plots)
    assert [name for _, name in numbers] == [f"Numbers: {name}" for _, name in plots]


def test_sorting_and_filtering_by_keyboard_alone(opened):
    page = opened("plain")
    assert sets_in_order(page) == NAMES
    page.page.keyboard.press("Tab")
    assert page.page.evaluate("document.activeElement.className") == "skip"
    page.page.keyboard.press("Enter")
    assert page.page.evaluate("document.activeElement.id") == "main"
    for _ in range(60):  # past the checks to the column of the first encoder
        page.page.keyboard.press("Tab")
        if page.page.evaluate("document.activeElement.textContent") == "good":
            break
    page.page.keyboard.press("Enter")
    head = page.page.locator('#scores thead th[data-kind="encoder"]').first
    assert head.get_attribute("aria-sort") == "descending"
    first = [
        float(t.split()[0].rstrip("abc†*")) for t in page.texts('#scores tbody td[data-kind="encoder"]:nth-child(3)')
    ]
    assert first == sorted(first, reverse=True)
    page.page.keyboard.press("Enter")
    assert head.get_attribute("aria-sort") == "ascending"
    assert sets_in_order(page)[0] == "own/third"
    page = opened("crowd")
    page.page.locator("#find-sets").focus()
    page.page.keyboard.type("TASK_13")
    assert len(sets_in_order(page)) == 2
    assert page.texts("#shown") == ["2 of 30 sets, 20 of 20 encoders"]
    page.page.locator("#find-encoders").focus()
    page.page.keyboard.type("number-13")
    assert page.page.locator('#scores thead th[data-kind="encoder"]:visible').count() == 1
    outline = page.page.evaluate("getComputedStyle(document.activeElement).outlineStyle")
    assert outline != "none"


def test_encoders_are_sorted_by_a_set_and_cells_go_with_them(opened):
    page = opened("plain")

    def by_encoder():
        heads = page.texts('#scores thead th[data-kind="encoder"]')
        cells = page.texts("#scores tbody tr:first-child td[data-kind=encoder]")
        return dict(zip(heads, cells, strict=True)), heads

    before, heads = by_encoder()
    button = page.page.locator("#scores tbody th .sort").first
    button.click()
    button.click()
    after, turned = by_encoder()
    assert after == before
    assert turned == heads[::-1]


def test_the_heat_map_shows_other_things(opened):
    page = opened("plain")
    page.wait(DRAWN)
    text = "document.querySelector('[data-chart=heatmap] svg').textContent"
    before = page.page.evaluate(text)
    assert "points above the best baseline" in before
    page.page.locator("[data-chart=heatmap] select.mode").select_option("absolute")
    page.wait(f"{text}.includes('accuracy (%)')")
    page.page.locator("[data-chart=heatmap] select.mode").select_option("encoder")
    page.wait(f"{text}.includes('ratio')")
    assert page.texts("[data-chart=heatmap] .reference option") == ["good", "bag of word vectors"]
    page.wait(f"({text}.match(/1\\.00/g) || []).length >= 3")  # an encoder beside itself
    first = page.page.evaluate(text)
    page.page.locator("[data-chart=heatmap] .reference select").select_option("1")
    page.wait(f"{text} !== {json.dumps(first)}")
    page.page.locator("[data-chart=heatmap] select.mode").select_option("above")
    page.wait(f"{text} === {json.dumps(before)}")


def test_dark_and_light(opened):
    page = opened("plain")
    page.wait(DRAWN)
    ground = "getComputedStyle(document.body).backgroundColor"
    label = "getComputedStyle(document.querySelector('[data-chart=intervals] .role-axis-label text')).fill"
    light, ink = page.page.evaluate(ground), page.page.evaluate(label)
    page.page.locator("#theme").click()
    assert page.page.evaluate(ground) != light
    assert page.page.evaluate(label) != ink
    page.page.emulate_media(media="print")
    assert page.page.evaluate(ground) == light
    assert not page.page.locator("button:visible:not(.sort)").count()
    assert sets_in_order(page) == NAMES
    page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.page.evaluate(
        "[...document.querySelectorAll('main details:not(.numbers, .long, .passed, .group)')].every((d) => d.open)"
    )


def copied(page, kind):
    page.page.evaluate("document.getElementById('status').textContent = ''")
    page.page.locator(f'[data-copy="{kind}"]').click()
    page.wait("document.getElementById('status').textContent === 'Copied'")
    return page.page.evaluate("navigator.clipboard.readText()")


def test_what_is_copied_is_what_is_shown(opened, browser):
    browser.grant_permissions(["clipboard-read", "clipboard-write"])
    page = opened("plain")
    cells = page.page.locator("#scores tbody tr").first.locator("td:visible")
    score, margin = cells.nth(1).inner_text().split("\n")
    latex = copied(page, "latex")
    assert latex.startswith("% \\usepackage{booktabs}\n\\begin{tabular}{lrrrr}\n\\toprule\n")
    assert f"& {score} {margin.replace('±', '$' + chr(92) + 'pm$')} &" in latex
    assert "\\textbf" not in latex  # bold is not shown
    page.page.locator("#codes").check()
    assert "\\textbf{" in copied(page, "latex")
    assert "**" in copied(page, "markdown")
    page.page.locator("#codes").uncheck()
    assert "**" not in copied(page, "markdown")
    rows = list(csv.DictReader(io.StringIO(copied(page, "csv"))))
    assert [row["Set"] for row in rows] == page.texts("#scores tbody th .label")
    assert (rows[0]["good"], rows[0]["good, margin"]) == (score, margin)
    assert "majority" not in rows[0]
    page.page.locator("#all-baselines").check()
    page.page.locator('#scores th[data-kind="set"] button').click()
    page.page.locator("#gains").check()
    rows = list(csv.DictReader(io.StringIO(copied(page, "csv"))))
    assert "majority" in rows[0]
    assert (
        [row["Set"] for row in rows]
        == page.texts("#scores tbody th .label")
        == sorted((row["Set"] for row in rows), key=str.lower)
    )
    shown = page.texts('#scores tbody td[data-kind="encoder"]:nth-child(3)')
    assert [row["good"] for row in rows] == [
        re.match(r"[+\u2212][\d.]+", text)[0].replace("\u2212", "-") for text in shown
    ]
    assert "Points above the best baseline" in copied(page, "markdown")


def test_there_are_filters_only_where_there_is_something_to_filter(opened):
    assert opened("plain").page.locator("#find-sets, #find-encoders").count() == 0
    page = opened("crowd")
    page.page.locator("#find-encoders").fill("number-3-")
    assert page.page.locator('#scores thead th[data-kind="encoder"]:visible').count() == 1
    assert page.texts("#shown") == ["30 of 30 sets, 1 of 20 encoders"]


def test_headings_are_no_buttons_in_print(opened):
    """Chromium leaves buttons out of a heading that it repeats."""
    page = opened("plain")
    before = page.texts("#scores thead th")
    page.page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.page.locator("#scores .sort").count() == 0
    assert page.texts("#scores thead th") == before
    page.page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.page.locator("#scores thead .sort").count() == len(before)
    page.page.locator('#scores th[data-kind="set"] button').click()
    assert page.page.locator("#scores th[aria-sort]").count() == 1


def test_texts_of_a_hostile_run_stay_texts(opened):
    page = opened("hostile")
    page.wait(DRAWN)
    assert page.page.evaluate("window.hurt") is None
    assert page.texts("h1") == ["</title><script>window.hurt = 1</script>"]
    errors = page.texts("#errors-list .sentence")
    assert any("window.hurt" in text for text in errors)
    assert any("👩‍👩‍👧" in text for text in errors)
    assert all("\u202e" not in text for text in errors)
    assert page.page.locator("#errors-list mark").count() == len(errors)
    assert "[marked: " in page.page.locator("#errors-list mark").first.text_content()
    assert page.page.locator("main b, main img").count() == 0
    assert "<img" in page.tip_at('[data-chart="heatmap"] .mark-rect path')
    assert page.page.evaluate("window.hurt") is None


@pytest.mark.parametrize("name", ["plain", "hostile", "crowd"])
def test_a_telephone_scrolls_down_and_not_to_the_side(opened, name):
    page = opened(name, width=390)
    page.wait(DRAWN)
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 390
    page.page.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
    assert page.page.evaluate("document.documentElement.scrollWidth") <= 390


def test_the_errors_of_many_encoders(opened):
    page = opened("crowd")
    page.page.locator("#errors-set").select_option("5")
    assert page.page.locator("#errors-confusion tbody tr").count() == 20
    page.page.locator("#errors-encoder").select_option("7")
    assert page.page.locator("#errors-list mark").first.text_content() == "[marked: had]"


def test_a_section_of_the_server_runs_its_own_script(browser, pages, tmp_path):
    extra = Section(
        name="try",
        title="Try",
        template='<p id="t"></p>',
        style="#t{color:red}",
        script="document.getElementById('t').textContent = 'ran';",
    )
    (tmp_path / "served.html").write_text(render(full_summary(Run.load(pages / "plain")), extra), "utf-8")
    page = Opened(browser, tmp_path / "served.html")
    assert page.texts("#t") == ["ran"]
    assert page.page.evaluate("getComputedStyle(document.getElementById('t')).color") == "rgb(255, 0, 0)"
    page.close()


def test_a_chart_and_a_section_of_another_package(browser, pages, tmp_path, plugin):  # noqa: F811
    plugin("charts", CHART.replace("SECTION", "quality"))
    plugin("sections", SECTION)
    (tmp_path / "own.html").write_text(Report.of(Run.load(pages / "plain")).html(), "utf-8")
    page = Opened(browser, tmp_path / "own.html")
    page.wait(DRAWN)
    assert "Subject number" in page.page.locator('#quality [data-chart="classes"] svg').text_content()
    assert page.page.locator(".size").get_attribute("data-ran") == "yes"
    assert page.page.evaluate("getComputedStyle(document.querySelector('.size')).color") == "rgb(1, 2, 3)"
    assert page.page.evaluate("window.hurt") is None
    page.close()


def test_scores_or_points_above_the_best_baseline(opened):
    page = opened("plain")
    cells = '#scores tbody td[data-kind="encoder"]'
    scores = page.texts(cells)
    page.page.locator("#gains").check()
    gains = page.page.eval_on_selector_all(cells, "found => found.map((cell) => Number(cell.dataset.gain))")
    shown = [float(re.match(r"[+\u2212][\d.]+", text)[0].replace("\u2212", "-")) for text in page.texts(cells)]
    assert shown == gains
    page.page.locator('#scores th[data-kind="encoder"] button').first.click()
    column = page.page.eval_on_selector_all(
        f"{cells}:nth-child(3)", "found => found.map((c) => Number(c.dataset.gain))"
    )
    assert column == sorted(column, reverse=True)
    page.page.locator("#gains").uncheck()
    assert sorted(page.texts(cells)) == sorted(scores)


@pytest.mark.skipif("SENTPROBE_AXE" not in os.environ, reason="needs axe-core: SENTPROBE_AXE=…/axe-core/axe.min.js")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, scheme):
    page = opened("plain")
    page.page.emulate_media(color_scheme=scheme)
    page.wait(DRAWN)
    page.page.evaluate("document.querySelectorAll('details').forEach((found) => (found.open = true))")
    page.wait("[...document.querySelectorAll('.numbers')].every((f) => f.querySelector('.scroll'))")
    page.page.evaluate(Path(os.environ["SENTPROBE_AXE"]).read_text("utf-8"))
    found = page.page.evaluate("axe.run().then((r) => r.violations.map((v) => `${v.impact}: ${v.id}`))")
    assert found == []
