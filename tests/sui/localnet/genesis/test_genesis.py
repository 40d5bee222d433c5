import pytest
from msgspec.structs import replace

from nexus_tools.sui.bytecode import package_digest
from nexus_tools.sui.localnet.execution import Executor, machine_for
from nexus_tools.sui.localnet.framework import load_framework
from nexus_tools.sui.localnet.genesis import COINS, TOTAL_SUPPLY_MIST, create_network
from nexus_tools.sui.localnet.ledger import CoinBalance, Ledger
from nexus_tools.sui.types.address import (
    ACCUMULATOR_ROOT,
    AUTHENTICATOR_STATE,
    CLOCK,
    DENY_LIST,
    RANDOM,
    SYSTEM_STATE,
    Address,
)
from nexus_tools.sui.types.effects import Absent, IdOperation, ObjectWrite, PackageWrite
from nexus_tools.sui.types.object import Immutable, Linkage, ObjectOwner, Shared, TypeOrigin
from nexus_tools.sui.types.system_transaction import Genesis
from nexus_tools.sui.types.transaction import TRANSACTION_DATA
from nexus_tools.sui.types.type_tag import GAS_COIN, SUI, parse_struct_tag

FAUCET = Address.of(0xFA)
START_MS = 1_800_000_000_000


def create_genesis(faucet=FAUCET, start_ms=START_MS):
    ledger = Ledger()
    create_network(ledger, Executor(machine_for(ledger)), faucet, start_ms)
    return ledger


@pytest.fixture(scope="module")
def ledger():
    ledger = create_genesis()
    yield ledger
    ledger.close()


def test_checkpoint_0_contains_one_genesis_transaction(ledger):
    (executed,) = ledger.checkpoint(0).transactions
    assert isinstance(executed.data.kind, Genesis)
    assert TRANSACTION_DATA.decode(executed.data_bytes) == executed.data
    assert ledger.latest.number == 0
    assert ledger.latest.summary.timestamp_ms == START_MS
    assert ledger.latest.summary.network_total_transactions == 1


def test_effects_show_every_object_as_created(ledger):
    (executed,) = ledger.checkpoint(0).transactions
    changes = dict(executed.effects.changed_objects)
    assert set(changes) == {value.id for value in executed.output_objects}
    assert {change.input for change in changes.values()} == {Absent()}
    assert {change.operation for change in changes.values()} == {IdOperation.CREATED}
    for value in executed.output_objects:
        written = changes[value.id].output
        assert isinstance(written, PackageWrite if value.type is None else ObjectWrite)
        assert written.digest == value.digest()


def test_every_object_has_version_1_and_the_genesis_transaction(ledger):
    (executed,) = ledger.checkpoint(0).transactions
    assert {value.version for value in executed.output_objects} == {1}
    assert {value.previous_transaction for value in executed.output_objects} == {executed.digest}


# --- Packages


@pytest.mark.parametrize("number", [1, 2, 3])
def test_framework_modules_are_published(ledger, number):
    package = ledger.get(Address.of(number))
    genuine = load_framework()[Address.of(number)]
    assert package.owner == Immutable()
    assert {data for _, data in package.data.modules} == set(genuine.modules)
    names = [name for name, _ in package.data.modules]
    assert names == sorted(names)
    dependencies = [link.upgraded_id for link in package.data.linkage]
    modules = [data for _, data in package.data.modules]
    assert package_digest(modules, dependencies) == package_digest(
        genuine.modules, genuine.dependencies
    )


def test_packages_are_linked_to_first_versions(ledger):
    one, two = Address.of(1), Address.of(2)
    assert ledger.get(one).data.linkage == ()
    assert ledger.get(two).data.linkage == (Linkage(one, one, 1),)
    assert ledger.get(Address.of(3)).data.linkage == (Linkage(one, one, 1), Linkage(two, two, 1))


@pytest.mark.parametrize(
    ("number", "module", "datatype"),
    [
        (1, "option", "Option"),
        (2, "coin", "Coin"),
        (2, "sui", "SUI"),
        (3, "staking_pool", "StakedSui"),
    ],
)
def test_types_originate_in_their_defining_package(ledger, number, module, datatype):
    package = Address.of(number)
    assert TypeOrigin(module, datatype, package) in ledger.get(package).data.type_origins


def test_packages_are_found_by_their_original_id(ledger):
    assert [version.id for version in ledger.package_versions(Address.of(2))] == [Address.of(2)]


# --- System objects


@pytest.mark.parametrize(
    ("object_id", "tag"),
    [
        (SYSTEM_STATE, "0x3::sui_system::SuiSystemState"),
        (CLOCK, "0x2::clock::Clock"),
        (AUTHENTICATOR_STATE, "0x2::authenticator_state::AuthenticatorState"),
        (RANDOM, "0x2::random::Random"),
        (Address.of(0xC), "0x2::coin_registry::CoinRegistry"),
        (DENY_LIST, "0x2::deny_list::DenyList"),
    ],
)
def test_system_objects_are_shared_since_version_1(ledger, object_id, tag):
    found = ledger.get(object_id)
    assert found.type == parse_struct_tag(tag)
    assert found.owner == Shared(1)
    assert not found.data.has_public_transfer


def test_clock_shows_the_start_of_the_chain(ledger):
    assert ledger.get(CLOCK).data.contents == CLOCK + START_MS.to_bytes(8, "little")


def test_inner_state_of_randomness_is_a_dynamic_field_of_version_1(ledger):
    # Random { id: UID, inner: Versioned { id: UID, version: u64 } }
    contents = ledger.get(RANDOM).data.contents
    assert contents[64:] == (1).to_bytes(8, "little")
    (inner,) = ledger.children_of(Address(contents[32:64]))
    assert inner.owner == ObjectOwner(Address(contents[32:64]))
    tag = "0x2::dynamic_field::Field<u64, 0x2::random::RandomInner>"
    assert inner.type == parse_struct_tag(tag)


def test_root_of_address_balances_is_shared_and_empty(ledger):
    root = ledger.get(ACCUMULATOR_ROOT)
    assert root.owner == Shared(1)
    assert root.type == parse_struct_tag("0x2::accumulator::AccumulatorRoot")
    assert root.data.contents == bytes(ACCUMULATOR_ROOT)
    assert ledger.children_of(ACCUMULATOR_ROOT) == []


# --- Money


def test_faucet_has_the_unstaked_supply_in_equal_coins(ledger):
    assert TOTAL_SUPPLY_MIST == 10**19  # ten billion SUI
    rest = 10**19 - 10**18 - 2 * 10**16  # minus a billion of subsidy and 20 million of stake
    assert ledger.balance(FAUCET, SUI) == CoinBalance(rest, COINS)
    coins = ledger.owned_by(FAUCET, GAS_COIN)
    assert {coin.data.contents[32:] for coin in coins} == {(rest // 50).to_bytes(8, "little")}
    assert all(coin.data.has_public_transfer for coin in coins)


def test_sui_metadata_is_frozen_with_nine_decimals(ledger):
    (metadata,) = ledger.describing(parse_struct_tag("0x2::coin::CoinMetadata<0x2::sui::SUI>"))
    assert metadata.owner == Immutable()
    assert metadata.data.contents[32] == 9


# --- Identity


def test_networks_differ_by_faucet_and_start_time():
    chains = []
    for faucet, start_ms in ((FAUCET, START_MS), (Address.of(0xFB), START_MS), (FAUCET, 5)):
        ledger = create_genesis(faucet, start_ms)
        chains.append((ledger.latest.digest, ledger.owned_by(faucet)[0].id))
        ledger.close()
    digests, coins = zip(*chains, strict=True)
    assert len(set(digests)) == len(set(coins)) == 3


def test_same_genesis_gives_the_same_chain(ledger):
    again = create_genesis()
    assert again.latest.digest == ledger.latest.digest
    again.close()


def test_checkpoint_0_has_no_signatures(ledger):
    contents = ledger.latest.contents
    assert contents.signatures == ((),)
    assert replace(contents, signatures=((bytes(97),),)).digest() != contents.digest()
