"""A workflow of one tool on chain, and schedules of it: the user's, with the leader as keeper."""

import pytest
from msgspec.structs import replace

from nexus_tools.package import PackageClient
from nexus_tools.package.move import dag as dags
from nexus_tools.package.move import name as names
from nexus_tools.package.move.dag import DagPublished
from nexus_tools.package.move.timing import Plan, Timing
from nexus_tools.registry import NewSchedule, Schedules
from nexus_tools.sui.builder import TransactionBuilder

HOUR_MS = 3_600_000
SUI = 1_000_000_000


@pytest.fixture
def publish(user, chain):
    """Publishes a workflow whose vertices all have one tool and an entry port `a`; gives its id."""

    async def publish(fqn, tool, vertices=1):
        package_client = PackageClient(user, chain.deployment)
        builder, package = TransactionBuilder(), chain.deployment.package
        registry, numbers = chain.deployment.tool_registry, list(range(vertices))
        dag, name = dags.draft(builder, package, registry, fqn, "Adds.", bytes(32), [tool.fqn])
        dags.add_group(builder, package, dag, "all", numbers)
        for start in range(0, vertices, 64):
            page = numbers[start : start + 64]
            columns = ([0] * len(page), [[]] * len(page), [b"\0"] * len(page))
            ways = (bytes([1] * len(page)), [0] * len(page), [1] * len(page), [True] * len(page))
            dags.add_vertices(builder, package, dag, *columns, *ways)
        for start in range(0, vertices, 64):
            places = bytes(range(min(64, vertices - start)))
            ports = (places, ["a"] * len(places), bytes([1] * len(places)))
            dags.add_ports(builder, package, dag, start // 64, *ports)
        names.share(builder, package, name)
        dags.publish(builder, package, dag)
        sent = await package_client.send(builder)
        return package_client.emitted(sent, DagPublished).dag

    return publish


@pytest.fixture
async def flow(publish, priced_tool):
    """A workflow of the tool that costs something."""
    return await publish("xyz.example.flow@1", priced_tool)


@pytest.fixture
def schedules(user, chain):
    """The schedules, for their owner."""
    return Schedules(user, chain.deployment)


@pytest.fixture
def keeper(leader, chain):
    """The schedules, for the worker of `active_leader`."""
    return Schedules(leader, chain.deployment)


@pytest.fixture
async def hourly(user, flow, active_leader):
    """Every hour from in an hour on, for 1 SUI."""
    first_at_ms = await user.now_ms() + HOUR_MS
    return NewSchedule(
        dag=flow,
        timing=Timing(Plan.Every(HOUR_MS, first_at_ms, None), None),
        leaders=[active_leader],
        funds_mist=SUI,
        each_mist=SUI // 10,
        values={0: {"a": 1}},
        lasts_ms=HOUR_MS // 2,
    )
