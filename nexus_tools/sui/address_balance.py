"""Address balances: money that belongs to an address without being in a coin.

Each is a dynamic field of the accumulator root 0xacc: an owner and a type of funds give its id.
Source: `sui-types/src/{accumulator_root,accumulator_event,funds_accumulator}.rs`.
"""

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.address import ACCUMULATOR_ROOT, SUI_FRAMEWORK, Address
from nexus_tools.sui.digest import dynamic_field_id
from nexus_tools.sui.object import MoveObject, Object, ObjectOwner
from nexus_tools.sui.type_tag import TYPE_TAG, StructTag, TypeTag

_ACCUMULATOR = "accumulator"
_OF_THE_ROOT = ObjectOwner(ACCUMULATOR_ROOT)
_VALUE_TYPE = StructTag(SUI_FRAMEWORK, _ACCUMULATOR, "U128")
# `Field { id: UID, name: Key { address }, value: U128 { value: u128 } }`
_OWNER, _AMOUNT = slice(32, 64), slice(64, 80)


@dataclass(frozen=True, slots=True)
class AddressBalance:
    """What an address has of one type of coin, in the coin's smallest unit: MIST for SUI."""

    owner: Address
    coin_type: TypeTag
    amount: int


def balance_tag(coin_type: TypeTag) -> StructTag:
    """The type of the money in coins and address balances: `0x2::balance::Balance<T>`."""
    return StructTag(SUI_FRAMEWORK, "balance", "Balance", (coin_type,))


def withdrawal_tag(coin_type: TypeTag) -> StructTag:
    """The type of the right to take money from an address balance."""
    funds = balance_tag(coin_type)
    return StructTag(SUI_FRAMEWORK, "funds_accumulator", "Withdrawal", (funds,))


def coin_type_of(funds: TypeTag) -> TypeTag | None:
    """`T` of `0x2::balance::Balance<T>`; None for another type of funds."""
    if not isinstance(funds, StructTag) or len(funds.type_params) != 1:
        return None
    (coin_type,) = funds.type_params
    return coin_type if funds == balance_tag(coin_type) else None


def accumulator_id(owner: Address, funds: TypeTag) -> Address:
    """The id of the field that holds an owner's funds, whether or not it exists."""
    key_type = StructTag(SUI_FRAMEWORK, _ACCUMULATOR, "Key", (funds,))
    return dynamic_field_id(ACCUMULATOR_ROOT, TYPE_TAG.encode(key_type), owner)


def address_balance(value: Object) -> AddressBalance | None:
    """The address balance that an object is; None if it is something else."""
    if value.owner != _OF_THE_ROOT or not isinstance(value.data, MoveObject):
        return None
    key_type, value_type = value.data.type.type_params
    if value_type != _VALUE_TYPE or not isinstance(key_type, StructTag):
        return None
    coin_type = coin_type_of(key_type.type_params[0])
    if coin_type is None:
        return None
    contents = value.data.contents
    amount = int.from_bytes(contents[_AMOUNT], "little")
    return AddressBalance(Address(contents[_OWNER]), coin_type, amount)
