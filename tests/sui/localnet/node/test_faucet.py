import pytest

from nexus_tools.errors import ValidationError, WrongStateError
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.object import AddressOwner
from nexus_tools.sui.types.type_tag import GAS_COIN, SUI

MIST = 1_000_000_000
TOTAL = (10_000_000_000 - 1_000_000_000 - 20_000_000) * MIST  # without subsidy and stake


def amounts(node, address):
    coins = node.ledger.owned_by(address)
    return sorted(int.from_bytes(coin.data.contents[32:], "little") for coin in coins)


def test_faucet_sends_one_coin_of_the_amount(node, bob):
    executed = node.fund(bob, 200 * MIST)
    assert amounts(node, bob) == [200 * MIST]
    assert executed.effects.status == Success()
    (coin,) = [output for output in executed.output_objects if output.owner == AddressOwner(bob)]
    assert node.ledger.get(coin.id) == coin


def test_faucet_sends_several_coins_in_one_transaction(node, bob):
    node.fund(bob, 1, 2, 3 * MIST)
    assert amounts(node, bob) == [1, 2, 3 * MIST]
    assert node.ledger.latest.number == 1


def test_faucet_is_an_ordinary_sender(node, bob):
    executed = node.fund(bob, 1)
    faucet = executed.data.sender
    gas = executed.effects.gas_used.net
    assert len(executed.signatures) == 1
    assert node.ledger.balance(faucet, SUI).amount == TOTAL - 1 - gas


def test_faucet_combines_several_coins_for_a_large_amount(node, bob):
    single = max(amounts(node, faucet_address(node)))
    node.fund(bob, 3 * single)
    assert amounts(node, bob) == [3 * single]


def test_faucet_reports_when_it_is_empty(node, bob):
    node.fund(bob, TOTAL - MIST)
    node.fund(bob, MIST // 2)
    with pytest.raises(WrongStateError) as caught:
        node.fund(bob, MIST)
    assert caught.value.code == "faucet_empty"
    assert amounts(node, bob) == [MIST // 2, TOTAL - MIST]


def test_many_small_transfers_do_not_use_up_the_coins(node, bob):
    coins = node.ledger.balance(faucet_address(node), SUI).coins
    for _ in range(60):
        node.fund(bob, 5)
    assert amounts(node, bob) == [5] * 60
    assert node.ledger.balance(faucet_address(node), SUI).coins == coins


@pytest.mark.parametrize("asked", [(), (0,), (5, -1), (1,) * 251])
def test_invalid_amounts_are_refused(node, bob, asked):
    with pytest.raises(ValidationError) as caught:
        node.fund(bob, *asked)
    assert caught.value.code == "faucet_amount_invalid"


def test_amount_above_the_balance_is_refused(node, bob):
    with pytest.raises(WrongStateError) as caught:
        node.fund(bob, 2**64)
    assert caught.value.code == "faucet_empty"


def test_each_network_has_its_own_faucet_that_survives_a_restart(tmp_path, bob):
    found = []
    for directory in ("one", "one", "two"):
        node = Node.open(tmp_path / directory)
        found.append(node.fund(bob, 1).data.sender)
        node.close()
    assert found[0] == found[1] != found[2]


def faucet_address(node):
    """Return the owner of the genesis coins."""
    (genesis,) = node.ledger.checkpoint(0).transactions
    (owner,) = {
        value.owner.address
        for value in genesis.output_objects
        if isinstance(value.owner, AddressOwner) and value.type == GAS_COIN
    }
    return owner
