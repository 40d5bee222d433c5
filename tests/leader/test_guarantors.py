"""Closings that are not simulated, because their owner has paid for a failure in advance."""

from dataclasses import dataclass
from itertools import pairwise

import pytest

from nexus_tools.contracts import Deployment
from nexus_tools.leader.closing import closer, execution_accounts
from nexus_tools.leader.closing.execution_accounts import ExecutionAccounts
from nexus_tools.sui.types.address import Address
from nexus_tools.tool_server import Variant, tool
from nexus_tools.workflow import DIALECT, Document, Edge, EdgeKind, InputPort, OutputPort, Vertex

pytestmark = pytest.mark.anyio

PACKAGE = Address.of(0x10)
DEPLOYMENT = Deployment(PACKAGE, PACKAGE, *map(Address.of, (0x13, 0x14, 0x15)), "chain")
OWNER, OTHER_OWNER = Address.of(1), Address.of(2)
FIRST, SECOND, OF_OTHER, UNKNOWN = map(Address.of, (11, 12, 13, 14))
COPY = "xyz.example.guarantor.copy@1"
EARNED_MIST = 10**9
SMALL_MIST = 2_500_000


# --- Accounts


@dataclass
class Effects:
    change_mist: int

    def address_balance_change(self, *_):
        return self.change_mist


@dataclass
class Result:
    """A transaction without events, as an account sees it."""

    effects: Effects
    events: tuple = ()


class Worker:
    address = Address.of(0xA)


@pytest.fixture
def accounts():
    """Return accounts in which one owner has two executions and has paid 100 MIST."""
    accounts = ExecutionAccounts(DEPLOYMENT, Address.of(5), 0, lambda: 1_000)
    for execution, owner in ((FIRST, OWNER), (SECOND, OWNER), (OF_OTHER, OTHER_OWNER)):
        accounts.set_owner(execution, owner)
    earn(accounts, FIRST, 100)
    earn(accounts, OF_OTHER, 100)
    return accounts


def earn(accounts, execution, mist):
    accounts.record([execution], Worker(), Result(Effects(mist)))


def test_owner_guarantees_at_most_what_the_leader_has_earned(accounts):
    assert accounts.guarantor([FIRST], 100) == OWNER
    assert accounts.guarantor([FIRST, SECOND, SECOND], 100) == OWNER
    assert accounts.guarantor([FIRST], 101) is None
    earn(accounts, SECOND, -1)
    assert accounts.guarantor([FIRST], 100) is None


@pytest.mark.parametrize("others", [[OF_OTHER], [UNKNOWN], [None]])
def test_no_owner_guarantees_for_executions_of_others(accounts, others):
    assert accounts.guarantor([FIRST, *others], 1) is None
    assert accounts.guarantor(others * 2, 200) is None


def test_concurrent_transactions_do_not_share_a_guarantee(accounts):
    with accounts.reserve_budget(OWNER, 60):
        assert accounts.guarantor([SECOND], 40) == OWNER
        assert accounts.guarantor([SECOND], 41) is None
        assert accounts.room_mist(FIRST) == 40
    assert accounts.guarantor([SECOND], 100) == OWNER


def test_owner_guarantees_nothing_after_a_loss(accounts):
    accounts.distrust(OWNER)
    earn(accounts, FIRST, 10**9)
    assert accounts.guarantor([FIRST], 1) is None
    assert accounts.guarantor([OF_OTHER], 100) == OTHER_OWNER


# --- Closings


class Copied(Variant, name="ok"):
    value: int


@tool(COPY)
async def copy(value: int) -> Copied:
    """Returns its input."""
    return Copied(value=value)


def chain_of(length):
    names = [f"v{number}" for number in range(length)]
    vertices = [Vertex(name, COPY, entry_ports=("value",)) for name in names[:1]]
    vertices += [Vertex(name, COPY) for name in names[1:]]
    edges = [
        Edge(OutputPort(name, "ok", "value"), InputPort(after, "value"), EdgeKind.NORMAL)
        for name, after in pairwise(names)
    ]
    return Document(tuple(vertices), tuple(edges), dialect=DIALECT)


@pytest.fixture
def simulated(monkeypatch):
    """Return a list of the closing transactions that are simulated."""
    drafts, simulate = [], closer.simulate_transaction

    async def simulate_transaction(connection, draft):
        drafts.append(draft)
        return await simulate(connection, draft)

    monkeypatch.setattr(closer, "simulate_transaction", simulate_transaction)
    return drafts


@pytest.fixture
async def workflow(world, serve_tools):
    url = await serve_tools(copy)
    await world.register_tool(copy.definition(f"{url}/{COPY}"))
    return await world.publish(chain_of(3))


@pytest.fixture
def earned(monkeypatch):
    """Let each leader start with earnings from each owner; return the accounts of the leaders."""
    account, init, leaders = execution_accounts._Account, ExecutionAccounts.__init__, []

    def remember(self, *arguments):
        init(self, *arguments)
        leaders.append(self)

    monkeypatch.setattr(execution_accounts, "_Account", lambda: account(EARNED_MIST))
    monkeypatch.setattr(ExecutionAccounts, "__init__", remember)
    return leaders


async def test_closings_of_a_new_owner_are_simulated(world, workflow, simulated):
    leader = await world.new_leader()
    async with world.running(leader):
        status = await world.ended(await world.begin(workflow, {"v0": {"value": 1}}))
    assert status.status == "completed"
    assert len(simulated) == 3


async def test_closings_are_not_simulated_when_the_owner_guarantees(
    world, workflow, simulated, earned
):
    leader = await world.new_leader()
    async with world.running(leader):
        status = await world.ended(await world.begin(workflow, {"v0": {"value": 1}}))
    assert status.status == "completed"
    assert simulated == []
    [owner] = earned[0]._owners.values()
    assert owner.balance_mist > EARNED_MIST
    assert owner.is_trusted


async def test_guarantor_pays_for_a_failed_closing_and_is_simulated_then(
    world, workflow, simulated, earned, monkeypatch
):
    """The first budget is too small, so the chain executes the transaction until it runs out."""
    leader = await world.new_leader()
    usual, fail = closer.Closer._budget_mist, closer.Closer._after_failure
    failed = []

    async def after_failure(self, batch, status, closings):
        failed.append(len(simulated))
        await fail(self, batch, status, closings)

    monkeypatch.setattr(closer.Closer, "_after_failure", after_failure)
    monkeypatch.setattr(
        closer.Closer,
        "_budget_mist",
        lambda self, batch: usual(self, batch) if failed else SMALL_MIST,
    )
    async with world.running(leader):
        status = await world.ended(await world.begin(workflow, {"v0": {"value": 1}}))
    assert status.status == "completed"
    assert failed == [0]  # before any simulation
    assert len(simulated) == 3
    [owner] = earned[0]._owners.values()
    assert not owner.is_trusted
    assert owner.balance_mist > EARNED_MIST - SMALL_MIST
