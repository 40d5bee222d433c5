"""What Move code may know about the transaction that runs it."""

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.address import Address
from nexus_tools.sui.digest import Digest, created_object_id


@dataclass(slots=True)
class TransactionContext:
    """The transaction's circumstances, and how many ids it has created.

    Prices are in MIST per gas unit, the budget in MIST; `sponsor` is None if the sender pays.
    """

    sender: Address
    digest: Digest
    epoch: int
    epoch_timestamp_ms: int
    reference_gas_price: int
    gas_price: int
    gas_budget: int
    sponsor: Address | None
    ids_created: int = 0

    def fresh_id(self) -> Address:
        """The id of the next object or package that the transaction creates."""
        object_id = created_object_id(self.digest, self.ids_created)
        self.ids_created += 1
        return object_id

    def as_move_value(self) -> list[object]:
        """The struct `sui::tx_context::TxContext`; its functions read the natives, not it."""
        return [bytes(self.sender), bytearray(self.digest), self.epoch, self.epoch_timestamp_ms, 0]
