"""The live objects and their indexes."""

from bisect import bisect_left, bisect_right, insort
from collections import OrderedDict, defaultdict
from collections.abc import Iterable, Mapping
from itertools import islice

from msgspec import Struct

from nexus_tools.sui.bytecode import original_id
from nexus_tools.sui.localnet.ledger.database import State
from nexus_tools.sui.localnet.ledger.object_index import ObjectIndex, place_of
from nexus_tools.sui.localnet.ledger.object_versions import read_latest, read_object
from nexus_tools.sui.types.address import SUI_FRAMEWORK, Address
from nexus_tools.sui.types.address_balance import address_balance
from nexus_tools.sui.types.coin import coin_balance, is_coin
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    MoveObject,
    MovePackage,
    Object,
    ObjectOwner,
)
from nexus_tools.sui.types.type_tag import StructTag, TypeTag


class CoinBalance(Struct, frozen=True):
    """An address's funds of one coin type: the total amount and the number of its coins.

    `in_address` is the address balance, which is the amount that the address owns without coins.
    """

    amount: int = 0
    coins: int = 0
    in_address: int = 0


_NOTHING = CoinBalance()
_IN_MEMORY = 4096  # the maximum number of cached objects
_ADDRESS_OWNERS = (AddressOwner, ConsensusAddressOwner)


class LiveObjects:
    """The live objects, indexed by ID, owner and parent, with balances, packages and currencies.

    The most recently used objects are in memory. The other objects are read from the database. The
    index by owner stores only the sort key of each object, which takes 80 bytes instead of 700.
    """

    __slots__ = (
        "_balances",
        "_by_owner",
        "_children",
        "_currencies",
        "_package_versions",
        "_packages",
        "_recent",
        "_state",
    )

    def __init__(self, state: State) -> None:
        self._state = state
        self._recent: OrderedDict[Address, Object] = OrderedDict()
        self._packages: dict[Address, Object] = {}  # packages are read for each call
        self._package_versions: dict[Address, dict[int, MovePackage]] = {}
        self._by_owner = ObjectIndex()
        self._children: dict[Address, list[Address]] = {}
        self._currencies: defaultdict[StructTag, set[Address]] = defaultdict(set)
        self._balances: dict[Address, dict[TypeTag, CoinBalance]] = {}

    # --- Reads

    def get(self, object_id: Address) -> Object | None:
        """Return the object with an ID, or None."""
        value = self._in_memory(object_id)
        if value is None:
            value = next(read_latest(self._state, (object_id,)), None)
            if value is not None:
                self._keep(value)
        return value

    def get_version(self, object_id: Address, version: int) -> Object | None:
        """Return the current or a past version of an object, or None."""
        value = self._in_memory(object_id)
        if value is not None and value.version == version:
            return value
        return read_object(self._state, object_id, version)

    def _in_memory(self, object_id: Address) -> Object | None:
        return self._recent.get(object_id) or self._packages.get(object_id)

    def owned_by(
        self, owner: Address, tag: StructTag | None, after: bytes, limit: int | None
    ) -> list[Object]:
        """Return the objects of an address whose `listing_sort_key` is greater than `after`."""
        return self._known(self._by_owner.page(owner, tag, after, limit))

    def children_of(
        self, parent: Address, after: Address | None, limit: int | None
    ) -> list[Object]:
        """Return the dynamic fields of an object, sorted by ID."""
        children = self._children.get(parent, [])
        start = 0 if after is None else bisect_right(children, after)
        return self._known(islice(children, start, None if limit is None else start + limit))

    def describing(self, tag: StructTag) -> list[Object]:
        """Return all objects of a type that describes a currency, for any owner, sorted by ID."""
        return self._known(sorted(self._currencies.get(tag, ())))

    def balances(self, owner: Address) -> Mapping[TypeTag, CoinBalance]:
        """Return an address's coins and address balances by coin type."""
        return self._balances.get(owner, {})

    def package_versions(self, original_id: Address) -> tuple[MovePackage, ...]:
        """Return all versions of the package first published under an ID, oldest first."""
        versions = self._package_versions.get(original_id, {})
        return tuple(versions[version] for version in sorted(versions))

    def _known(self, ids: Iterable[bytes]) -> list[Object]:
        values = (self.get(object_id) for object_id in ids)  # type: ignore[arg-type]  # equal bytes
        return [value for value in values if value is not None]

    # --- Changes

    def change(self, before: Object | None, after: Object | None) -> None:
        """Store the next version of an object.

        A new object has no `before`. A deleted or wrapped object has no `after`.
        """
        if before is not None and after is not None and _is_same_but_for_contents(before, after):
            self._replace(before, after)
            return
        if before is not None:
            self._remove(before)
        if after is not None:
            self._add_object(after)

    def _keep(self, value: Object) -> None:
        """Keep an object in memory. Evict the least recently used object if the cache is full."""
        self._recent[value.id] = value
        self._recent.move_to_end(value.id)
        if len(self._recent) > _IN_MEMORY:
            self._recent.popitem(last=False)

    def _add_object(self, value: Object) -> None:
        object_id, data, owner = value.id, value.data, value.owner
        if isinstance(data, MovePackage):
            self._packages[object_id] = value
            self._package_versions.setdefault(original_id(data), {})[data.version] = data
            return
        self._keep(value)
        if _describes_currency(data.type):
            self._currencies[data.type].add(object_id)
        if isinstance(owner, _ADDRESS_OWNERS):
            self._by_owner.add(owner.address, data.type, place_of(data))
        elif isinstance(owner, ObjectOwner):
            insort(self._children.setdefault(owner.parent, []), object_id)
        self._count(value, 1)

    def _replace(self, before: Object, value: Object) -> None:
        """Store the next version of an object with the same type and owner."""
        self._keep(value)
        owner = value.owner
        if isinstance(owner, _ADDRESS_OWNERS):
            assert isinstance(before.data, MoveObject)
            assert isinstance(value.data, MoveObject)
            if not is_coin(value.data.type):  # its sort key is its ID, which has not changed
                return
            self._by_owner.remove(owner.address, value.data.type, place_of(before.data))
            self._by_owner.add(owner.address, value.data.type, place_of(value.data))
            # A coin's sort key contains its balance, because listings start with the largest coin.
            difference = coin_balance(value.data) - coin_balance(before.data)
            self._add(owner.address, value.data.type.type_params[0], difference)
        else:
            self._count(before, -1)
            self._count(value, 1)

    def _remove(self, value: Object) -> None:
        object_id, data, owner = value.id, value.data, value.owner
        if isinstance(data, MovePackage):
            self._remove_package(data)
            return
        self._recent.pop(object_id, None)
        if _describes_currency(data.type):
            self._currencies[data.type].remove(object_id)
        if isinstance(owner, _ADDRESS_OWNERS):
            self._by_owner.remove(owner.address, data.type, place_of(data))
        elif isinstance(owner, ObjectOwner):
            self._remove_child(owner.parent, object_id)
        self._count(value, -1)

    def _remove_child(self, parent: Address, child: Address) -> None:
        children = self._children[parent]
        del children[bisect_left(children, child)]
        if not children:
            del self._children[parent]

    def _remove_package(self, package: MovePackage) -> None:
        del self._packages[package.id]
        original = original_id(package)
        versions = self._package_versions[original]
        del versions[package.version]
        if not versions:
            del self._package_versions[original]

    def _count(self, value: Object, sign: int) -> None:
        """Add or subtract the amount of an object that is a coin or an address balance."""
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
        previous = balances.get(coin_type, _NOTHING)
        balance = CoinBalance(
            previous.amount + amount, previous.coins + coins, previous.in_address + in_address
        )
        if balance.coins or balance.in_address:
            balances[coin_type] = balance
        else:
            balances.pop(coin_type, None)
        if not balances:
            del self._balances[owner]


def _is_same_but_for_contents(first: Object, second: Object) -> bool:
    """Return whether two versions of an object have the same type and the same owner."""
    return (
        isinstance(first.data, MoveObject)
        and isinstance(second.data, MoveObject)
        and first.owner == second.owner
        and first.data.type == second.data.type
    )


def _describes_currency(tag: StructTag) -> bool:
    """Return whether a type is in 0x2::coin but is not `Coin`, for example `CoinMetadata`."""
    return tag.module == "coin" and tag.address == SUI_FRAMEWORK and not is_coin(tag)
