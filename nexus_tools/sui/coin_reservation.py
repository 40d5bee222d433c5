"""Coin reservations: references to coins that do not exist and stand for an address balance.

Clients put them among the coins of the gas, so that the gas coin has the money of the address
balance too. The id is that of the balance, masked with the chain's; the digest holds how much is
reserved, and in which epoch. Source: `sui-types/src/coin_reservation.rs`.
"""

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.address import Address
from nexus_tools.sui.address_balance import accumulator_id, balance_tag
from nexus_tools.sui.digest import Digest
from nexus_tools.sui.object import ObjectReference
from nexus_tools.sui.type_tag import TypeTag

_MAGIC = b"\xac" * 20
_AMOUNT, _EPOCH, _MARK = slice(0, 8), slice(8, 12), slice(12, 32)
_NO_VERSION = 0


@dataclass(frozen=True, slots=True)
class CoinReservation:
    """`amount` of the balance with the id `accumulator`, valid in an epoch and in the next."""

    accumulator: Address
    amount: int
    epoch: int

    @classmethod
    def of(cls, owner: Address, coin_type: TypeTag, amount: int, epoch: int) -> "CoinReservation":
        """A reservation of an owner's balance."""
        return cls(accumulator_id(owner, balance_tag(coin_type)), amount, epoch)

    @classmethod
    def parse(cls, reference: ObjectReference, chain: Digest) -> "CoinReservation":
        """The reservation that a reference stands for, on the chain with this id."""
        digest = bytes(reference.digest)
        accumulator = _masked(reference.object_id, chain)
        return cls(accumulator, reserved_amount(reference), _number(digest[_EPOCH]))

    def reference(self, chain: Digest) -> ObjectReference:
        """The reference that stands for the reservation."""
        digest = self.amount.to_bytes(8, "little") + self.epoch.to_bytes(4, "little") + _MAGIC
        return ObjectReference(_masked(self.accumulator, chain), _NO_VERSION, Digest(digest))


def is_coin_reservation(reference: ObjectReference) -> bool:
    """Whether a reference is one to a coin that does not exist."""
    return bytes(reference.digest)[_MARK] == _MAGIC


def reserved_amount(reference: ObjectReference) -> int:
    """How much is reserved, whatever the chain."""
    return _number(bytes(reference.digest)[_AMOUNT])


def _masked(object_id: Address, chain: Digest) -> Address:
    return Address(bytes(one ^ other for one, other in zip(object_id, chain, strict=True)))


def _number(data: bytes) -> int:
    return int.from_bytes(data, "little")
