"""Coins, as far as objects and balances show them."""

from nexus_tools.sui.object import MoveObject, Object
from nexus_tools.sui.type_tag import GAS_COIN, StructTag, TypeTag

_COIN = (GAS_COIN.address, GAS_COIN.module, GAS_COIN.name)


def coin_type(tag: StructTag | None) -> TypeTag | None:
    """The `T` of `0x2::coin::Coin<T>`; None for another type."""
    if tag is None or (tag.address, tag.module, tag.name) != _COIN:
        return None
    return tag.type_params[0]


def is_gas_coin(found: Object) -> bool:
    """Whether this is a coin of SUI."""
    return found.type == GAS_COIN


def coin_balance(coin: Object) -> int:
    """What is in a coin, in its smallest unit: the u64 behind its id."""
    assert isinstance(coin.data, MoveObject)
    return int.from_bytes(coin.data.contents[32:40], "little")
