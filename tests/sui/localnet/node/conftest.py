"""A node with a clock that tests control, and accounts that sign transactions."""

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, utils
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from nexus_tools.sui.localnet.execution import TransactionRefused
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.signature import SignatureScheme, key_address
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import blake2b256
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import MovePackage
from nexus_tools.sui.types.transaction import GasData, TransactionData
from nexus_tools.sui.types.type_tag import GAS_COIN

START_MS = 1_800_000_000_000
SUI = 1_000_000_000
BUDGET = 100_000_000
INTENT = b"\0\0\0"


class WallClock:
    """A machine clock that stands still until it is set."""

    def __init__(self):
        self.now_ms = START_MS

    def __call__(self):
        return self.now_ms


class Ed25519Key:
    scheme = SignatureScheme.ED25519

    def __init__(self, seed):
        self._key = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
        self.public = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)

    def sign(self, digest):
        return self._key.sign(digest)


class EcdsaKey:
    def __init__(self, seed, scheme, curve, order):
        self.scheme, self._order = scheme, order
        self._key = ec.derive_private_key(seed, curve)
        public = self._key.public_key()
        self.public = public.public_bytes(Encoding.X962, PublicFormat.CompressedPoint)

    def sign(self, digest):
        r, s = utils.decode_dss_signature(self._key.sign(digest, ec.ECDSA(SHA256())))
        return r.to_bytes(32, "big") + min(s, self._order - s).to_bytes(32, "big")


K1_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
R1_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551


class Account:
    """A key and its address."""

    def __init__(self, key):
        self._key = key
        self.address = key_address(key.scheme, key.public)

    def sign(self, data_bytes, intent=INTENT):
        digest = blake2b256(intent + data_bytes)
        return bytes([self._key.scheme]) + self._key.sign(digest) + self._key.public

    def coins(self, node):
        return node.ledger.owned_by(self.address, GAS_COIN)

    def transaction(self, node, builder, *, sponsor=None, coins=None, budget=BUDGET):
        payer = sponsor or self
        payment = tuple(coin.reference() for coin in coins or payer.coins(node)[:1])
        gas = GasData(payment, payer.address, 1000, budget)
        return TransactionData(builder.finish(), self.address, gas, NoExpiration())

    def payment(self, node, recipient, amount, **options):
        builder = TransactionBuilder()
        builder.transfer_objects([builder.split_coins(builder.gas, [amount])[0]], recipient)
        return self.transaction(node, builder, **options)

    def send(self, node, data):
        encoded = data.encode()
        return node.execute(encoded, [self.sign(encoded)])

    def pay(self, node, recipient, amount):
        return self.send(node, self.payment(node, recipient, amount))


@pytest.fixture(scope="session")
def network():
    """Return a network that all tests share, each from its start, and its clock."""
    clock = WallClock()
    node = Node.open(wall_clock=clock)
    yield node, clock
    node.close()


@pytest.fixture
def wall_clock(network):
    return network[1]


@pytest.fixture
def node(network):
    node, clock = network
    beginning = node.snapshot()
    yield node
    clock.now_ms = START_MS
    node.revert(beginning)


def new_account(scheme="ed25519", seed=7):
    if scheme == "ed25519":
        return Account(Ed25519Key(bytes([seed]) * 32))
    if scheme == "secp256k1":
        return Account(EcdsaKey(seed, SignatureScheme.SECP256K1, ec.SECP256K1(), K1_ORDER))
    return Account(EcdsaKey(seed, SignatureScheme.SECP256R1, ec.SECP256R1(), R1_ORDER))


@pytest.fixture
def accounts():
    """Return a function that creates an account from a scheme and a seed."""
    return new_account


@pytest.fixture
def account_of():
    """Return a function that creates the account of an Ed25519 seed."""
    return lambda seed: Account(Ed25519Key(seed))


@pytest.fixture
def publish(node):
    """Return a function that publishes modules for an account and returns the package's ID."""

    def send(account, modules):
        builder = TransactionBuilder()
        cap = builder.publish(modules, [Address.of(1), SUI_FRAMEWORK])
        builder.transfer_objects([cap], account.address)
        executed = account.send(node, account.transaction(node, builder))
        assert executed.effects.status == Success()
        (package,) = [v.id for v in executed.output_objects if isinstance(v.data, MovePackage)]
        return package

    return send


@pytest.fixture
def refused_code(node):
    """Return a function that sends an invalid transaction and returns the error code."""

    def send(account, data):
        encoded, latest = data.encode(), node.ledger.latest
        with pytest.raises(TransactionRefused) as caught:
            node.execute(encoded, [account.sign(encoded)])
        assert node.ledger.latest == latest
        return caught.value.code

    return send


@pytest.fixture
def alice(node):
    account = new_account(seed=1)
    node.fund(account.address, 10 * SUI)
    return account


@pytest.fixture
def bob():
    return Address.of(0xB0B)
