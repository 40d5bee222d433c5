"""A workflow of one tool on chain, and schedules of it: the user's, with the leader as keeper."""

import json

import pytest

from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.registry import Schedules, Workflows
from nexus_tools.workflow import read_document

HOUR_MS = 3_600_000
SUI = 1_000_000_000


@pytest.fixture
def publish(user, chain):
    """Publishes a workflow whose vertices all add 2 to what their entry port `a` has; gives it."""

    async def publish(fqn, tool, vertices=1):
        kind = {"variant": "off_chain", "tool_fqn": tool.fqn}
        names = [f"v{number}" for number in range(vertices)]
        each = [{"name": name, "kind": kind, "entry_ports": [{"name": "a"}]} for name in names]
        two = {"storage": "inline", "data": 2}
        # Several vertices have to lead somewhere.
        sinks = [f"{name}-sink" for name in names] if vertices > 1 else []
        edges = [
            {
                "from": {"vertex": name, "output_variant": "ok", "output_port": "result"},
                "to": {"vertex": sink, "input_port": "a"},
            }
            for name, sink in zip(names, sinks, strict=bool(sinks))
        ]
        document = {
            "vertices": [*each, *({"name": sink, "kind": kind} for sink in sinks)],
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
async def every_hour(user):
    """Every hour, from in an hour on."""
    return Timing(Plan.Every(HOUR_MS, await user.now_ms() + HOUR_MS, None), None)


@pytest.fixture
def create(schedules, flow, every_hour, active_leader):
    """Creates a schedule that begins every hour, for 1 SUI, unless told otherwise; gives its id."""

    async def create(workflow=flow, inputs=None, timing=every_hour, **options):
        named = {"funds_mist": SUI, "each_mist": SUI // 10, "lasts_ms": HOUR_MS // 2}
        named |= {"leaders": [active_leader]} | options
        given = {"a": 1} if inputs is None else inputs
        return (await schedules.create(workflow, given, timing, **named)).schedule

    return create
