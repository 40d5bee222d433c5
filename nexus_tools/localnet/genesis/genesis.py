"""The world at checkpoint 0.

Packages, system objects and money come into being by one transaction, as on a real network. The
objects are made by the framework's own functions, called as Sui's genesis and its changes of epoch
call them (`sui-genesis-builder/src/lib.rs`, `execution_engine.rs` of `sui-adapter`).
"""

from collections.abc import Iterator
from functools import cache

from msgspec.structs import replace

from nexus_tools.bytecode import declared_types
from nexus_tools.localnet.execution import SYSTEM_SIGNATURE, Environment, Executor, system_data
from nexus_tools.localnet.framework import FrameworkPackage, load_framework
from nexus_tools.localnet.genesis.founding import Founding
from nexus_tools.localnet.genesis.system_state import STAKE_SUBSIDY_MIST, create_system_state
from nexus_tools.localnet.genesis.validators import STAKE_MIST, VALIDATORS
from nexus_tools.localnet.ledger import Checkpoint, ExecutedTransaction, Ledger, Place
from nexus_tools.localnet.vm import Machine
from nexus_tools.sui.address import CLOCK, Address
from nexus_tools.sui.bcs import u64
from nexus_tools.sui.clock import clock_contents
from nexus_tools.sui.digest import Digest, blake2b256, transaction_digest
from nexus_tools.sui.object import Immutable, Linkage, MovePackage, TypeOrigin
from nexus_tools.sui.system_transaction import Genesis, GenesisObject

TOTAL_SUPPLY_MIST = 10_000_000_000 * 1_000_000_000
"""All SUI that there is: `TOTAL_SUPPLY_MIST` of the Move module `0x2::sui`."""

COINS = 50
"""In how many coins the faucet has its money at first."""

FAUCET_MIST = TOTAL_SUPPLY_MIST - STAKE_SUBSIDY_MIST - len(VALIDATORS) * STAKE_MIST
"""What the faucet has: all that is neither staked nor set aside for stakers."""

# Modules whose `create` makes a shared object with an id of its own: 0x6, 0x7, 0x8, 0x403, 0xc and
# 0xacc.
_MODULES_WITH_AN_OBJECT = (
    "clock",
    "authenticator_state",
    "random",
    "deny_list",
    "coin_registry",
    "accumulator",
)
_FIRST_VERSION = 1


def found_network(
    ledger: Ledger, executor: Executor, faucet: Address, timestamp_ms: int
) -> Checkpoint:
    """Write checkpoint 0 of a new network, where the money belongs to `faucet`.

    Raises `framework_not_found` and `framework_version_mismatch`.
    """
    packages = framework_packages()
    for package in packages:
        executor.machine.types.publish(package)
    objects = [GenesisObject(package, Immutable()) for package in packages]
    objects += _created_objects(executor.machine, faucet, timestamp_ms)
    data = system_data(Genesis(tuple(objects)))
    data_bytes = data.encode()
    environment = Environment(0, timestamp_ms, 1)
    result = executor.execute(data, transaction_digest(data_bytes), ledger, environment)
    executed = ExecutedTransaction.at(
        Place(0, timestamp_ms), data, data_bytes, (SYSTEM_SIGNATURE,), result
    )
    checkpoint = Checkpoint.after(None, (executed,), timestamp_ms)
    ledger.apply(checkpoint)
    return checkpoint


@cache  # tests open networks by the hundred
def framework_packages() -> tuple[MovePackage, ...]:
    """The genuine framework, each package in its first version.

    Raises `framework_not_found` and `framework_version_mismatch`.
    """
    return tuple(map(_move_package, load_framework().values()))


def _move_package(package: FrameworkPackage) -> MovePackage:
    declared = [declared_types(data) for data in package.modules]
    named = zip((name for name, _ in declared), package.modules, strict=True)
    package_id = Address(package.address)
    used = map(Address, package.dependencies)
    linkage = (Linkage(each, each, _FIRST_VERSION) for each in used)
    return MovePackage(
        id=package_id,
        version=_FIRST_VERSION,
        modules=tuple(sorted(named)),
        type_origins=tuple(
            TypeOrigin(name, datatype, package_id) for name, types in declared for datatype in types
        ),
        linkage=tuple(sorted(linkage, key=lambda link: link.original_id)),
    )


def _created_objects(
    machine: Machine, faucet: Address, timestamp_ms: int
) -> Iterator[GenesisObject]:
    """The objects that the framework's code creates: system objects and coins."""
    seed = Digest(blake2b256(faucet, u64.encode(timestamp_ms)))
    founding = Founding(machine, seed, timestamp_ms)
    for module in _MODULES_WITH_AN_OBJECT:
        founding.call(module, "create")
    (supply,) = founding.call("sui", "new")
    coins = [(faucet, FAUCET_MIST // COINS)] * COINS
    create_system_state(founding, supply, timestamp_ms, coins)
    for created in founding.objects():
        yield _with_time(created, timestamp_ms) if created.data.id == CLOCK else created


def _with_time(clock: GenesisObject, timestamp_ms: int) -> GenesisObject:
    """The clock at the start of the chain."""
    contents = clock_contents(timestamp_ms)
    return GenesisObject(replace(clock.data, contents=contents), clock.owner)
