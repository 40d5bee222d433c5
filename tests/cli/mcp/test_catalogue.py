"""The registry as a catalogue, on a chain without a running leader."""

import asyncio
from contextlib import asynccontextmanager

import pytest
import structlog
from anyio import to_thread

from nexus_tools.cli.framework import Output
from nexus_tools.contracts import Deployment, ToolState
from nexus_tools.errors import UnreachableError, ValidationError, WrongStateError
from nexus_tools.mcp_server import Budget, ListedPrices, OnChainCalls, RegistryCatalogue, ToolOffers
from nexus_tools.mcp_server.catalogue import changed_tools
from nexus_tools.mcp_server.catalogue.checked_schemas import CheckedSchemas
from nexus_tools.mcp_server.receipt import Receipt
from nexus_tools.registry import Invocations, Registration, ToolFilter, ToolRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.network import Network
from nexus_tools.sui.types.address import Address
from nexus_tools.tool import Answer, ToolDefinition, ToolFqn

ACTIVE = ToolFilter(state=ToolState.ACTIVE)
NAMES = [f"xyz.test.tools.tool{number}@1" for number in range(5)]
CUT = "xyz.test.other.cut@1"


@pytest.fixture(scope="module")
def seller(chain, publisher, new_home):
    """Return the owner of tools and of a leader that does not run."""
    user = new_home("seller", publisher)
    chain.fund(user.wallet.signer().address, 40 * 10**9)
    user.json("leader", "register", "--yes")
    return user


def definition(fqn):
    ports = {"type": "object", "properties": {"total": {"type": "integer"}}}
    branch = {"type": "object", "properties": {"ok": ports}, "required": ["ok"]}
    return ToolDefinition.parse(
        {
            "fqn": fqn,
            "url": "https://tools.example.com",
            "input_schema": {"type": "object"},
            "output_schema": {"type": "object", "oneOf": [branch]},
        }
    )


@asynccontextmanager
async def open_registry(chain, seller):
    """A registry with the tools, registered once."""
    deployment = Deployment.parse(seller.settings["deployments"]["test"])
    network = Network("test", chain.url, chain.url)
    async with SuiClient(network, seller.wallet.signer()) as client:
        registry = ToolRegistry(client, deployment)
        await registry.register(*(Registration(definition(fqn), 0) for fqn in [*NAMES, CUT]))
        yield registry


@pytest.fixture
async def registry(chain, seller):
    async with open_registry(chain, seller) as registry:
        yield registry


class Echo:
    """Answers at once, with what it was asked."""

    async def call(self, offer, ports, _):
        return Answer("ok", {"fqn": str(offer.definition.fqn), "ports": ports})


def catalogue(registry, tool_filter=ACTIVE, prices=None, **bounds):
    return RegistryCatalogue(ToolOffers(registry, tool_filter, **bounds), Echo(), prices)


async def pages(catalogue, limit):
    found, cursor = [], None
    while not found or cursor is not None:
        page = await catalogue.page(cursor, limit)
        found.append([str(each.fqn) for each in page.definitions])
        cursor = page.next_cursor
    return found


async def test_pages_follow_the_order_of_registration(registry):
    assert await pages(catalogue(registry), 4) == [NAMES[:4], [NAMES[4], CUT]]
    assert await pages(catalogue(registry), 6) == [[*NAMES, CUT]]


async def test_filtered_tools_take_no_space_on_a_page(registry):
    filtered = catalogue(registry, ToolFilter(state=ToolState.ACTIVE, search="other"))
    assert await pages(filtered, 1) == [[CUT]]


async def test_catalogue_reads_names_in_several_batches(registry, monkeypatch):
    monkeypatch.setattr("nexus_tools.mcp_server.catalogue.registry_catalogue._MIN_NAMES_AT_ONCE", 2)
    assert await pages(catalogue(registry), 3) == [NAMES[:3], [*NAMES[3:], CUT]]
    monkeypatch.setattr("nexus_tools.mcp_server.catalogue.registry_catalogue._NAMES_PER_PAGE", 4)
    # Other tests may have left names behind these, which have no tools any more.
    found = await pages(catalogue(registry), 5)
    assert [each for each in found if each] == [NAMES[:4], [NAMES[4], CUT]]


@pytest.mark.parametrize("cursor", ["", "x", "-1", "1.0", "9" * 40])
async def test_catalogue_rejects_foreign_cursor(registry, cursor):
    with pytest.raises(ValidationError) as refused:
        await catalogue(registry).page(cursor, 5)
    assert refused.value.code == "cursor_invalid"


async def test_unregistered_tool_is_neither_found_nor_called(registry):
    fqn = ToolFqn.parse("xyz.test.brief.tool@1")
    await registry.register(Registration(definition(str(fqn)), 0))
    offered = catalogue(registry)
    found = await offered.find(fqn)
    assert found is not None
    echo = Answer("ok", {"fqn": str(fqn), "ports": {"a": 1}})
    assert await offered.call(found, {"a": 1}, quiet) == echo
    await registry.unregister(fqn)
    assert await offered.find(fqn) is None
    with pytest.raises(WrongStateError) as refused:
        await offered.call(found, {}, quiet)
    assert refused.value.code == "tool_not_active"


async def test_filtered_tool_is_not_found(registry):
    others = catalogue(registry, ToolFilter(domains=("xyz.test.other",), state=ToolState.ACTIVE))
    assert await others.find(ToolFqn.parse(NAMES[0])) is None
    assert await others.find(ToolFqn.parse(CUT)) is not None


async def test_catalogue_offers_tools_of_the_given_owner(registry, seller):
    for owner, found in ((registry.client.address, [CUT]), (Address(bytes(32)), [])):
        only = ToolFilter(owner=owner, domains=("xyz.test.other",), state=ToolState.ACTIVE)
        assert await pages(catalogue(registry, only), 9) == [found]
        assert (await catalogue(registry, only).find(ToolFqn.parse(CUT)) is None) is not bool(found)


async def test_dearer_tools_are_neither_listed_nor_found(registry, operator_leader):
    fqn = ToolFqn.parse("xyz.test.dear.tool@1")
    dear = Registration(definition(str(fqn)), 100, leaders=(Address.parse(operator_leader),))
    await registry.register(dear)
    of_domain = ToolFilter(domains=("xyz.test.dear",), state=ToolState.ACTIVE)
    for bound, found in ((100, [str(fqn)]), (99, [])):
        offered = catalogue(registry, of_domain, max_price_mist=bound)
        assert await pages(offered, 9) == [found]
        assert (await offered.find(fqn) is None) is not bool(found)
    await registry.unregister(fqn)


async def test_risen_price_is_reported_before_payment(registry, operator_leader):
    fqn, leaders = ToolFqn.parse("xyz.test.rising.tool@1"), (Address.parse(operator_leader),)
    await registry.register(Registration(definition(str(fqn)), 100, leaders=leaders))
    of_domain = ToolFilter(domains=("xyz.test.rising",), state=ToolState.ACTIVE)
    paid, free = catalogue(registry, of_domain, ListedPrices()), catalogue(registry, of_domain)
    [listed] = (await paid.page(None, 9)).definitions
    assert (await free.page(None, 9)).definitions == (listed,)
    await registry.update(fqn, price_mist=150)
    with pytest.raises(WrongStateError) as raised:
        await paid.call(listed, {}, quiet)
    assert raised.value.code == "price_increased"
    assert raised.value.details == {"price_mist": 150, "listed_mist": 100}
    for each in (paid, free):
        await each.call(listed, {}, quiet)
    await registry.update(fqn, price_mist=20)
    await paid.call(listed, {}, quiet)
    await registry.unregister(fqn)


async def test_no_call_sent_before_the_report_of_a_risen_price_pays_it(registry, operator_leader):
    """An agent sends calls in parallel. A tool could gain by raising its price between them."""
    fqn, leaders = ToolFqn.parse("xyz.test.parallel.tool@1"), (Address.parse(operator_leader),)
    await registry.register(Registration(definition(str(fqn)), 100, leaders=leaders))
    of_domain = ToolFilter(domains=("xyz.test.parallel",), state=ToolState.ACTIVE)
    paid = catalogue(registry, of_domain, ListedPrices())
    [listed] = (await paid.page(None, 9)).definitions
    await registry.update(fqn, price_mist=150)
    may_continue = asyncio.Event()

    async def call(*, is_delayed=False):
        Receipt.start()
        if is_delayed:
            await may_continue.wait()
        return await paid.call(listed, {}, quiet)

    late = asyncio.create_task(call(is_delayed=True))
    results = await asyncio.gather(call(), call(), return_exceptions=True)
    may_continue.set()
    results += await asyncio.gather(late, return_exceptions=True)
    assert [error.code for error in results] == ["price_increased"] * 3
    assert {error.details["listed_mist"] for error in results} == {100}
    await call()
    await registry.update(fqn, price_mist=200)
    late = asyncio.create_task(call(is_delayed=True))
    may_continue.clear()
    [listed] = (await paid.find_all([fqn])).definitions
    may_continue.set()
    with pytest.raises(WrongStateError) as raised:
        await late
    assert raised.value.details == {"price_mist": 200, "listed_mist": 150}
    await call()
    await registry.unregister(fqn)


@pytest.mark.parametrize("error", [KeyError("a"), RecursionError()])
async def test_page_skips_tool_that_raises_an_unexpected_error(registry, monkeypatch, error):
    original = CheckedSchemas.parse

    def parse(self, definition):
        if definition.fqn == NAMES[2]:
            raise error
        return original(self, definition)

    monkeypatch.setattr(CheckedSchemas, "parse", parse)
    with structlog.testing.capture_logs() as logged:
        assert await pages(catalogue(registry), 9) == [[*NAMES[:2], *NAMES[3:], CUT]]
    assert [(each["event"], each["fqn"]) for each in logged] == [
        ("untrusted_entry_skipped", NAMES[2])
    ]
    assert logged[0]["cause"].startswith(type(error).__name__)


async def test_catalogue_compiles_no_schemas_when_tools_are_listed_again(registry, monkeypatch):
    offered = catalogue(registry)
    listed = await pages(offered, 4)
    with monkeypatch.context() as compiling:
        compiling.setattr("jsonschema_rs.Draft202012Validator", None)
        assert await pages(offered, 5) == [[*NAMES], [CUT]]
        assert (await offered.find(ToolFqn.parse(CUT))).fqn == ToolFqn.parse(CUT)
    assert [name for page in listed for name in page] == [*NAMES, CUT]


async def test_page_checks_only_the_schemas_of_its_tools(registry, monkeypatch):
    checked = []
    original = CheckedSchemas.parse

    def parse(self, definition):
        checked.append(definition.fqn)
        return original(self, definition)

    monkeypatch.setattr(CheckedSchemas, "parse", parse)
    monkeypatch.setattr("nexus_tools.mcp_server.catalogue.registry_catalogue._MIN_NAMES_AT_ONCE", 1)
    page = await catalogue(registry).page(None, 2)
    assert checked == [str(each.fqn) for each in page.definitions] == NAMES[:2]


async def test_scan_and_changes_check_no_schemas(registry, monkeypatch):
    monkeypatch.setattr(CheckedSchemas, "parse", None)
    monkeypatch.setattr(changed_tools, "_LAG", 0)
    offered = catalogue(registry)
    page = await offered.scan(None, 9)
    assert [str(each.fqn) for each in page.definitions] == [*NAMES, CUT]
    assert (await offered.changes()).removed == ()


async def test_find_all_returns_the_offered_tools_in_order(registry):
    fqns = [ToolFqn.parse(fqn) for fqn in (CUT, "xyz.test.other.none@1", NAMES[0])]
    page = await catalogue(registry).find_all(fqns)
    assert [definition.fqn for definition in page.definitions] == [fqns[0], fqns[2]]
    assert page.prices_mist == {fqns[0]: 0, fqns[2]: 0}


# --- Changes


async def changed(offered):
    """Return the changed and the removed tools, without tools of other tests."""
    changes = await offered.changes()
    definitions = {each.fqn.name: each.description for each in changes.page.definitions}
    return definitions, [fqn.name for fqn in changes.removed]


async def test_changes_are_the_registered_updated_and_unregistered_tools(registry, monkeypatch):
    monkeypatch.setattr(changed_tools, "_LAG", 0)
    offered = catalogue(registry)
    assert await offered.changes() is None  # never scanned
    await offered.scan(None, 1)
    assert await changed(offered) == ({}, [])
    fqns = [ToolFqn.parse(f"xyz.test.changing.{name}@1") for name in ("one", "two")]
    await registry.register(*(Registration(definition(str(fqn)), 0) for fqn in fqns))
    await registry.update(fqns[0], description="Changed.")
    assert await changed(offered) == ({"one": "Changed.", "two": ""}, [])
    await registry.unregister(fqns[0])
    assert await changed(offered) == ({}, ["one"])
    await registry.cancel_unregister(fqns[0])
    assert await changed(offered) == ({"one": "Changed."}, [])
    for fqn in fqns:
        await registry.unregister(fqn)


async def test_changes_are_repeated_after_an_error(registry, monkeypatch):
    monkeypatch.setattr(changed_tools, "_LAG", 0)
    offered = catalogue(registry)
    await offered.scan(None, 1)
    fqn = ToolFqn.parse("xyz.test.repeated.tool@1")
    await registry.register(Registration(definition(str(fqn)), 0))
    with monkeypatch.context() as failing:
        failing.setattr(ToolOffers, "fqns", unreachable)
        with pytest.raises(UnreachableError):
            await offered.changes()
    assert await changed(offered) == ({"tool": ""}, [])
    await registry.unregister(fqn)


async def unreachable(*_):
    raise UnreachableError("node_unreachable", "away")


async def test_too_many_changes_are_not_known(registry, monkeypatch):
    monkeypatch.setattr(changed_tools, "_MAX_EVENTS", 2)
    monkeypatch.setattr(changed_tools, "_EVENTS_AT_ONCE", 1)
    monkeypatch.setattr(changed_tools, "_LAG", 0)
    offered = catalogue(registry)
    await offered.scan(None, 1)
    fqn = ToolFqn.parse("xyz.test.restless.tool@1")
    await registry.register(Registration(definition(str(fqn)), 0))
    for number in range(3):
        await registry.update(fqn, description=f"Version {number}.")
    assert await offered.changes() is None
    await registry.unregister(fqn)


@pytest.mark.parametrize("has_regrown", [False, True])
async def test_changes_are_not_known_after_a_rollback(registry, chain, monkeypatch, has_regrown):
    monkeypatch.setattr(changed_tools, "_LAG", 3)
    offered = catalogue(registry)
    await offered.scan(None, 1)
    snapshot = chain.snapshot()
    fqn = ToolFqn.parse("xyz.test.vanishing.tool@1")
    await registry.register(Registration(definition(str(fqn)), 0))
    assert (await changed(offered))[0] == {"tool": ""}
    chain.revert(snapshot)
    if has_regrown:
        chain.fund(registry.client.address, 1)
    assert await offered.changes() is None


@pytest.mark.parametrize("is_filtered", [True, False])
async def test_transferred_name_requires_a_scan_if_the_owner_is_a_filter(
    registry, seller, chain, monkeypatch, is_filtered
):
    monkeypatch.setattr(changed_tools, "_LAG", 0)
    owner = registry.client.address if is_filtered else None
    offered = catalogue(registry, ToolFilter(state=ToolState.ACTIVE, owner=owner))
    await offered.scan(None, 1)
    name = CUT.split("@", maxsplit=1)[0]
    buyer = KeyPair.new()
    chain.fund(buyer.address, 10**9)
    await registry.offer(name, buyer.address)
    async with SuiClient(registry.client.network, buyer) as client:
        buyers = ToolRegistry(client, registry.deployment)
        await buyers.accept(name)
        assert (await offered.changes() is None) is is_filtered
        await buyers.offer(name, registry.client.address)
    await registry.accept(name)


async def test_page_raises_when_the_node_is_unreachable(registry, monkeypatch):
    def parse(self, definition):
        raise UnreachableError("node_unreachable", "away")

    monkeypatch.setattr(CheckedSchemas, "parse", parse)
    with pytest.raises(UnreachableError):
        await catalogue(registry).page(None, 9)


async def quiet(message):
    """Listen to nothing."""


# --- Invocations without a running leader


async def request_call(registry, output, budget):
    """A call that waits for a leader, and the id of its invocation."""
    calls = OnChainCalls(
        Invocations(registry.client, registry.deployment),
        budget,
        output.warn,
        max_outcome_bytes=100,
    )
    offer = await ToolOffers(registry, ACTIVE).find(ToolFqn.parse(CUT))
    said = asyncio.Queue()
    running = asyncio.create_task(calls.call(offer, {}, said.put))
    place = (await said.get()).split()[2].rstrip(",")
    assert (await said.get()).startswith("assigned to the leader 0x")
    return calls, running, place


async def test_closing_names_the_open_invocation(registry, capsys):
    budget = Budget(10**9)
    calls, running, place = await request_call(registry, Output(), budget)
    await calls.close()
    with pytest.raises(asyncio.CancelledError):
        await running
    warning = " ".join(capsys.readouterr().err.split())
    assert f"Run `nexus-tools tool outcome {place} --wait` to see its outcome" in warning
    assert budget.spent_mist > 0


async def test_call_continues_when_its_caller_stops_waiting(registry, chain):
    budget = Budget(10**9)
    calls, running, _ = await request_call(registry, Output(quiet=True), budget)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    [task] = calls._paid._running
    assert not task.done()
    await calls.close()


async def test_expired_invocation_costs_only_its_gas(registry, seller):
    budget = Budget(10**9)
    _, running, place = await request_call(registry, Output(), budget)
    await to_thread.run_sync(lambda: seller.json("localnet", "advance-clock", "1h"))
    await Invocations(registry.client, registry.deployment).expire(Address.parse(place))
    with pytest.raises(WrongStateError) as expired:
        await running
    assert expired.value.code == "expired"
    assert budget.spent_mist < 5_000_000
    assert await registry.client.object(Address.parse(place)) is None


async def test_calls_at_the_same_time_share_a_budget(registry):
    budget = Budget(100)
    with budget.reserved(60):
        with pytest.raises(WrongStateError) as refused, budget.reserved(41):
            pass
        assert refused.value.code == "budget_exhausted"
        with budget.reserved(40) as reservation:
            reservation.spent_mist += 10
    assert budget.spent_mist == 10
    with budget.reserved(90):
        pass
