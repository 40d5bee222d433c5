"""A ledger in a dict with the framework, the clock and coins, and an executor over it."""

from importlib import resources
from pathlib import Path

import pytest

from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.execution import (
    Environment,
    Executor,
    Mode,
    machine_for,
    protocol_rules,
)
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import CLOCK, Address
from nexus_tools.sui.types.digest import Digest, blake2b256
from nexus_tools.sui.types.execution_status import ErrorKind, Success
from nexus_tools.sui.types.expiration import NoExpiration
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Immutable,
    Linkage,
    MoveObject,
    MovePackage,
    Object,
    Shared,
    TypeOrigin,
)
from nexus_tools.sui.types.transaction import (
    GasData,
    OwnedObject,
    ReceivingObject,
    SharedObject,
    TransactionData,
)
from nexus_tools.sui.types.type_tag import GAS_COIN, StructTag, parse_struct_tag

SUI = 1_000_000_000
ALICE = Address(b"\xa1" * 32)
BOB = Address(b"\xb0" * 32)
GENESIS = Digest(b"\x07" * 32)
STDLIB_AND_SUI = (Address.of(1), Address.of(2))

PROBE_MODULES = {
    path.stem: path.read_bytes()
    for path in sorted((Path(__file__).parent / "probe" / "bytecode").iterdir())
}


def _registry_modules():
    folder = resources.files("nexus_tools.contracts") / "bytecode"
    files = sorted(folder.iterdir(), key=lambda entry: entry.name)
    return [entry.read_bytes() for entry in files if entry.name.endswith(".mv")]


def _framework_packages():
    for address, package in load_framework().items():
        modules = [(deserialize(data), data) for data in package.modules]
        origins = tuple(
            TypeOrigin(compiled.name, compiled.datatype_id(row.handle)[2], Address(address))
            for compiled, _ in modules
            for row in (*compiled.struct_definitions, *compiled.enum_definitions)
        )
        linkage = tuple(Linkage(Address(a), Address(a), 1) for a in package.dependencies)
        files = tuple(sorted((compiled.name, data) for compiled, data in modules))
        data = MovePackage(Address(address), 1, files, origins, linkage)
        yield Object(data, Immutable(), GENESIS, 0)


def _clock(timestamp_ms):
    contents = bytes(CLOCK) + timestamp_ms.to_bytes(8, "little")
    tag = parse_struct_tag("0x2::clock::Clock")
    data = MoveObject(tag, has_public_transfer=False, version=1, contents=contents)
    return Object(data, Shared(1), GENESIS, 0)


FRAMEWORK = tuple(_framework_packages())


class DictStore:
    """Objects by ID; `versions` contains all versions."""

    def __init__(self, objects):
        self.live = {value.id: value for value in objects}
        self.versions = {(value.id, value.version): value for value in objects}

    def get(self, object_id):
        return self.live.get(object_id)

    def get_version(self, object_id, version):
        return self.versions.get((object_id, version))

    def put(self, value):
        self.live[value.id] = value
        self.versions[value.id, value.version] = value

    def commit(self, result):
        for object_id in result.removed:
            self.live.pop(object_id, None)
        for value in result.written.values():
            self.put(value)


class World:
    """A store, an executor, and shortcuts to build and run transactions."""

    SUI, ALICE, BOB, GENESIS = SUI, ALICE, BOB, GENESIS
    probe_modules = PROBE_MODULES

    def __init__(self):
        self.store = DictStore([*FRAMEWORK, _clock(1_000)])
        self.executor = Executor(machine_for(self.store))
        self.environment = Environment(3, 500, 1_000, protocol_rules(105))
        self.coins = 0
        self.gas = self.coin(ALICE, 100 * SUI)
        self.package = None
        self.box = None

    # --- Objects

    def coin(self, owner, balance, tag=GAS_COIN, rebate=988_000):
        """Add an owned coin with an invented ID."""
        self.coins += 1
        object_id = Address(blake2b256(b"coin", self.coins.to_bytes(8, "big")))
        contents = bytes(object_id) + balance.to_bytes(8, "little")
        data = MoveObject(tag, has_public_transfer=True, version=1, contents=contents)
        self.store.put(Object(data, AddressOwner(owner), GENESIS, rebate))
        return object_id

    def balance(self, object_id):
        return int.from_bytes(self.store.get(object_id).data.contents[32:40], "little")

    def value(self, object_id):
        """Return the u64 after the ID of a `Thing`, a `Box` or a `Clock`."""
        return self.balance(object_id)

    def argument(self, object_id, *, mutable=True):
        value = self.store.get(object_id)
        if isinstance(value.owner, Shared):
            return SharedObject(object_id, value.owner.initial_version, mutable=mutable)
        if isinstance(value.owner, ConsensusAddressOwner):
            return SharedObject(object_id, value.owner.start_version, mutable=mutable)
        return OwnedObject(value.reference())

    def receiving(self, object_id):
        return ReceivingObject(self.store.get(object_id).reference())

    def tag(self, name, *params):
        """Return a type of the probe package, by the package that defined it."""
        return StructTag(self.package, "probe", name, tuple(params))

    def things(self):
        """Return the IDs of all live `Thing`s."""
        return [
            value.id
            for value in self.store.live.values()
            if value.type is not None and value.type.name == "Thing"
        ]

    # --- Transactions

    def data(self, kind, *, sender=ALICE, budget=5 * SUI, payment=None, price=1_000, owner=None):
        payment = (self.gas,) if payment is None else payment
        references = tuple(self.store.get(coin).reference() for coin in payment)
        gas = GasData(references, owner or sender, price, budget)
        kind = kind.finish() if isinstance(kind, TransactionBuilder) else kind
        return TransactionData(kind, sender, gas, NoExpiration())

    def execute(self, data, mode=Mode.COMMIT):
        return self.executor.execute(data, data.digest(), self.store, self.environment, mode)

    def run(self, kind, **options):
        result = self.execute(self.data(kind, **options))
        self.store.commit(result)
        return result

    def succeed(self, kind, **options):
        result = self.run(kind, **options)
        assert result.effects.status == Success(), (result.effects.status, result.failure)
        return result

    def fail(self, kind, **options):
        """Return the kind of the error, its data, and the command."""
        status = self.run(kind, **options).effects.status
        assert status != Success()
        return status.error.kind, status.error.data, status.command

    def fail_argument(self, kind, **options):
        """Return the argument error and the command."""
        error, data, command = self.fail(kind, **options)
        assert error is ErrorKind.COMMAND_ARGUMENT_ERROR
        return data, command

    def returned(self, kind, mode=Mode.SIMULATE, **options):
        """Return the BCS bytes that the last command returns in a simulation."""
        result = self.execute(self.data(kind, **options), mode)
        assert result.effects.status == Success(), (result.effects.status, result.failure)
        return [data for _, data in result.command_results[-1].return_values]

    # --- Packages

    def publish(self, modules, dependencies=STDLIB_AND_SUI, **options):
        """Publish a package and keep its cap. Return the package object and the result."""
        builder = self.publishing(TransactionBuilder(), modules, dependencies)
        result = self.succeed(builder, **options)
        package = next(v for v in result.written.values() if isinstance(v.data, MovePackage))
        return package, result

    def publishing(self, builder, modules, dependencies=STDLIB_AND_SUI):
        """Add commands that publish a package and keep its cap."""
        builder.transfer_objects([builder.publish(modules, dependencies)], ALICE)
        return builder

    def publish_probe(self):
        """Publish the probe: `package` is its ID, `box` its shared object."""
        package, result = self.publish([PROBE_MODULES["probe"]])
        self.package = package.id
        self.box = next(v.id for v in result.written.values() if isinstance(v.owner, Shared))
        return result

    def publish_registry(self):
        return self.publish(_registry_modules())

    def call(self, builder, function, arguments=(), type_arguments=()):
        """Add a call of the probe package."""
        return builder.move_call(self.package, "probe", function, arguments, type_arguments)

    def new_thing(self, value=7, owner=ALICE):
        """Create a `Thing` for an address."""
        builder = TransactionBuilder()
        thing = self.call(builder, "new_thing", [builder.u64(value)])
        builder.transfer_objects([thing], owner)
        result = self.succeed(builder)
        return next(
            v.id for v in result.written.values() if v.type is not None and v.type.name == "Thing"
        )


@pytest.fixture
def world():
    return World()


@pytest.fixture
def probed():
    """Return a world in which the probe package is published."""
    world = World()
    world.publish_probe()
    return world


@pytest.fixture
def build():
    """Return an empty transaction builder."""
    return TransactionBuilder()
