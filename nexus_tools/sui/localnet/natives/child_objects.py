"""Dynamic fields, which are objects owned by objects.

A dynamic field is loaded when Move code uses it.

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


class MismatchedType(Exception):  # noqa: N818 - the name states the cause
    """An error for a child or received object that does not have the expected type."""


class ChildObject(Struct):
    """A child that the transaction used. `cell` contains its value, or is empty after a removal.

    `stored` is the object before the transaction. If `writable` is set, the value may have changed.
    """

    parent: Address
    type: StructTag
    cell: list[Value]
    stored: Object | None
    writable: bool


class ChildObjects:
    """The children that one transaction has read or used, by their ids."""

    def __init__(self, find: FindObject, decode: Decode, limits: Limits) -> None:
        self._find = find
        self._decode = decode
        self._cached_max = limits.object_runtime_max_num_cached_objects
        self._entries_max = limits.object_runtime_max_num_store_entries
        self._cached: dict[Address, Object | None] = {}
        self._used: dict[Address, ChildObject] = {}

    def used(self) -> Iterator[tuple[Address, ChildObject]]:
        """Return the children that the transaction borrowed, added or removed, by their ids."""
        return iter(self._used.items())

    def value_is_known(self, child: Address) -> bool:
        """Return whether the transaction already borrowed, added or removed the child."""
        return child in self._used

    def loading_cost(self, child: Address) -> int:
        """Return the internal gas units to load a child: one per byte, or 0 if it is loaded."""
        if child in self._used or child in self._cached:
            return 0
        child_object = self._find(child)
        contents = (
            child_object.data.contents
            if child_object and isinstance(child_object.data, MoveObject)
            else b""
        )
        return max(len(contents), 1)

    def exists(self, parent: bytes, child: Address) -> bool:
        """Return whether `parent` has this child now."""
        child_object = self._used.get(child)
        if child_object is not None:
            return bool(child_object.cell)
        return self._stored(parent, child) is not None

    def exists_with_type(self, parent: bytes, child: Address, tag: StructTag) -> bool:
        """Return whether `parent` has this child now, with this type."""
        child_object = self._used.get(child)
        if child_object is not None:
            return bool(child_object.cell) and child_object.type == tag
        stored = self._stored(parent, child)
        return stored is not None and stored.type == tag

    def borrow(
        self, parent: bytes, child: Address, tag: StructTag, *, mutable: bool
    ) -> list[Value] | None:
        """Return the cell of a child, or None if it does not exist. Raises `MismatchedType`."""
        child_object = self._use(parent, child, tag)
        if child_object is None or not child_object.cell:
            return None
        child_object.writable = child_object.writable or mutable
        return child_object.cell

    def remove(self, parent: bytes, child: Address, tag: StructTag) -> list[Value] | None:
        """Remove a child and return its value in a list, or None if it does not exist."""
        child_object = self._use(parent, child, tag)
        if child_object is None or not child_object.cell:
            return None
        child_object.writable = True
        # The entry remains with an empty cell, so that the removed child is not read from the
        # ledger again.
        cell, child_object.cell = child_object.cell, []
        return cell

    def add(self, parent: bytes, child: Address, tag: StructTag, value: Value) -> None:
        """Add a child to `parent`. Raises `LimitExceeded`."""
        previous = self._used.get(child)
        if previous is None:
            self._check_entries()
        # A child that is added again replaces its stored object. A new child has no stored object,
        # because the Move function asserts that the child does not exist.
        stored = previous.stored if previous else None
        self._used[child] = ChildObject(Address(parent), tag, [value], stored, writable=True)

    def stored_value(self, parent: bytes, child: Address, tag: StructTag) -> Value | None:
        """Return the value of a child before the transaction, or None if it did not exist."""
        stored = self._find(child)
        if stored is None or stored.owner != ObjectOwner(Address(parent)) or stored.type != tag:
            return None
        assert isinstance(stored.data, MoveObject)
        return self._decode(tag, stored.data.contents)

    def _use(self, parent: bytes, child: Address, tag: StructTag) -> ChildObject | None:
        child_object = self._used.get(child)
        if child_object is not None:
            if child_object.type is not tag:
                if child_object.type != tag:
                    raise MismatchedType
                child_object.type = tag  # makes the next comparison fast, by identity
            return child_object
        stored = self._stored(parent, child)
        if stored is None:
            return None
        if stored.type != tag:
            raise MismatchedType
        self._check_entries()
        assert isinstance(stored.data, MoveObject)
        value = self._decode(tag, stored.data.contents)
        child_object = ChildObject(Address(parent), tag, [value], stored, writable=False)
        self._used[child] = child_object
        return child_object

    def _stored(self, parent: bytes, child: Address) -> Object | None:
        """Return the child before the transaction, or None if it did not belong to this parent."""
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
