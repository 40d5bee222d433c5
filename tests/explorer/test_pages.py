"""The pages of a chain with tools, a leader, workflows and invocations of all outcomes."""

import re
from itertools import count

import pytest

from nexus_tools.explorer import app, rendering
from nexus_tools.explorer.checklist import checklist
from nexus_tools.explorer.formatting import short_id
from nexus_tools.explorer.forms.interface import ToolInterface
from nexus_tools.explorer.pages import accounts
from nexus_tools.sui.support import units
from tests.explorer.conftest import visible_text
from tests.index.conftest import ADD, PRICED


@pytest.mark.parametrize("path", ["/", "/tools", f"/tools/{ADD}", "/leaders"])
async def test_page_is_cached_while_nothing_changes(stage, show, path):
    """The wall clock is ahead of the chain, and another millisecond passes in each request."""
    times = count(4_000_000_000_000)
    pages = await show(clock_ms=lambda: next(times))
    etag = (await pages.get(path)).headers["etag"]
    assert (await pages.get(path, 304, headers={"If-None-Match": etag})).text == ""
    other = await pages.get(path, headers={"If-None-Match": 'W/"other"'})
    assert other.headers["etag"] == etag


async def test_static_files_are_cached_by_their_digest(pages):
    page = (await pages.get("/")).text
    urls = re.findall(r'(?:href|src)="(/static/[^"]*)"', page)
    assert {url.partition("?")[0] for url in urls} == {
        "/static/explorer.css",
        "/static/explorer.js",
        "/static/icon.svg",
    }
    for url in urls:
        assert "immutable" in (await pages.get(url)).headers["cache-control"]
        plain = await pages.get(url.partition("?")[0])
        assert plain.headers["cache-control"] == "no-cache"


# --- Home


async def test_home_shows_numbers_open_invocations_and_leaders(active_stage, show):
    open_invocation = await active_stage.request(ADD)
    pages = await show()
    page = (await pages.get("/")).text
    text = visible_text(page)
    assert "Tools 2 Leaders 1 Workflows 1" in text
    running = page[page.index('id="running"') : page.index('id="closed"')]
    assert str(open_invocation) in running
    assert "first" in text
    assert "Unreachable" in text


async def test_home_counts_only_the_last_24_hours(pages):
    text = await pages.text("/")
    # The stage has one closing after its last long pause.
    assert re.search(r"Invocations in 24 h \d+", text)
    assert "Values as a table" in text


# --- Tools


async def test_tool_list_filters_by_state_price_and_words(pages):
    assert ADD in await pages.text("/tools")
    active = await pages.text("/tools?state=active")
    assert ADD in active
    assert PRICED not in active
    assert PRICED in await pages.text("/tools?state=unregistered&sort=name")
    assert PRICED not in await pages.text("/tools?max_price=0.0000001")
    assert PRICED in await pages.text("/tools?max_price=0.0000005")
    found = await pages.text("/tools?q=integers")
    assert ADD in found
    assert "'integers'" in found


async def test_tool_list_keeps_the_filters_in_its_form(pages):
    page = (await pages.get("/tools?q=add&domain=xyz.example&state=active&sort=price")).text
    for marked in (
        'value="add"',
        'value="xyz.example"',
        'value="active" selected',
        'value="price" selected',
    ):
        assert marked in page


async def test_empty_form_fields_are_ignored(pages):
    assert ADD in await pages.text("/tools?q=&domain=&owner=&max_price=&state=&kind=&sort=")


async def test_tool_list_has_pages(stage, show):
    pages = await show()
    first = (await pages.get("/tools?limit=1&sort=name")).text
    [following] = re.findall(r'href="([^"]*)" rel="next"', first)
    second = (await pages.get(following.replace("&amp;", "&"))).text
    assert ADD in visible_text(first)
    assert PRICED in visible_text(second)
    assert 'rel="first"' in second
    assert 'rel="next"' not in second


async def test_tool_list_says_what_to_do_without_results(pages):
    text = await pages.text("/tools?domain=com.nothing")
    assert "No tool matches" in text
    assert "Remove the filters" in text


# --- A tool


async def test_tool_page_shows_terms_record_and_checklist(stage, pages):
    text = await pages.text(f"/tools/{ADD}")
    tool = await stage.tools.get(ADD)
    assert f"{units.sui(tool.collateral.balance)} of" in text
    assert "Failures by reason in 30 days" in text
    assert "Unreachable 1 The tool's URL did not respond during the leader's window." in text
    assert "Reputation is the share of accounts whose last call in 30 days succeeded." in text
    assert f"nexus-tools tool key add {ADD} KEY.pem" in text


async def test_checklist_names_the_steps_of_signing_in_order(pages):
    text = await pages.text(f"/tools/{ADD}")
    steps = ("tool key new", "tool serve", "tool key add", f"{ADD} --require-signed-outcome")
    places = [text.index(f"nexus-tools {step}") for step in steps[:3]] + [text.index(steps[3])]
    assert places == sorted(places)


async def test_checklist_says_that_ports_need_a_new_version(pages):
    text = await pages.text(f"/tools/{ADD}")
    assert re.search(r"Describe a, b, ok.\S+ Schemas never change, so this needs a new", text)


async def test_local_network_has_no_step_for_the_domain(stage, pages):
    text = await pages.text(f"/tools/{ADD}")
    assert "Domain proof" not in text
    assert "no domain can list a local network" in text
    tool = await stage.tools.get(ADD)
    items = checklist(tool, ToolInterface(tool.definition), None, is_local=False)
    assert "Domain proof" in [item.name for item in items]


async def test_checklist_names_the_command_that_activates_a_tool(pages):
    assert f"tool cancel-unregister {PRICED}" in await pages.text(f"/tools/{PRICED}")


async def test_unregistered_tool_shows_when_its_collateral_is_claimable(pages):
    text = await pages.text(f"/tools/{PRICED}")
    assert "The owner unregistered this tool" in text
    assert re.search(r"claimable in \d+ d", text)


async def test_tool_page_shows_the_changes_since_the_previous_version(stage, show, define):
    from nexus_tools.registry import Registration

    fqn = "xyz.example.math.add@2"
    schema = {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "c": {"type": "string"}},
        "required": ["a"],
        "additionalProperties": False,
    }
    user = stage.tools.__class__(stage.clients["user"], stage.deployment)
    await user.register(Registration(define(fqn, input_schema=schema, timeout=9_000)))
    pages = await show()
    text = await pages.text(f"/tools/{fqn}")
    assert "Input c is new: string, optional." in text
    assert "Input b is removed." in text
    assert "The timeout is 9 s instead of 5 s." in text
    assert "A newer version is registered" in await pages.text(f"/tools/{ADD}")


async def test_tool_page_prepares_commands_for_submitted_inputs(pages):
    page = (await pages.get(f"/tools/{ADD}?filled=1&in/a=40&in/b=2")).text
    text = visible_text(page)
    assert '--input \'{"a": 40, "b": 2}\'' in text
    assert "inputs = {'a': 40, 'b': 2}" in text
    assert "math_add_v1" in text or "add_v1" in text
    assert "curl https://tools.example.com/add/invoke" in text
    assert 'value="40"' in page


async def test_tool_page_explains_invalid_inputs(pages):
    text = await pages.text(f"/tools/{ADD}?filled=1&in/a=many&in/b=2")
    assert "The inputs do not match the schema" in text
    assert "expected an integer, got 'many'" in text
    assert "nexus-tools tool invoke" not in text
    missing = await pages.text(f"/tools/{ADD}?filled=1&in/a=1")
    assert "required property" in missing


# --- Leaders and accounts


async def test_leader_page_shows_collateral_workers_and_windows(stage, pages):
    text = await pages.text(f"/leaders/{stage.leader}")
    assert text.startswith("Leaders first")
    assert text.count(short_id(stage.leader)) == 1
    assert "Windows missed in 30 days 1" in text
    assert "Workers" in text
    assert "Overloaded 1 The leader had reached its limit of pending invocations." in text
    assert "missed windows do not count" in text
    page = (await pages.get(f"/leaders/{stage.leader}")).text
    assert str(stage.clients["leader"].address) in page


async def test_leader_list_filters_by_state(pages):
    assert "first" in await pages.text("/leaders?state=inactive")
    assert "No leader has this state" in await pages.text("/leaders?state=active")


async def test_account_page_shows_its_tools_and_requests(stage, pages):
    owner = await pages.text(f"/accounts/{stage.clients['owner'].address}")
    assert PRICED in owner
    assert ADD not in owner[: owner.index("Requested invocations")]
    user = await pages.text(f"/accounts/{stage.clients['user'].address}")
    assert "Invocations that this account requested" in user
    assert "balance" in user


async def test_account_page_links_lists_that_continue(stage, pages, monkeypatch):
    user = stage.clients["user"].address
    path = f"/accounts/{user}"
    link = f'<a href="/executions?owner={user}">All executions of this account</a>'
    assert link not in (await pages.get(path)).text
    monkeypatch.setattr(accounts, "_SHOWN", 1)
    assert link in (await pages.get(path)).text


async def test_account_without_objects_has_a_page(pages):
    text = await pages.text(f"/accounts/0x{'ab' * 32}")
    assert "owns no tools" in text


# --- Search


async def test_search_leads_to_the_page_of_an_object(active_stage, pages):
    stage = active_stage
    tool = await stage.tools.get(ADD)
    invocation = await stage.close(ADD)
    targets = {
        ADD: f"/tools/{ADD}",
        str(tool.id): f"/tools/{ADD}",
        str(stage.leader): f"/leaders/{stage.leader}",
        str(stage.clients["user"].address): f"/accounts/{stage.clients['user'].address}",
        "count words": "/tools?q=count+words",
        str(invocation): f"/accounts/{invocation}",  # not indexed yet
    }
    for query, target in targets.items():
        response = await pages.http.get("/search", params={"q": query})
        assert (response.status_code, response.headers["location"]) == (303, target)


async def test_search_finds_invocations(active_stage, show):
    invocation = await active_stage.close(ADD)
    pages = await show()
    response = await pages.http.get("/search", params={"q": str(invocation)})
    assert response.headers["location"] == f"/invocations/{invocation}"


# --- Shared pages


@pytest.fixture
def rendered(monkeypatch):
    """Return the templates of the pages that were rendered, in order."""
    templates = []

    def render(template, values):
        templates.append(template)
        return rendering.render(template, values)

    monkeypatch.setattr(app, "render", render)
    return templates


async def test_list_is_rendered_once_for_all_readers_of_a_state(stage, show, rendered):
    pages = await show(clock_ms=lambda: 4_000_000_000_000)
    first = await pages.get("/invocations?outcome=settled")
    assert (await pages.get("/invocations?outcome=settled")).text == first.text
    assert rendered == ["invocations.html"]
    await pages.get("/invocations?outcome=failed")
    assert rendered == ["invocations.html"] * 2


async def test_shared_list_follows_the_index(active_stage, show):
    pages = await show(clock_ms=lambda: 4_000_000_000_000)
    before = (await pages.get("/invocations")).text
    invocation = await active_stage.close(ADD)
    await show()  # reads the new events into the same file
    assert str(invocation) not in before
    assert str(invocation) in (await pages.get("/invocations")).text


async def test_shared_list_follows_the_clock(stage, show):
    times = iter([4_000_000_000_000, 4_000_000_000_000 + 86_400_000])
    pages = await show(clock_ms=lambda: next(times))
    assert await pages.text("/invocations") != await pages.text("/invocations")
