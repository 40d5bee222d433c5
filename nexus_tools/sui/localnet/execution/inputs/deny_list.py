"""The enforcement of the deny lists of regulated coins.

A sender must not use a coin as an input as soon as the sender is on the coin's deny list. No
account may use a paused coin. An address on the list cannot receive the coin from the next epoch
on. SUI itself does not have a deny list. Source:
`sui-types/src/{deny_list_v1,deny_list_v2,config}.rs`.
"""

from collections.abc import Iterable, Mapping
from typing import TypeVar

from nexus_tools.sui.bcs import Codec, boolean, byte_vector, option, record, u64, vector
from nexus_tools.sui.localnet.execution.environment import ObjectStore
from nexus_tools.sui.localnet.execution.errors import CommandFailed, TransactionRefused
from nexus_tools.sui.localnet.natives import canonical_text
from nexus_tools.sui.types.address import ADDRESS, DENY_LIST, SUI_FRAMEWORK, Address
from nexus_tools.sui.types.coin import is_coin
from nexus_tools.sui.types.digest import dynamic_field_id
from nexus_tools.sui.types.execution_status import ErrorKind
from nexus_tools.sui.types.object import AddressOwner, MoveObject, Object, Owner
from nexus_tools.sui.types.type_tag import (
    GAS_COIN,
    TYPE_TAG,
    Primitive,
    StructTag,
    TypeTag,
    VectorTag,
)

T = TypeVar("T")

BYTES_READ_PER_OWNER = 10_000
"""The cost of a deny list lookup for a new coin owner, as a number of bytes read."""

_COIN_INDEX = 0
_ID_BYTES = 32


def _deny_list_type(name: str) -> StructTag:
    return StructTag(SUI_FRAMEWORK, "deny_list", name)


_CONFIG_KEY = StructTag(
    SUI_FRAMEWORK, "dynamic_object_field", "Wrapper", (_deny_list_type("ConfigKey"),)
)
_ADDRESS_KEY, _PAUSE_KEY = _deny_list_type("AddressKey"), _deny_list_type("GlobalPauseKey")
_PAUSE_NAME = b"\0"  # BCS encodes a struct without fields as one byte

# `Setting { data: Option<SettingData { newer_value_epoch, newer_value, older_value_opt }> }`
_SETTING = option(record((u64, option(boolean), option(boolean))))
# `PerTypeList { id, denied_count: Table, denied_addresses: Table }`
_PER_TYPE_LIST = record((ADDRESS, ADDRESS, u64, ADDRESS, u64))
_LIST_KEY = VectorTag(Primitive.U8)


class DenyLists:
    """The deny lists in a store. If `epoch` is None, the newest settings apply."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def is_paused(self, coin_type: str, epoch: int | None) -> bool:
        """Return whether a coin type is paused for everyone."""
        return self._is_set(coin_type, _PAUSE_KEY, _PAUSE_NAME, epoch)

    def is_denied(self, coin_type: str, address: Address, epoch: int | None) -> bool:
        """Return whether an address is on the list of a coin type."""
        return self._is_set(coin_type, _ADDRESS_KEY, bytes(address), epoch)

    def is_denied_by_first_version(self, coin_type: str, address: Address) -> bool:
        """Return whether an address is on the version 1 list of a coin type."""
        root = self._store.get(DENY_LIST)
        if root is None or not isinstance(root.data, MoveObject):
            return False
        bag = Address(root.data.contents[_ID_BYTES : 2 * _ID_BYTES])
        lists = self._field(bag, Primitive.U64, u64.encode(_COIN_INDEX), _PER_TYPE_LIST)
        if lists is None:
            return False
        _, counts, _, addresses, _ = lists
        if not self._field(counts, Primitive.ADDRESS, bytes(address), u64):
            return False
        key = byte_vector.encode(coin_type.encode())
        return address in (self._field(addresses, _LIST_KEY, key, vector(ADDRESS)) or ())

    def _is_set(self, coin_type: str, key: TypeTag, name: bytes, epoch: int | None) -> bool:
        config_name = u64.encode(_COIN_INDEX) + byte_vector.encode(coin_type.encode())
        config = self._field(DENY_LIST, _CONFIG_KEY, config_name, ADDRESS)
        setting = self._field(config, key, name, _SETTING) if config else None
        if setting is None:
            return False
        newer_epoch, newer, older = setting
        # In the epoch in which a setting changes, the earlier value is still in effect. A value
        # that is set in epoch 7 applies to receivers from epoch 8 on. For inputs, `epoch` is None,
        # so the value applies immediately.
        return bool(newer if epoch is None or epoch > newer_epoch else older)

    def _field(self, parent: Address, key: TypeTag, name: bytes, value: Codec[T]) -> T | None:
        # In `Field { id, name, value }`, the value follows an ID of 32 bytes and the name.
        field = self._store.get(dynamic_field_id(parent, TYPE_TAG.encode(key), name))
        if field is None or not isinstance(field.data, MoveObject):
            return None
        return value.decode(field.data.contents[_ID_BYTES + len(name) :])


def check_denied_inputs(sender: Address, inputs: Iterable[Object], store: ObjectStore) -> None:
    """Refuse input or received coins that the deny lists do not allow the sender to use now."""
    coin_types = sorted(set(filter(None, map(_regulated_coin_type, inputs))))
    lists = DenyLists(store)
    for coin_type in coin_types:
        if lists.is_denied_by_first_version(coin_type, sender):
            raise _denied(sender, coin_type)
    for coin_type in coin_types:
        if lists.is_paused(coin_type, None):
            raise TransactionRefused(
                "coin_type_global_pause", f"Coin type is globally paused for use: {coin_type}"
            )
        if lists.is_denied(coin_type, sender, None):
            raise _denied(sender, coin_type)


def _denied(address: Address, coin_type: str) -> TransactionRefused:
    return TransactionRefused(
        "address_denied_for_coin", f"Address {address} is denied for coin {coin_type}"
    )


def coin_owners(written: Iterable[tuple[Owner, MoveObject]]) -> dict[str, list[Address]]:
    """Return the owners of the regulated coins among `written`, by coin type. Both are sorted."""
    owners: dict[str, set[Address]] = {}
    for owner, data in written:
        coin_type = _coin_type(data.type)
        if coin_type is not None and isinstance(owner, AddressOwner):
            owners.setdefault(coin_type, set()).add(owner.address)
    return {coin_type: sorted(owners[coin_type]) for coin_type in sorted(owners)}


def check_denied_owners(
    owners: Mapping[str, Iterable[Address]], epoch: int, store: ObjectStore
) -> None:
    """Fail if the deny lists do not allow an owner to receive its coin in this epoch."""
    lists = DenyLists(store)
    for coin_type, addresses in owners.items():
        if lists.is_paused(coin_type, epoch):
            raise CommandFailed(ErrorKind.COIN_TYPE_GLOBAL_PAUSE, coin_type)
        for address in addresses:
            if lists.is_denied(coin_type, address, epoch):
                raise CommandFailed(ErrorKind.ADDRESS_DENIED_FOR_COIN, (address, coin_type))


def _regulated_coin_type(value: Object) -> str | None:
    return _coin_type(value.type) if value.type is not None else None


def _coin_type(tag: StructTag) -> str | None:
    """Return the coin type in the notation of deny lists, or None for SUI and other objects."""
    if tag == GAS_COIN or not is_coin(tag):
        return None
    return canonical_text(tag.type_params[0])
