import pytest

from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.coin import coin_balance, coin_contents, coin_type, gas_coin, is_coin
from nexus_tools.sui.types.object import OBJECT
from nexus_tools.sui.types.type_tag import GAS_COIN, SUI, Primitive, StructTag, VectorTag, coin_tag

# A coin of mainnet, from the tests of MystenLabs/sui-rust-sdk. Its contents end with 34 85 c7 3a
# and four zeros, which is the balance.
MAINNET_COIN = OBJECT.decode(
    bytes.fromhex(
        "000101204f2b000000000028235fafd59757cebe23834f23fe160fb5286c1c4d44e56bfebfa0c4ba2a027a3534"
        "85c73a00000000004fffd0005522be4bc029724c7f0f6ed7093a6bf3a09b90e62f61dc15181e1a3e2011c5c026"
        "40ad8e8f316f0fd35c5430a0f366e5fdfb89d26577ade4338d140f5560130f0000000000"
    )
)


def test_coin_of_mainnet_has_its_balance():
    assert coin_balance(MAINNET_COIN) == coin_balance(MAINNET_COIN.data) == 0x3AC78534


def test_coin_is_encoded_as_on_mainnet():
    balance = coin_balance(MAINNET_COIN)
    assert coin_contents(MAINNET_COIN.id, balance) == MAINNET_COIN.data.contents
    assert gas_coin(MAINNET_COIN.id, balance, MAINNET_COIN.version) == MAINNET_COIN.data


def test_coin_type_is_read_from_the_type_of_a_coin():
    assert coin_type(GAS_COIN) == SUI
    assert coin_type(coin_tag(Primitive.U8)) is Primitive.U8


@pytest.mark.parametrize(
    "tag",
    [
        None,
        SUI,
        Primitive.U64,
        VectorTag(GAS_COIN),
        StructTag(Address.of(0x77), "coin", "Coin", (SUI,)),
        StructTag(SUI_FRAMEWORK, "coin", "Coin"),
    ],
    ids=str,
)
def test_other_types_are_not_coins(tag):
    assert not is_coin(tag)
