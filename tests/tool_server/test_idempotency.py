import asyncio
import gc

import pytest

from nexus_tools.tool_server import IdempotencyCache, Limits, ToolServer
from nexus_tools.tool_server.response import ProblemError, Response
from nexus_tools.tool_server.testing import client

pytestmark = pytest.mark.anyio

KEY = {"idempotency-key": "0x1"}


async def test_repeated_key_gets_the_stored_outcome(gate):
    gate.opened.set()
    async with client(ToolServer([gate.tool])) as http:
        answers = [await http.post("/invoke", json={"number": 7}, headers=KEY) for _ in range(3)]
    assert [answer.json() for answer in answers] == [{"ok": {"result": 7}}] * 3
    assert gate.runs == 1


@pytest.mark.parametrize(
    "same",
    [{"idempotency-key": '"0x1"'}, {"nexus-invocation": "0x1"}],
    ids=["quoted", "invocation"],
)
async def test_different_spellings_of_a_key_are_equal(gate, same):
    gate.opened.set()
    async with client(ToolServer([gate.tool])) as http:
        await http.post("/invoke", json={}, headers=KEY)
        await http.post("/invoke", json={}, headers=same)
    assert gate.runs == 1


async def test_requests_without_a_key_always_run(gate):
    gate.opened.set()
    async with client(ToolServer([gate.tool])) as http:
        for _ in range(2):
            await http.post("/invoke", json={})
    assert gate.runs == 2


async def test_running_key_is_409(gate):
    async with client(ToolServer([gate.tool])) as http, asyncio.TaskGroup() as tasks:
        first = tasks.create_task(http.post("/invoke", json={}, headers=KEY))
        await gate.entered.wait()
        second = await http.post("/invoke", json={}, headers=KEY)
        gate.opened.set()
        assert (await first).status_code == 200
    assert (second.status_code, second.json()["code"]) == (409, "already_running")
    assert gate.runs == 1


@pytest.mark.parametrize(
    ("body", "headers"),
    [({"number": 1}, {}), ({"number": 2}, {"nexus-max-outcome-bytes": "100"})],
    ids=["body", "size"],
)
async def test_key_used_by_another_account_does_not_block_owner(gate, body, headers):
    async with client(ToolServer([gate.tool])) as http, asyncio.TaskGroup() as tasks:
        strangers = tasks.create_task(http.post("/invoke", json=body, headers=KEY | headers))
        await gate.entered.wait()
        gate.opened.set()
        own = await http.post("/invoke", json={"number": 2}, headers=KEY)
        assert (await strangers).status_code == 200
        again = await http.post("/invoke", json={"number": 2}, headers=KEY)
    assert (own.status_code, own.json(), again.json()) == (200, {"ok": {"result": 2}}, own.json())
    assert gate.runs == 2


async def test_tool_that_raised_does_not_run_again(gate, log_entries):
    gate.opened.set()
    async with client(ToolServer([gate.tool])) as http:
        answers = [await http.post("/invoke", json={"number": -1}, headers=KEY) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [500, 500]
    assert gate.runs == 1
    assert log_entries


async def test_key_of_an_invocation_that_never_ran_is_free(gate):
    server = ToolServer([gate.tool], limits=Limits(max_running=1))
    async with client(server) as http, asyncio.TaskGroup() as tasks:
        running = tasks.create_task(http.post("/invoke", json={}))
        await gate.entered.wait()
        assert (await http.post("/invoke", json={}, headers=KEY)).status_code == 429
        gate.opened.set()
        await running
        assert (await http.post("/invoke", json={}, headers=KEY)).status_code == 200


async def test_invalid_input_does_not_use_its_key(gate):
    gate.opened.set()
    async with client(ToolServer([gate.tool])) as http:
        assert (await http.post("/invoke", json={"number": "x"}, headers=KEY)).status_code == 422
        assert (await http.post("/invoke", json={"number": 1}, headers=KEY)).status_code == 200


async def test_cancelled_invocation_frees_its_key(gate):
    async with client(ToolServer([gate.tool])) as http:
        cancelled = asyncio.ensure_future(http.post("/invoke", json={}, headers=KEY))
        await gate.entered.wait()
        cancelled.cancel()
        await asyncio.wait([cancelled])
        gate.opened.set()
        assert (await http.post("/invoke", json={}, headers=KEY)).status_code == 200


def _answer(size=10):
    return Response(200, (), b"x" * size)


def _store_response(recent, key, size=10):
    assert recent.begin(key) is None
    recent.finish(key, _answer(size))


def test_answers_are_forgotten_after_their_lifetime():
    now = [0.0]
    recent = IdempotencyCache(lifetime_s=60, clock=lambda: now[0])
    _store_response(recent, "a")
    now[0] = 59.9
    assert recent.begin("a") == _answer()
    now[0] = 60.0
    assert recent.begin("a") is None


def test_oldest_answers_are_forgotten_beyond_a_count():
    recent = IdempotencyCache(max_count=2)
    for key in "abc":
        _store_response(recent, key)
    assert recent.begin("b") == _answer()
    assert recent.begin("a") is None


def test_oldest_answers_are_forgotten_beyond_a_size():
    recent = IdempotencyCache(max_bytes=100)
    _store_response(recent, "a", 60)
    _store_response(recent, "b", 60)
    assert recent.begin("b") == _answer(60)
    assert recent.begin("a") is None


def test_answer_larger_than_the_cache_is_not_stored():
    recent = IdempotencyCache(max_bytes=10)
    _store_response(recent, "a", 11)
    assert recent.begin("a") is None


def test_garbage_collector_does_not_visit_stored_responses():
    recent = IdempotencyCache()
    _store_response(recent, "a")
    assert not gc.is_tracked(recent.begin("a"))


def test_running_key_is_never_forgotten():
    now = [0.0]
    recent = IdempotencyCache(lifetime_s=1, max_count=1, clock=lambda: now[0])
    recent.begin("a")
    _store_response(recent, "b")
    now[0] = 1_000
    with pytest.raises(ProblemError) as caught:
        recent.begin("a")
    assert caught.value.code == "already_running"
