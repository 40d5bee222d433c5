"""The whole path: requested on chain, sent to the tool, and recorded on chain."""

import asyncio
from dataclasses import replace

import httpx
import pytest
import structlog
from msgspec import structs

from benchmarks.proxy import Proxy
from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.errors import NotAllowedError, NotFoundError, UsageError
from nexus_tools.leader import Leader
from nexus_tools.leader.intake.watcher import Watcher
from nexus_tools.leader.workload import Workload
from nexus_tools.sui.support import units
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import FailureReason
from nexus_tools.tool_server import Variant, tool

pytestmark = pytest.mark.anyio

TIMEOUT_S = 60
OK = b'{"ok": {"result": 3}}'


class Quotient(Variant, name="ok"):
    result: int
    rest: int


class DivisionByZero(Variant, name="err_zero"):
    reason: str


@tool("xyz.example.math.divide@1")
async def divide(a: int, b: int) -> Quotient | DivisionByZero:
    """Divides two integers."""
    if b == 0:
        return DivisionByZero(reason="division by zero")
    return Quotient(result=a // b, rest=a % b)


@pytest.fixture
async def add(world, serve_tools, add_tool):
    """Serve and register the tool `add`."""
    url = await serve_tools(add_tool)
    return await world.register_tool(add_tool.definition(url))


async def test_outcome_is_settled_with_variant_and_ports(world, serve_tools):
    url = await serve_tools(divide)
    registered = await world.register_tool(divide.definition(url))
    identity = await world.new_leader()
    async with world.running(identity):
        ids = await world.request(registered, {"a": 17, "b": 5}, {"a": 1, "b": 0})
        first, second = await world.closed(*ids)
    assert isinstance(first.state, State.Settled)
    assert first.state.leader == identity.id
    assert (first.state.variant, first.state.ports.as_json()) == ("ok", {"result": 3, "rest": 2})
    assert second.state.variant == "err_zero"
    assert second.state.ports.as_json() == {"reason": "division by zero"}


async def test_request_before_the_start_is_settled(world, add):
    identity = await world.new_leader()
    ids = await world.request(add, {"a": 1, "b": 2})
    async with world.running(identity):
        (closed,) = await world.closed(*ids)
    assert closed.state.ports.as_json() == {"result": 3}


async def test_worker_gets_the_fee_and_tool_gets_the_price(world, serve_tools, add_tool, logged):
    identity = await world.new_leader()
    definition = add_tool.definition(await serve_tools(add_tool))
    terms = {"price_mist": 5_000, "leaders": (identity.id,)}
    add = await world.register_tool(definition, **terms)
    before = await world.client.balance(identity.key.address)
    async with world.running(identity, max_closed_log_lines=100) as leader:
        ids = await world.request(add, *[{"a": n, "b": n} for n in range(20)])
        closed = await world.closed(*ids)
    settled = {"how": "settled"}
    sample = leader.metrics.registry.get_sample_value
    assert sample("nexus_leader_invocations_closed_total", settled) == 20
    of_tool = {"tool": "xyz.example.math.add@1", "outcome": "settled"}
    assert sample("nexus_leader_tool_invocations_closed_total", of_tool) == 20
    lines = [line for line in logged if line["event"] == "closed"]
    assert len(lines) == 20
    assert {line["fqn"] for line in lines} == {"xyz.example.math.add@1"}
    fees = sum(units.parse_sui(line["fee"]) for line in lines)
    assert fees > 20 * 1_000_000
    assert (await world.client.balance_parts(add.payout)).in_address >= 20 * 5_000
    assert {invocation.price_mist for invocation in closed} == {5_000}
    assert await world.client.balance(identity.key.address) > before


async def test_many_invocations_settle_with_few_transactions(world, add):
    identity = await world.new_leader()
    ids = await world.request(add, *[{"a": n, "b": 1} for n in range(60)])
    async with world.running(identity, max_transactions=1) as leader:
        closed = await world.closed(*ids)
        count = leader.metrics.registry.get_sample_value("nexus_leader_closing_size_count")
    assert [invocation.state.ports.as_json()["result"] for invocation in closed] == list(
        range(1, 61)
    )
    assert count < 20


# --- Failures


async def failure_of(world, registered, *, inputs=None, max_outcome_bytes=1_000, **config):
    identity = await world.new_leader()
    values = {"a": 1, "b": 2} if inputs is None else inputs
    ids = await world.request(registered, values, max_outcome_bytes=max_outcome_bytes)
    async with world.running(identity, **config):
        (closed,) = await world.closed(*ids)
    assert isinstance(closed.state, State.Failed)
    return closed.state


async def test_schema_invalid_inputs_fail_with_input_invalid_and_a_detail(world, add):
    identity = await world.new_leader()
    async with world.running(identity):
        (one,) = await world.request(add, {"a": "one", "b": 2})
        await world.closed(one)
    results = await world.invocations.outcome(one)
    assert results.reason == FailureReason.INPUT_INVALID
    assert "/a" in results.detail


async def test_unregistered_tool_fails_with_tool_not_registered(world, add):
    identity = await world.new_leader()
    ids = await world.request(add, {"a": 1, "b": 2})
    await world.tools.unregister(add.definition.parse().fqn)
    async with world.running(identity):
        (closed,) = await world.closed(*ids)
    assert closed.state.reason == FailureReason.TOOL_NOT_REGISTERED


async def test_server_with_another_interface_fails_with_definition_mismatch(
    world, serve_tools, add_definition
):
    url = await serve_tools(divide)
    registered = await world.register_tool(add_definition(url))
    state = await failure_of(world, registered)
    assert state.reason == FailureReason.DEFINITION_MISMATCH


async def test_closed_port_fails_with_unreachable(world, add_definition, unused_tcp_port):
    definition = add_definition(f"http://127.0.0.1:{unused_tcp_port}", timeout_ms=1_000)
    registered = await world.register_tool(definition)
    # The window has 16 s, and the pause before the second attempt is longer.
    pauses = {"retry_delay_ms": 60_000, "max_retry_delay_ms": 60_000}
    state = await failure_of(world, registered, **pauses)
    assert state.reason == FailureReason.UNREACHABLE


async def test_disallowed_address_is_refused_without_a_call(
    world, serve_bytes, respond, add_definition
):
    server = await serve_bytes(respond(body=OK))
    registered = await world.register_tool(add_definition(server.url))
    state = await failure_of(world, registered, allowed_networks=())
    assert state.reason == FailureReason.REFUSED
    assert server.requests == []


async def test_hanging_tool_fails_with_timed_out(world, serve_bytes, add_definition):
    async def reply(_writer, _number):
        await asyncio.Event().wait()

    server = await serve_bytes(reply)
    definition = replace(add_definition(server.url), timeout_ms=1_000)
    state = await failure_of(world, await world.register_tool(definition), check_meta=False)
    assert state.reason == FailureReason.TIMED_OUT


async def test_single_leader_without_time_fails_with_overloaded(world, serve_bytes, add_definition):
    async def reply(_writer, _number):
        await asyncio.Event().wait()

    server = await serve_bytes(reply)
    registered = await world.register_tool(add_definition(server.url, timeout_ms=10_000))
    # The window has 25 s, of which it waits for one.
    state = await failure_of(world, registered, check_meta=False, closing_margin_ms=24_000)
    assert state.reason == FailureReason.OVERLOADED


@pytest.mark.parametrize(
    ("status", "body", "reason"),
    [
        (500, b"", FailureReason.HTTP_ERROR),
        (401, b"", FailureReason.UNAUTHORIZED),
        (200, b'{"ok": {"result": "three"}}', FailureReason.OUTPUT_INVALID),
        (200, b'{"ok": {"result": 3, "more": "' + b"x" * 1_000 + b'"}}', "output_too_large"),
    ],
)
async def test_invalid_response_fails_with_its_reason(
    world, serve_bytes, *, respond, add_definition, status, body, reason
):
    server = await serve_bytes(respond(status, body))
    definition = add_definition(server.url)
    schema = definition.output_schema
    loose = {**schema, "oneOf": [_open(branch) for branch in schema["oneOf"]]}
    registered = await world.register_tool(replace(definition, output_schema=loose))
    state = await failure_of(world, registered, max_outcome_bytes=200, check_meta=False)
    assert state.reason == reason


class BrokenResolver:
    """A resolver with a bug that occurs in its first calls."""

    def __init__(self, times):
        self.left = times
        self.is_tired = asyncio.Event()

    async def __call__(self, host):
        if self.left:
            self.left -= 1
            if not self.left:
                self.is_tired.set()
            raise RuntimeError(f"a bug with a secret about {host}")
        return ["127.0.0.1"]


async def test_unexpected_error_is_logged_and_the_invocation_is_retried(
    world, serve_tools, add_tool, add_definition
):
    url = await serve_tools(add_tool)
    definition = add_definition(url.replace("127.0.0.1", "tools.example"))
    registered = await world.register_tool(definition)
    identity = await world.new_leader()
    with structlog.testing.capture_logs() as entries:
        async with world.running(identity, resolve=BrokenResolver(3)) as leader:
            ids = await world.request(registered, {"a": 1, "b": 2})
            (closed,) = await world.closed(*ids)
    assert closed.state.ports.as_json() == {"result": 3}
    log_lines = [entry for entry in entries if entry["event"] == "dispatch_retried"]
    assert [entry["invocation"] for entry in log_lines] == [str(ids[0])] * 3
    assert all(entry["error"].startswith("RuntimeError at test_leader.py:") for entry in log_lines)
    assert all(entry.keys() == {"event", "log_level", "invocation", "error"} for entry in log_lines)
    trouble = {"where": "dispatcher"}
    assert leader.metrics.registry.get_sample_value("nexus_leader_errors_total", trouble) == 3


async def test_repeated_unexpected_error_fails_nothing_on_chain(
    world, serve_tools, add_tool, add_definition
):
    url = await serve_tools(add_tool)
    definition = add_definition(url.replace("127.0.0.1", "tools.example"))
    registered = await world.register_tool(definition)
    identity = await world.new_leader()
    resolver = BrokenResolver(10)
    async with asyncio.timeout(TIMEOUT_S):
        async with world.running(identity, resolve=resolver, stop_timeout_ms=0):
            (invocation,) = await world.request(registered, {"a": 1, "b": 2})
            await resolver.is_tired.wait()
            assert not (await world.invocations.get(invocation)).is_closed


def _open(branch):
    (name,) = branch["required"]
    ports = {"type": "object", "properties": {"result": {"type": "integer"}}}
    return {**branch, "properties": {name: ports}}


# --- Two leaders


async def test_first_leader_settles_and_the_backup_does_nothing(world, add):
    first, second = await world.new_leader("first"), await world.new_leader("second")
    async with world.running(first), world.running(second):
        named = ([first.id, second.id], [second.id, first.id])
        ids = [
            one
            for leaders in named
            for one in await world.request(
                add, *[{"a": n, "b": 1} for n in range(5)], leaders=leaders
            )
        ]
        closed = await world.closed(*ids)
    assert [invocation.state.leader for invocation in closed] == [first.id] * 5 + [second.id] * 5


async def test_backup_settles_after_the_window_of_the_first_leader(world, add):
    absent, present = await world.new_leader("absent"), await world.new_leader("present")
    own = await world.request(add, {"a": 0, "b": 1}, leaders=[present.id])
    others = await world.request(
        add, *[{"a": n, "b": 1} for n in range(12)], leaders=[absent.id, present.id]
    )
    async with world.running(present):
        # It sees all of them at once, and could have closed them before its own are closed.
        await world.closed(*own)
        assert not any([(await world.invocations.get(other)).is_closed for other in others])
        world.localnet.advance_clock((await world.invocations.get(others[0])).window_ms)
        closed = await world.closed(*others)
    assert {invocation.state.leader for invocation in closed} == {present.id}


@pytest.mark.parametrize(
    ("status", "code", "reason"),
    [
        (401, "signature_expired", "unauthorized"),
        (403, "answers_unpaid", "unauthorized"),
        (422, "key_reused", "http_error"),
    ],
)
async def test_leader_refused_by_a_tool_leaves_the_invocation_to_its_backup(
    world, serve_bytes, respond, log, *, add_definition, status, code, reason
):
    async def reply(writer, number):
        refusal = respond(status, b'{"code": "%b"}' % code.encode())
        await (refusal if number == 1 else respond(body=OK))(writer, number)

    server = await serve_bytes(reply)
    registered = await world.register_tool(add_definition(server.url))
    first, second = await world.new_leader("first"), await world.new_leader("second")
    async with world.running(first, check_meta=False):
        ids = await world.request(registered, {"a": 1, "b": 2}, leaders=[first.id, second.id])
        left = await log.wait_for("left_to_backup")
    assert (left["invocation"], left["reason"]) == (str(ids[0]), reason)
    results = await world.invocations.get(ids[0])
    assert not results.is_closed
    world.localnet.advance_clock(results.window_ms)
    async with world.running(second, check_meta=False):
        (closed,) = await world.closed(*ids)
    assert closed.state.leader == second.id
    assert closed.state.ports.as_json() == {"result": 3}


async def test_leader_with_forbidding_settings_leaves_the_call_to_its_backup(world, add, log):
    first, second = await world.new_leader("first"), await world.new_leader("second")
    async with world.running(first, allowed_networks=()):
        ids = await world.request(add, {"a": 1, "b": 2}, leaders=[first.id, second.id])
        assert (await log.wait_for("left_to_backup"))["reason"] == "refused"
    world.localnet.advance_clock((await world.invocations.get(ids[0])).window_ms)
    async with world.running(second):
        (closed,) = await world.closed(*ids)
    assert closed.state.leader == second.id


async def test_last_leader_refused_by_a_tool_fails_the_invocation(
    world, serve_bytes, respond, log, *, add_definition
):
    server = await serve_bytes(respond(403))
    registered = await world.register_tool(add_definition(server.url))
    first, second = await world.new_leader("first"), await world.new_leader("second")
    async with world.running(first, check_meta=False), world.running(second, check_meta=False):
        ids = await world.request(registered, {"a": 1, "b": 2}, leaders=[first.id, second.id])
        await log.wait_for("left_to_backup")
        world.localnet.advance_clock((await world.invocations.get(ids[0])).window_ms)
        (closed,) = await world.closed(*ids)
    assert (closed.state.leader, closed.state.reason) == (second.id, "unauthorized")


# --- An unreachable node


async def test_outcome_is_settled_after_the_node_is_reachable_again(
    world, serve_app, add_definition
):
    requests, go_on, responded = asyncio.Event(), asyncio.Event(), asyncio.Event()

    async def app(scope, _receive, send):
        if scope["type"] == "http":
            requests.set()
            await go_on.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": OK})
            responded.set()

    registered = await world.register_tool(add_definition(await serve_app(app)))
    identity = await world.new_leader()
    async with (
        Proxy(int(world.localnet.url.rpartition(":")[2])).running() as proxy,
        world.running(identity, url=proxy.url, check_meta=False),
    ):
        ids = await world.request(registered, {"a": 1, "b": 2})
        await requests.wait()
        await proxy.drop()
        go_on.set()
        await responded.wait()
        await proxy.mend()
        (closed,) = await world.closed(*ids)
    assert closed.state.ports.as_json() == {"result": 3}


# --- Start and stop


async def test_stop_lets_running_work_finish(world, serve_app, add_definition):
    requests, go_on = asyncio.Event(), asyncio.Event()

    async def app(scope, _receive, send):
        if scope["type"] == "http":
            requests.set()
            await go_on.wait()
            await send({"type": "http.response.start", "status": 200, "headers": []})
            await send({"type": "http.response.body", "body": OK})

    registered = await world.register_tool(add_definition(await serve_app(app)))
    identity = await world.new_leader()
    ids = await world.request(registered, {"a": 1, "b": 2})
    async with asyncio.timeout(TIMEOUT_S):
        async with world.running(identity, check_meta=False) as leader:
            await requests.wait()
            leader.stop()
            go_on.set()
    assert isinstance((await world.invocations.get(ids[0])).state, State.Settled)


async def test_stop_ends_the_reading_of_events_before_it_ends_other_tasks(world, add, monkeypatch):
    """A late event would start a task for an execution, and the Leader would wait for it."""
    ended = []
    run, drain = Watcher.run, Workload.drain

    async def run_and_record(self, cursor):
        try:
            await run(self, cursor)
        finally:
            ended.append("reading of events")

    async def drain_and_record(self, *args):
        ended.append("calls")
        await drain(self, *args)

    monkeypatch.setattr(Watcher, "run", run_and_record)
    monkeypatch.setattr(Workload, "drain", drain_and_record)
    async with world.running(await world.new_leader()):
        await world.request(add, {"a": 1, "b": 2})
    assert ended == ["reading of events", "calls"]


async def test_leader_that_reads_events_is_ready(world, add):
    identity = await world.new_leader()
    async with world.running(identity, health_port=0) as leader, httpx.AsyncClient() as client:
        await world.closed(*await world.request(add, {"a": 1, "b": 2}))
        response = await client.get(f"http://127.0.0.1:{leader.health_port}/readyz")
    assert response.json() == {"status": "ready", "problems": {}}


async def test_key_without_a_worker_role_is_rejected(world):
    first, second = await world.new_leader("first"), await world.new_leader("second")
    config = world.config(first)
    leader = Leader(config, world.client, [first.key], world.deployment, second.id)
    with pytest.raises(NotAllowedError) as caught:
        await leader.run()
    assert caught.value.code == "not_a_worker"
    assert str(first.key.address) in caught.value.hint


async def test_missing_leader_is_rejected(world):
    identity = await world.new_leader()
    nobody = Address.of(0xDEAD)
    leader = Leader(world.config(identity), world.client, [identity.key], world.deployment, nobody)
    with pytest.raises(NotFoundError) as caught:
        await leader.run()
    assert caught.value.code == "leader_unknown"


async def test_deployment_of_another_chain_is_rejected(world):
    identity = await world.new_leader()
    chain_id = "4btiuiMPvEENsttpZC7CZ53DruC3MAgfznDbASZ7DR6S"
    other = structs.replace(world.deployment, chain_id=chain_id)
    leader = Leader(world.config(identity), world.client, [identity.key], other, identity.id)
    with pytest.raises(UsageError) as caught:
        await leader.run()
    assert caught.value.code == "wrong_chain"


async def test_second_process_cannot_use_the_journal(world):
    identity = await world.new_leader()
    async with world.running(identity):
        with pytest.raises(UsageError) as caught:
            async with world.running(identity):
                pass
    assert caught.value.code == "journal_locked"
