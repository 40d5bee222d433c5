"""Synthetic events of a registry on a chain that does not exist, and the objects of its tools.

The IDs look random, as on a chain, because their order decides how fast SQL indices grow.
"""

from functools import cache
from hashlib import blake2b
from itertools import count
from typing import Any

from nexus_tools.contracts import Deployment, RegistryEvent
from nexus_tools.contracts.move_bindings.collateral import Collateral
from nexus_tools.contracts.move_bindings.definition import Definition
from nexus_tools.contracts.move_bindings.invocation import (
    InvocationFailed,
    InvocationRequested,
    InvocationSettled,
)
from nexus_tools.contracts.move_bindings.keys import Keys
from nexus_tools.contracts.move_bindings.leader import LeaderRegistered
from nexus_tools.contracts.move_bindings.roster import Roster
from nexus_tools.contracts.move_bindings.settlement import Settlement
from nexus_tools.contracts.move_bindings.tool import Tool, ToolRegistered
from nexus_tools.sui.bindings.runtime import MoveStruct
from nexus_tools.sui.client import Cursor, EventRecord
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.event import Event
from nexus_tools.sui.types.object import MoveObject, Object, Shared
from nexus_tools.sui.types.type_tag import StructTag

PACKAGE = Address.of(0x10)
DEPLOYMENT = Deployment(
    PACKAGE, PACKAGE, Address.of(0x11), Address.of(0x12), Address.of(0x13), "chain"
)
START_MS = 1_700_000_000_000

_DIGEST = Digest(bytes(32))
_LATENCY_MS = 300
_OWNERS = 700


def object_id(kind: str, number: int) -> Address:
    """Return an ID that looks random."""
    return Address(blake2b(f"{kind} {number}".encode(), digest_size=32).digest())


class Recorder:
    """A maker of event records. Each event is in its own checkpoint."""

    def __init__(self) -> None:
        self._checkpoints = count(1)

    def record(self, event: RegistryEvent) -> EventRecord:
        """Return the record of an event in the next checkpoint."""
        checkpoint = next(self._checkpoints)
        kind = _type_of(type(event))
        codec: Any = type(event).bcs
        raw = Event(kind.address, kind.module, PACKAGE, kind, codec.encode(event))
        return EventRecord(Cursor(checkpoint, 0, 0), raw, checkpoint, _DIGEST, 0)


@cache
def _type_of(kind: type[MoveStruct]) -> StructTag:
    return DEPLOYMENT.type_of(kind)


def registered_leader(number: int) -> LeaderRegistered:
    """Return the registration of a leader."""
    return LeaderRegistered(
        object_id("leader", number),
        f"leader {number}",
        object_id("owner", number),
        (object_id("worker", number),),
        number,
        START_MS,
    )


def registered_tool(
    number: int, fqn: str, description: str, *, price_mist: int = 0
) -> ToolRegistered:
    """Return the registration of a tool that accepts any leader."""
    owner = object_id("owner", number % _OWNERS)
    return ToolRegistered(
        tool=object_id("tool", number),
        fqn=fqn,
        tool_type="offchain",
        name=object_id("name", number),
        owner=owner,
        url=f"https://tools.example.com/{number}",
        description=description,
        timeout_ms=5_000,
        price_mist=price_mist,
        payout=owner,
        leaders=(),
        index=number,
        registered_at_ms=START_MS,
        function=None,
    )


def tool_object(registration: ToolRegistered, input_schema: bytes, output_schema: bytes) -> Object:
    """Return the object of a tool, from which the index reads the names of ports."""
    event = registration
    definition = Definition(
        *(event.fqn, event.tool_type, event.url, event.description),
        *(input_schema, output_schema, event.timeout_ms, None),
    )
    nobody: Roster[Address] = Roster(())
    tool = Tool(
        id=event.tool,
        definition=definition,
        price_mist=event.price_mist,
        payout=event.payout,
        min_outcome_bytes=0,
        requires_signed_outcome=False,
        revision=0,
        name=event.name,
        operators=nobody,
        accepts_any_leader=True,
        leaders=nobody,
        keys=Keys(()),
        collateral=Collateral(10**9, 10**9, 0, None, 0, None),
        index=event.index,
        registered_at_ms=event.registered_at_ms,
    )
    contents = Tool.bcs.encode(tool)
    return Object(MoveObject(_type_of(Tool), False, 1, contents), Shared(1), _DIGEST, 0)


def invocation(
    number: int, tool: int, fqn: str, *, requester: int, leader: int, at_ms: int, fails: bool
) -> tuple[RegistryEvent, RegistryEvent]:
    """Return the request of an invocation, and its closing 300 ms later."""
    named = object_id("invocation", number), object_id("tool", tool), fqn
    requested_by, closed_by = object_id("requester", requester), object_id("leader", leader)
    request = InvocationRequested(
        *(*named, requested_by, (closed_by,), at_ms, 5_000, at_ms + 20_000, 100, 5_000, 1_000),
        *(Settlement.Leader(), 0, None),
    )
    closed = *named, requested_by, closed_by
    closed_at_ms = at_ms + _LATENCY_MS
    if fails:
        reason = "unreachable", "no route to the host"
        return request, InvocationFailed(*closed, *reason, closed_at_ms, 10, 4_000)
    payout = object_id("owner", tool % _OWNERS)
    settled = InvocationSettled(*closed, "ok", at_ms, closed_at_ms, payout, 100, 10, 4_000)
    return request, settled
