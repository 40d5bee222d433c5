"""Coins. The type of a coin is `0x2::coin::Coin<T>`.

A coin has the fields `id: UID` and `balance: Balance<T> { value: u64 }`. Therefore, the 40 BCS
bytes of a coin are the ID (32 bytes) and the balance (u64, little-endian).
"""

from nexus_tools.sui.bcs import u64
from nexus_tools.sui.types.address import ADDRESS_LENGTH, Address
from nexus_tools.sui.types.object import MoveObject, Object
from nexus_tools.sui.types.type_tag import COIN, GAS_COIN, StructTag, TypeTag

MAX_BALANCE = 2**64 - 1

_BALANCE = slice(ADDRESS_LENGTH, ADDRESS_LENGTH + 8)


def coin_type(tag: TypeTag | None) -> TypeTag | None:
    """Return `T` if a type is `0x2::coin::Coin<T>`, or else None."""
    if not isinstance(tag, StructTag) or tag.name != "Coin" or tag.datatype != COIN:
        return None
    return tag.type_params[0] if len(tag.type_params) == 1 else None


def is_coin(tag: TypeTag | None) -> bool:
    """Return whether a type is a coin's type."""
    return tag is GAS_COIN or coin_type(tag) is not None


def is_gas_coin(value: Object) -> bool:
    """Return whether an object is a SUI coin."""
    return value.type == GAS_COIN


def coin_balance(coin: Object | MoveObject) -> int:
    """Return the balance of a coin in the smallest unit, which is MIST for SUI."""
    data = coin.data if isinstance(coin, Object) else coin
    assert isinstance(data, MoveObject)
    return int.from_bytes(data.contents[_BALANCE], "little")


def coin_contents(object_id: Address, balance: int) -> bytes:
    """Return the BCS bytes of a coin."""
    return bytes(object_id) + u64.encode(balance)


def gas_coin(object_id: Address, balance: int, version: int) -> MoveObject:
    """Return a SUI coin with a balance in MIST."""
    contents = coin_contents(object_id, balance)
    return MoveObject(GAS_COIN, has_public_transfer=True, version=version, contents=contents)
