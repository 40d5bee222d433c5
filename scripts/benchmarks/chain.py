"""A localnet in a separate process, and keys with SUI on it."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from benchmarks.processes import Process, home, nexus_tools, started
from benchmarks.signed import COIN_MIST
from nexus_tools.contracts import Deployment, load_package, publish
from nexus_tools.sui.client import Coin, SuiClient, request_sui
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.network import Network
from nexus_tools.sui.signature import SignatureScheme
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import ObjectReference

SUI = 1_000_000_000
_COINS_PER_TRANSACTION = 200


@contextmanager
def localnet(folder: Path) -> Iterator[Network]:
    """Run `nexus-tools localnet start` until the block ends."""
    with localnet_process(folder) as (network, _):
        yield network


@contextmanager
def localnet_process(folder: Path) -> Iterator[tuple[Network, Process]]:
    """Run a localnet until the block ends. Yield the localnet's network and process."""
    command = nexus_tools("localnet", "start", "--port", "0", "--json")
    with started(command, folder / "localnet.log", home(folder)) as process:
        url = process.document()["url"]
        yield Network("localnet", url, url), process


async def funded_key(network: Network, amount_mist: int) -> KeyPair:
    """Return a new key, to which the faucet of a localnet has sent `amount_mist`."""
    key = KeyPair.from_secret(SignatureScheme.ED25519, os.urandom(32))
    await request_sui(network, key.address, amount_mist)
    return key


async def deploy(client: SuiClient) -> Deployment:
    """Publish the nexus-tools package."""
    builder = TransactionBuilder()
    package = load_package()
    publish(builder, package.modules, package.dependencies, client.address)
    return Deployment.of(await client.execute(builder), await client.chain_id())


async def split_coins(
    client: SuiClient, recipient: Address, amounts_mist: Sequence[int]
) -> tuple[Coin, ...]:
    """Send the recipient a new coin of each amount. Return all coins of the recipient."""
    for start in range(0, len(amounts_mist), _COINS_PER_TRANSACTION):
        amounts = amounts_mist[start : start + _COINS_PER_TRANSACTION]
        builder = TransactionBuilder()
        coins = builder.split_coins(builder.gas, amounts)
        builder.transfer_objects([coins[place] for place in range(len(amounts))], recipient)
        await client.execute(builder)
    return await client.coins(recipient)


async def gas_coins(network: Network, owner: Address, count: int) -> list[ObjectReference]:
    """Return `count` coins, each of which can pay for a transaction."""
    # Twice the total of the coins, because the transaction also pays for their storage.
    bank = await funded_key(network, 2 * count * COIN_MIST)
    async with SuiClient(network, bank) as client:
        coins = await split_coins(client, owner, [COIN_MIST] * count)
    return [coin.reference for coin in coins if coin.balance == COIN_MIST]
