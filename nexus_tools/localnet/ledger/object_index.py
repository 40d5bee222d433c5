"""An index of objects: key -> type -> ids in ascending order."""

import heapq
from bisect import bisect_left, bisect_right, insort
from collections.abc import Iterator
from itertools import islice

from nexus_tools.sui.address import Address
from nexus_tools.sui.type_tag import StructTag


class ObjectIndex:
    """The ids of the objects that share a key: an owner, a parent or the whole ledger.

    Ids come in ascending order, so that a page that begins after an id stays right whatever happens
    to the objects before it.
    """

    __slots__ = ("_ids",)

    def __init__(self) -> None:
        self._ids: dict[Address, dict[StructTag, list[Address]]] = {}

    def add(self, key: Address, tag: StructTag, object_id: Address) -> None:
        """Take an object in."""
        insort(self._ids.setdefault(key, {}).setdefault(tag, []), object_id)

    def remove(self, key: Address, tag: StructTag, object_id: Address) -> None:
        """Take an object out that is in."""
        types = self._ids[key]
        ids = types[tag]
        del ids[bisect_left(ids, object_id)]
        if not ids:
            del types[tag]
        if not types:
            del self._ids[key]

    def page(
        self,
        key: Address,
        type_filter: StructTag | None,
        after: Address | None,
        limit: int | None,
    ) -> Iterator[Address]:
        """At most `limit` ids that come after one.

        A filter with type arguments means that type, one without means all its instantiations.
        """
        types = self._ids.get(key, {})
        runs = [_after(ids, after) for tag, ids in types.items() if is_instance(tag, type_filter)]
        return islice(heapq.merge(*runs) if len(runs) != 1 else runs[0], limit)


def is_instance(tag: StructTag, type_filter: StructTag | None) -> bool:
    """Whether a type passes a filter."""
    if type_filter is None or tag == type_filter:
        return True
    return not type_filter.type_params and (
        (tag.address, tag.module, tag.name)
        == (type_filter.address, type_filter.module, type_filter.name)
    )


def _after(ids: list[Address], after: Address | None) -> Iterator[Address]:
    return islice(ids, bisect_right(ids, after) if after is not None else 0, None)
