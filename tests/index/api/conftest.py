"""Servers of the API on random ports, and a client that checks each response."""

import json
import re
import socket
from contextlib import AsyncExitStack, closing, contextmanager

import httpx
import jsonschema
import pytest

from nexus_tools.http.embedded_server import listening_socket, url_of
from nexus_tools.index import IndexIdentity, IndexWriter, SearchUpdate, open_writer
from nexus_tools.index.api import IndexApi, IndexSource, openapi, serve_api
from tests.index.synthetic import DEPLOYMENT, Events

DOCUMENT = json.loads(json.dumps(openapi()))
REQUIRED_HEADERS = {
    "x-content-type-options": "nosniff",
    "access-control-allow-origin": "*",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
}


class Client:
    """A client that validates every response against the OpenAPI document."""

    def __init__(self, http, api, url):
        self.http = http
        self.api = api
        self.url = url

    async def get(self, path, **options):
        response = await self.http.get(path, **options)
        check(response)
        return response

    async def json(self, path, **parameters):
        response = await self.get(path, params=parameters)
        assert response.status_code == 200, response.text
        return response.json()

    async def fails(self, path, **parameters):
        """Return the status and the code of a problem."""
        response = await self.get(path, params=parameters)
        problem = response.json()
        assert problem["status"] == response.status_code
        return response.status_code, problem["code"]


def check(response):
    """Check the headers, the media type and the body of a response."""
    for name, value in REQUIRED_HEADERS.items():
        assert response.headers[name] == value
    assert not response.headers.get("content-type", "").startswith("text/html")
    operation = _operation(response.url.path)
    if operation is None or response.status_code == 304:
        return
    responses = operation["responses"]
    described = responses.get(str(response.status_code), responses["default"])
    if "$ref" in described:
        described = DOCUMENT["components"]["responses"][described["$ref"].rpartition("/")[2]]
    schema = described["content"][response.headers["content-type"]]["schema"]
    validator = jsonschema.Draft202012Validator(DOCUMENT | schema)
    validator.validate(response.json())


def _operation(path):
    for template, item in DOCUMENT["paths"].items():
        pattern = re.sub(r"\{name\}", ".+", template)
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", pattern), path):
            return item["get"]
    return None


def build_text_index(index):
    """Build the text index beside an index file."""
    with closing(SearchUpdate(index)) as update:
        update.run()


@pytest.fixture
async def serve():
    """Return a function that serves an index, and returns a client."""
    async with AsyncExitStack() as stack:

        async def serve(index, trusted_proxies=(), send_buffer=None, **options):
            source = IndexSource(index.path, index.identity)
            stack.callback(source.close)
            listener = listening_socket("127.0.0.1", 0)
            if send_buffer is not None:
                listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
            url = url_of(listener)
            api = IndexApi(source, **options)
            await stack.enter_async_context(
                serve_api(api, listener, trusted_proxies=trusted_proxies)
            )
            http = await stack.enter_async_context(httpx.AsyncClient(base_url=url))
            return Client(http, api, url)

        yield serve


class Synthetic:
    """An index of synthetic events that a test extends."""

    def __init__(self, index):
        self.index = index
        self.events = Events()
        self.writer = IndexWriter(index, DEPLOYMENT)

    def write(self, *items):
        self.writer.apply(items)

    def roll_back(self, checkpoint):
        self.writer.roll_back(checkpoint)

    def build_text_index(self):
        build_text_index(self.index)


@contextmanager
def synthetic_index(path):
    """Create an empty index of synthetic events."""
    index = open_writer(path, IndexIdentity.of(DEPLOYMENT))
    try:
        yield Synthetic(index)
    finally:
        index.close()


@pytest.fixture
def synthetic(tmp_path):
    """Return an empty index of synthetic events."""
    with synthetic_index(tmp_path / "synthetic.sqlite") as synthetic:
        yield synthetic
