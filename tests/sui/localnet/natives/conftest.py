"""Natives called as from Move code, by a machine with the framework's packages."""

import json
from pathlib import Path

import pytest

from nexus_tools.sui.bytecode import deserialize
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.natives import NATIVES, NativeGas, ObjectRuntime, TransactionContext
from nexus_tools.sui.localnet.vm import Context, Machine, Meter, MoveAbort, Reference
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import Linkage, MovePackage, TypeOrigin

VECTORS = Path(__file__).parents[3] / "vectors"
SENDER = Address(b"\xa1" * 32)
DIGEST = Digest(bytes(range(32)))


def _packages():
    packages = {}
    for address, package in load_framework().items():
        modules = [(deserialize(data), data) for data in package.modules]
        origins = tuple(
            TypeOrigin(compiled.name, compiled.datatype_id(row.handle)[2], Address(address))
            for compiled, _ in modules
            for row in (*compiled.struct_definitions, *compiled.enum_definitions)
        )
        linkage = tuple(Linkage(Address(a), Address(a), 1) for a in package.dependencies)
        files = tuple((compiled.name, data) for compiled, data in modules)
        packages[address] = MovePackage(Address(address), 1, files, origins, linkage)
    return packages


PACKAGES = _packages()


class Caller:
    """A caller of framework functions; `objects` are the ledger's objects by id."""

    SENDER, DIGEST = SENDER, DIGEST

    def __init__(self):
        self.objects = {}
        self.machine = Machine(NATIVES, PACKAGES.get)
        self.transaction = TransactionContext(
            SENDER, DIGEST, 7, 7_000, 1_000, 1_100, 5_000_000, None
        )
        self.runtime = ObjectRuntime(
            self.transaction, {}, self.objects.get, self.machine.types.decode, NativeGas(10**12)
        )

    def __call__(self, module, function, *arguments, types=(), package=2):
        found = self.machine.types.function(Address.of(package), module, function)
        context = Context(self.machine.types, Meter(10**9), self.runtime)
        results = self.machine.call(found, types, arguments, context)
        return results[0] if len(results) == 1 else results

    def aborts(self, *call, **options):
        """Return the abort code of a call."""
        with pytest.raises(MoveAbort) as abort:
            self(*call, **options)
        return abort.value.code

    def context(self):
        """Return a `&mut TxContext`."""
        return Reference([self.transaction.as_move_value()], 0)


@pytest.fixture
def call():
    return Caller()


@pytest.fixture
def ref():
    """Return a reference to a vector of bytes."""
    return lambda data: Reference([bytearray(data)], 0)


@pytest.fixture
def at():
    """Return a reference to a value."""
    return lambda value: Reference([value], 0)


@pytest.fixture(scope="session")
def bls12381():
    """Return signatures and elements of the framework's tests (`bls12381_tests.move`), in hex."""
    return json.loads((VECTORS / "bls12381.json").read_text())


@pytest.fixture(scope="session")
def groth16():
    """Return keys and proofs of the framework's tests (`groth16_tests.move`), in hex."""
    return json.loads((VECTORS / "groth16.json").read_text())
