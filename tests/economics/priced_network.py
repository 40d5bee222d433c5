"""Networks with a protocol version and a gas price, on which a leader dispatches executions."""

from contextlib import asynccontextmanager

from nexus_tools.contracts import Publisher
from nexus_tools.registry import LeaderRegistry
from nexus_tools.sui.client import RetryPolicy, SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet import Localnet, Origin
from nexus_tools.sui.localnet.genesis import VALIDATORS
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_SYSTEM, SYSTEM_STATE
from nexus_tools.sui.types.transaction import OwnedObject, SharedObject
from tests.economics.carried import MIST, Stage

QUICK = RetryPolicy(first_delay_s=0.001, max_delay_s=0.01)
CAP = "UnverifiedValidatorOperationCap"


@asynccontextmanager
async def priced_network(protocol, gas_price):
    """Yield a stage with an owner and an active leader."""
    async with Localnet(origin=Origin(protocol_version=protocol)) as net:
        network = Network("localnet", net.url, net.url)
        seeds = VALIDATORS[0].account_seed, bytes([7] * 32), bytes([8] * 32)
        keys = [KeyPair.from_bytes(b"\0" + seed) for seed in seeds]
        for key in keys:
            net.fund(key.address, 20_000 * MIST)
        async with (
            SuiClient(network, keys[0], retry_policy=QUICK) as validator,
            SuiClient(network, keys[1], retry_policy=QUICK) as owner,
            SuiClient(network, keys[2], retry_policy=QUICK) as worker,
        ):
            await set_gas_price(net, validator, gas_price)
            deployment = (await Publisher(owner).publish()).deployment
            leaders = LeaderRegistry(worker, deployment)
            _, leader = await leaders.register("first", activate=True)
            yield Stage(deployment, owner, worker, leader)


async def set_gas_price(net, validator, gas_price):
    """Let the only validator set the price, and start the next epoch."""
    owned = net.node.ledger.owned_by(validator.address)
    [cap] = [value for value in owned if value.type.name == CAP]
    builder = TransactionBuilder()
    state = builder.resolved(SharedObject(SYSTEM_STATE, 1, mutable=True))
    arguments = [state, builder.resolved(OwnedObject(cap.reference())), builder.u64(gas_price)]
    builder.move_call(SUI_SYSTEM, "sui_system", "request_set_gas_price", arguments)
    await validator.execute(builder)
    net.advance_epoch()
    assert await validator.gas_price() == gas_price
