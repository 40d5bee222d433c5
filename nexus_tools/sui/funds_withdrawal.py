"""Withdrawals: inputs of transactions that take money from an address balance.

Source: `FundsWithdrawalArg` in `sui-types/src/transaction.rs`.
"""

from typing import TypeVar

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.bcs import BcsError, Codec, struct, u8, u64
from nexus_tools.sui.type_tag import TYPE_TAG, TypeTag

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class FundsWithdrawal:
    """Money taken from an address balance: `amount` at most, of one balance type.

    `source` is 0 for the sender's balance and 1 for the sponsor's.
    """

    amount: int
    type: TypeTag
    source: int


def _only_variant(codec: Codec[T]) -> Codec[T]:
    """A value behind the number of the only variant that there is yet: 0."""

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
