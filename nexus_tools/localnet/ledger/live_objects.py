"""The objects that exist now, and the indexes by which they are found."""

from bisect import bisect_left, bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice

from msgspec import Struct

from nexus_tools.bytecode import original_id
from nexus_tools.localnet.ledger.object_index import ObjectIndex, place_of
from nexus_tools.sui.address import Address
from nexus_tools.sui.address_balance import address_balance
from nexus_tools.sui.coin import coin_balance, is_coin
from nexus_tools.sui.object import (
    AddressOwner,
    ConsensusAddressOwner,
    MoveObject,
    MovePackage,
    Object,
    ObjectOwner,
)
from nexus_tools.sui.type_tag import StructTag, TypeTag


class CoinBalance(Struct, frozen=True):
    """The coins of one type that an address owns: their sum, and how many they are.

    `in_address` is what belongs to the address besides coins: its address balance.
    """

    amount: int = 0
    coins: int = 0
    in_address: int = 0


_NOTHING = CoinBalance()
_ADDRESS_OWNERS = (AddressOwner, ConsensusAddressOwner)


class LiveObjects:
    """Objects by id; by owner, by parent and by type; balances; versions of packages."""

    __slots__ = ("_balances", "_by_owner", "_by_type", "_children", "_objects", "_packages")

    def __init__(self) -> None:
        self._objects: dict[Address, Object] = {}
        self._by_owner = ObjectIndex()
        self._by_type: defaultdict[StructTag, set[Address]] = defaultdict(set)
        self._children: dict[Address, list[Address]] = {}
        self._balances: dict[Address, dict[TypeTag, CoinBalance]] = {}
        self._packages: dict[Address, dict[int, MovePackage]] = {}

    # --- Reading

    def __len__(self) -> int:
        return len(self._objects)

    def get(self, object_id: Address) -> Object | None:
        """The object with an id, if it exists."""
        return self._objects.get(object_id)

    def owned_by(
        self, owner: Address, tag: StructTag | None, after: bytes, limit: int | None
    ) -> list[Object]:
        """Objects that an address owns, from behind a place of their listing."""
        return self._known(self._by_owner.page(owner, tag, after, limit))

    def children_of(
        self, parent: Address, after: Address | None, limit: int | None
    ) -> list[Object]:
        """Dynamic fields of an object, by id."""
        children = self._children.get(parent, [])
        start = 0 if after is None else bisect_right(children, after)
        return self._known(islice(children, start, None if limit is None else start + limit))

    def of_type(self, tag: StructTag) -> list[Object]:
        """Objects of a type, by id, whoever owns them."""
        return self._known(sorted(self._by_type.get(tag, ())))

    def balances(self, owner: Address) -> Mapping[TypeTag, CoinBalance]:
        """What an address has in coins and besides, by coin type."""
        return self._balances.get(owner, {})

    def package_versions(self, original_id: Address) -> tuple[MovePackage, ...]:
        """All versions of the package that was first published under an id, oldest first."""
        versions = self._packages.get(original_id, {})
        return tuple(versions[version] for version in sorted(versions))

    def _known(self, ids: Iterable[bytes]) -> list[Object]:
        return [self._objects[object_id] for object_id in ids]  # type: ignore[index]  # equal bytes

    # --- Changing

    def set(self, value: Object) -> None:
        """Take in an object, in place of its earlier version."""
        object_id, data, owner = value.id, value.data, value.owner
        before = self._objects.get(object_id)
        if before is not None:
            if _is_same_but_for_contents(before, value):
                self._replace(before, value)
                return
            self.remove(object_id)
        self._objects[object_id] = value
        if isinstance(data, MovePackage):
            self._packages.setdefault(original_id(data), {})[data.version] = data
            return
        self._by_type[data.type].add(object_id)
        if isinstance(owner, _ADDRESS_OWNERS):
            self._by_owner.add(owner.address, data.type, place_of(data))
        elif isinstance(owner, ObjectOwner):
            insort(self._children.setdefault(owner.parent, []), object_id)
        self._count(value, 1)

    def _replace(self, before: Object, value: Object) -> None:
        """Take in the next version of an object that is where it was, though perhaps worth less."""
        self._objects[value.id] = value
        owner = value.owner
        if isinstance(owner, _ADDRESS_OWNERS):
            assert isinstance(before.data, MoveObject)
            assert isinstance(value.data, MoveObject)
            if not is_coin(value.data.type):  # its place is its id
                return
            self._by_owner.remove(owner.address, value.data.type, place_of(before.data))
            self._by_owner.add(owner.address, value.data.type, place_of(value.data))
            # A coin's place says its balance, for listings begin with the largest.
            gained = coin_balance(value.data) - coin_balance(before.data)
            self._add(owner.address, value.data.type.type_params[0], gained)
        else:
            self._count(before, -1)
            self._count(value, 1)

    def remove(self, object_id: Address) -> None:
        """Take out an object, if it is there."""
        value = self._objects.pop(object_id, None)
        if value is None:
            return
        data, owner = value.data, value.owner
        if isinstance(data, MovePackage):
            self._remove_package(data)
            return
        self._remove_from_type(data.type, object_id)
        if isinstance(owner, _ADDRESS_OWNERS):
            self._by_owner.remove(owner.address, data.type, place_of(data))
        elif isinstance(owner, ObjectOwner):
            self._remove_child(owner.parent, object_id)
        self._count(value, -1)

    def _remove_from_type(self, tag: StructTag, object_id: Address) -> None:
        ids = self._by_type[tag]
        ids.remove(object_id)
        if not ids:
            del self._by_type[tag]

    def _remove_child(self, parent: Address, child: Address) -> None:
        children = self._children[parent]
        del children[bisect_left(children, child)]
        if not children:
            del self._children[parent]

    def _remove_package(self, package: MovePackage) -> None:
        original = original_id(package)
        versions = self._packages[original]
        del versions[package.version]
        if not versions:
            del self._packages[original]

    def _count(self, value: Object, sign: int) -> None:
        """Add or take away what an object is worth, if it is a coin or an address balance."""
        data, owner = value.data, value.owner
        if isinstance(owner, _ADDRESS_OWNERS):
            if isinstance(data, MoveObject) and is_coin(data.type):
                amount = sign * coin_balance(data)
                self._add(owner.address, data.type.type_params[0], amount, coins=sign)
        elif (balance := address_balance(value)) is not None:
            in_address = sign * balance.amount
            self._add(balance.owner, balance.coin_type, in_address=in_address)

    def _add(
        self,
        owner: Address,
        coin_type: TypeTag,
        amount: int = 0,
        *,
        coins: int = 0,
        in_address: int = 0,
    ) -> None:
        balances = self._balances.setdefault(owner, {})
        known = balances.get(coin_type, _NOTHING)
        changed = CoinBalance(
            known.amount + amount, known.coins + coins, known.in_address + in_address
        )
        if changed.coins or changed.in_address:
            balances[coin_type] = changed
        else:
            balances.pop(coin_type, None)
        if not balances:
            del self._balances[owner]


def _is_same_but_for_contents(first: Object, second: Object) -> bool:
    """Whether two versions of an object have the same type and the same owner."""
    return (
        isinstance(first.data, MoveObject)
        and isinstance(second.data, MoveObject)
        and first.owner == second.owner
        and first.data.type == second.data.type
    )
