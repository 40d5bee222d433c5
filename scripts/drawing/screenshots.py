"""Screenshots of the explorer in both color schemes, as WebP files."""

import base64
from pathlib import Path

from playwright.async_api import Browser, Page

from browsing.chromium import running_chromium
from browsing.page_log import PageLog
from drawing.market import FORECAST, Market, running_market
from drawing.pictures import MAX_BYTES, SCHEMES, SCREENSHOTS

_SIZE = (1_200, 800)
_QUALITY = 82


async def take_screenshots(folder: Path) -> None:
    """Write a file for each page and color scheme into `folder`.

    Raises `ValueError` if a page has faults, or if a file is too large.
    """
    async with running_market() as market, running_chromium() as browser:
        for scheme in SCHEMES:
            page, log = await _new_page(browser, scheme)
            for name, path in SCREENSHOTS.items():
                await page.goto(market.url + _path(path, market))
                content = await _capture(page)
                if faults := log.take():
                    raise ValueError(f"the page of {name} has faults: {faults}")
                if len(content) > MAX_BYTES:
                    raise ValueError(f"{name} has {len(content)} bytes, more than {MAX_BYTES}")
                (folder / f"{name}.{scheme}.webp").write_bytes(content)
            await page.context.close()


def _path(template: str, market: Market) -> str:
    return template.format(tool=FORECAST, invocation=market.invocation, execution=market.execution)


async def _new_page(browser: Browser, scheme: str) -> tuple[Page, PageLog]:
    width, height = _SIZE
    context = await browser.new_context(
        viewport={"width": width, "height": height},
        color_scheme="dark" if scheme == "dark" else "light",
        reduced_motion="reduce",
        locale="en-GB",
        timezone_id="UTC",
    )
    page, log = await context.new_page(), PageLog()
    log.watch(page)
    return page, log


async def _capture(page: Page) -> bytes:
    session = await page.context.new_cdp_session(page)
    options = {"format": "webp", "quality": _QUALITY}
    return base64.b64decode((await session.send("Page.captureScreenshot", options))["data"])
