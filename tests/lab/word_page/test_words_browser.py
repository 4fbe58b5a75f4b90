"""The page of an alignment in a browser: words are typed and translated, by keyboard, and drawn."""

import threading

import pytest

from sentprobe.lab.word_page import background
from tests.browser import launched, needs_chromium, watched
from tests.lab.word_page.alignments import ODD, alignment, words
from tests.serve.runs import running

playwright = pytest.importorskip("playwright.sync_api")
pytestmark = needs_chromium


@pytest.fixture(scope="module")
def browser():
    with launched() as browser:
        yield browser


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """The server, and the event that CSLS waits for."""
    go, compute = threading.Event(), background.neighbour_means
    folder = alignment(tmp_path_factory.mktemp("words") / "aligned")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(background, "neighbour_means", lambda one, two: go.wait() and compute(one, two))
        with running(folder) as server:
            yield server, go
            go.set()


@pytest.fixture
def page(browser, served):
    """The page; at the end nothing was complained of, and no other machine was asked."""
    with watched(browser, served[0].url) as page:
        page.goto(served[0].url)
        page.wait_for_selector("#answer .found")
        yield page


def look_up(page, word):
    """Type a word, by keyboard."""
    page.focus("#word")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(word)
    page.keyboard.press("Enter")


def test_nn_works_while_csls_is_computed(page, served):
    look_up(page, words("s")[20])
    playwright.expect(page.locator("h3 bdi").first).to_have_text(words("s")[20])
    playwright.expect(page.locator("#csls")).to_contain_text("CSLS is being computed")
    nn, csls, near = page.locator(".lists table").all()
    assert nn.locator("tr").first.inner_text().split()[0] == words("t")[20]
    assert near.locator("tr").count() == 10
    assert csls.locator("td").inner_text() == "not ready yet"
    served[1].set()
    playwright.expect(csls.locator("tr")).to_have_count(10)
    assert csls.locator("tr").first.inner_text().split()[0] == words("t")[20]
    assert page.inner_text("#csls") == ""


def test_words_of_both_languages_and_of_none(page):
    look_up(page, "paris")
    playwright.expect(page.locator("#told")).to_have_text(
        "“paris” has no vector; this is “Paris”. “Paris” is a word of both languages."
    )
    assert page.locator(".found").count() == 2
    look_up(page, f"{words('s')[30]}x")
    playwright.expect(page.locator("#told")).to_contain_text("Neither language has a vector of")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")  # the map, the button, the first suggestion
    page.keyboard.press("Enter")
    playwright.expect(page.locator("h3 bdi").first).to_have_text(words("s")[30])
    assert page.evaluate("document.activeElement.tagName") == "H3"
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")  # its translation
    playwright.expect(page.locator("h3 bdi").first).to_have_text(words("t")[30])


def test_words_are_text(page):
    look_up(page, ODD[5][0])
    playwright.expect(page.locator("h3 bdi").first).to_have_text("<b>bold</b>")
    assert page.locator(".lists tr").first.inner_text().startswith("<img src=x onerror=alert(1)>")
    assert page.locator("main img, main b").count() == 0
    look_up(page, ODD[8][0])
    playwright.expect(page.locator("h3 bdi").first).to_have_text("evil\\u202eword")


def test_the_picture_and_the_maps(page):
    page.wait_for_selector("#panels svg")
    assert page.locator("#panels figcaption").all_inner_texts() == ["Before mapping", "After mapping: final"]
    first = page.locator("#panels figure").first
    assert first.locator("text").count() == 2 * first.locator("g").count() > 40
    boxes = page.evaluate("""[...document.querySelectorAll('#panels svg')].map((image) =>
        [...image.querySelectorAll('text')].map((e) => e.getBBox()).map((b) => [b.x, b.y, b.width, b.height]))""")
    for texts in boxes:
        for i, (x, y, wide, high) in enumerate(texts):
            for x2, y2, wide2, high2 in texts[:i]:
                # lines of text have some room above and below their letters
                across = min(x + wide, x2 + wide2) - max(x, x2)
                assert across <= 3 or min(y + high, y2 + high2) - max(y, y2) <= 4
    page.select_option("#map", "seed-0/epoch-001")
    playwright.expect(page.locator("#panels figcaption").last).to_have_text("After mapping: epoch 1")
    page.select_option("#map", "before")
    playwright.expect(page.locator("#panels figcaption")).to_have_count(1)
    first.locator("text.target").first.click()
    playwright.expect(page.locator("#told")).to_contain_text("is a word of target.vec only.")


def test_a_narrow_page_does_not_scroll_sideways(page):
    page.set_viewport_size({"width": 375, "height": 800})
    look_up(page, ODD[7][0])
    playwright.expect(page.locator("h3 bdi").first).to_have_text(ODD[7][0])
    page.wait_for_selector("#panels svg")
    assert page.evaluate("document.documentElement.scrollWidth") <= 375
