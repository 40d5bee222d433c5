"""The representation of Move values as Python objects.

    Move                Python
    u8 ... u256         int
    bool                bool
    address, signer     32 bytes
    vector<u8>          bytearray
    any other vector    list
    struct              list of its fields in order
    enum                Variant
    & and &mut          Reference

A struct without fields has the field `dummy_field: bool` that the Move compiler adds.

A coin is `struct Coin { id: UID { id: ID { bytes: address } }, balance: Balance { value: u64 } }`.
A coin of 5 MIST is `[[[b"..."]], [5]]`, and `&mut coin.balance.value` is `Reference(coin[1], 0)`.
Different values never share a container, so a write through a reference changes only one value.
"""

from typing import Any

Value = Any


class Variant:
    """An enum value: the tag and the fields of its variant."""

    __slots__ = ("fields", "tag")

    def __init__(self, tag: int, fields: list[Value]) -> None:
        self.tag = tag
        self.fields = fields

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Variant):
            return NotImplemented
        return self.tag == other.tag and self.fields == other.fields

    __hash__ = None  # type: ignore[assignment]  # mutable, like a list

    def __repr__(self) -> str:
        return f"Variant({self.tag}, {self.fields!r})"


class Reference:
    """A reference to `container[key]`: a field, an element, or the only item of a list."""

    __slots__ = ("container", "key")

    def __init__(self, container: Any, key: int) -> None:
        self.container = container
        self.key = key

    def read(self) -> Value:
        """Return the target itself, not a copy."""
        return self.container[self.key]

    def write(self, value: Value) -> None:
        """Replace the target."""
        self.container[self.key] = value

    def __repr__(self) -> str:
        return f"Reference({self.read()!r})"


def borrow(value: Value) -> Reference:
    """Return a reference to a value that is not part of another value."""
    return Reference([value], 0)


def copy_value(value: Value) -> Value:
    """Return a deep copy of a value, which shares no container with it."""
    kind = type(value)
    if kind is list:
        return [item if type(item) is int else copy_value(item) for item in value]
    if kind is bytearray:
        return value[:]
    if kind is Variant:
        return Variant(value.tag, copy_value(value.fields))
    return value
