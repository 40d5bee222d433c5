"""Address balances, which are funds of an address that do not belong to a coin object.

Each balance is a dynamic field of the accumulator root 0xacc. The owner and the type of the funds
determine the ID of the field. A transaction can use the funds in two ways. A *withdrawal* is an
input of the transaction. A *coin reservation* is listed among the gas coins. Source:
`sui-types/src/{accumulator_root,accumulator_event,funds_accumulator,coin_reservation}.rs`, and
`FundsWithdrawalArg` in `transaction.rs`.
"""

from typing import TypeVar

from msgspec import Struct

from nexus_tools.sui.bcs import BcsError, Codec, struct, u8, u64
from nexus_tools.sui.types.address import ACCUMULATOR_ROOT, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.digest import Digest, dynamic_field_id
from nexus_tools.sui.types.object import MoveObject, Object, ObjectOwner, ObjectReference
from nexus_tools.sui.types.type_tag import (
    ACCUMULATOR_VALUE,
    TYPE_TAG,
    StructTag,
    TypeTag,
    accumulator_key_tag,
    balance_tag,
)

T = TypeVar("T")

_ACCUMULATOR = "accumulator"
_OF_THE_ROOT = ObjectOwner(ACCUMULATOR_ROOT)
# `Field { id: UID, name: Key { address }, value: U128 { value: u128 } }`
_OWNER, _AMOUNT = slice(32, 64), slice(64, 80)

# --- Balances


class AddressBalance(Struct, frozen=True):
    """The balance of an address in one coin type.

    The amount is in the smallest unit (MIST for SUI).
    """

    owner: Address
    coin_type: TypeTag
    amount: int


def coin_type_of(funds: TypeTag) -> TypeTag | None:
    """Return `T` if the type of the funds is `0x2::balance::Balance<T>`, or else None."""
    if not isinstance(funds, StructTag) or len(funds.type_params) != 1:
        return None
    (coin_type,) = funds.type_params
    return coin_type if funds == balance_tag(coin_type) else None


def accumulator_id(owner: Address, funds: TypeTag) -> Address:
    """Return the ID of the dynamic field for an owner's funds. The field need not exist."""
    key_type = accumulator_key_tag(funds)
    return dynamic_field_id(ACCUMULATOR_ROOT, TYPE_TAG.encode(key_type), owner)


def address_balance(value: Object) -> AddressBalance | None:
    """Return the address balance that an object contains, or None for any other object."""
    if value.owner != _OF_THE_ROOT or not isinstance(value.data, MoveObject):
        return None
    key_type, value_type = value.data.type.type_params
    if value_type != ACCUMULATOR_VALUE or not isinstance(key_type, StructTag):
        return None
    coin_type = coin_type_of(key_type.type_params[0])
    if coin_type is None:
        return None
    contents = value.data.contents
    amount = int.from_bytes(contents[_AMOUNT], "little")
    return AddressBalance(Address(contents[_OWNER]), coin_type, amount)


# --- Withdrawals


class FundsWithdrawal(Struct, frozen=True):
    """A transaction input that can withdraw at most `amount` from an address balance.

    `type` is the coin type. `source` is 0 for the sender's balance, and 1 for the sponsor's
    balance.
    """

    amount: int
    type: TypeTag
    source: int


def withdrawal_tag(coin_type: TypeTag) -> StructTag:
    """Return the Move type of a withdrawal input with a coin type."""
    funds = balance_tag(coin_type)
    return StructTag(SUI_FRAMEWORK, "funds_accumulator", "Withdrawal", (funds,))


def _only_variant(codec: Codec[T]) -> Codec[T]:
    """Return a codec of an enum with one variant, whose value follows the variant number 0."""

    def read(data: bytes, position: int) -> tuple[T, int]:
        if data[position]:
            raise BcsError(f"a funds withdrawal has no variant {data[position]}")
        return codec.read(data, position + 1)

    def write(value: T, out: bytearray) -> None:
        out.append(0)
        codec.write(value, out)

    return Codec(read, write)


def _read_source(data: bytes, position: int) -> tuple[int, int]:
    if data[position] > 1:
        raise BcsError(f"WithdrawFrom has no variant {data[position]}")
    return data[position], position + 1


FUNDS_WITHDRAWAL = struct(
    FundsWithdrawal, _only_variant(u64), _only_variant(TYPE_TAG), Codec(_read_source, u8.write)
)

# --- Coin reservations

# A coin reservation is encoded as a coin reference: ID, version and digest. The ID is the ID of the
# balance XOR the chain ID, so a reservation is valid for one chain. The digest contains the amount,
# the epoch and a fixed suffix. For example, the digest for 5 SUI in epoch 7 is
#
#     00f2052a01000000  07000000  acacacacacacacacacacacacacacacacacacacac
#     amount (u64)      epoch     a suffix that no hash is expected to have
_MAGIC = b"\xac" * 20
_AMOUNT_OF, _EPOCH, _MARK = slice(0, 8), slice(8, 12), slice(12, 32)
_NO_VERSION = 0


class CoinReservation(Struct, frozen=True):
    """A reservation of `amount` from the address balance with the ID `accumulator`.

    A reservation is valid in `epoch` and the next epoch. Clients list the reservation among the gas
    coins, so the merged gas coin includes the reserved funds.
    """

    accumulator: Address
    amount: int
    epoch: int

    @classmethod
    def of(cls, owner: Address, coin_type: TypeTag, amount: int, epoch: int) -> "CoinReservation":
        """Create a reservation of an owner's balance."""
        return cls(accumulator_id(owner, balance_tag(coin_type)), amount, epoch)

    @classmethod
    def parse(cls, reference: ObjectReference, chain: Digest) -> "CoinReservation":
        """Decode a reservation from an object reference. `chain` is the chain ID."""
        accumulator = _masked(reference.object_id, chain)
        return cls(accumulator, reserved_amount(reference), _number(reference.digest[_EPOCH]))

    def reference(self, chain: Digest) -> ObjectReference:
        """Encode the reservation as an object reference."""
        digest = self.amount.to_bytes(8, "little") + self.epoch.to_bytes(4, "little") + _MAGIC
        return ObjectReference(_masked(self.accumulator, chain), _NO_VERSION, Digest(digest))


def is_coin_reservation(reference: ObjectReference) -> bool:
    """Return whether an object reference encodes a coin reservation."""
    return reference.digest.endswith(_MAGIC)


def reserved_amount(reference: ObjectReference) -> int:
    """Return the amount of a reservation, which does not depend on the chain."""
    return _number(reference.digest[_AMOUNT_OF])


def _masked(object_id: Address, chain: Digest) -> Address:
    return Address(bytes(byte ^ mask for byte, mask in zip(object_id, chain, strict=True)))


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")
