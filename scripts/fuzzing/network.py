"""A network that is the same in every run, with accounts, packages and objects for inputs."""

from dataclasses import dataclass
from functools import cache

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from fuzzing.corpus import PROBE
from nexus_tools.contracts import load_package
from nexus_tools.sui.localnet.execution import Executor, machine_for
from nexus_tools.sui.localnet.ledger import ExecutedTransaction, Ledger, Snapshot
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.node.faucet import KEY_SETTING
from nexus_tools.sui.signature import TRANSACTION_INTENT, SignatureScheme, key_address
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest, blake2b256
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import MovePackage, Object, ObjectReference, Shared
from nexus_tools.sui.types.transaction import GasData, OwnedObject, SharedObject, TransactionData
from nexus_tools.sui.types.type_tag import GAS_COIN

START_MS = 1_800_000_000_000
SUI = 1_000_000_000
BUDGET = 2_000_000_000
DEPENDENCIES = (Address.of(1), Address.of(2))
NOTHING = ObjectReference(Address.of(0xDEAD), 1, Digest(bytes(32)))
"""The reference of an object that does not exist."""


class Account:
    """A key that is the same in every run, and its address."""

    def __init__(self, seed: int) -> None:
        self._key = Ed25519PrivateKey.from_private_bytes(bytes([seed]) * 32)
        self._public = self._key.public_key().public_bytes_raw()
        self.address = key_address(SignatureScheme.ED25519, self._public)

    def sign(self, data_bytes: bytes) -> bytes:
        """Return the signature of a transaction."""
        signature = self._key.sign(blake2b256(TRANSACTION_INTENT, data_bytes))
        return bytes([SignatureScheme.ED25519]) + signature + self._public


@dataclass(frozen=True, slots=True)
class Network:
    """A node in its initial state. `probe` and `registry` are packages on its chain."""

    node: Node
    accounts: tuple[Account, ...]
    probe: Address
    registry: Address
    beginning: Snapshot

    def restart(self) -> None:
        """Revert the node to its initial state."""
        self.node.revert(self.beginning)

    def account(self, address: Address) -> Account | None:
        """Return the account with this address."""
        return next((account for account in self.accounts if account.address == address), None)

    def objects(self) -> list[Object]:
        """Return the objects of the accounts, and the shared objects of the packages."""
        ledger = self.node.ledger
        owned = [value for account in self.accounts for value in ledger.owned_by(account.address)]
        shared = [
            value
            for transaction in ledger.transactions(0, 100)
            for value in transaction.output_objects
            if isinstance(value.owner, Shared) and ledger.get(value.id) == value
        ]
        return [*owned, *shared]


@cache
def network() -> Network:
    """Return the network of this process."""
    ledger = Ledger()
    ledger.set_setting(KEY_SETTING, bytes([9]) * 32)
    node = Node(ledger, Executor(machine_for(ledger)), wall_clock=lambda: START_MS)
    accounts = (Account(1), Account(2))
    for account in accounts:
        node.fund(account.address, 1000 * SUI, 500 * SUI, 3 * SUI)
    alice = accounts[0]
    probe = _publish(node, alice, (PROBE.joinpath("probe.mv").read_bytes(),))
    registry = _publish(node, alice, load_package().modules)
    for value in (7, 8):
        builder = TransactionBuilder()
        thing = builder.move_call(probe, "probe", "new_thing", [builder.u64(value)])
        builder.transfer_objects([thing], alice.address)
        send(node, alice, builder)
    return Network(node, accounts, probe, registry, node.snapshot())


def _publish(node: Node, account: Account, modules: tuple[bytes, ...]) -> Address:
    builder = TransactionBuilder()
    cap = builder.publish(modules, DEPENDENCIES)
    builder.transfer_objects([cap], account.address)
    executed = send(node, account, builder)
    return next(v.id for v in executed.output_objects if isinstance(v.data, MovePackage))


def transaction(node: Node, account: Account, builder: TransactionBuilder) -> TransactionData:
    """Return a built transaction that the account's first coin pays for."""
    coin = node.ledger.owned_by(account.address, GAS_COIN)[0]
    gas = GasData((coin.reference(),), account.address, 1000, BUDGET)
    return TransactionData(builder.finish(), account.address, gas, NoExpiration())


def send(node: Node, account: Account, builder: TransactionBuilder) -> ExecutedTransaction:
    """Execute a transaction that has to succeed."""
    data = transaction(node, account, builder).encode()
    executed = node.execute(data, [account.sign(data)])
    assert isinstance(executed.effects.status, Success), executed.effects.status
    return executed


def argument(value: Object) -> OwnedObject | SharedObject:
    """Return an object as a transaction input."""
    if isinstance(value.owner, Shared):
        return SharedObject(value.id, value.owner.initial_version, mutable=True)
    return OwnedObject(value.reference())
