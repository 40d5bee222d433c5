"""The website in Chromium: each page on a phone and a desktop, colors, search and the keyboard."""

import re
import subprocess
import sys
from html.parser import HTMLParser
from urllib.parse import urljoin, urlsplit

import pytest
from playwright.async_api import expect
from starlette.staticfiles import StaticFiles

from browsing.chromium import DESKTOP, PHONE
from documents.page import ROOT
from nexus_tools.http.embedded_server import listening_socket, serve_embedded, url_of
from tests.browser.conftest import focused, overflow
from website.__main__ import SITE

pytestmark = [pytest.mark.long, pytest.mark.timeout(1_200)]  # the first test builds the website

PAGES = re.findall(r'"([\w./-]+\.md)"', (ROOT / "docs" / "zensical.toml").read_text())
# Each kind of content: cards, a terminal, tables, drawings, code, generated references.
SAMPLES = ("", "tutorial/", "concepts/money/", "guides/workflows/", "reference/python/export/")


@pytest.fixture(scope="session")
def site_folder():
    """Return the folder of the website, which is built if a source changed since the last build."""
    environment = {"PYTHONPATH": f"{ROOT}:{ROOT / 'scripts'}"}
    subprocess.run([sys.executable, "-m", "website"], check=True, cwd=ROOT, env=environment)
    return SITE


@pytest.fixture(scope="session")
async def site(site_folder):
    """Return the URL of the website, which ends with a slash."""
    listener = listening_socket("127.0.0.1", 0)
    url = f"{url_of(listener)}/"
    async with serve_embedded(StaticFiles(directory=site_folder, html=True), listener):
        yield url


def path_of(page):
    """Return the path of a page in the website: `faq/` for `faq.md`."""
    path = page.removesuffix(".md")
    return path.removesuffix("index") if path.endswith("index") else f"{path}/"


@pytest.mark.parametrize("name", PAGES)
async def test_pages_are_accessible_and_fit_each_screen(name, reused_page, site, axe):
    page = reused_page
    await page.goto(site + path_of(name))
    assert await overflow(page) == []
    await axe(page)
    await page.set_viewport_size(DESKTOP)
    assert await overflow(page) == []


@pytest.mark.parametrize("path", SAMPLES)
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_texts_have_enough_contrast_in_both_schemes(path, scheme, reused_page, site, axe):
    page = reused_page
    await page.set_viewport_size(DESKTOP)
    await page.emulate_media(color_scheme=scheme)
    await page.goto(site + path)
    expected = {"light": "default", "dark": "slate"}[scheme]
    assert await page.evaluate("document.body.dataset.mdColorScheme") == expected
    await axe(page, "color-contrast", "link-in-text-block")


async def test_color_scheme_follows_the_system_while_a_page_is_open(page, site):
    await page.goto(site)
    await page.emulate_media(color_scheme="dark")
    await expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")
    await page.goto(f"{site}tutorial/")
    await expect(page.locator("body")).to_have_attribute("data-md-color-scheme", "slate")


async def test_search_finds_a_page_and_a_key_opens_it(page, site):
    await page.goto(site)
    await page.get_by_role("button", name="Search").press("Enter")
    await page.wait_for_function("document.activeElement.shadowRoot?.activeElement")
    # One input event, so that no results of a shorter text appear first.
    await page.keyboard.insert_text("claim the collateral")
    await expect(page.locator("mark").first).to_be_visible()
    await page.keyboard.press("Enter")
    await page.wait_for_url(f"{site}tutorial/**")


async def test_first_key_skips_to_the_content(page, site):
    await page.goto(f"{site}tutorial/")
    await page.keyboard.press("Tab")
    assert await focused(page) == "Skip to content"
    await page.keyboard.press("Enter")
    await page.keyboard.press("Tab")
    assert await page.evaluate("document.activeElement.closest('article') !== null")


async def test_keyboard_reaches_search_theme_and_all_parts(page, site):
    await page.goto(site)
    reached = []
    for _ in range(12):
        await page.keyboard.press("Tab")
        reached.append(await focused(page))
        outline = "getComputedStyle({}).outlineStyle != 'none'"
        visible = await page.evaluate(
            f"{outline.format('document.activeElement')}"
            f" || {outline.format('document.activeElement.nextElementSibling')}"
        )
        assert visible, f"the focus of {reached[-1]!r} is invisible"
    parts = ["Start", "Tool authors", "Callers", "Operators", "Sui developers", "Reference"]
    assert [name for name in ("Search", *parts) if name not in reached] == []
    assert "Colors of the system" in reached


MENUS = {"Navigation": "nav.md-nav--primary", "On this page": "nav.md-nav--secondary"}


@pytest.mark.parametrize("name", MENUS)
async def test_keyboard_opens_and_closes_a_menu_on_a_phone(name, new_page, site):
    page = await new_page(viewport=PHONE)
    await page.goto(f"{site}tutorial/")
    link = page.locator(MENUS[name]).locator("a.md-nav__link:visible").last
    await expect(link).to_have_count(0)
    await page.get_by_role("button", name=name).focus()
    await page.keyboard.press("Enter")
    await expect(link).to_be_visible()
    await page.keyboard.press("Escape")
    await expect(link).to_have_count(0)
    assert await focused(page) == name


async def test_keyboard_reaches_the_menus_but_no_closed_menu_on_a_phone(new_page, site):
    page = await new_page(viewport=PHONE)
    await page.goto(f"{site}tutorial/")
    reached = []
    while "On this page" not in reached:
        await page.keyboard.press("Tab")
        reached.append(await focused(page))
        assert await page.evaluate("document.activeElement.closest('.md-nav') === null"), reached
    assert "Navigation" in reached


async def test_copy_button_copies_only_the_command(new_page, site):
    page = await new_page(permissions=["clipboard-read", "clipboard-write"])
    await page.goto(f"{site}tutorial/")
    block = page.locator(".console", has_text="tool new greeter")
    await block.get_by_role("button").click()
    copied = await page.evaluate("navigator.clipboard.readText()")
    assert copied == "nexus-tools tool new greeter\ncd greeter"


class _Links(HTMLParser):
    """The links and the anchors of a page."""

    def __init__(self, text):
        super().__init__()
        self.links, self.anchors = set(), {""}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        attributes = dict(attributes)
        if tag == "a" and "href" in attributes:
            self.links.add(attributes["href"])
        if tag in ("img", "script"):
            self.links.add(attributes.get("src", ""))
        self.anchors.add(attributes.get("id", ""))


def test_links_lead_to_pages_files_and_headings_that_exist(site_folder):
    base = "http://site/"
    pages = {
        urljoin(base, path.relative_to(site_folder).as_posix()): _Links(path.read_text())
        for path in site_folder.rglob("index.html")
    }
    assert len(pages) == len(PAGES)
    wrong = []
    for url, page in pages.items():
        for link in page.links:
            target = urlsplit(urljoin(url, link))
            if target.netloc != "site":
                continue
            path = target.path + ("index.html" if target.path.endswith("/") else "")
            found = pages.get(f"http://site{path}")
            exists = (site_folder / path.lstrip("/")).is_file()
            if not exists or (found and target.fragment not in found.anchors):
                wrong.append((url, link))
    assert wrong == []
