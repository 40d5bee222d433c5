"""The procedure `GetCoinInfo`, which returns the metadata, supply and regulation of a coin type.

A coin type is registered as a `0x2::coin_registry::Currency<T>`. An older coin type has separate
objects instead: a `0x2::coin::CoinMetadata<T>` and, in some cases, a `TreasuryCap<T>`.
"""

from msgspec import Struct

from nexus_tools.sui.localnet.genesis import TOTAL_SUPPLY_MIST
from nexus_tools.sui.localnet.rpc.backend import Backend
from nexus_tools.sui.localnet.rpc.interface import not_found
from nexus_tools.sui.localnet.rpc.requests import parsed, required
from nexus_tools.sui.localnet.vm import Machine, Value
from nexus_tools.sui.rpc import Message
from nexus_tools.sui.types.address import SUI_FRAMEWORK, ZERO, Address
from nexus_tools.sui.types.object import (
    AddressOwner,
    ConsensusAddressOwner,
    Immutable,
    MoveObject,
    Object,
)
from nexus_tools.sui.types.type_tag import (
    SUI,
    StructTag,
    TypeTag,
    derived_object_id,
    parse_struct_tag,
)

_REGISTRY = Address.of(0xC)
_EMPTY_STRUCT = b"\0"  # the value of the boolean field that the compiler adds
_FIXED, _BURN_ONLY = 1, 2
_CLAIMED, _UNCLAIMED, _DELETED = 1, 2, 3
_REGULATED, _UNREGULATED = 1, 2
_UNKNOWN = 0
# These tuples are indexed by the variant tags of `SupplyState` and `MetadataCapState` in
# `sui::coin_registry`.
_SUPPLY_STATES = (_FIXED, _BURN_ONLY, _UNKNOWN)
_CAP_STATES = (_CLAIMED, _UNCLAIMED, _DELETED)


class MoveRecord(Struct, frozen=True):
    """The value of a struct, and its type.

    `record["name"]` returns the value of the field `name`.
    """

    machine: Machine
    tag: StructTag
    value: Value

    @classmethod
    def of(cls, source: Object, machine: Machine) -> "MoveRecord":
        """Return the value of an object that is not a package."""
        assert isinstance(source.data, MoveObject)
        value = machine.types.decode(source.data.type, source.data.contents)
        return cls(machine, source.data.type, value)

    def __getitem__(self, name: str) -> Value:
        return self.value[self._place(name)]

    def _place(self, name: str) -> int:
        return [field for field, _ in self._fields()].index(name)

    def _fields(self) -> tuple[tuple[str, TypeTag], ...]:
        datatype = self.machine.types.datatype(self.tag)
        assert datatype is not None
        assert datatype.fields is not None
        return datatype.fields  # type: ignore[return-value]  # fields are not references


def get_coin_info(backend: Backend, request: Message, response: Message) -> None:
    """Serve `GetCoinInfo`.

    Raises:
        RpcError: NOT_FOUND if the type is not a coin type.
    """
    coin_type = parsed("coin_type", required(request, "coin_type"), parse_struct_tag)
    currency = _registered(backend, coin_type)
    metadata = _find(backend, "coin", "CoinMetadata", coin_type)
    regulated = _find(backend, "coin", "RegulatedCoinMetadata", coin_type)
    treasury = _find(backend, "coin", "TreasuryCap", coin_type)
    if currency is None and metadata is None and treasury is None and coin_type != SUI:
        raise not_found(f"Coin type {coin_type} not found")
    response.coin_type = str(coin_type)
    if currency is not None:
        _render_currency(response, currency, treasury, backend.node.machine)
    else:
        _render_objects(response, metadata, treasury, backend.node.machine)
        _render_regulated_object(response.regulated_metadata, regulated, backend.node.machine)
    if coin_type == SUI:
        response.treasury.total_supply = TOTAL_SUPPLY_MIST
        response.treasury.supply_state = _FIXED
        response.regulated_metadata.coin_regulated_state = _UNREGULATED


def _registered(backend: Backend, coin_type: StructTag) -> Object | None:
    """Return the registry's entry for a coin type.

    A newly created currency has no entry until the registry receives it.
    """
    key_type = StructTag(SUI_FRAMEWORK, "coin_registry", "CurrencyKey", (coin_type,))
    return backend.node.ledger.get(derived_object_id(_REGISTRY, key_type, _EMPTY_STRUCT))


def _find(backend: Backend, module: str, name: str, coin_type: StructTag) -> Object | None:
    tag = StructTag(SUI_FRAMEWORK, module, name, (coin_type,))
    objects = backend.node.ledger.describing(tag)
    return objects[0] if objects else None


def _text(value: Value) -> str:
    return bytes(value[0]).decode("utf-8", "replace")


def _id(value: Value) -> str:
    return str(Address(value[0]))


def _render_currency(
    response: Message, currency: Object, treasury: Object | None, machine: Machine
) -> None:
    fields = MoveRecord.of(currency, machine)
    _render_names(response.metadata, currency, fields)
    response.metadata.icon_url = _text(fields["icon_url"])
    claim = fields["metadata_cap_id"]
    response.metadata.metadata_cap_state = _CAP_STATES[claim.tag]
    if claim.fields:
        response.metadata.metadata_cap_id = _id(claim.fields[0])
    (supply,) = fields["supply"][0] or (None,)
    if supply is not None and _SUPPLY_STATES[supply.tag] != _UNKNOWN:
        response.treasury.total_supply = supply.fields[0][0]
        response.treasury.supply_state = _SUPPLY_STATES[supply.tag]
        if fields["treasury_cap_id"][0]:
            response.treasury.id = _id(fields["treasury_cap_id"][0][0])
    elif treasury is not None:
        _render_treasury(response.treasury, treasury, machine)
    _render_regulated(response.regulated_metadata, fields["regulated"])


def _render_regulated(message: Message, regulated: Value) -> None:
    """Fill the fields from a `RegulatedState`, which is regulated, unregulated or unknown."""
    if regulated.tag != 0:
        message.coin_regulated_state = _UNREGULATED if regulated.tag == 1 else _UNKNOWN
        return
    message.coin_regulated_state = _REGULATED
    cap, allow_global_pause, variant = regulated.fields
    message.deny_cap_object = _id(cap)
    message.variant = variant
    if allow_global_pause[0]:
        message.allow_global_pause = allow_global_pause[0][0]


def _render_objects(
    response: Message,
    metadata: Object | None,
    treasury: Object | None,
    machine: Machine,
) -> None:
    """Fill the fields from a coin type's `CoinMetadata` and `TreasuryCap`."""
    if metadata is not None:
        fields = MoveRecord.of(metadata, machine)
        _render_names(response.metadata, metadata, fields)
        if fields["icon_url"][0]:
            # The type is `Option<Url>`. The indices select the vector of the option, the `Url` in
            # the vector, and the `String` of the `Url`.
            response.metadata.icon_url = _text(fields["icon_url"][0][0][0])
    if treasury is not None:
        _render_treasury(response.treasury, treasury, machine)


def _render_regulated_object(message: Message, regulated: Object | None, machine: Machine) -> None:
    if regulated is None:
        message.coin_regulated_state = _UNKNOWN
        return
    fields = MoveRecord.of(regulated, machine)
    message.id = str(regulated.id)
    message.coin_metadata_object = _id(fields["coin_metadata_object"])
    message.deny_cap_object = _id(fields["deny_cap_object"])
    message.coin_regulated_state = _REGULATED


def _render_names(message: Message, source: Object, fields: MoveRecord) -> None:
    message.id = str(source.id)
    message.decimals = fields["decimals"]
    message.name = _text(fields["name"])
    message.symbol = _text(fields["symbol"])
    message.description = _text(fields["description"])


def _render_treasury(message: Message, treasury: Object, machine: Machine) -> None:
    message.id = str(treasury.id)
    message.total_supply = MoveRecord.of(treasury, machine)["total_supply"][0]
    owner = treasury.owner
    has_no_owner = isinstance(owner, Immutable) or (
        isinstance(owner, AddressOwner | ConsensusAddressOwner) and owner.address == ZERO
    )
    message.supply_state = _FIXED if has_no_owner else _UNKNOWN
