"""The page in a browser: sentences are typed and classified, by keyboard, and errors are shown."""

from dataclasses import replace

import pytest

from sentprobe.results.log import open_log
from sentprobe.results.run_status import StatusFile
from tests.browser import launched, needs_chromium, watched
from tests.serve.runs import run, running

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = needs_chromium


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    own = run(tmp_path_factory.mktemp("served") / "run")
    with running(own.folder) as server:
        yield own, server


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture
def page(browser, served):
    """The page, its clock held; at the end nothing was complained of, and no other machine was asked."""
    with watched(browser, served[1].url, "data:", "blob:") as page:
        page.clock.install()
        page.goto(served[1].url)
        page.wait_for_selector("#try-form:not([hidden])")
        yield page


def typed(page, box, text):
    """Replace what stands in a box, by keyboard."""
    page.focus(box)
    page.keyboard.press("Control+a")
    page.keyboard.type(text)


def test_a_sentence_is_read(page):
    typed(page, "#try-text", "the boats in a\nthe <img src=x onerror=alert(1)> towers")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".try-table")
    assert page.inner_text("#try-status") == "Classified 2 sentences: 2 sets, 2 encoders."
    assert page.locator("#try-status").get_attribute("aria-live") == "polite"
    assert page.locator(".try-sentence").all_inner_texts() == [
        "the boats in a 4 tokens", "the <img src=x onerror=alert(1)> towers 14 tokens"
    ]  # fmt: skip
    assert page.locator("#try img").count() == 0
    row = page.locator(".try-table").first.locator("tbody tr").nth(1)
    assert row.locator("th").inner_text().startswith("Word content")
    cells = row.locator("td").all_inner_texts()
    assert all(cell.startswith("boats") and "✓ correct" in cell for cell in cells[:2])
    assert cells[2:] == ["all 2 agree", "boats"]


def test_two_sentences_are_compared_by_keyboard(page):
    page.focus("input[value=read]")
    page.keyboard.press("ArrowDown")
    typed(page, "#try-first", "the boats in a")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # swap two words
    assert page.input_value("#try-second") == "the in boats a"
    page.keyboard.press("Enter")
    assert page.input_value("#try-second") == "the boats a in"
    page.focus("#try-second")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".try-cosines")
    assert page.inner_text("#try-status") == "Classified 2 sentences: 2 sets, 2 encoders. 0 predictions changed."
    assert page.locator(".try-cosines dd").all_inner_texts() == ["1.000", "1.000"]  # of means of the same words
    typed(page, "#try-second", "the towers in a")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector("td.changed")
    assert "changed from boats" in page.locator("td.changed").last.inner_text()


def test_what_is_wrong_is_said(page):
    typed(page, "#try-text", "   ")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".try-status.bad")
    assert page.inner_text("#try-status") == "Type a sentence."
    page.fill("#try-text", "x" * 2001)
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator("#try-status")).to_contain_text("at most 2000 characters")
    for box in page.locator("input[name=encoder]").all():
        box.uncheck()
    typed(page, "#try-text", "the boats")
    page.keyboard.press("Control+Enter")
    playwright.expect(page.locator("#try-status")).to_have_text("Choose at least one encoder.")


def test_new_results_are_offered(page, served):
    own, _ = served
    result = own.results[0]
    assert page.locator("#try-news").is_hidden()
    with open_log(own.folder) as log:
        cell = replace(result.cell, seed=7)
        log.add(replace(result, key=cell.key, cell=cell), own.predictions(result))
    page.clock.run_for(6000)
    page.wait_for_selector("#try-news:not([hidden])")
    assert page.inner_text("#try-grown") == "1 new result:"
    page.click("#try-reload")
    page.wait_for_selector("#try-form:not([hidden])")
    assert page.locator("#try-state").get_attribute("data-results") == "9"
    assert page.locator("#try-news").is_hidden()


def test_a_run_that_is_written_says_how_far_it_is_and_its_results_appear(browser, tmp_path):
    own = run(tmp_path / "run", encoders=("static:",))
    more = [replace(own.results[0].cell, seed=seed) for seed in (7, 8)]
    status = StatusFile(own.folder)
    with running(own.folder) as server, watched(browser, server.url, "data:", "blob:") as page:
        page.clock.install()
        page.goto(server.url)
        page.wait_for_selector("#try-form:not([hidden])")
        assert page.locator("#try-running").is_hidden()
        status.write(27, 63, "encoding with MiniLM")
        page.clock.run_for(6000)
        playwright.expect(page.locator("#try-running")).to_have_text("Running: 27 of 63, encoding with MiniLM")
        results = page.locator("#try-state")
        before = int(results.get_attribute("data-results"))
        _add(own, more[0])
        page.clock.run_for(6000)
        playwright.expect(results).to_have_attribute("data-results", str(before + 1))  # nobody had to press anything
        playwright.expect(page.locator("#try-running")).to_be_visible()
        page.focus("#try-text")
        page.keyboard.type("a")  # the page of somebody who types is left alone
        _add(own, more[1])
        page.clock.run_for(20000)
        playwright.expect(page.locator("#try-grown")).to_have_text("1 new result:")
        with status.removed_at_end():
            pass
        page.clock.run_for(6000)
        playwright.expect(page.locator("#try-running")).to_be_hidden()
        assert results.get_attribute("data-results") == str(before + 1)


def _add(own, cell):
    """One more result, as the command that writes a run adds it."""
    with open_log(own.folder) as log:
        log.add(replace(own.results[0], key=cell.key, cell=cell), own.predictions(own.results[0]))


def test_a_narrow_page_does_not_scroll_sideways(page):
    page.set_viewport_size({"width": 390, "height": 844})
    typed(page, "#try-text", "the boats in a")
    page.keyboard.press("Control+Enter")
    page.wait_for_selector(".try-table")
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
