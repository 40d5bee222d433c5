"""An explorer of a localnet, and a client that checks each page.

`stage` is a chain with tools, a leader, workflows and invocations, made once for each module.
`pages` is a client of an explorer that shows this chain.
"""

import re
from contextlib import AsyncExitStack, closing
from html.parser import HTMLParser

import httpx
import pytest

from nexus_tools.explorer import ChainReader, Explorer
from nexus_tools.index import IndexIdentity, IndexPipeline, IndexWriter, SearchUpdate, open_writer
from nexus_tools.index.api import ApiLimits, IndexSource
from nexus_tools.registry import LeaderRegistry
from nexus_tools.sui.support.allowed_sources import AllowedSources
from nexus_tools.sui.support.untrusted_text import is_displayable
from tests.index.conftest import clients, eventful, eventful_leader

__all__ = ["clients", "eventful", "eventful_leader"]
"""Fixtures of the index that the tests also use."""

UNLIMITED = ApiLimits(requests_per_s=10_000, burst=10_000, streams_per_client=100)
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self';"
        " connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}


class Pages:
    """A client of an explorer without a socket, which checks the headers and form of each page."""

    def __init__(self, explorer):
        self.explorer = explorer
        transport = httpx.ASGITransport(explorer, raise_app_exceptions=False)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")

    async def get(self, path, status=200, **options):
        response = await self.http.get(path, **options)
        assert response.status_code == status, response.text
        check(response)
        return response

    async def text(self, path, status=200, **options):
        """Return the visible text of a page, with single spaces."""
        return visible_text((await self.get(path, status, **options)).text)


class PageParser(HTMLParser):
    """A parser that collects the elements, the attributes and the visible texts of a page."""

    def __init__(self, page):
        super().__init__()
        self.elements = []
        self.texts = []
        self._controls = 0
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        self._controls += tag == "textarea"

    def handle_endtag(self, tag):
        self._controls -= tag == "textarea"

    def handle_data(self, data):
        if not self._controls:
            self.texts.append(data)


def check(response):
    """Check what holds for every page."""
    for name, value in HEADERS.items():
        assert response.headers[name] == value
    if not response.headers.get("content-type", "").startswith("text/html"):
        return
    assert len(response.content) <= 100_000
    parser = PageParser(response.text)
    tags = [tag for tag, _ in parser.elements]
    assert (tags.count("h1"), tags.count("main")) == (1, 1)
    ids = [attributes["id"] for _, attributes in parser.elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes in parser.elements:
        assert not {name for name in attributes if name.startswith("on")} | (
            attributes.keys() & {"style", "srcdoc", "formaction", "http-equiv"}
        )
        for name in ("href", "src", "action"):
            url = attributes.get(name, "/")
            assert url.startswith(("/", "#", "https://tools.example.com/"))
            assert not url.startswith("//")
        if tag == "script":
            assert attributes["src"].startswith("/static/")
    for text in parser.texts:
        assert is_displayable(text.replace("\n", "").replace("\u202f", "")), repr(text)


def visible_text(page):
    """Return the text of the main part of a page, without tags, with single spaces."""
    main = page[page.index("<main") : page.index("</main>")]
    text = re.sub(r"<[^>]*>", " ", main.replace("<wbr>", ""))
    for name, character in {"&lt;": "<", "&gt;": ">", "&#34;": '"', "&#39;": "'"}.items():
        text = text.replace(name, character)
    return " ".join(text.replace("&amp;", "&").split())


@pytest.fixture
def stage(eventful):
    """Return a chain with events of all kinds. Tests may add more events."""
    return eventful


@pytest.fixture
async def active_stage(stage):
    """Return the stage with a leader that accepts invocations."""
    await LeaderRegistry(stage.clients["leader"], stage.deployment).activate(stage.leader)
    return stage


@pytest.fixture
async def show(tmp_path, chain, user):
    """Return a function that indexes the chain and returns a client of an explorer."""
    async with AsyncExitStack() as stack:
        identity = IndexIdentity.of(chain.deployment)
        index = stack.enter_context(closing(open_writer(tmp_path / "index.sqlite", identity)))

        async def show(**options):
            writer = IndexWriter(index, chain.deployment)
            with closing(SearchUpdate(index)) as search:
                pipeline = IndexPipeline(user, chain.deployment, writer, search=search)
                await pipeline.catch_up()
            source = stack.enter_context(closing(IndexSource(index.path, identity)))
            explorer = Explorer(
                "localnet", **{"limits": UNLIMITED, "hosts": AllowedSources(), **options}
            )
            explorer.open(source, ChainReader(user, chain.deployment))
            pages = Pages(explorer)
            stack.push_async_callback(pages.http.aclose)
            return pages

        yield show


@pytest.fixture
async def pages(stage, show):
    """Return a client of an explorer that shows the stage."""
    return await show()
