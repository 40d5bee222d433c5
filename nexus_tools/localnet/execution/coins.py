"""Coins as Move values and as bytes: `Coin { id: UID, balance: Balance { value: u64 } }`."""

from nexus_tools.localnet.vm import Value
from nexus_tools.sui.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.object import MoveObject, Object
from nexus_tools.sui.type_tag import GAS_COIN, StructTag, TypeTag

MAX_BALANCE = 2**64 - 1
_ID_BYTES, _COIN_BYTES = 32, 40


def is_coin(tag: TypeTag) -> bool:
    """Whether values of this type are coins."""
    return (
        isinstance(tag, StructTag)
        and tag.name == "Coin"
        and tag.module == "coin"
        and tag.address == SUI_FRAMEWORK
    )


def coin_value(object_id: Address, balance: int) -> Value:
    """A coin as a Move value."""
    return [[[bytes(object_id)]], [balance]]


def coin_contents(object_id: Address, balance: int) -> bytes:
    """A coin as BCS bytes."""
    return bytes(object_id) + balance.to_bytes(_COIN_BYTES - _ID_BYTES, "little")


def coin_balance(data: MoveObject) -> int:
    """How much is in a coin, in its smallest unit."""
    return int.from_bytes(data.contents[_ID_BYTES:_COIN_BYTES], "little")


def is_gas_coin(value: Object) -> bool:
    """Whether an object is a coin of SUI."""
    return value.type == GAS_COIN
