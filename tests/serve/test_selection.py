"""Words that give the maxima of an encoder, beside those of its untrained copy, in the answer and on the page."""

import pytest

from sentprobe.encoders import load
from sentprobe.serve.predict import PredictionRequest
from sentprobe.serve.site import Site
from tests.browser import CHROMIUM, needs_chromium
from tests.lab.networks.folders import one_thread, write_folder
from tests.serve.runs import run, running, word_content

pytest.importorskip("torch")
SENTENCE = "the river was </td><img src=x onerror=alert(1)> high"


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    base = tmp_path_factory.mktemp("selection")
    with one_thread():
        write_folder(base / "nli", 1)
        write_folder(base / "ends", 1, architecture="bilstm-last", unknown="keep")
        names = [f"trained:{base}/nli", f"trained:{base}/ends", f"trained:{base}/nli?random=0"]
        yield run(base / "run", names, (word_content,), resample=0)


@pytest.fixture(scope="module")
def site(served):
    return Site(served.folder)


def predict(site, **more):
    now = site.state()
    return site.predictor.predict(now.run, now.catalogue, PredictionRequest([SENTENCE, "boats"], **more))


def test_words_have_shares_trained_and_untrained(served, site):
    found = predict(site)
    assert not found["problems"]
    trained, copy = found["sentences"][0]["selection"]  # not the one that takes the last states
    assert trained["encoder"].endswith("nli")
    name = served.encoders[0]
    assert trained["untrained"] == f"{name}?random=0"
    expected, before = (load(each).selection([SENTENCE])[0] for each in (name, f"{name}?random=0"))
    assert [(w["word"], w["share"], w["untrained"]) for w in trained["words"]] == [
        (word, pytest.approx(share), pytest.approx(other))
        for (word, share), (_, other) in zip(expected, before, strict=True)
    ]
    assert copy["untrained"] is None  # it is the untrained copy
    assert {w["untrained"] for w in copy["words"]} == {None}
    assert [w["word"] for w in found["sentences"][1]["selection"][0]["words"]] == ["<s>", "boats", "</s>"]


def test_encoders_that_cannot_say_it_have_none(site):
    names = [choice.name for choice in site.state().catalogue.choices if choice.short.endswith("ends")]
    assert predict(site, encoders=names)["sentences"][0]["selection"] == []


def test_a_failure_is_a_problem_of_the_encoder(site, monkeypatch):
    from sentprobe.lab.schemes import trained

    def fail(self, texts):
        raise ValueError("no words today")

    monkeypatch.setattr(trained.MaxPooled, "selection", fail)
    found = predict(site)
    assert "no words today" in found["problems"][0]["error"]
    assert found["sentences"][0]["sets"]


@needs_chromium
def test_the_page_shows_bars_as_text_and_nothing_of_the_sentence_as_html(served):
    playwright = pytest.importorskip("playwright.sync_api")
    complaints = []
    with running(served.folder) as server, playwright.sync_playwright() as found:
        browser = found.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.goto(server.url)
        page.wait_for_selector("#try-form:not([hidden])")
        page.fill("#try-text", SENTENCE)
        page.click("#try-go")
        page.wait_for_selector(".try-words")
        tables = page.locator(".try-words")
        assert tables.count() == 2
        assert tables.nth(0).locator("thead th").all_inner_texts() == ["word", "trained", "untrained"]
        assert tables.nth(1).locator("thead th").all_inner_texts() == ["word", "share"]
        shares = [float(text.rstrip(" %")) for text in tables.nth(1).locator(".try-points").all_inner_texts()]
        assert sum(shares) == pytest.approx(100, abs=0.5)
        assert page.locator("#try img").count() == 0
        browser.close()
    assert complaints == []
