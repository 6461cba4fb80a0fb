"""A headless Chromium, with everything that it complains of."""

import contextlib
import shutil

import pytest
from playwright.sync_api import Page, sync_playwright


def chromium() -> str:
    """Debian's Chromium; a test that needs it is skipped where there is none."""
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium on PATH: Scripts/bootstrap installs it")
    return path


@contextlib.contextmanager
def open_page(url: str, width: int = 1280, colours: str = "light"):
    """A page on a screen of that width, and the list of its complaints so far."""
    with sync_playwright() as playwright:
        # Root may not have a sandbox; the one page that is opened is the server's own.
        browser = playwright.chromium.launch(executable_path=chromium(), args=["--no-sandbox"])
        try:
            context = browser.new_context(viewport={"width": width, "height": 844},
                                          color_scheme=colours, reduced_motion="reduce")
            page: Page = context.new_page()
            complaints: list[str] = []
            page.on("console", lambda message: complaints.append(message.text)
                    if message.type in ("error", "warning") else None)
            page.on("pageerror", lambda error: complaints.append(str(error)))
            page.goto(url)
            yield page, complaints
        finally:
            browser.close()
