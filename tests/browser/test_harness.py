"""The checks of the browser tests find what they should find."""

import re

import pytest
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

from browsing.axe import violations
from browsing.chromium import PHONE, find_chromium
from nexus_tools.errors import NotFoundError
from tests.browser.conftest import overflow

pytestmark = pytest.mark.long

ICON = "<link rel=icon href=data:,>"


@pytest.fixture
async def open_body(page, serve_app):
    """Return a function that opens a page with a body, and optionally a security policy."""

    async def open_body(body, policy=""):
        headers = {"Content-Security-Policy": policy} if policy else {}
        html = f"<!doctype html><html lang=en><title>t</title>{ICON}<main>{body}</main>"
        routes = [Route("/", lambda _: HTMLResponse(html, headers=headers))]
        await page.goto(await serve_app(Starlette(routes=routes)))

    return open_body


@pytest.mark.parametrize(
    ("body", "fault"),
    [
        ("<script>console.error('broken')</script>", "console error: broken"),
        ("<script>throw new Error('broken')</script>", "exception: broken"),
        ("<script>alert('hello')</script>", "dialog: hello"),
        ("<img src=/missing.png alt=x>", "status 404: "),
        ("<img src=https://evil.example/x.png alt=x>", "request to another host: "),
        ("<script>open('about:blank')</script>", "new window: about:blank"),
    ],
)
async def test_page_log_reports_faults(body, fault, open_body, page, page_errors):
    await open_body(body)
    await page.wait_for_load_state("networkidle")
    faults = page_errors.take()
    assert any(line.startswith(fault) for line in faults), faults


async def test_faults_in_the_reused_page_are_reported(reused_page, lasting_page, serve_app):
    html = f"{ICON}<script>console.error('broken')</script>"
    await reused_page.goto(
        await serve_app(Starlette(routes=[Route("/", lambda _: HTMLResponse(html))]))
    )
    _, log = lasting_page
    assert log.take() == ["console error: broken"]


async def test_page_log_reports_violations_of_the_security_policy(open_body, page_errors):
    await open_body("<script>window.x = 1</script>", policy="script-src 'self'")
    (fault,) = page_errors.take()
    assert "Content Security Policy" in fault


async def test_other_hosts_are_unreachable(open_body, page, page_errors):
    await open_body("")
    failed = await page.evaluate("fetch('https://evil.example/').catch(() => 'failed')")
    assert failed == "failed"
    assert any("ERR_NAME_NOT_RESOLVED" in line for line in page_errors.take())


@pytest.mark.parametrize(
    ("body", "rule"),
    [
        ("<img src=data:,>", "image-alt"),
        ("<p style='color: #999; background: #fff'>pale</p>", "color-contrast"),
        ("<input>", "label"),
    ],
)
async def test_axe_reports_violations(body, rule, open_body, page):
    await open_body(body)
    assert any(line.startswith(f"{rule}: ") for line in await violations(page))


async def test_overflow_names_the_wide_element(new_page, serve_app):
    html = f"{ICON}<p>x</p><pre id=wide style='width: 400px'>x</pre>"
    page = await new_page(viewport=PHONE)
    await page.goto(await serve_app(Starlette(routes=[Route("/", lambda _: HTMLResponse(html))])))
    width, element = await overflow(page)
    assert re.fullmatch(r"\d+ px too wide", width)
    assert element.startswith('<pre id="wide"')


def test_missing_chromium_is_reported_with_a_hint(monkeypatch):
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("CHROME_PATH", raising=False)
    with pytest.raises(NotFoundError, match="scripts/browser install"):
        find_chromium()
