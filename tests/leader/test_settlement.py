import pytest

from nexus_tools.leader.assignment import Assignment
from nexus_tools.leader.closing import Closing
from nexus_tools.leader.settlement import Settlement
from nexus_tools.registry.package import Deployment
from nexus_tools.sui.address import CLOCK, Address
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.transaction import GasCoin, MergeCoins, MoveCall, OwnedObject, SharedObject
from nexus_tools.tool import Failure, FailureReason, Outcome

PACKAGE, REGISTRY, CAP = Address.of(0x10), Address.of(0x14), Address.of(0x20)
DEPLOYMENT = Deployment(PACKAGE, PACKAGE, Address.of(0x13), REGISTRY, None, None, "chain")
LEADERS = SharedObject(REGISTRY, 7, mutable=False)


def closing_of(number, answer):
    assignment = Assignment(Address.of(number), Address.of(1), "a.b.c@1", 0, 0, 1, 2, 3, 4)
    return Closing(assignment, answer, 10, initial_version=number)


@pytest.fixture
async def settlement():
    return Settlement(
        DEPLOYMENT,
        LEADERS,
        [
            closing_of(0xA1, Outcome("ok", {"b": 1, "a": [2]})),
            closing_of(0xA2, Failure(FailureReason.TIMED_OUT, "late")),
            closing_of(0xA3, Outcome("none", {})),
        ],
    )


@pytest.fixture
def cap():
    return OwnedObject(ObjectReference(CAP, 5, Digest(b"\1" * 32)))


def names(kind):
    return [
        f"{command.module}::{command.function}" if isinstance(command, MoveCall) else None
        for command in kind.commands
    ]


async def test_outcomes_are_settled_and_failures_failed_in_their_order(settlement, cap):
    kind = settlement.build(cap)
    closes = [name for name in names(kind) if name and name.startswith("invocation")]
    assert closes == ["invocation::settle", "invocation::fail", "invocation::settle"]


async def test_every_fee_is_merged_into_the_gas_coin(settlement, cap):
    kind = settlement.build(cap)
    merges = [command for command in kind.commands if isinstance(command, MergeCoins)]
    assert {merge.destination for merge in merges} == {GasCoin()}
    merged = [names(kind)[source.command] for merge in merges for source in merge.sources]
    assert merged == ["invocation::settle", "invocation::fail", "invocation::settle"]


async def test_invocations_are_shared_inputs_that_change_and_the_registry_is_only_read(
    settlement, cap
):
    inputs = settlement.build(cap).inputs
    shared = {value.object_id: value for value in inputs if isinstance(value, SharedObject)}
    assert shared[Address.of(0xA2)] == SharedObject(Address.of(0xA2), 0xA2, mutable=True)
    assert shared[REGISTRY] == LEADERS
    assert shared[CLOCK].mutable is False
    assert cap in inputs


async def test_every_command_is_traced_to_its_invocation(settlement, cap):
    kind = settlement.build(cap)
    traced = [settlement.closing_of(place) for place in range(len(kind.commands))]
    order = [settlement.closings.index(closing) for closing in traced]
    assert order == sorted(order)
    for place, name in enumerate(names(kind)):
        if name == "invocation::fail":
            assert traced[place] is settlement.closings[1]


async def test_a_failure_without_a_command_belongs_to_nobody(settlement, cap):
    settlement.build(cap)
    assert settlement.closing_of(None) is None
