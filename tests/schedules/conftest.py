"""An on-chain workflow of one tool, and schedules of it with the leader as keeper."""

import json

import pytest

from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.registry import Schedules, Workflows
from nexus_tools.workflow import read_document
from tests.node_requests import count_requests

HOUR_MS = 3_600_000
SUI = 1_000_000_000


@pytest.fixture
def requests(monkeypatch):
    """Count the requests to the node by procedure."""
    return count_requests(monkeypatch)


@pytest.fixture
def publish(user, chain):
    """Return a function that publishes a workflow whose vertices add 2 to the entry port `a`."""

    async def publish(fqn, tool, vertices=1):
        kind = {"variant": "off_chain", "tool_fqn": tool.fqn}
        names = [f"v{number}" for number in range(vertices)]
        start_vertices = [
            {"name": name, "kind": kind, "entry_ports": [{"name": "a"}]} for name in names
        ]
        two = {"storage": "inline", "data": 2}
        # Several start vertices need a common successor.
        sinks = [f"{name}-sink" for name in names] if vertices > 1 else []
        edges = [
            {
                "from": {"vertex": name, "output_variant": "ok", "output_port": "result"},
                "to": {"vertex": sink, "input_port": "a"},
            }
            for name, sink in zip(names, sinks, strict=bool(sinks))
        ]
        document = {
            "vertices": [*start_vertices, *({"name": sink, "kind": kind} for sink in sinks)],
            "edges": edges,
            "default_values": [
                {"vertex": name, "input_port": "b", "value": two} for name in (*names, *sinks)
            ],
        }
        text = json.dumps(document)
        document, _ = read_document(text)
        workflows = Workflows(user, chain.deployment)
        await workflows.publish(document, fqn)
        return await workflows.get(fqn)

    return publish


@pytest.fixture
async def flow(publish, priced_tool):
    """Return a workflow of the priced tool."""
    return await publish("xyz.example.flow@1", priced_tool)


@pytest.fixture
def schedules(user, chain):
    """Return the schedule commands of their owner."""
    return Schedules(user, chain.deployment)


@pytest.fixture
def keeper(leader, chain):
    """Return the schedule commands of the worker of `active_leader`."""
    return Schedules(leader, chain.deployment)


@pytest.fixture
async def every_hour(user):
    """Return hourly timing that starts in an hour."""
    return Timing(Plan.Every(HOUR_MS, await user.now_ms() + HOUR_MS, None), None)


@pytest.fixture
def create(schedules, flow, every_hour, active_leader):
    """Return a function that creates an hourly schedule with 1 SUI by default, and its ID."""

    async def create(workflow=flow, inputs=None, timing=every_hour, **options):
        named = {
            "funds_mist": SUI,
            "funds_per_execution_mist": SUI // 10,
            "duration_ms": HOUR_MS // 2,
        }
        named |= {"leaders": [active_leader]} | options
        values = {"a": 1} if inputs is None else inputs
        return (await schedules.create(workflow, values, timing, **named)).schedule

    return create
