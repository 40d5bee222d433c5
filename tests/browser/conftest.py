"""Chromium, with one context for each test, and checks of every page that a test opens.

Tests are skipped if Chromium or axe-core is not installed. `scripts/browser install`, which CI runs
first, installs both or fails.
"""

from contextlib import AsyncExitStack

import pytest
from playwright.async_api import expect

from browsing.axe import axe_source, violations
from browsing.chromium import DESKTOP, PHONE, find_chromium, running_chromium
from browsing.page_log import PageLog
from nexus_tools.errors import NotFoundError

# For a busy machine. A test waits only as long as its condition is not met.
TIMEOUT_MS = 120_000
expect.set_options(timeout=TIMEOUT_MS)


@pytest.fixture(scope="session")
async def chromium():
    """Return the browser of this process."""
    try:
        find_chromium(), axe_source()
    except NotFoundError as error:
        pytest.skip(str(error))
    async with running_chromium() as browser:
        yield browser


@pytest.fixture
def page_errors():
    """Return the log of all pages of a test, and fail the test if it contains faults at the end."""
    log = PageLog()
    yield log
    expect_none(log.take())


async def _new_page(chromium, stack, **options):
    options = {"viewport": DESKTOP, "reduced_motion": "reduce", **options}
    context = await chromium.new_context(**options)
    stack.push_async_callback(context.close)
    context.set_default_timeout(TIMEOUT_MS)
    return await context.new_page()


@pytest.fixture
async def new_page(chromium, page_errors):
    """Return a function that opens an empty page, with options of a Playwright context."""
    async with AsyncExitStack() as stack:

        async def new_page(**options):
            page = await _new_page(chromium, stack, **options)
            page_errors.watch(page)
            return page

        yield new_page


@pytest.fixture
async def page(new_page):
    """Return an empty page of a desktop in the light theme."""
    return await new_page()


@pytest.fixture(scope="session")
async def lasting_page(chromium):
    """Return a page for `reused_page`, with the log of its faults."""
    async with AsyncExitStack() as stack:
        page, log = await _new_page(chromium, stack), PageLog()
        log.watch(page)
        yield page, log


@pytest.fixture
async def reused_page(lasting_page):
    """Return a page of a phone in the light theme that many tests open one after another.

    Chromium keeps its process and compiled scripts, so a test takes half the time. Tests that
    store values in the browser use `page`.
    """
    page, log = lasting_page
    await page.set_viewport_size(PHONE)
    await page.emulate_media(color_scheme="light")
    yield page
    await page.goto("about:blank")
    expect_none(log.take())


@pytest.fixture(scope="session")
def axe():
    """Return a function that fails if a page breaks WCAG 2.2 AA: `await axe(page, *rules)`."""

    async def axe(page, *rules):
        expect_none(await violations(page, *rules))

    return axe


def expect_none(faults):
    """Fail with all faults, one on each line."""
    assert not faults, "\n" + "\n".join(faults)


async def overflow(page):
    """Return by how much a page is wider than its window, and at most five wide elements."""
    return await page.evaluate(
        """() => {
          const { clientWidth: width, scrollWidth } = document.documentElement;
          if (scrollWidth <= width) return [];
          const scrolls = parent => parent !== document.body
            && (getComputedStyle(parent).overflowX !== "visible" || scrolls(parent.parentElement));
          const wide = [...document.querySelectorAll("body *")].filter(
            element => element.getBoundingClientRect().right > width
              && !scrolls(element.parentElement));
          const texts = wide.slice(-5).map(element => element.outerHTML.slice(0, 100));
          return [`${scrollWidth - width} px too wide`, ...texts];
        }"""
    )


async def focused(page):
    """Return the text or the label of the element that has the focus."""
    return await page.evaluate(
        "(document.activeElement.ariaLabel || document.activeElement.innerText || '').trim()"
    )
