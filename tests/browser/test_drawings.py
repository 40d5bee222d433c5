"""Zooming and panning of drawings in Chromium, by mouse and by keyboard."""

import asyncio

import httpx
import pytest
from playwright.async_api import expect

from browsing.chromium import PHONE
from nexus_tools.registry import Executions, Workflows
from tests.browser.conftest import overflow
from tests.browser.explorer_stage import running_explorer
from tests.index.conftest import SUM, WINDOW_MS, add_events

pytestmark = pytest.mark.long

PATH = f"/workflows/{SUM}"
SIZE = (
    "(() => { const box = document.querySelector('.drawing svg').getBoundingClientRect();"
    " return [box.width, box.height]; })()"
)
SCROLL = (
    "(() => { const box = document.querySelector('.drawing');"
    " return [box.scrollLeft, box.scrollTop]; })()"
)
ZOOM = (
    "(() => { const svg = document.querySelector('.drawing svg');"
    " return svg.getBoundingClientRect().width / svg.viewBox.baseVal.width; })()"
)
FITS = (
    "(() => { const box = document.querySelector('.drawing');"
    " return box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight; })()"
)


def about(*sizes):
    """Return sizes in pixels that a browser may round."""
    return pytest.approx(list(sizes), abs=0.1)


@pytest.fixture(scope="module")
async def explorer(started, session_localnet, define, tmp_path_factory):
    """Return an explorer of a chain with a published workflow."""
    snapshot = session_localnet.snapshot()
    folder = tmp_path_factory.mktemp("drawings")
    async with running_explorer(started, define, folder, add_events) as stage:
        yield stage
    session_localnet.revert(snapshot)


@pytest.fixture
async def phone(new_page, explorer):
    """Return the page of the workflow on a phone, where the drawing is larger than its frame."""
    page = await new_page(viewport=PHONE)
    await page.goto(explorer.url + PATH)
    return page


async def test_buttons_zoom_a_drawing(phone, axe):
    width, height = await phone.evaluate(SIZE)
    await phone.get_by_role("button", name="Zoom in").click()
    larger = await phone.evaluate(SIZE)
    assert larger == about(1.25 * width, 1.25 * height)
    await expect(phone.locator("#live-status")).to_have_text("Zoom 125 %")
    await phone.get_by_role("button", name="Zoom out").click()
    assert await phone.evaluate(SIZE) == about(width, height)
    assert await overflow(phone) == []
    await axe(phone)


async def test_whole_drawing_is_shown_on_request(phone):
    await phone.get_by_role("button", name="Fit the whole drawing").click()
    assert await phone.evaluate(FITS)


async def test_keyboard_zooms_and_pans_a_drawing(phone):
    width, height = await phone.evaluate(SIZE)
    await phone.locator(".drawing").focus()
    for _ in range(5):
        await phone.keyboard.press("+")
    assert await phone.evaluate(SIZE) == about(1.25**5 * width, 1.25**5 * height)
    before = await phone.evaluate(SCROLL)
    await phone.keyboard.press("ArrowRight")
    await phone.wait_for_function(f"{SCROLL}[0] > {before[0]}")
    await phone.keyboard.press("-")
    assert await phone.evaluate(SIZE) == about(1.25**4 * width, 1.25**4 * height)
    await phone.keyboard.press("0")
    assert (await phone.evaluate(SIZE))[0] <= PHONE["width"]


async def test_zoom_keeps_the_middle_of_the_view(phone):
    await phone.locator(".drawing").focus()
    for _ in range(5):
        await phone.keyboard.press("+")
    middle = (
        "(() => { const box = document.querySelector('.drawing');"
        " const svg = box.querySelector('svg').getBoundingClientRect();"
        " const frame = box.getBoundingClientRect();"
        " return (frame.left + frame.width / 2 - svg.left) / svg.width; })()"
    )
    before = await phone.evaluate(middle)
    await phone.keyboard.press("+")
    assert await phone.evaluate(middle) == pytest.approx(before, abs=0.02)


async def test_mouse_pans_a_drawing_without_following_links(phone):
    await phone.locator(".drawing").focus()
    for _ in range(5):
        await phone.keyboard.press("+")
    before, url = await phone.evaluate(SCROLL), phone.url
    vertex = phone.locator(".drawing a").first
    await vertex.hover()
    await phone.mouse.down()
    box = await phone.locator(".drawing").bounding_box()
    await phone.mouse.move(box["x"] + 5, box["y"] + 5, steps=5)
    await phone.mouse.up()
    after = await phone.evaluate(SCROLL)
    assert after != before
    assert phone.url == url
    await vertex.focus()
    await phone.keyboard.press("Enter")
    await phone.wait_for_url("**#vertex-*")


async def test_drawing_scrolls_without_scripts(new_page, explorer):
    page = await new_page(viewport=PHONE, java_script_enabled=False)
    await page.goto(explorer.url + PATH)
    await expect(page.locator(".zoom")).to_be_hidden()
    await expect(page.locator(".drawing svg")).to_be_visible()


async def test_zoom_and_focus_stay_when_the_states_change(page, explorer):
    history = explorer.history
    workflow = await Workflows(history.clients["user"], history.deployment).get(SUM)
    executions = Executions(history.clients["user"], history.deployment)
    inputs = {"a": 1, "b": 2}
    started = await executions.start(workflow, inputs, leaders=[history.leader])
    url = f"{explorer.url}/executions/{started.execution}"
    await until_found(url)
    await page.goto(url)
    await expect(page.locator("html.live")).to_be_visible()
    await expect(page.locator(".vertex.running")).to_be_visible()
    await page.get_by_role("button", name="Zoom in").press("Enter")
    assert await page.evaluate(ZOOM) == pytest.approx(1.25, abs=0.01)
    await executions.cancel(started.execution)
    history.net.advance_clock(WINDOW_MS)
    await executions.clean(started.execution)
    await expect(page.locator(".vertex.running")).to_have_count(0)
    assert await page.evaluate(ZOOM) == pytest.approx(1.25, abs=0.01)
    assert await page.evaluate("document.activeElement.dataset.zoom") == "in"


async def until_found(url):
    """Wait until the index has read the events of an object."""
    async with httpx.AsyncClient(timeout=60) as client:
        while (await client.get(url)).status_code == 404:  # noqa: ASYNC110 - as a user
            await asyncio.sleep(0.05)
