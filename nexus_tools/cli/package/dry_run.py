"""The option `package publish --estimate`: size and cost of each transaction of a deployment.

The transactions run on a temporary network in this process.
"""

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, NamedTuple

from nexus_tools.cli.framework import Output
from nexus_tools.sui.support import units

if TYPE_CHECKING:
    from nexus_tools.contracts import LockDeployment, Sent
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.localnet import Localnet
    from nexus_tools.sui.types.address import Address

    Step = tuple[str, Sent]

_AND_LOCK = ", and lock its upgrades"
_GAS_MIST = 1_000_000_000
_EXAMPLE = {
    "fqn": "xyz.example.math.add@1",
    "type": "offchain",
    "url": "https://tools.example.com/add",
    "description": "Adds two integers.",
    "timeout": 5_000,
    "input_schema": {
        "type": "object",
        "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
        "required": ["a", "b"],
    },
    "output_schema": {
        "type": "object",
        "oneOf": [
            {
                "type": "object",
                "properties": {
                    "ok": {"type": "object", "properties": {"result": {"type": "integer"}}}
                },
                "required": ["ok"],
            }
        ],
    },
}
_COLUMNS = {
    "transaction": "Transaction",
    "bytes": "Bytes",
    "computation": "Computation",
    "storage": "Storage",
    "rebate": "Rebate",
    "cost": "Cost",
    "locked": "Locked",
    "makes": "Creates",
}


class ModulesWithDependencies(NamedTuple):
    """Compiled modules, and the packages that they depend on."""

    modules: Sequence[bytes]
    dependencies: "Sequence[Address]"


async def simulate_publication(
    output: Output, others: ModulesWithDependencies | None, *, locked: bool
) -> None:
    """Run every transaction of a deployment in this process, and print the cost of each.

    For our packages, the transactions publish the packages, configure the registries, and register
    a leader and a tool. For `others`, the transactions only publish the package. Nothing is signed
    with the user's keys, and nothing is sent.
    """
    with output.progress("simulating the deployment"):
        async with _network() as (localnet, client):
            rows = []
            async for name, sent in _steps(client, others, locked=locked):
                rows.append(_row(localnet, name, sent))
            gas_price = await client.gas_price()
    total_mist = sum(row["cost_mist"] for row in rows)
    if output.as_json:
        output.document(
            {"gas_price_mist": gas_price, "cost_mist": total_mist, "transactions": rows}
        )
        return
    output.table([units.in_words(row) for row in rows], _COLUMNS, empty="")
    output.note(
        f"The total cost is {units.sui(total_mist)} at a gas price of {gas_price} MIST, excluding"
        " collateral. Nothing was sent: the deployment ran on a temporary network"
    )


@asynccontextmanager
async def _network() -> "AsyncIterator[tuple[Localnet, SuiClient]]":
    """Start a temporary network, and a client whose key has SUI there."""
    from nexus_tools.sui.client import SuiClient
    from nexus_tools.sui.keystore import KeyPair
    from nexus_tools.sui.localnet import Localnet
    from nexus_tools.sui.network import Network

    async with Localnet() as localnet:
        key = KeyPair.new()
        localnet.fund(key.address, 100 * _GAS_MIST)
        async with SuiClient(Network("rehearsal", localnet.url), key) as client:
            yield localnet, client


async def _steps(
    client: "SuiClient", others: ModulesWithDependencies | None, *, locked: bool
) -> "AsyncIterator[Step]":
    from nexus_tools.contracts import Publisher

    publisher = Publisher(client)
    locks = None
    if locked:
        sent, locks = await publisher.publish_lock()
        yield "upgrade_lock, once per network", sent
    named = "the package" + _AND_LOCK * locked
    if others is not None:
        yield named, await publisher.publish_other(others.modules, others.dependencies, locks)
        return
    async for step in _ours(client, publisher, locks, named):
        yield step


async def _ours(
    client: "SuiClient", publisher: Any, locks: "LockDeployment | None", named: str
) -> "AsyncIterator[Step]":
    from nexus_tools.registry import LeaderRegistry, Registration, ToolRegistry
    from nexus_tools.tool import SigningKey, ToolDefinition

    published = await publisher.publish(locks)
    names = (
        named,
        "the package of workflows" + _AND_LOCK * bool(locks),
        "the registry of workflows",
    )
    for name, sent in zip(names, published.sent, strict=True):
        yield name, sent
    tools = ToolRegistry(client, published.deployment)
    leaders = LeaderRegistry(client, published.deployment)
    yield "settings of tools", await tools.configure(await tools.settings())
    yield "settings of leaders", await leaders.configure(await leaders.settings())
    key = SigningKey.new().public_key
    sent, leader = await leaders.register("first", keys=[key], activate=True)
    yield "a leader, with a key", sent
    registration = Registration(ToolDefinition.parse(_EXAMPLE), 1, leaders=(leader,), keys=(key,))
    registered = await tools.register(registration)
    assert registered.sent is not None  # the tool does not exist yet in the new registry
    yield "a tool, with a leader and a key", registered.sent


def _row(localnet: "Localnet", name: str, sent: "Sent") -> dict[str, Any]:
    """Return a transaction as JSON: its size in bytes, costs in MIST, and created objects."""
    from nexus_tools.sui.client import Executed

    assert isinstance(sent, Executed)
    executed = localnet.node.ledger.transaction(sent.digest)
    assert executed is not None
    cost = sent.cost
    return {
        "transaction": name,
        "bytes": len(executed.data_bytes),
        "computation_mist": cost.computation_cost,
        "storage_mist": cost.storage_cost,
        "rebate_mist": cost.storage_rebate,
        "cost_mist": cost.net,
        "locked_mist": _locked(sent),
        "makes": _made(sent),
    }


def _made(sent: Any) -> list[str]:
    """Return the kinds of created objects, packages first, without table entries."""
    from nexus_tools.sui.types.effects import PackageWrite

    changed = sent.effects.changed_objects
    packages = ["package" for _, change in changed if isinstance(change.output, PackageWrite)]
    return packages + sorted(
        created.type.name for created in sent.created() if created.type.name != "Field"
    )


def _locked(sent: "Sent") -> int:
    """Return the collateral that a transaction locked."""
    from nexus_tools.contracts.move_bindings.collateral import CollateralLocked

    return sum(
        CollateralLocked.bcs.decode(event.contents).amount_mist
        for event in sent.events
        if (event.type.module, event.type.name) == ("collateral", "CollateralLocked")
    )
