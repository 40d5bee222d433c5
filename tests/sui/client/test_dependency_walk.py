"""The transactions of one object, read from its last transaction back to its creation."""

import pytest
from msgspec.structs import astuple, replace

from nexus_tools.contracts.move_bindings import tool_registry as registry_calls
from nexus_tools.registry import ToolRegistry
from nexus_tools.sui.client import object_history
from nexus_tools.sui.transaction_builder import TransactionBuilder


@pytest.fixture
def configure(chain, alice):
    """Return a function that changes the settings of the tool registry, and returns its digest."""

    async def configure(number):
        settings = await ToolRegistry(alice, chain.deployment).settings()
        builder = TransactionBuilder()
        changed = replace(settings, max_schema_bytes=number)
        registry_calls.configure(builder, *chain.administered, *astuple(changed))
        return (await alice.execute(builder)).digest

    return configure


async def read(client, object_id):
    last = (await client.object(object_id)).previous_transaction
    return [found.executed.digest async for found in object_history(client, object_id, last)]


async def test_object_history_leads_from_the_last_change_to_the_creation(chain, alice, configure):
    registry = chain.deployment.tool_registry
    before = await read(alice, registry)
    changes = []
    for number in range(3):
        changes.append(await configure(number))
        await alice.execute(chain.using_cap())  # it does not change the registry
    assert await read(alice, registry) == [*reversed(changes), *before]
    created = await alice.transaction(before[-1])
    assert registry in {made.object_id for made in created.created()}


async def test_object_history_sends_one_request_for_each_transaction(
    chain, alice, configure, calls
):
    registry = chain.deployment.tool_registry
    before = len(await read(alice, registry))
    calls.clear()
    await configure(1)
    calls.clear()
    assert len(await read(alice, registry)) == before + 1
    assert calls["BatchGetTransactions"] <= before + 1
    assert calls["GetTransaction"] == 1
