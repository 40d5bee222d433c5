"""Synthetic events of a chain that does not exist, for large and hostile indices."""

from itertools import count

from nexus_tools.contracts import Deployment
from nexus_tools.contracts.move_bindings.collateral import CollateralLocked
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.leader import LeaderRegistered
from nexus_tools.contracts.move_bindings.settlement import Settlement
from nexus_tools.contracts.move_bindings.tool import ToolRegistered
from nexus_tools.contracts.move_bindings.workflows.dag import DagPublished
from nexus_tools.contracts.move_bindings.workflows.execution import ExecutionStarted
from nexus_tools.contracts.move_bindings.workflows.progress import Change
from nexus_tools.contracts.move_bindings.workflows.schedule import ScheduleCreated
from nexus_tools.contracts.move_bindings.workflows.timing import Plan, Timing
from nexus_tools.sui.client import Cursor, EventRecord
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest, blake2b256
from nexus_tools.sui.types.event import Event

DEPLOYMENT = Deployment(
    *(Address.of(number) for number in (0x10, 0x10, 0x11, 0x12, 0x13)),
    chain_id="chain",
    workflows_id=Address.of(0x20),
    workflows_original_id=Address.of(0x20),
    dag_registry=Address.of(0x21),
)
START_MS = 1_700_000_000_000


def object_id(kind, number):
    """Return an ID that looks random."""
    return Address(blake2b256(f"{kind} {number}".encode()))


class Events:
    """A maker of event records, each in its own checkpoint."""

    def __init__(self):
        self.checkpoints = count(1)

    def record(self, event):
        kind = DEPLOYMENT.type_of(type(event))
        contents = type(event).bcs.encode(event)
        return self.raw(Event(kind.address, kind.module, object_id("sender", 0), kind, contents))

    def raw(self, event):
        checkpoint = next(self.checkpoints)
        digest = Digest(blake2b256(str(checkpoint).encode()))
        return EventRecord(Cursor(checkpoint, 0, 0), event, checkpoint, digest, 0)

    def tool(self, number, **fields):
        values = {
            "tool": object_id("tool", number),
            "fqn": f"xyz.domain{number % 10}.tool{number}@1",
            "tool_type": "offchain",
            "name": object_id("name", number),
            "owner": object_id("owner", number % 7),
            "url": f"https://tools.example.com/{number}",
            "description": f"Tool number {number}.",
            "timeout_ms": 5_000,
            "price_mist": number % 5 * 100,
            "payout": object_id("owner", number % 7),
            "leaders": (),
            "index": number,
            "registered_at_ms": START_MS,
            "function": None,
        }
        return self.record(ToolRegistered(**(values | fields)))

    def leader(self, number):
        event = LeaderRegistered(
            object_id("leader", number),
            f"leader {number}",
            object_id("owner", number),
            (object_id("worker", number),),
            number,
            START_MS,
        )
        return self.record(event)

    def lock(self, number):
        return self.record(CollateralLocked(object_id("tool", number), 10**9, 0, START_MS))

    def invocation(self, number, *, tool=None, leader=None, requester=None, fails=False):
        """Return the request of an invocation and its closing 300 ms later."""
        tool = number % 10 if tool is None else tool
        leader = object_id("leader", number % 5 if leader is None else leader)
        requester = object_id("requester", number % 50 if requester is None else requester)
        at_ms = START_MS + number * 1_000
        named = object_id("invocation", number), object_id("tool", tool), f"xyz.d.t{tool}@1"
        request = InvocationRequested(
            *(*named, requester, (leader,), at_ms, 5_000, at_ms + 20_000, 100, 5_000, 1_000),
            *(Settlement.Leader(), 0, None),
        )
        if fails:
            closing = InvocationFailed(
                *(*named, requester, leader, "unreachable", "no route"),
                *(at_ms + 300, 10, 4_000),
            )
        else:
            payout = object_id("owner", 0)
            closing = InvocationSettled(
                *(*named, requester, leader, "ok", at_ms, at_ms + 300, payout, 100, 10, 4_000)
            )
        return [self.record(request), self.record(closing)]

    def workflow(self, number):
        event = DagPublished(
            object_id("workflow", number),
            f"xyz.domain.flow{number}@1",
            object_id("name", number),
            object_id("owner", number % 7),
            "A workflow.",
            bytes(32),
            2,
        )
        return self.record(event)

    def execution(self, number):
        event = ExecutionStarted(
            *(object_id("execution", number), object_id("workflow", number % 3), "xyz.d.f@1"),
            *(object_id("owner", number % 7), object_id("schedule", number % 3), (), 0),
            *(10**9, START_MS, Change((), (), (), ())),
        )
        return self.record(event)

    def schedule(self, number):
        timing = Timing(Plan.Every(1_000, START_MS, None), None)
        event = ScheduleCreated(
            *(object_id("schedule", number), object_id("workflow", number % 3), "xyz.d.f@1"),
            *(object_id("owner", number % 7), (), timing, START_MS, 10**6, 0, 10**9),
        )
        return self.record(event)
