"""A node with a package of known functions, and an account that calls them."""

from pathlib import Path

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from nexus_tools.sui.bcs import byte_vector, string, u8, u64, vector
from nexus_tools.sui.bytecode import package_digest
from nexus_tools.sui.localnet.compiler import read_sources
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.localnet.trace import EventTrace, trace_transaction
from nexus_tools.sui.signature import TRANSACTION_INTENT, SignatureScheme, key_address
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK, RANDOM, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import blake2b256
from nexus_tools.sui.types.effects import IdOperation, ObjectWrite
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import Shared
from nexus_tools.sui.types.transaction import (
    GasData,
    OwnedObject,
    SharedObject,
    TransactionData,
)
from nexus_tools.sui.types.type_tag import GAS_COIN, StructTag

SAMPLE = Path(__file__).parent / "sample"
SUI = 1_000_000_000
START_MS = 1_800_000_000_000


class World:
    """The node, the account, the package, and its first counter."""

    START_MS, SAMPLE = START_MS, SAMPLE
    u8, u64, text, bytes, vector = u8, u64, string, byte_vector, staticmethod(vector)

    def __init__(self, node, modules):
        self.node = node
        self.modules = modules
        self._key = Ed25519PrivateKey.from_private_bytes(b"\7" * 32)
        self._public_key = self._key.public_key().public_bytes_raw()
        self.address = key_address(SignatureScheme.ED25519, self._public_key)
        node.fund(self.address, 100 * SUI)
        self.publishing = self.publish()
        self.package = next(
            value.id for value in self.publishing.output_objects if value.type is None
        )
        self.counter = next(
            value.id
            for value in self.publishing.output_objects
            if value.type == self.tag("Counter")
        )

    def tag(self, name):
        return StructTag(self.package, "counter", name)

    # --- Transactions

    def data(self, builder, budget=SUI):
        coin = self.node.ledger.owned_by(self.address, GAS_COIN)[0]
        gas = GasData((coin.reference(),), self.address, 1000, budget)
        return TransactionData(builder.finish(), self.address, gas, NoExpiration())

    def send(self, builder, budget=SUI):
        data = self.data(builder, budget).encode()
        signature = self._key.sign(blake2b256(TRANSACTION_INTENT, data))
        signed = bytes([SignatureScheme.ED25519]) + signature + self._public_key
        return self.node.execute(data, [signed])

    def succeed(self, builder):
        executed = self.send(builder)
        assert executed.effects.status == Success()
        return executed

    def publish(self, dependencies=(1, 2)):
        builder = TransactionBuilder()
        cap = builder.publish(self.modules, [Address.of(dependency) for dependency in dependencies])
        builder.transfer_objects([cap], self.address)
        return self.succeed(builder)

    def upgrade(self):
        """Publish the same modules as the next version."""
        cap = self.created(self.publishing, "UpgradeCap")
        dependencies = [Address.of(1), Address.of(2)]
        builder = TransactionBuilder()
        argument = self.object(builder, cap)
        digest = builder.byte_vector(package_digest(self.modules, dependencies))
        policy = builder.pure(u8, 0)
        given = [argument, policy, digest]
        ticket = builder.move_call(SUI_FRAMEWORK, "package", "authorize_upgrade", given)
        receipt = builder.upgrade(self.modules, dependencies, self.package, ticket)
        builder.move_call(SUI_FRAMEWORK, "package", "commit_upgrade", [argument, receipt])
        return self.succeed(builder)

    # --- Building

    def object(self, builder, object_id):
        value = self.node.ledger.get(object_id)
        if isinstance(value.owner, Shared):
            mutable = object_id not in (CLOCK, RANDOM)
            start = value.owner.initial_version
            return builder.resolved(SharedObject(object_id, start, mutable=mutable))
        return builder.resolved(OwnedObject(value.reference()))

    def call(self, builder, function, *arguments, types=()):
        """Append a call. An argument is an ID, a codec and a value, or one of the builder's."""
        given = [self.argument(builder, argument) for argument in arguments]
        return builder.move_call(self.package, "counter", function, given, types)

    def argument(self, builder, given):
        if isinstance(given, Address):
            return self.object(builder, given)
        return builder.pure(*given) if isinstance(given, tuple) else given

    def run(self, function, *arguments, types=(), budget=SUI):
        """Send a transaction with one call."""
        builder = TransactionBuilder()
        self.call(builder, function, *arguments, types=types)
        return self.send(builder, budget)

    def trace(self, executed):
        trace = trace_transaction(self.node, executed.digest)
        assert trace.is_faithful
        return trace

    def created(self, executed, name):
        """Return the ID of the object that a transaction created, by type name."""
        types = {value.id: value.type for value in executed.output_objects}
        return next(
            object_id
            for object_id, change in executed.effects.changed_objects
            if change.operation is IdOperation.CREATED
            and isinstance(change.output, ObjectWrite)
            and types[object_id].name == name
        )

    def line(self, text):
        """Return the number of the source line that contains a text."""
        lines = (self.SAMPLE / "sources" / "counter.move").read_text().splitlines()
        return next(number for number, line in enumerate(lines, 1) if text in line)


@pytest.fixture(scope="session")
def sample_modules(move_builder):
    return move_builder.build(read_sources(SAMPLE)).modules


@pytest.fixture(scope="session")
def shared_world(sample_modules):
    node = Node.open(wall_clock=lambda: START_MS)
    yield World(node, sample_modules)
    node.close()


@pytest.fixture
def world(shared_world):
    """Return the world in its initial state."""
    beginning = shared_world.node.snapshot()
    yield shared_world
    shared_world.node.revert(beginning)


@pytest.fixture
def described():
    def describe(step):
        """Return a call by its name, or an event by its type."""
        if isinstance(step, EventTrace):
            return f"event {step.type.name}"
        return f"{step.function.module.name}::{step.function.name}"

    return describe


@pytest.fixture
def root():
    def find(trace, command=0):
        (call,) = trace.commands[command].steps
        return call

    return find


@pytest.fixture
def contents():
    def read(values):
        return [value.value.content for value in values]

    return read
