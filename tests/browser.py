"""The browser of the tests of the page: Chromium of the system, or the one that Playwright downloads.

``python -m tests.browser`` says whether there is one; ``make test`` asks, and has Playwright download one if need be.
"""

import os
import shutil
import sys
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
INSTALL = "python -m playwright install chromium"
REQUIRED = "SENTPROBE_REQUIRE_BROWSER"
"""The environment variable that turns skipped browser tests into failures; continuous integration sets it."""
REASON = "needs chromium"


def _downloads():
    """Where Playwright keeps the browsers that it downloads."""
    if chosen := os.environ.get("PLAYWRIGHT_BROWSERS_PATH"):
        return Path(chosen)
    caches = {"darwin": Path("~/Library/Caches"), "win32": Path(os.environ.get("LOCALAPPDATA", "~/AppData/Local"))}
    return caches.get(sys.platform, Path("~/.cache")).expanduser() / "ms-playwright"


def find_chromium():
    """The path of a Chromium, or None."""
    if find_spec("playwright") is None:
        return None
    for name in NAMES:
        if found := shutil.which(name):
            return found
    programs = ("chrome-linux*/chrome", "chrome-mac*/*.app/Contents/MacOS/*", "chrome-win*/chrome.exe")
    found = [path for program in programs for path in _downloads().glob(f"chromium-*/{program}")]
    return str(max(found)) if found else None


CHROMIUM = find_chromium()
needs_chromium = pytest.mark.skipif(CHROMIUM is None and not os.environ.get(REQUIRED), reason=REASON)
"""Where a browser is required, the tests run and fail: Playwright says what is missing."""

ARGUMENTS = ["--no-sandbox", "--disable-background-networking"]


@contextmanager
def launched():
    """A browser."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as found:
        browser = found.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield browser
        browser.close()


@contextmanager
def watched(browser, *allowed):
    """A page; at the end nothing was complained of, and nothing was asked for but what begins like ``allowed``."""
    complaints, asked = [], []
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.set_default_timeout(120_000)  # milliseconds; a busy machine is no fault of the page
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    yield page
    page.close()
    assert complaints == []
    assert all(url.startswith(allowed) for url in asked)


if __name__ == "__main__":
    sys.exit(CHROMIUM is None)
