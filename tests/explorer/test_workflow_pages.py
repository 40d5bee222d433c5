"""The pages of workflows, executions and schedules."""

import re
from itertools import pairwise

import pytest

from nexus_tools.registry import Executions, Workflows
from tests.index.conftest import SUM, WINDOW_MS
from tests.registry.sums import TWICE, sums

STRANGER = f"0x{'ab' * 32}"
HOSTILE = "<img src=x onerror=alert(1)>\x1b[31m\u202egpj\u200b"


@pytest.fixture
def executions(active_stage):
    return Executions(active_stage.clients["user"], active_stage.deployment)


@pytest.fixture
async def workflow(active_stage):
    return await Workflows(active_stage.clients["user"], active_stage.deployment).get(SUM)


@pytest.fixture
def start(active_stage, executions, workflow):
    async def start():
        inputs = {"a": 1, "b": 2}
        return (await executions.start(workflow, inputs, leaders=[active_stage.leader])).execution

    return start


async def test_large_workflow_stays_within_the_size_of_a_page(active_stage, show):
    """The vertices have long names, and each has all others' results as inputs."""
    names = [f"{letter}{'_' * 50}" for letter in "abcdefghijklmnopqrst"]
    lines = [f"> {names[0]}.a", f"> {names[0]}.b"]
    for before, name in pairwise(names):
        lines += [f"{before}.ok.result -> {name}.a", f"{name}.b = 7"]
    lines.append(f"{names[-1]}.ok.result >")
    owner = Workflows(active_stage.clients["owner"], active_stage.deployment)
    await owner.publish(sums(*lines), "xyz.example.large@1")
    workflow = await owner.get("xyz.example.large@1")
    user = Executions(active_stage.clients["user"], active_stage.deployment)
    started = await user.start(workflow, {"a": 1, "b": 2}, leaders=[active_stage.leader])
    pages = await show()
    for path in ("/workflows/xyz.example.large@1", f"/executions/{started.execution}"):
        assert "Vertices" in await pages.text(path)  # `text` checks the size


@pytest.mark.parametrize("kind", ["executions", "workflows"])
async def test_search_leads_to_the_page_of_an_object(workflow, start, show, kind):
    found = workflow.id if kind == "workflows" else await start()
    response = await (await show()).http.get(f"/search?q={found}")
    assert response.headers["location"] == f"/{kind}/{found}"


async def test_hostile_texts_of_workflows_are_harmless(active_stage, show):
    owner = Workflows(active_stage.clients["owner"], active_stage.deployment)
    document = sums(*TWICE)
    fqn = "xyz.example.hostile@1"
    await owner.publish(document, fqn, HOSTILE)
    pages = await show()
    for path in ("/workflows", f"/workflows/{fqn}"):
        page = (await pages.get(path)).text
        assert "<img src=x" not in page
        assert not {"\x1b", "\u202e", "\u200b"} & {*page}


@pytest.mark.parametrize("path", ["/workflows", "/executions", "/schedules"])
async def test_list_links_its_items(pages, path):
    page = await pages.get(path)
    assert f'href="{path}/' in page.text


@pytest.mark.parametrize("path", ["/workflows?", "/executions?", "/schedules?", "/invocations?"])
async def test_list_links_the_account_that_filters_it(pages, path):
    name = "requester" if path.startswith("/invocations") else "owner"
    page = await pages.get(f"{path}{name}={STRANGER}")
    assert f'href="/accounts/{STRANGER}"' in page.text


@pytest.mark.parametrize("path", ["/executions", "/schedules"])
async def test_list_names_the_workflow_that_filters_it(pages, workflow, path):
    text = await pages.text(f"{path}?workflow={workflow.id}")
    assert f"Clear workflow {SUM}" in text


async def test_execution_without_a_run_has_not_started(pages):
    text = await pages.text("/executions")
    assert "0.1 SUI not yet not yet" in text
    assert "never" not in text


async def test_workflow_page_has_drawing_versions_cost_and_commands(pages):
    page = (await pages.get(f"/workflows/{SUM}")).text
    assert '<svg xmlns="http://www.w3.org/2000/svg" class="workflow"' in page
    assert "<style" not in page
    assert '<a href="#vertex-0">' in page
    assert re.search('href="/schedules[?]workflow=0x[0-9a-f]{64}"', page)
    assert 'id="vertex-0"' in page
    text = await pages.text(f"/workflows/{SUM}")
    assert "Adds three numbers." in text
    assert "this version" in text
    assert "Each vertex once" in text
    assert f"nexus-tools workflow run {SUM} --input" in text
    assert "Cancelled" in text
    assert "Entry groups" not in text  # the inputs have no names of groups


async def test_workflow_is_found_by_id(pages, workflow):
    assert "Adds three numbers." in await pages.text(f"/workflows/{workflow.id}")


async def test_running_execution_shows_states_runs_and_waits(start, show):
    execution = await start()
    pages = await show()
    page = (await pages.get(f"/executions/{execution}")).text
    assert 'class="vertex running"' in page
    text = await pages.text(f"/executions/{execution}")
    assert "Running" in text
    assert "has not closed it" in text
    assert "All invocations of this execution" in text


async def test_deleted_execution_shows_what_events_tell(active_stage, start, show, executions):
    execution = await start()
    await executions.cancel(execution)
    active_stage.net.advance_clock(WINDOW_MS)
    await executions.clean(execution)
    pages = await show()
    page = (await pages.get(f"/executions/{execution}")).text
    assert 'class="workflow"' in page
    assert 'class="vertex running"' not in page
    text = await pages.text(f"/executions/{execution}")
    assert "The owner deleted this execution" in text
    assert "Cancelled" in text
    assert "Expired" in text


async def test_execution_that_is_deleted_while_it_is_read_has_a_page(
    active_stage, start, show, executions, monkeypatch
):
    execution = await start()
    before = await executions.get(execution)
    await executions.cancel(execution)
    active_stage.net.advance_clock(WINDOW_MS)
    await executions.clean(execution)

    async def read_earlier(*_):
        return before

    monkeypatch.setattr(Executions, "get", read_earlier)
    assert "The owner deleted this execution" in await (await show()).text(
        f"/executions/{execution}"
    )


async def test_schedule_page_shows_funds_and_executions(pages):
    page = (await pages.get("/schedules")).text
    path = page.split('href="/schedules/')[1].split('"')[0]
    text = await pages.text(f"/schedules/{path}")
    assert "Every 1 h" in text
    assert "For each execution 0.1 SUI" in text
    assert "Executions that this schedule started" in text


@pytest.mark.parametrize("kind", ["workflows", "executions", "schedules"])
@pytest.mark.parametrize("name", ["0x7", "0x" + "7" * 64, "nothing", "xyz.example.none@1", "%00"])
async def test_unknown_object_has_an_error_page(pages, kind, name):
    response = await pages.http.get(f"/{kind}/{name}")
    assert response.status_code in (400, 404), response.text
