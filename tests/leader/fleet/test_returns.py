"""Invocations that a process leaves to other processes instead of dispatching them."""

from types import SimpleNamespace

import pytest

from nexus_tools.contracts.move_bindings.state import State
from nexus_tools.errors import UnreachableError, WrongStateError
from nexus_tools.leader.chain.chain import Chain
from nexus_tools.leader.chain.closure import ClosureKind
from nexus_tools.leader.closing.closing_batch import Closing
from nexus_tools.leader.closing.closing_return import leave_to_others
from nexus_tools.leader.closing.worker_signer import SigningFailedError
from nexus_tools.leader.dispatcher import Dispatcher
from nexus_tools.leader.journal.journal import Journal
from nexus_tools.leader.journal.lease import RowLostError
from nexus_tools.leader.metrics import LeaderMetrics
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer

pytestmark = pytest.mark.anyio

ONE, LEADER = Address.of(1), Address.of(0x1EAD)


class LaggingChain(Chain):
    """A chain whose node has `node_height` checkpoints and no objects."""

    def __init__(self, node_height):
        super().__init__(SimpleNamespace(objects=self.no_objects), None, LEADER)
        self.node_height = node_height

    async def no_objects(self, ids):
        return [None for _ in ids]

    async def height(self):
        return self.node_height


class Clock:
    """A clock that reaches the expiry of all invocations at the third reading after a pause."""

    def __init__(self):
        self.readings = 0

    def now_ms(self):
        self.readings += 1
        return 1_000 if self.readings < 9 else 10_000

    async def wait_until(self, _moment_ms):
        pass

    async def refresh(self):
        pass


def dispatcher_of(config, chain, journal):
    parts = dict.fromkeys(
        ("workers", "attempts", "tool_calls", "on_chain_calls", "invoker", "queue"), None
    )
    accounts = SimpleNamespace(closed=lambda _: None, allows_failure=lambda _: True)
    return Dispatcher(
        config.model_copy(update={"error_retry_delay_ms": 1}),
        chain,
        journal=journal,
        clock=Clock(),
        metrics=LeaderMetrics(),
        accounts=accounts,
        **parts,
    )


async def claimed(journal, assignment):
    await journal.recover()
    await journal.record_events([assignment], {}, "c", 0, checkpoint=7)
    [entry] = (await journal.claim(10_000, 9, {}, 9)).entries
    return entry


async def test_invocation_that_the_node_does_not_know_yet_is_returned(fleet, config, assignment_of):
    one = await fleet.join()
    entry, chain = await claimed(one, assignment_of(1)), LaggingChain(6)
    assert await dispatcher_of(config, chain, one).dispatch(entry) is None
    assert (fleet.owners(), fleet.column("claims")) == ({1: None}, {1: 0})
    assert await chain.lagging_height() == 6
    chain.node_height = 7
    assert await chain.lagging_height() is None
    chain.node_height = 6
    assert await chain.lagging_height() is None  # no read has failed since


async def test_invocation_that_a_rollback_removed_is_not_returned(fleet, config, assignment_of):
    """Otherwise processes would claim and return it without a pause."""
    one = await fleet.join()
    entry, chain = await claimed(one, assignment_of(1)), LaggingChain(7)
    chain.observe(100)
    closure = await dispatcher_of(config, chain, one).dispatch(entry)
    assert closure.kind is ClosureKind.MISSED


async def test_leader_with_an_sqlite_file_waits_for_its_node(config, assignment_of):
    journal = await Journal.open(config.journal, "identity")
    assigned = assignment_of(1)
    await journal.record_events([assigned], {}, "c", 0)
    [entry] = (await journal.recover()).entries
    chain = LaggingChain(6)
    chain.observe(7)
    closure = await dispatcher_of(config, chain, journal).dispatch(entry)
    assert closure.kind is ClosureKind.MISSED
    await journal.close()


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        (State.Settled("ok", None, LEADER, 1), ClosureKind.SETTLED),
        (State.Settled("ok", None, ONE, 1), ClosureKind.ELSEWHERE),
        (State.Requested(), ClosureKind.MISSED),
    ],
)
async def test_chain_decides_how_an_expired_invocation_was_closed(
    fleet, config, assignment_of, state, kind
):
    class Restarting(LaggingChain):
        failures = 2

        async def invocation_and_tool(self, _invocation, _tool):
            if self.failures:
                self.failures -= 1
                raise UnreachableError("node_unreachable", "the node does not respond")
            return SimpleNamespace(invocation=SimpleNamespace(state=state)), None

    one = await fleet.join()
    entry = await claimed(one, assignment_of(1))
    dispatcher = dispatcher_of(config, Restarting(7), one)
    dispatcher._clock.readings = 100  # the invocation has expired
    assert (await dispatcher.dispatch(entry)).kind is kind
    assert fleet.column("closed") == {1: kind.value}


@pytest.mark.parametrize(
    ("error", "is_ready", "is_left"),
    [
        (WrongStateError("not_enough_sui", "the worker has 0 SUI"), True, True),
        (SigningFailedError(ONE, "the signer does not respond"), True, True),
        (WrongStateError("closing_impossible", "no key is a worker"), False, True),
        (WrongStateError("closing_impossible", "the chain refuses"), True, False),
        (UnreachableError("node_unreachable", "no response"), False, False),
    ],
)
async def test_closing_is_left_to_a_ready_process(fleet, assignment_of, error, is_ready, is_left):
    one, two = await fleet.join(), await fleet.join()
    one.is_ready = lambda: is_ready
    entry = await claimed(one, assignment_of(1))
    closing = Closing(entry.assignment, Answer("ok", {}), 0, 0, None)
    assert not await leave_to_others(one, [closing], error)  # no other process is known
    await two.beat(0)
    await one.beat(0)
    assert await leave_to_others(one, [closing], error) is is_left
    assert fleet.owners() == {1: None if is_left else one.worker}
    if is_left:
        with pytest.raises(RowLostError):
            await closing.closed


async def test_process_does_not_claim_a_left_invocation_at_once(fleet, assignment_of, claim):
    one, two = await fleet.join(), await fleet.join()
    await claimed(one, assignment_of(1))
    await one.give_back(Address.of(1), pause_s=60)
    assert await claim(one) == []
    assert await claim(two) == [1]
    await two.give_back(Address.of(1))
    assert await claim(two) == [1]


async def test_call_of_an_on_chain_tool_is_left_to_the_holder(fleet, config, assignment_of):
    """Only the holder knows the accounts of authors."""
    invocation = SimpleNamespace(attempt=None, state=State.Requested())
    tool = SimpleNamespace(tool=SimpleNamespace(definition=SimpleNamespace(function="f")))

    class OnChain(LaggingChain):
        async def invocation_and_tool(self, _invocation, _tool):
            return SimpleNamespace(invocation=invocation), tool

    one = await fleet.join()
    entry = await claimed(one, assignment_of(1))
    assert await dispatcher_of(config, OnChain(7), one).dispatch(entry) is None
    assert (fleet.owners(), fleet.column("holder_only")) == ({1: None}, {1: True})
