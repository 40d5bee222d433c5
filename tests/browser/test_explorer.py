"""Each page of the explorer in Chromium: colors, sizes, keyboard and live updates."""

import re

import pytest
from playwright.async_api import expect

from browsing.chromium import DESKTOP, PHONE
from nexus_tools.explorer.pages import NAVIGATION, ROUTES
from tests.browser.conftest import focused, overflow
from tests.browser.explorer_stage import running_explorer
from tests.index.conftest import ADD, add_events

pytestmark = pytest.mark.long

PATHS = [route.path for route in ROUTES]
NO_PAGES = {"/search", "/proof/{id}.json"}
"""A redirection and a document."""


@pytest.fixture(scope="module")
async def explorer(started, session_localnet, define, tmp_path_factory):
    """Return an explorer of a chain with events of all kinds."""
    snapshot = session_localnet.snapshot()
    folder = tmp_path_factory.mktemp("explorer")
    async with running_explorer(started, define, folder, add_events) as stage:
        yield stage
    session_localnet.revert(snapshot)


@pytest.fixture(scope="module")
async def found(explorer):
    """Return the paths to which links lead from the home page, with the status of each response."""
    return await explorer.paths()


@pytest.fixture(scope="module")
def paths(found):
    """Return the paths of the pages that links reach, by route: the shortest and the longest."""
    by_route = {}
    for route in PATHS:
        pattern = re.compile(re.sub(r"\{\w+\}", "[^/?]+", route) + r"(\?.*)?")
        pages = (path for path in found if not path.endswith(".json"))
        matching = sorted(filter(pattern.fullmatch, pages), key=len)
        by_route[route] = [*dict.fromkeys([*matching[:1], *matching[-1:]])]
    return by_route


async def test_links_lead_to_pages(found):
    assert {path: status for path, status in found.items() if status != 200} == {}


@pytest.mark.parametrize("route", [path for path in PATHS if path not in NO_PAGES])
async def test_pages_are_accessible_on_a_light_phone_and_a_dark_desktop(
    route, reused_page, explorer, paths, axe
):
    assert paths[route], "no link leads to this page"
    page = reused_page
    for path in paths[route]:
        await page.goto(explorer.url + path)
        for scheme, size in (("light", PHONE), ("dark", DESKTOP)):
            await page.emulate_media(color_scheme=scheme)
            await page.set_viewport_size(size)
            assert await overflow(page) == []
            await axe(page)


@pytest.mark.parametrize("path", ["/tools/xyz.example.none@1", "/none", "/tools?limit=none"])
async def test_error_pages_are_accessible(path, page, explorer, axe, page_errors):
    response = await page.goto(explorer.url + path)
    assert response.status in {400, 404}
    await axe(page)
    assert [fault for fault in page_errors.take() if str(response.status) not in fault] == []


async def test_pages_work_without_scripts(new_page, explorer):
    page = await new_page(java_script_enabled=False)
    await page.goto(explorer.url)
    await page.get_by_role("searchbox").first.fill("adds")
    await page.keyboard.press("Enter")
    await page.get_by_role("main").get_by_role("link", name=re.compile("math.add")).first.click()
    await expect(page.get_by_role("heading", level=1)).to_contain_text("add")


async def test_phone_shows_the_whole_navigation_and_the_network(new_page, explorer):
    page = await new_page(viewport=PHONE)
    await page.goto(explorer.url)
    links = await page.get_by_role("navigation", name="Main").get_by_role("link").all()
    assert len(links) == len(NAVIGATION)
    for element in (*links, page.get_by_text("localnet", exact=True)):
        await expect(element).to_be_in_viewport(ratio=1)


@pytest.mark.parametrize("route", ["/executions/{id}", "/leaders/{id}", "/transactions/{digest}"])
async def test_links_of_tables_and_facts_have_room_for_a_finger(new_page, explorer, paths, route):
    page = await new_page(viewport=PHONE, has_touch=True)
    await page.goto(explorer.url + paths[route][0])
    heights = await page.eval_on_selector_all(
        "main :is(td, dd, .runs, h3) a",
        "links => links.map(link => link.getBoundingClientRect().height).filter(Boolean)",
    )
    assert min(heights) >= 24


async def test_time_line_has_readable_text_on_a_phone(new_page, explorer, paths):
    page = await new_page(viewport=PHONE)
    await page.goto(explorer.url + paths["/invocations/{id}"][0])
    sizes = await page.eval_on_selector_all(
        ".timeline text",
        "all => all.map(text => parseFloat(getComputedStyle(text).fontSize)"
        " * text.getScreenCTM().a)",
    )
    assert min(sizes) >= 11


async def test_figures_of_a_row_are_aligned(page, explorer, paths):
    await page.goto(explorer.url + paths["/leaders/{id}"][0])
    tops = await page.eval_on_selector_all(
        ".figures dd", "all => all.map(value => value.getBoundingClientRect().top)"
    )
    assert len(tops) > 1
    assert len(set(tops)) == 1


async def test_vertices_without_a_run_have_opaque_text(page, explorer, found):
    executions = [path for path in found if path.startswith("/executions/")]
    opacities = []
    for path in executions:
        await page.goto(explorer.url + path)
        opacities += await page.eval_on_selector_all(
            ".workflow .idle", "all => all.map(vertex => getComputedStyle(vertex).opacity)"
        )
    assert set(opacities) == {"1"}


async def test_keyboard_reaches_search_and_opens_a_tool(page, explorer):
    await page.goto(explorer.url)
    await page.keyboard.press("Tab")
    assert await focused(page) == "Skip to the content"
    await press_until(page, "Tab", "input[type=search]")
    await page.keyboard.type("adds")
    await page.keyboard.press("Enter")
    await page.wait_for_url("**/tools?q=adds")
    await press_until(page, "Tab", f"main a[href='/tools/{ADD}']")
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"**/tools/{ADD}")


async def test_keyboard_copies_a_value(new_page, explorer):
    page = await new_page(permissions=["clipboard-read", "clipboard-write"])
    await page.goto(f"{explorer.url}/tools/{ADD}")
    await press_until(page, "Tab", "main button.copy")
    expected = await page.evaluate("document.activeElement.dataset.copy")
    await page.keyboard.press("Enter")
    await expect(page.locator("#live-status")).to_have_text("Copied")
    assert await page.evaluate("navigator.clipboard.readText()") == expected


async def test_theme_changes_by_keyboard_and_stays_after_a_reload(page, explorer):
    await page.goto(explorer.url)
    await press_until(page, "Tab", "button.theme")
    background = "getComputedStyle(document.body).backgroundColor"
    light = await page.evaluate(background)
    await page.keyboard.press("Enter")
    dark = await page.evaluate(background)
    assert dark != light
    await page.reload()
    assert await page.evaluate(background) == dark


async def press_until(page, key, selector, most=150):
    """Press a key until the element has the focus, which must be visible."""
    for _ in range(most):
        await page.keyboard.press(key)
        if await page.evaluate("s => document.activeElement.matches(s)", selector):
            assert await page.evaluate(
                "(() => { const style = getComputedStyle(document.activeElement);"
                " return style.outlineStyle != 'none' || style.boxShadow != 'none'; })()"
            )
            return
    raise AssertionError(f"{key} does not reach {selector}")


async def test_focus_leaves_each_element(page, explorer):
    """The keyboard visits each element at most once before it leaves the page: no trap."""
    await page.goto(f"{explorer.url}/tools/{ADD}")
    await page.evaluate("window.seen = new Set()")
    for _ in range(400):
        await page.keyboard.press("Tab")
        state = await page.evaluate(
            "(() => { const active = document.activeElement;"
            " if (active === document.body || window.seen.has(active)) return 'end';"
            " window.seen.add(active); return ''; })()"
        )
        if state:
            break
    all_links = await page.locator("a[href]:visible, button:visible").count()
    assert await page.evaluate("window.seen.size") >= all_links


async def test_closed_invocation_appears_without_a_reload(page, explorer):
    await page.goto(f"{explorer.url}/tools/{ADD}")
    await expect(page.locator("html.live")).to_be_visible()
    await page.evaluate("window.isFirstLoad = true")
    before = await page.locator("main").inner_html()
    invocation = await explorer.history.close(ADD)
    link = page.locator(f"main a[href='/invocations/{invocation}']")
    await expect(link).to_be_visible()
    assert await page.evaluate("window.isFirstLoad")
    assert str(invocation) not in before


async def test_updates_do_not_take_the_focus_or_the_selection(page, explorer):
    await page.goto(explorer.url)
    await expect(page.locator("html.live")).to_be_visible()
    link = page.locator("main section[data-live] a").first
    await link.focus()
    target = await link.get_attribute("href")
    await explorer.history.close(ADD)
    before = await page.locator("#checkpoint").inner_text()
    await expect(page.locator("#checkpoint")).not_to_have_text(before)
    assert await page.evaluate("document.activeElement.getAttribute('href')") == target


async def test_security_policy_blocks_inline_scripts(page, explorer, page_errors):
    response = await page.goto(explorer.url)
    assert "unsafe" not in response.headers["content-security-policy"]
    await page.evaluate(
        "(() => { const script = document.createElement('script');"
        " script.textContent = 'window.isExecuted = true'; document.body.append(script); })()"
    )
    assert not await page.evaluate("'isExecuted' in window")
    (fault,) = page_errors.take()
    assert "Content Security Policy" in fault
