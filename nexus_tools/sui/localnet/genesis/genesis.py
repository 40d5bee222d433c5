"""Checkpoint 0 of a network.

One transaction creates the packages, system objects and coins, as on a real network. Framework
functions create the objects. The calls are as in Sui's genesis and epoch changes
(`sui-genesis-builder/src/lib.rs`, `execution_engine.rs` of `sui-adapter`).
"""

from collections.abc import Iterator, Mapping
from functools import lru_cache

from msgspec import Struct
from msgspec.structs import replace

from nexus_tools.sui.bcs import u64
from nexus_tools.sui.bytecode import declared_types
from nexus_tools.sui.errors import NexusError, WrongStateError
from nexus_tools.sui.localnet.execution import (
    SYSTEM_SIGNATURE,
    Environment,
    Executor,
    protocol_rules,
    system_data,
)
from nexus_tools.sui.localnet.framework import (
    FRAMEWORK_NAMES,
    PROTOCOL_VERSION,
    FrameworkPackage,
    Release,
    embedded_release,
    packages_of,
)
from nexus_tools.sui.localnet.genesis.genesis_calls import GenesisCalls
from nexus_tools.sui.localnet.genesis.system_state import STAKE_SUBSIDY_MIST, create_system_state
from nexus_tools.sui.localnet.genesis.validators import STAKE_MIST, VALIDATORS
from nexus_tools.sui.localnet.ledger import (
    Checkpoint,
    ExecutedTransaction,
    Ledger,
    TransactionPlace,
)
from nexus_tools.sui.localnet.vm import Machine, MoveFailure, Types
from nexus_tools.sui.types.address import CLOCK, Address
from nexus_tools.sui.types.clock import clock_contents
from nexus_tools.sui.types.digest import Digest, blake2b256, transaction_digest
from nexus_tools.sui.types.object import Immutable, Linkage, MovePackage, TypeOrigin
from nexus_tools.sui.types.system_transaction import Genesis, GenesisObject

TOTAL_SUPPLY_MIST = 10_000_000_000 * 1_000_000_000
"""The supply of SUI: `TOTAL_SUPPLY_MIST` of the Move module `0x2::sui`."""

COINS = 50
"""The number of the faucet's coins at genesis."""

FAUCET_MIST = TOTAL_SUPPLY_MIST - STAKE_SUBSIDY_MIST - len(VALIDATORS) * STAKE_MIST
"""The faucet's balance: the supply minus the stakes and the stake subsidy."""

# The `create` functions of these modules create the objects 0x6, 0x7, 0x8, 0x403, 0xc and 0xacc.
_MODULES_WITH_AN_OBJECT = (
    "clock",
    "authenticator_state",
    "random",
    "deny_list",
    "coin_registry",
    "accumulator",
)
_FIRST_VERSION = 1


class Origin(Struct, frozen=True):
    """The framework and the protocol version of a new network.

    For a new network, None means the bundled framework and its version. For a stored network, None
    accepts any value.
    """

    release: Release | None = None
    protocol_version: int | None = None


DEFAULT_GENESIS_CONFIG = Origin()


def create_network(
    ledger: Ledger,
    executor: Executor,
    faucet: Address,
    timestamp_ms: int,
    origin: Origin = DEFAULT_GENESIS_CONFIG,
) -> Checkpoint:
    """Write checkpoint 0 of a new network, whose coins belong to `faucet`.

    Raises:
        NexusError: `framework_not_found`, `framework_version_mismatch`, `framework_unsupported`,
            `protocol_version_unknown`.
    """
    rules = protocol_rules(origin.protocol_version or PROTOCOL_VERSION)
    release = origin.release or embedded_release()
    packages = framework_packages(release)
    framework = _framework_types(release)
    for package in packages:
        executor.machine.types.share(framework.load(package.id))
    objects = [GenesisObject(package, Immutable()) for package in packages]
    try:
        objects += _created_objects(executor.machine, faucet, timestamp_ms, rules.version)
    except MoveFailure as error:
        raise NexusError(
            "framework_unsupported",
            f"cannot create a network with the framework of {release.name}: {error}",
            hint="Specify another release, or omit the release to use the bundled framework.",
        ) from None
    data = system_data(Genesis(tuple(objects)))
    data_bytes = data.encode()
    environment = Environment(0, timestamp_ms, 1, rules)
    result = executor.execute(data, transaction_digest(data_bytes), ledger, environment)
    executed = ExecutedTransaction.at(
        TransactionPlace(0, timestamp_ms), data, data_bytes, (SYSTEM_SIGNATURE,), result
    )
    checkpoint = Checkpoint.after(None, (executed,), timestamp_ms)
    ledger.apply(checkpoint)
    return checkpoint


@lru_cache(maxsize=4)  # tests create hundreds of networks
def framework_packages(release: Release) -> tuple[MovePackage, ...]:
    """Return the packages of a release as version 1 of on-chain packages."""
    return tuple(map(_move_package, release.packages.values()))


@lru_cache(maxsize=4)
def _framework_types(release: Release) -> Types:
    """Return the packages of a release, decoded and translated once for all new networks."""
    packages = {package.id: package for package in framework_packages(release)}
    return Types(packages.get, lambda _package: None)


def check_genesis_config(ledger: Ledger, protocol_version: int, origin: Origin) -> None:
    """Refuse an origin that differs from the origin of the stored network.

    Raises:
        WrongStateError: `genesis_config_differs`.
    """
    release = origin.release
    if release is not None and release.digests != framework_digests(ledger):
        raise WrongStateError(
            "genesis_config_differs",
            f"the existing network has a different framework than {release.name}",
            hint="Omit the framework, or start a network in a new folder with --state FOLDER.",
        )
    if origin.protocol_version not in (None, protocol_version):
        raise WrongStateError(
            "genesis_config_differs",
            f"the existing network has protocol version {protocol_version}, not"
            f" {origin.protocol_version}",
            hint="Omit the version, or start a network in a new folder with --state FOLDER.",
        )


def framework_digests(ledger: Ledger) -> Mapping[str, str]:
    """Return the hexadecimal digests of a network's framework packages, by address (`0x1`, …)."""
    modules = {address: _modules(ledger, address) for address in FRAMEWORK_NAMES}
    return Release("", packages_of(modules)).digests


def _modules(ledger: Ledger, address: bytes) -> Mapping[str, bytes]:
    package = ledger.get(Address(address))
    assert package is not None
    assert isinstance(package.data, MovePackage)
    return dict(package.data.modules)


def _move_package(package: FrameworkPackage) -> MovePackage:
    declarations = [declared_types(data) for data in package.modules]
    modules = zip((name for name, _ in declarations), package.modules, strict=True)
    package_id = Address(package.address)
    dependencies = map(Address, package.dependencies)
    linkage = (Linkage(used_id, used_id, _FIRST_VERSION) for used_id in dependencies)
    return MovePackage(
        id=package_id,
        version=_FIRST_VERSION,
        modules=tuple(sorted(modules)),
        type_origins=tuple(
            TypeOrigin(name, datatype, package_id)
            for name, types in declarations
            for datatype in types
        ),
        linkage=tuple(sorted(linkage, key=lambda link: link.original_id)),
    )


def _created_objects(
    machine: Machine, faucet: Address, timestamp_ms: int, protocol_version: int
) -> Iterator[GenesisObject]:
    """Yield the objects that the framework's code creates: system objects and coins."""
    seed = Digest(blake2b256(faucet, u64.encode(timestamp_ms)))
    founding = GenesisCalls(machine, seed, timestamp_ms)
    for module in _MODULES_WITH_AN_OBJECT:
        founding.call(module, "create")
    (supply,) = founding.call("sui", "new")
    coins = [(faucet, FAUCET_MIST // COINS)] * COINS
    create_system_state(founding, supply, timestamp_ms, coins, protocol_version)
    for genesis_object in founding.objects():
        yield (
            _with_time(genesis_object, timestamp_ms)
            if genesis_object.data.id == CLOCK
            else genesis_object
        )


def _with_time(clock: GenesisObject, timestamp_ms: int) -> GenesisObject:
    """Return the clock object 0x6 set to the start time of the chain."""
    contents = clock_contents(timestamp_ms)
    return GenesisObject(replace(clock.data, contents=contents), clock.owner)
