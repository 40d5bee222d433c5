"""A process that runs a leader is killed during its work and restarted."""

import asyncio
import json
import os
import signal
import sys
from collections import Counter
from contextlib import asynccontextmanager

import pytest

from nexus_tools.contracts.move_bindings.state import State

pytestmark = pytest.mark.anyio

TIMEOUT_S = 90

PROGRAM = """
import asyncio, json, sys
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.network import Network
from nexus_tools.sui.client import SuiClient
from nexus_tools.leader import Leader, LeaderConfig
from nexus_tools.contracts import Deployment
from nexus_tools.sui.types.address import Address

async def main(url, key, deployment, leader):
    async with SuiClient(Network("localnet", url)) as client:
        leader = Leader(
            LeaderConfig.load(),
            client,
            [KeyPair.from_keystore(key)],
            Deployment.parse(json.loads(deployment)),
            Address.parse(leader),
        )
        await leader.run()

asyncio.run(main(*sys.argv[1:]))
"""


@asynccontextmanager
async def process_of(world, identity, **environment):
    """Run the leader in a process that is killed at the end."""
    config = {
        "JOURNAL": str(world.folder / "journal.sqlite"),
        "ALLOW_HTTP": "true",
        "ALLOWED_NETWORKS": "127.0.0.0/8",
        "RETRY_DELAY_MS": "5",
        "MAX_RETRY_DELAY_MS": "20",
        "ERROR_RETRY_DELAY_MS": "10",
        **environment,
    }
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", PROGRAM, world.localnet.url, identity.key.to_keystore()),
        *(json.dumps(world.deployment.as_json()), str(identity.id)),
        env=os.environ | {f"NEXUS_TOOLS_LEADER_{key}": value for key, value in config.items()},
        stdout=asyncio.subprocess.DEVNULL,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.kill()
        await process.wait()


class CountingTool:
    """An application that returns `{"ok": {"result": a + b}}`, counts calls, and can wait."""

    def __init__(self):
        self.asked = Counter()
        self.changed = asyncio.Condition()
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, scope, receive, send):
        if scope["type"] != "http":
            return
        headers = dict(scope["headers"])
        body = json.loads((await receive())["body"])
        async with self.changed:
            self.asked[headers[b"idempotency-key"]] += 1
            self.changed.notify_all()
        await self.gate.wait()
        answer = json.dumps({"ok": {"result": body["a"] + body["b"]}}).encode()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": answer})

    async def wait_for(self, count):
        async with self.changed:
            await self.changed.wait_for(lambda: len(self.asked) >= count)


@pytest.fixture
async def counting(world, serve_app, add_definition):
    app = CountingTool()
    registered = await world.register_tool(add_definition(await serve_app(app)))
    yield app, registered
    app.gate.set()


async def assert_settled_once(world, ids):
    closed = await world.closed(*ids)
    assert all(isinstance(invocation.state, State.Settled) for invocation in closed)
    results = [invocation.state.ports.as_json()["result"] for invocation in closed]
    assert results == [n + 1 for n in range(len(ids))]
    assert await world.closings(len(ids)) == dict.fromkeys(ids, 1)


@pytest.mark.long
async def test_leader_killed_during_calls_retries_and_settles_once(world, counting):
    app, registered = counting
    identity = await world.new_leader()
    ids = await world.request(registered, *[{"a": n, "b": 1} for n in range(30)])
    async with asyncio.timeout(TIMEOUT_S):
        app.gate.clear()
        async with process_of(world, identity, CHECK_META="false") as process:
            await app.wait_for(10)
            process.send_signal(signal.SIGKILL)
            assert await process.wait() == -signal.SIGKILL
        app.gate.set()
        async with process_of(world, identity, CHECK_META="false"):
            await assert_settled_once(world, ids)
    assert max(app.asked.values()) <= 2


@pytest.mark.parametrize(
    ("settled", "database"),
    [(1, "sqlite"), pytest.param(20, "sqlite", marks=pytest.mark.long), (1, "postgresql")],
)
async def test_leader_killed_during_settling_settles_the_rest_once(
    world, counting, request, settled, database
):
    _, registered = counting
    identity = await world.new_leader()
    ids = await world.request(registered, *[{"a": n, "b": 1} for n in range(60)])
    options = {"CHECK_META": "false", "MAX_BATCH_SIZE": "4"}
    if database == "postgresql":
        options["JOURNAL"] = request.getfixturevalue("postgres").new_url()
    async with asyncio.timeout(TIMEOUT_S):
        async with process_of(world, identity, **options) as process:
            await world.closings(settled)
            process.send_signal(signal.SIGKILL)
            await process.wait()
        async with process_of(world, identity, **options):
            await assert_settled_once(world, ids)


@pytest.mark.long
async def test_leader_without_its_journal_settles_nothing_twice(world, counting):
    _, registered = counting
    identity = await world.new_leader()
    ids = await world.request(registered, *[{"a": n, "b": 1} for n in range(40)])
    options = {"CHECK_META": "false", "MAX_BATCH_SIZE": "4"}
    async with asyncio.timeout(TIMEOUT_S):
        async with process_of(world, identity, **options) as process:
            await world.closings(8)
            process.send_signal(signal.SIGKILL)
            await process.wait()
        lost = {**options, "JOURNAL": str(world.folder / "another.sqlite")}
        async with process_of(world, identity, **lost):
            await assert_settled_once(world, ids)
