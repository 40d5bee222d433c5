import pytest

from nexus_tools.errors import NotNowError, ValidationError
from nexus_tools.sui.localnet.node import Node
from nexus_tools.sui.types.execution_status import Success
from nexus_tools.sui.types.object import AddressOwner
from nexus_tools.sui.types.type_tag import GAS_COIN, SUI

MIST = 1_000_000_000
TOTAL = (10_000_000_000 - 1_000_000_000 - 20_000_000) * MIST  # without subsidy and stake


def amounts(node, address):
    coins = node.ledger.owned_by(address)
    return sorted(int.from_bytes(coin.data.contents[32:], "little") for coin in coins)


def test_the_faucet_gives_one_coin_of_the_amount(node, bob):
    executed = node.fund(bob, 200 * MIST)
    assert amounts(node, bob) == [200 * MIST]
    assert executed.effects.status == Success()
    (coin,) = [each for each in executed.output_objects if each.owner == AddressOwner(bob)]
    assert node.ledger.get(coin.id) == coin


def test_the_faucet_gives_several_coins_at_once(node, bob):
    node.fund(bob, 1, 2, 3 * MIST)
    assert amounts(node, bob) == [1, 2, 3 * MIST]
    assert node.ledger.latest.number == 1


def test_the_faucet_is_a_sender_like_any_other(node, bob):
    executed = node.fund(bob, 1)
    faucet = executed.data.sender
    gas = executed.effects.gas_used.net
    assert len(executed.signatures) == 1
    assert node.ledger.balance(faucet, SUI).amount == TOTAL - 1 - gas


def test_more_than_one_coin_holds_is_given_from_several(node, bob):
    single = max(amounts(node, faucet_of(node)))
    node.fund(bob, 3 * single)
    assert amounts(node, bob) == [3 * single]


def test_the_faucet_gives_to_the_end_and_then_says_so(node, bob):
    node.fund(bob, TOTAL - MIST)
    node.fund(bob, MIST // 2)
    with pytest.raises(NotNowError) as caught:
        node.fund(bob, MIST)
    assert caught.value.code == "faucet_empty"
    assert amounts(node, bob) == [MIST // 2, TOTAL - MIST]


def test_many_small_gifts_do_not_use_up_the_coins(node, bob):
    coins = node.ledger.balance(faucet_of(node), SUI).coins
    for _ in range(60):
        node.fund(bob, 5)
    assert amounts(node, bob) == [5] * 60
    assert node.ledger.balance(faucet_of(node), SUI).coins == coins


@pytest.mark.parametrize("asked", [(), (0,), (5, -1), (1,) * 251])
def test_what_is_no_amount_is_refused(node, bob, asked):
    with pytest.raises(ValidationError) as caught:
        node.fund(bob, *asked)
    assert caught.value.code == "faucet_amount_invalid"


def test_more_money_than_there_is_is_refused(node, bob):
    with pytest.raises(NotNowError) as caught:
        node.fund(bob, 2**64)
    assert caught.value.code == "faucet_empty"


def test_each_network_has_a_faucet_of_its_own_that_outlives_a_restart(tmp_path, bob):
    found = []
    for directory in ("one", "one", "two"):
        node = Node.open(tmp_path / directory)
        found.append(node.fund(bob, 1).data.sender)
        node.close()
    assert found[0] == found[1] != found[2]


def faucet_of(node):
    """The owner of the coins that genesis made."""
    (genesis,) = node.ledger.checkpoint(0).transactions
    (owner,) = {
        value.owner.address
        for value in genesis.output_objects
        if isinstance(value.owner, AddressOwner) and value.type == GAS_COIN
    }
    return owner
