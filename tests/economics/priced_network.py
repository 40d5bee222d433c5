"""Networks with a protocol version and a gas price, on which a leader dispatches executions.

Each is started once in a process. A test gets it as it was when its leader was registered.
"""

from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass

from nexus_tools.contracts import Deployment, Publisher
from nexus_tools.registry import LeaderRegistry
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.keystore import KeyPair
from nexus_tools.sui.localnet import Origin, ThreadedLocalnet
from nexus_tools.sui.localnet.genesis import VALIDATORS
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_SYSTEM, SYSTEM_STATE, Address
from nexus_tools.sui.types.transaction import OwnedObject, SharedObject
from nexus_tools.testing import LocalnetFixture
from tests.economics.carried import MIST, Stage
from tests.retry_policies import QUICK

CAP = "UnverifiedValidatorOperationCap"
VALIDATOR, OWNER, WORKER = (
    KeyPair.from_bytes(b"\0" + seed)
    for seed in (VALIDATORS[0].account_seed, bytes([7] * 32), bytes([8] * 32))
)


@dataclass(frozen=True)
class PricedNetwork:
    """A network with our package and an active leader."""

    net: ThreadedLocalnet
    deployment: Deployment
    leader: Address

    @asynccontextmanager
    async def stage(self):
        """Yield a stage with the owner and the leader, and revert the network after it."""
        snapshot = self.net.snapshot()
        try:
            async with client_of(self.net, OWNER) as owner, client_of(self.net, WORKER) as worker:
                yield Stage(self.deployment, owner, worker, self.leader)
        finally:
            self.net.revert(snapshot)


class PricedNetworks(ExitStack):
    """The networks of a process by protocol version and gas price, until its context ends."""

    def __init__(self):
        super().__init__()
        self._known = {}

    def of(self, protocol, gas_price):
        """Return the network, and start it at the first call."""
        if (protocol, gas_price) not in self._known:
            origin = Origin(protocol_version=protocol)
            net = self.enter_context(ThreadedLocalnet(origin=origin))
            parts = LocalnetFixture(net.url, net).run(_prepare(net, gas_price))
            self._known[protocol, gas_price] = PricedNetwork(net, *parts)
        return self._known[protocol, gas_price]


def client_of(net, key):
    return SuiClient(Network("localnet", net.url, net.url), key, retry_policy=QUICK)


async def _prepare(net, gas_price):
    """Set the gas price, publish the package and register the leader."""
    for key in (VALIDATOR, OWNER, WORKER):
        net.fund(key.address, 20_000 * MIST)
    async with client_of(net, VALIDATOR) as validator:
        await set_gas_price(net, validator, gas_price)
    async with client_of(net, OWNER) as owner, client_of(net, WORKER) as worker:
        deployment = (await Publisher(owner).publish()).deployment
        _, leader = await LeaderRegistry(worker, deployment).register("first", activate=True)
    return deployment, leader


async def set_gas_price(net, validator, gas_price):
    """Let the only validator set the price, and start the next epoch."""
    owned = net.call(lambda localnet: localnet.node.ledger.owned_by(validator.address))
    [cap] = [value for value in owned if value.type.name == CAP]
    builder = TransactionBuilder()
    state = builder.resolved(SharedObject(SYSTEM_STATE, 1, mutable=True))
    arguments = [state, builder.resolved(OwnedObject(cap.reference())), builder.u64(gas_price)]
    builder.move_call(SUI_SYSTEM, "sui_system", "request_set_gas_price", arguments)
    await validator.execute(builder)
    net.advance_epoch()
    assert await validator.gas_price() == gas_price
