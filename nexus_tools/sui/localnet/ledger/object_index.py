"""An index of objects by owner and type, which keeps their sort keys in ascending order.

A listing has the order of a real node: by type, then coins by falling balance, then by ID. Source:
`OwnerIndexKey` in `sui-core/src/rpc_index.rs`.
"""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import chain, islice

from nexus_tools.sui.types.address import ADDRESS_LENGTH, Address
from nexus_tools.sui.types.coin import coin_balance, is_coin
from nexus_tools.sui.types.object import MoveObject
from nexus_tools.sui.types.type_tag import Primitive, StructTag, TypeTag, VectorTag

_MAX_U64 = 2**64 - 1
_U32, _U64 = 4, 8
# The variant numbers of the Rust enum `TypeTag`.
_VECTOR, _STRUCT = 6, 7
_PRIMITIVES = {
    Primitive.BOOL: 0,
    Primitive.U8: 1,
    Primitive.U64: 2,
    Primitive.U128: 3,
    Primitive.ADDRESS: 4,
    Primitive.SIGNER: 5,
    Primitive.U16: 8,
    Primitive.U32: 9,
    Primitive.U256: 10,
}


def place_of(data: MoveObject) -> bytes:
    """Return the sort key of an object among the objects of its type. The key ends with the ID.

    The key of a coin with the balance 7 starts with fffffffffffffff8. The key of a coin with the
    balance 5 starts with fffffffffffffffa, so the larger coin comes first.
    """
    if not is_coin(data.type):
        return data.id
    return (_MAX_U64 - coin_balance(data)).to_bytes(_U64, "big") + data.id


def listing_sort_key(data: MoveObject) -> bytes:
    """Return the sort key of an object among the objects of all types."""
    return type_sort_key(data.type) + place_of(data)


@lru_cache(maxsize=1024)
def type_sort_key(tag: TypeTag) -> bytes:
    """Return the sort key of a type, which is its database key on real nodes.

    The format is bincode with integers of fixed size, big-endian.
    """
    if not isinstance(tag, StructTag):
        return _order_of(tag)
    # For example, the key of `0x2::sui::SUI` is the address, 3, "sui", 3, "SUI" and 0, with each
    # number in eight bytes.
    params = b"".join(map(_order_of, tag.type_params))
    count = len(tag.type_params).to_bytes(_U64, "big")
    return tag.address + _text(tag.module) + _text(tag.name) + count + params


def _order_of(tag: TypeTag) -> bytes:
    if isinstance(tag, StructTag):
        return _STRUCT.to_bytes(_U32, "big") + type_sort_key(tag)
    if isinstance(tag, VectorTag):
        return _VECTOR.to_bytes(_U32, "big") + _order_of(tag.element)
    return _PRIMITIVES[tag].to_bytes(_U32, "big")


def _text(text: str) -> bytes:
    return len(text).to_bytes(_U64, "big") + text.encode()


class ObjectIndex:
    """The sort keys of the objects that addresses own.

    A page that starts after a position stays correct if objects before it appear or disappear.
    """

    __slots__ = ("_places",)

    def __init__(self) -> None:
        self._places: dict[Address, dict[StructTag, list[bytes]]] = {}

    def add(self, owner: Address, tag: StructTag, place: bytes) -> None:
        """Add an object with this sort key."""
        insort(self._places.setdefault(owner, {}).setdefault(tag, []), place)

    def remove(self, owner: Address, tag: StructTag, place: bytes) -> None:
        """Remove an object that the index contains."""
        types = self._places[owner]
        places = types[tag]
        del places[bisect_left(places, place)]
        if not places:
            del types[tag]
        if not types:
            del self._places[owner]

    def page(
        self, owner: Address, type_filter: StructTag | None, after: bytes, limit: int | None
    ) -> Iterator[bytes]:
        """Return the IDs of at most `limit` objects after the object with the sort key `after`.

        A filter with type arguments matches only that type. A filter without type arguments matches
        all instantiations.
        """
        types = self._places.get(owner, {})
        matching_types = sorted(
            (type_sort_key(tag), tag) for tag in types if is_instance(tag, type_filter)
        )
        runs = (_after(types[tag], order, after) for order, tag in matching_types)
        return (place[-ADDRESS_LENGTH:] for place in islice(chain.from_iterable(runs), limit))


def is_instance(tag: StructTag, type_filter: StructTag | None) -> bool:
    """Return whether a type passes a filter."""
    if type_filter is None or tag == type_filter:
        return True
    return not type_filter.type_params and (tag.datatype == type_filter.datatype)


def _after(places: list[bytes], order: bytes, after: bytes) -> Iterable[bytes]:
    """Return the sort keys of one type that come after a listing sort key."""
    # No type's key is a prefix of another type's key, because the keys contain their lengths. So if
    # `after` starts with `order`, it is the key of an object of this type.
    if after.startswith(order):
        return islice(places, bisect_right(places, after[len(order) :]), None)
    return places if after < order else ()
