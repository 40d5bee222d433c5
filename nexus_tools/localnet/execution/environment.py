"""What surrounds the execution of a transaction."""

from enum import Enum
from typing import Protocol

from nexus_tools.dataclass import dataclass
from nexus_tools.sui.address import Address
from nexus_tools.sui.object import Object


class ObjectStore(Protocol):
    """Where objects are read."""

    def get(self, object_id: Address) -> Object | None:
        """The object as it is now; None if it does not exist, or no more."""

    def get_version(self, object_id: Address, version: int) -> Object | None:
        """The object as it was at this version."""


@dataclass(frozen=True, slots=True)
class Environment:
    """The epoch; its start in ms; the reference gas price in MIST per gas unit."""

    epoch: int
    epoch_timestamp_ms: int
    reference_gas_price: int


class Mode(Enum):
    """How strictly a transaction is checked, and what is reported.

    COMMIT        all checks; no results of commands
    SIMULATE      all checks; without payment, with a coin that exists for this transaction alone
    INSPECT       any owner and version, any function, any value of a type, references as results;
                  as SIMULATE without payment
    SYSTEM        the network's own transaction: any function, any object, no gas
    """

    COMMIT = "commit"
    SIMULATE = "simulate"
    INSPECT = "inspect"
    SYSTEM = "system"
