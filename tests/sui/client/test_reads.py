import pytest

from nexus_tools.contracts import Publisher
from nexus_tools.errors import NotFoundError, UnreachableError, UsageError
from nexus_tools.sui.client import Balance, request_sui
from nexus_tools.sui.network import Network
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import ACCUMULATOR_ROOT, CLOCK, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import Digest
from nexus_tools.sui.types.object import AddressOwner, Shared
from nexus_tools.sui.types.type_tag import GAS_COIN, StructTag
from nexus_tools.sui.types.type_tag import SUI as SUI_TYPE

SUI = 1_000_000_000
NOBODY = Address.of(0xDEAD)


async def test_object_is_read_with_its_owner_and_contents(alice):
    clock = await alice.object(CLOCK)
    assert clock.id == CLOCK
    assert isinstance(clock.owner, Shared)
    assert clock.type.name == "Clock"


async def test_missing_object_is_none(alice):
    assert await alice.object(NOBODY) is None


async def test_objects_keep_the_order_of_their_ids_with_gaps(alice, chain):
    registry = chain.deployment.tool_registry
    found = await alice.objects([CLOCK, NOBODY, registry] * 40)  # three batches
    assert [value and value.id for value in found] == [CLOCK, None, registry] * 40


async def test_empty_list_of_objects_needs_no_request(alice):
    assert await alice.objects([]) == ()


async def test_owned_objects_are_listed_by_type(alice, chain):
    [coin] = await alice.owned_objects(chain.bob.address, GAS_COIN)
    assert coin.owner == AddressOwner(chain.bob.address)
    kind = StructTag(SUI_FRAMEWORK, "package", "UpgradeCap")
    caps = await alice.owned_objects(chain.alice.address, kind)
    known = chain.deployment
    assert {cap.id for cap in caps} == {known.upgrade_cap, known.workflows_upgrade_cap}
    assert await alice.owned_objects(NOBODY) == ()


async def test_package_versions_are_listed_from_any_of_them(alice, chain, next_package):
    first = chain.deployment.package_id
    assert await alice.package_versions(first) == (first,)
    upgraded = (await Publisher(alice).upgrade(next_package, chain.deployment)).deployment
    for package in (first, upgraded.package_id):
        assert await alice.package_versions(package) == (first, upgraded.package_id)
    with pytest.raises(NotFoundError):
        await alice.package_versions(NOBODY)


async def test_balance_and_coins_agree_with_the_funding(bob, chain):
    chain.net.fund(chain.bob.address, 7)
    assert await bob.balance(chain.bob.address) == 1_000 * SUI + 7
    coins = await bob.coins(chain.bob.address)
    assert sorted(coin.balance for coin in coins) == [7, 1_000 * SUI]
    assert await bob.balance(NOBODY) == 0


async def test_balance_includes_the_address_balance(bob):
    builder = TransactionBuilder()
    deposited, sent = builder.split_coins(builder.gas, [5, 7])
    builder.deposit(deposited, NOBODY, SUI_TYPE)
    builder.transfer_objects([sent], NOBODY)
    await bob.execute(builder)
    assert await bob.balance(NOBODY) == 12
    assert await bob.balance_parts(NOBODY) == Balance(7, 5)
    assert [coin.balance for coin in await bob.coins(NOBODY)] == [7]


async def test_faucet_sends_coins(chain, bob):
    gifts = await request_sui(chain.network, NOBODY)
    assert sum(gift.amount for gift in gifts) == await bob.balance(NOBODY)
    assert (await bob.object(gifts[0].coin)).owner == AddressOwner(NOBODY)


async def test_faucet_sends_the_requested_amount(chain, bob):
    [gift] = await request_sui(chain.network, NOBODY, 12_345)
    assert gift.amount == await bob.balance(NOBODY) == 12_345


async def test_faucet_failure_has_its_reason(chain):
    with pytest.raises(UnreachableError, match="amount_mist must be an integer") as caught:
        await request_sui(chain.network, NOBODY, 0)
    assert caught.value.code == "faucet_failed"


async def test_network_without_faucet_is_reported():
    with pytest.raises(NotFoundError) as caught:
        await request_sui(Network("mainnet", "https://example.com"), NOBODY)
    assert caught.value.code == "faucet_missing"


async def test_now_is_the_time_of_the_chain(alice, chain):
    before = await alice.now_ms()
    chain.net.advance_clock(3_600_000)
    assert await alice.now_ms() >= before + 3_600_000


async def test_dynamic_field_is_listed_with_key_and_value(bob):
    builder = TransactionBuilder()
    builder.deposit(builder.split_coins(builder.gas, [300])[0], NOBODY, SUI_TYPE)
    await bob.execute(builder)
    found = await bob.dynamic_fields(ACCUMULATOR_ROOT)
    fields = {(field.key, field.key_type.name): field for field in found}
    field = fields[NOBODY, "Key"]
    assert field.value == (300).to_bytes(16, "little")
    assert (field.value_type.module, field.value_type.name) == ("accumulator", "U128")
    assert field.child is None
    assert await bob.dynamic_fields(field.field_id) == ()


async def test_unknown_transaction_is_none(alice):
    assert await alice.transaction(Digest(bytes(32))) is None


async def test_node_of_another_chain_is_refused(chain):
    other = Network("localnet", chain.net.url, chain_id="11111111111111111111111111111111")
    from nexus_tools.sui.client import SuiClient

    with pytest.raises(UnreachableError) as caught:
        async with SuiClient(other):
            pass
    assert caught.value.code == "wrong_chain"


async def test_right_chain_is_accepted(chain):
    from nexus_tools.sui.client import SuiClient

    network = Network("localnet", chain.net.url, chain_id=chain.deployment.chain_id)
    async with SuiClient(network) as client:
        assert await client.chain_id() == chain.deployment.chain_id


async def test_missing_node_is_unreachable():
    from nexus_tools.sui.client import RetryPolicy, SuiClient

    retry_policy = RetryPolicy(attempts=2, first_delay_s=0.001)
    async with SuiClient(
        Network("localnet", "http://127.0.0.1:1"), retry_policy=retry_policy
    ) as client:
        with pytest.raises(UnreachableError) as caught:
            await client.object(CLOCK)
    assert caught.value.code == "node_unreachable"
    assert "127.0.0.1:1" in caught.value.message


async def test_closed_client_hints_at_opening_it(chain):
    client = chain.client()
    with pytest.raises(UsageError, match="async with"):
        await client.object(CLOCK)
