import pytest
from msgspec.structs import replace

from nexus_tools.errors import UnreachableError
from nexus_tools.sui.client import SuiClient
from nexus_tools.sui.client.coins.gas import budget_for, withdrawals, withdrawn
from nexus_tools.sui.network import NETWORKS
from nexus_tools.sui.transaction_builder import TransactionBuilder
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.effects import GasCostSummary
from nexus_tools.sui.types.type_tag import STRING, SUI

PRICE_OF_LOCALNETS_MIST = 1_000
RECIPIENT = Address.of(0xB0B)


# --- Withdrawals from the gas coin


def test_withdrawn_adds_up_splits_of_known_amounts():
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, [5, 7])
    builder.split_coins(coins[0], [3])
    builder.split_coins(builder.gas, [11])
    assert withdrawn(builder.finish()) == 23


def test_withdrawn_ignores_coins_merged_into_the_gas_coin():
    builder = TransactionBuilder()
    coins = builder.split_coins(builder.gas, [5])
    builder.merge_coins(builder.gas, [coins[0]])
    assert withdrawn(builder.finish()) == 5


def test_withdrawn_is_unknown_for_computed_amounts():
    builder = TransactionBuilder()
    amount = builder.move_call(SUI_FRAMEWORK, "clock", "timestamp_ms", [])
    from nexus_tools.sui.types.transaction import SplitCoins

    builder.command(SplitCoins(builder.gas, (amount,)))
    assert withdrawn(builder.finish()) is None


def test_withdrawn_is_unknown_when_the_gas_coin_is_transferred():
    for give in (
        lambda builder: builder.transfer_objects([builder.gas], RECIPIENT),
        lambda builder: builder.move_call(SUI_FRAMEWORK, "coin", "value", [builder.gas]),
        lambda builder: builder.make_move_vec([builder.gas], None),
        lambda builder: builder.merge_coins(builder.split_coins(builder.gas, [1]), [builder.gas]),
    ):
        builder = TransactionBuilder()
        give(builder)
        assert withdrawn(builder.finish()) is None


def test_withdrawals_adds_up_sui():
    builder = TransactionBuilder()
    for amount, coin_type in ((5, SUI), (7, SUI), (11, STRING)):
        builder.withdrawal(amount, coin_type)
    assert withdrawals(builder.finish()) == 5 + 7


# --- Budgets


def test_budget_covers_computation_storage_and_a_thousand_units():
    cost = GasCostSummary(1_000_000, 5_000_000, 2_000_000, 20_000)
    assert budget_for(cost, 1_000) == 1_000_000 + 3_000_000 + 1_000_000


def test_budget_ignores_a_rebate_beyond_the_storage_cost():
    cost = GasCostSummary(1_000_000, 1_000_000, 9_000_000, 90_000)
    assert budget_for(cost, 750) == 1_000_000 + 750_000


# --- The price


class CountingSigner:
    """A signer that counts its signatures."""

    def __init__(self, key):
        self._key = key
        self.public_key = key.public_key
        self.address = key.address
        self.signatures = 0

    def sign(self, *arguments, **named):
        self.signatures += 1
        return self._key.sign(*arguments, **named)

    def __getattr__(self, name):
        return getattr(self._key, name)


def paying(chain, limit_mist):
    network = replace(chain.network, max_gas_price_mist=limit_mist)
    return network, CountingSigner(chain.bob)


def payment():
    builder = TransactionBuilder()
    builder.transfer_objects(builder.split_coins(builder.gas, [1]), RECIPIENT)
    return builder


async def test_client_signs_nothing_at_a_gas_price_above_the_limit(chain):
    network, signer = paying(chain, PRICE_OF_LOCALNETS_MIST - 1)
    async with SuiClient(network, signer) as client:
        for use in (client.gas_price, lambda: client.execute(payment())):
            with pytest.raises(UnreachableError) as caught:
                await use()
            error = caught.value
            assert error.code == "gas_price_refused"
            assert error.details == {"gas_price_mist": 1_000, "max_gas_price_mist": 999}
            assert "config set max_gas_price 1000" in error.hint
    assert signer.signatures == 0


async def test_client_pays_a_gas_price_at_the_limit(chain):
    network, signer = paying(chain, PRICE_OF_LOCALNETS_MIST)
    async with SuiClient(network, signer) as client:
        await client.execute(payment())
    assert signer.signatures == 1


def test_default_limit_is_ten_times_the_gas_price_of_sui_networks():
    for network in NETWORKS.values():
        assert network.max_gas_price_mist == 10 * PRICE_OF_LOCALNETS_MIST
