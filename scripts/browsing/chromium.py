"""The Chromium of this machine, which Playwright controls without a window."""

import os
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from playwright.async_api import Browser, ViewportSize, async_playwright

from nexus_tools.errors import NotFoundError

PHONE: Final[ViewportSize] = {"width": 360, "height": 800}
DESKTOP: Final[ViewportSize] = {"width": 1440, "height": 900}

_NAMES = ("chromium", "chromium-browser", "google-chrome")
_ARGUMENTS = (
    # A page reaches only the loopback interface. A request to another host fails.
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
    "--disable-gpu",
    "--disable-quic",
    # Screenshots look alike on all machines.
    "--font-render-hinting=none",
    "--force-color-profile=srgb",
)


def find_chromium() -> Path:
    """Return the path of Chromium: `CHROME_PATH`, or the first known name in `PATH`.

    Raises:
        NotFoundError: This machine has none of these programs (`chromium_not_found`).
    """
    for name in (os.environ.get("CHROME_PATH", ""), *_NAMES):
        if path := shutil.which(name):
            return Path(path)
    raise NotFoundError(
        "chromium_not_found",
        "Chromium is not installed",
        hint="Run `scripts/browser install`, or set CHROME_PATH to the path of a Chromium.",
    )


@asynccontextmanager
async def running_chromium() -> AsyncIterator[Browser]:
    """Run Chromium with an empty profile until the block ends.

    Raises:
        NotFoundError: Chromium is not installed (`chromium_not_found`).
    """
    path = find_chromium()
    async with async_playwright() as playwright:
        browser = await playwright.chromium.launch(executable_path=path, args=_ARGUMENTS)
        try:
            yield browser
        finally:
            await browser.close()
