"""A real browser: what a page shows once its scripts have run."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from types import TracebackType
from typing import Any

PACKAGES = "Debian's packages chromium and chromium-driver, and the dependency group 'audit'"
_BROWSERS = ("chromium", "chromium-browser", "google-chrome")
_FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=1600,1200",
)
# What is shown only after a click: timelines, graphs, details.
_EXPAND = """
    for (const element of document.querySelectorAll('[class*="expand-"], .collapse-table, .expand-details'))
        try { element.click(); } catch (ignored) { }
"""
_SETTLED = """
    return document.readyState === 'complete' && (!window.jQuery || window.jQuery.active === 0)
        && document.documentElement.outerHTML.length;
"""
_SHOWN = """
    return [document.title, document.documentElement.outerHTML,
            document.body ? document.body.innerText : ''].join('\\n');
"""


def missing() -> str | None:
    """What a browser needs and this machine has not, or None."""
    try:
        import selenium  # noqa: F401
    except ImportError:
        return "the Python package selenium"
    if not _program(_BROWSERS):
        return "chromium"
    return None if _program(("chromedriver",)) else "chromedriver"


class Browser:
    """Headless Chromium with a profile of its own."""

    def __init__(self, profile: Path) -> None:
        """Start it.

        Args:
            profile: an empty folder for what the browser stores.
        """
        from selenium import webdriver
        from selenium.webdriver.chrome.service import Service

        options = webdriver.ChromeOptions()
        options.binary_location = str(_program(_BROWSERS))
        for flag in (*_FLAGS, f"--user-data-dir={profile}"):
            options.add_argument(flag)
        # A download would end a page's load without an answer.
        options.add_experimental_option(
            "prefs", {"download_restrictions": 3, "profile.default_content_setting_values.popups": 2}
        )
        service = Service(executable_path=_program(("chromedriver",)), log_output=subprocess.DEVNULL)
        # The driver's client would ask a proxy for its own loopback connection.
        os.environ.setdefault("NO_PROXY", "127.0.0.1,localhost")
        self._driver: Any = webdriver.Chrome(options=options, service=service)
        self._driver.set_page_load_timeout(60)

    @property
    def driver(self) -> Any:
        """Selenium's driver, to look at single elements."""
        return self._driver

    def read(self, address: str) -> bytes:
        """The title, the document once scripts have run and everything is unfolded, and the visible text."""
        from selenium.common.exceptions import TimeoutException

        try:
            self._driver.get(address)
        except TimeoutException:
            self._driver.execute_script("window.stop()")
        self._settle()
        self._driver.execute_script(_EXPAND)
        self._settle()
        return str(self._driver.execute_script(_SHOWN)).encode(errors="replace")

    def _settle(self) -> None:
        from support.processes import wait_until

        before = -1

        def still() -> bool:
            nonlocal before
            now = self._driver.execute_script(_SETTLED)
            same = now is not False and now == before
            before = now
            return same

        wait_until("a page that has stopped to change", still, timeout=30, interval=0.1)

    def close(self) -> None:
        self._driver.quit()

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def main() -> int:
    """Say in one line what a browser lacks here, if anything; exit code 1 if so."""
    if lacking := missing():
        print(f"no {lacking} here: looking at pages needs {PACKAGES}")
    return 1 if lacking else 0


def _program(names: tuple[str, ...]) -> str | None:
    return next((found for name in names if (found := shutil.which(name))), None)


if __name__ == "__main__":
    raise SystemExit(main())
