"""Tables of the framework: their own bytes, and the fields in which their entries are."""

from dataclasses import dataclass
from typing import Generic, TypeVar

from nexus_tools.sui.address import ADDRESS, Address
from nexus_tools.sui.bcs import Codec, struct, u64

K = TypeVar("K")
V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Table:
    """A `sui::table::Table`: its entries are dynamic fields of `id`."""

    id: Address
    size: int


TABLE: Codec[Table] = struct(Table, ADDRESS, u64)


@dataclass(frozen=True, slots=True)
class TableEntry(Generic[K, V]):
    """The field object of one entry, a `sui::dynamic_field::Field`."""

    id: Address
    key: K
    value: V


def entry_codec(key: Codec[K], value: Codec[V]) -> Codec[TableEntry[K, V]]:
    """Codec of the field objects of a table."""
    return struct(TableEntry, ADDRESS, key, value)
