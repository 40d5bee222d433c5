"""Dynamic fields: objects that belong to objects, loaded when Move code asks for them.

Source: `object_runtime/object_store.rs` of `sui-move-natives`.
"""

from collections.abc import Callable, Iterator

from msgspec import Struct

from nexus_tools.sui.localnet.natives.errors import LimitExceeded
from nexus_tools.sui.localnet.natives.limits import Limits
from nexus_tools.sui.localnet.vm import Value
from nexus_tools.sui.types.address import Address
from nexus_tools.sui.types.object import MoveObject, Object, ObjectOwner
from nexus_tools.sui.types.type_tag import StructTag

FindObject = Callable[[Address], Object | None]
Decode = Callable[[StructTag, bytes], Value]


class MismatchedType(Exception):  # noqa: N818 - it says what was found
    """There is a child with this id, of another type."""


class ChildObject(Struct):
    """A child that was used: `cell` holds its value, or is empty if it was taken out.

    `stored` is the object before the transaction; `writable` says that its value may differ now.
    """

    parent: Address
    type: StructTag
    cell: list[Value]
    stored: Object | None
    writable: bool


class ChildObjects:
    """The children that one transaction has looked at or used, by their ids."""

    def __init__(self, find: FindObject, decode: Decode, limits: Limits) -> None:
        self._find = find
        self._decode = decode
        self._cached_max = limits.object_runtime_max_num_cached_objects
        self._entries_max = limits.object_runtime_max_num_store_entries
        self._cached: dict[Address, Object | None] = {}
        self._used: dict[Address, ChildObject] = {}

    def used(self) -> Iterator[tuple[Address, ChildObject]]:
        """Every child that was borrowed, added or taken out."""
        return iter(self._used.items())

    def value_is_known(self, child: Address) -> bool:
        """Whether the child was borrowed, added or taken out before."""
        return child in self._used

    def loading_cost(self, child: Address) -> int:
        """Internal gas units for loading a child: one for each byte, nothing the second time."""
        if child in self._used or child in self._cached:
            return 0
        found = self._find(child)
        contents = found.data.contents if found and isinstance(found.data, MoveObject) else b""
        return max(len(contents), 1)

    def exists(self, parent: bytes, child: Address) -> bool:
        """Whether `parent` has this child now."""
        used = self._used.get(child)
        if used is not None:
            return bool(used.cell)
        return self._stored(parent, child) is not None

    def exists_with_type(self, parent: bytes, child: Address, tag: StructTag) -> bool:
        """Whether `parent` has this child now, and it is of this type."""
        used = self._used.get(child)
        if used is not None:
            return bool(used.cell) and used.type == tag
        stored = self._stored(parent, child)
        return stored is not None and stored.type == tag

    def borrow(
        self, parent: bytes, child: Address, tag: StructTag, *, mutable: bool
    ) -> list[Value] | None:
        """The cell of a child; None if there is none. Raises `MismatchedType`."""
        used = self._use(parent, child, tag)
        if used is None or not used.cell:
            return None
        used.writable = used.writable or mutable
        return used.cell

    def remove(self, parent: bytes, child: Address, tag: StructTag) -> list[Value] | None:
        """Take a child out: its value in a list; None if there is none."""
        used = self._use(parent, child, tag)
        if used is None or not used.cell:
            return None
        used.writable = True
        # The record stays, with an empty cell: the child is gone, and not to be read from the
        # ledger again.
        cell, used.cell = used.cell, []
        return cell

    def add(self, parent: bytes, child: Address, tag: StructTag, value: Value) -> None:
        """Give `parent` a child. Raises `LimitExceeded`."""
        earlier = self._used.get(child)
        if earlier is None:
            self._check_entries()
        # What comes back replaces what is stored. Of what is new nothing is stored: the Move
        # function has asserted that there is no such child.
        stored = earlier.stored if earlier else None
        self._used[child] = ChildObject(Address(parent), tag, [value], stored, writable=True)

    def stored_value(self, parent: bytes, child: Address, tag: StructTag) -> Value | None:
        """The value of a child as it was before the transaction; None if there was none."""
        stored = self._find(child)
        if stored is None or stored.owner != ObjectOwner(Address(parent)) or stored.type != tag:
            return None
        assert isinstance(stored.data, MoveObject)
        return self._decode(tag, stored.data.contents)

    def _use(self, parent: bytes, child: Address, tag: StructTag) -> ChildObject | None:
        used = self._used.get(child)
        if used is not None:
            if used.type is not tag:
                if used.type != tag:
                    raise MismatchedType
                used.type = tag  # comparing takes its time: the next one finds the same object
            return used
        stored = self._stored(parent, child)
        if stored is None:
            return None
        if stored.type != tag:
            raise MismatchedType
        self._check_entries()
        assert isinstance(stored.data, MoveObject)
        value = self._decode(tag, stored.data.contents)
        used = ChildObject(Address(parent), tag, [value], stored, writable=False)
        self._used[child] = used
        return used

    def _stored(self, parent: bytes, child: Address) -> Object | None:
        """The child before the transaction, if it belonged to this parent and no other."""
        if child not in self._cached:
            if len(self._cached) >= self._cached_max:
                raise LimitExceeded(f"more than {self._cached_max} dynamic fields are read")
            self._cached[child] = self._find(child)
        stored = self._cached[child]
        if stored is None or stored.owner != ObjectOwner(Address(parent)):
            return None
        return stored if isinstance(stored.data, MoveObject) else None

    def _check_entries(self) -> None:
        if len(self._used) >= self._entries_max:
            raise LimitExceeded(f"more than {self._entries_max} dynamic fields are used")
