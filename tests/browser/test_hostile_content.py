"""Texts of attackers in every place that an untrusted party can fill: the explorer shows them only.

Story: an author wants to run code in the browser of everyone who looks at the market, for example
to show other prices, or to learn who looks. A leader wants its name to look like another leader's.
"""

from urllib.parse import quote

import pytest
from msgspec.structs import replace
from playwright.async_api import expect

from browsing.chromium import PHONE
from nexus_tools.registry import LeaderRegistry, Registration
from nexus_tools.tool import Answer
from tests.browser.conftest import expect_none, overflow
from tests.browser.explorer_stage import running_explorer
from tests.hostile_market import HostileMarket, cut, outputs_of
from tests.hostile_texts import HOSTILE_TEXTS, INVISIBLE

pytestmark = pytest.mark.long

NAMES = [*HOSTILE_TEXTS]
OUTPUT_BYTES = 100_000

FIND_HARM = """
invisible => {
  const found = [];
  const pattern = new RegExp(invisible, "u");
  const allowed = url => /^(https?:|\\/(?!\\/)|[?#]|mailto:$)/.test(url.trim()) || url === "";
  if ("isHit" in window) found.push("a script of the text ran");
  for (const element of document.querySelectorAll("*")) {
    const name = element.localName;
    if (["iframe", "object", "embed", "base", "frame", "style", "foreignObject"].includes(name))
      found.push(`element ${name}`);
    if (name === "meta" && element.httpEquiv) found.push("refresh");
    for (const { name: key, value } of element.attributes) {
      if (key.startsWith("on") || key === "style" || key === "autofocus")
        found.push(`attribute ${key} of ${name}`);
      if (["title", "alt", "aria-label", "placeholder"].includes(key) && pattern.test(value))
        found.push(`invisible characters in ${key} of ${name}`);
      if (["href", "src", "action", "formaction", "xlink:href"].includes(key)) {
        if (!allowed(value)) found.push(`${key} of ${name}: ${value.slice(0, 60)}`);
        const isElsewhere = new URL(value, location).origin !== location.origin;
        if (isElsewhere && (name !== "a" || !/noopener/.test(element.rel)))
          found.push(`${name} leads to ${value.slice(0, 60)}`);
      }
    }
  }
  const texts = document.createTreeWalker(document, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { data, parentElement } = texts.currentNode;
    if (pattern.test(data)) found.push(`invisible characters in ${parentElement.outerHTML}`);
  }
  return found;
}
"""


@pytest.fixture(scope="module")
def market():
    return HostileMarket()


@pytest.fixture(scope="module")
async def explorer(started, session_localnet, define, market, tmp_path_factory):
    """Return an explorer of a chain with all hostile texts."""
    snapshot = session_localnet.snapshot()
    folder = tmp_path_factory.mktemp("explorer")
    async with running_explorer(started, define, folder, market.add) as stage:
        yield stage
    session_localnet.revert(snapshot)


async def faults(page, url):
    """Return what a hostile text changes in a page."""
    response = await page.goto(url)
    if response.status != 200:
        return [f"status {response.status}"]
    return [*await page.evaluate(FIND_HARM, INVISIBLE), *await overflow(page)]


@pytest.mark.parametrize("name", NAMES)
async def test_pages_show_hostile_texts_without_effects(name, reused_page, explorer, market):
    paths = [f"/{kind}/{place}" for kind, place in market.objects[name]]
    found = {path: await faults(reused_page, explorer.url + path) for path in paths}
    assert {path: texts for path, texts in found.items() if texts} == {}


@pytest.mark.parametrize("path", ["/", "/tools", "/leaders", "/invocations", "/workflows"])
async def test_lists_show_hostile_texts_without_effects(path, reused_page, explorer):
    assert await faults(reused_page, explorer.url + path) == []


async def test_search_shows_hostile_words_without_effects(new_page, explorer, page_errors):
    page = await new_page(viewport=PHONE)
    await page.goto(f"{explorer.url}/tools")
    for text in HOSTILE_TEXTS.values():
        query = quote(cut(text, 200))
        response = await page.goto(f"{explorer.url}/tools?q={query}")
        assert response.status in {200, 400}
        assert await page.evaluate(FIND_HARM, INVISIBLE) == []
        expect_none([fault for fault in page_errors.take() if "400" not in fault])


async def test_large_output_does_not_enlarge_its_page(page, explorer):
    history = explorer.history
    administration = LeaderRegistry(history.clients["admin"], history.deployment)
    settings = replace(await administration.settings(), max_ports_bytes=OUTPUT_BYTES + 1_000)
    await administration.configure(settings)
    fqn = "xyz.example.large@1"
    await history.tools.register(Registration(history.define(fqn, output_schema=outputs_of("r"))))
    tool = await history.tools.get(fqn)
    _, invocation = await history.invocations.request(
        tool, {"a": 1, "b": 2}, leaders=[history.leader], max_outcome_bytes=OUTPUT_BYTES + 1_000
    )
    answer = Answer("ok", {"r": "<b>" * (OUTPUT_BYTES // 3)})
    await history.closings.close(history.leader, {invocation: answer})
    await page.goto(f"{explorer.url}/tools/{fqn}")
    await expect(page.locator(f"main a[href='/invocations/{invocation}']")).to_be_visible()
    response = await page.goto(f"{explorer.url}/invocations/{invocation}")
    assert len(await response.body()) <= 100_000
    assert await page.locator("main b").count() == 0
