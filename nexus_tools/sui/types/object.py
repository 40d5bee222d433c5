"""Objects, which are Move values or packages with an ID, a version and an owner.

Source: `sui-types/src/{object,move_package,base_types}.rs`.
"""

from msgspec import Struct
from msgspec.structs import force_setattr

from nexus_tools.sui.bcs import (
    BcsError,
    Codec,
    boolean,
    byte_vector,
    choice,
    record,
    string,
    struct,
    u64,
    vector,
    wrapper,
)
from nexus_tools.sui.types.address import (
    ADDRESS,
    ADDRESS_LENGTH,
    SUI_SYSTEM,
    ZERO,
    Address,
)
from nexus_tools.sui.types.digest import DIGEST, Digest, object_digest
from nexus_tools.sui.types.type_tag import (
    ACCUMULATOR_VALUE,
    COIN,
    DYNAMIC_FIELD,
    GAS_COIN,
    STRUCT_TAG,
    SUI,
    TYPE_TAG,
    StructTag,
    TypeTag,
    accumulator_key_tag,
    balance_tag,
    coin_tag,
    field_tag,
)


class ObjectReference(Struct, frozen=True):
    """A reference to one version of an object."""

    object_id: Address
    version: int
    digest: Digest


OBJECT_REFERENCE = struct(ObjectReference, ADDRESS, u64, DIGEST)


class AddressOwner(Struct, frozen=True):
    """Ownership by an address. Only transactions of that address can use the object."""

    address: Address


class ObjectOwner(Struct, frozen=True):
    """Ownership by an object. The owned object is a dynamic field of `parent`."""

    parent: Address


class Shared(Struct, frozen=True):
    """Shared ownership.

    All transactions can use the object, which was shared at `initial_version`.
    """

    initial_version: int


class Immutable(Struct, frozen=True):
    """The owner of packages and frozen objects, which all transactions can read but not change."""


class ConsensusAddressOwner(Struct, frozen=True):
    """Ownership by an address. Consensus orders the transactions that use the object."""

    start_version: int
    address: Address


Owner = AddressOwner | ObjectOwner | Shared | Immutable | ConsensusAddressOwner

OWNER: Codec[Owner] = choice(
    "Owner",
    wrapper(AddressOwner, ADDRESS),
    wrapper(ObjectOwner, ADDRESS),
    wrapper(Shared, u64),
    (Immutable, struct(Immutable)),
    (ConsensusAddressOwner, struct(ConsensusAddressOwner, u64, ADDRESS)),
)


class _WithId(Struct, frozen=True, kw_only=True):
    """A base class with a field `id`. Subclasses compute the ID, so callers do not pass it."""

    id: Address = ZERO


class MoveObject(_WithId, frozen=True):
    """A Move value that is an object. `contents` are the BCS bytes, which start with the ID."""

    type: StructTag
    has_public_transfer: bool
    version: int
    contents: bytes

    def __post_init__(self) -> None:
        if len(self.contents) < ADDRESS_LENGTH:
            raise BcsError("the contents of an object are shorter than its ID")
        # Compute the ID once, because a transaction reads it about twenty times.
        force_setattr(self, "id", Address(self.contents[:ADDRESS_LENGTH]))


class TypeOrigin(Struct, frozen=True):
    """The origin of a type, which is the package version that first defined it."""

    module: str
    datatype: str
    package: Address


class Linkage(Struct, frozen=True):
    """The version of a dependency that a package uses.

    `original_id` is the ID of the dependency's first version.
    """

    original_id: Address
    upgraded_id: Address
    upgraded_version: int


MAX_MOVE_PACKAGE_SIZE = 100 * 1024
"""The maximum size of a package in bytes: `max_move_package_size` of `sui-protocol-config`."""


class MovePackage(Struct, frozen=True):
    """A package. `modules` are pairs of a module's name and bytes, sorted by name."""

    id: Address
    version: int
    modules: tuple[tuple[str, bytes], ...]
    type_origins: tuple[TypeOrigin, ...]
    linkage: tuple[Linkage, ...]


class Object(Struct, frozen=True):
    """An object as the ledger stores it. `storage_rebate` is in MIST."""

    data: MoveObject | MovePackage
    owner: Owner
    previous_transaction: Digest
    storage_rebate: int

    @property
    def id(self) -> Address:
        """The ID of the object."""
        return self.data.id

    @property
    def version(self) -> int:
        """The object's version."""
        return self.data.version

    @property
    def type(self) -> StructTag | None:
        """The object's type, or None for a package."""
        return self.data.type if isinstance(self.data, MoveObject) else None

    def encode(self) -> bytes:
        """Return the BCS bytes of the object."""
        return OBJECT.encode(self)

    def digest(self) -> Digest:
        """Return the digest of this version of the object."""
        return object_digest(OBJECT.encode(self))

    def reference(self) -> ObjectReference:
        """Return a reference to this version of the object."""
        return ObjectReference(self.id, self.version, self.digest())


# The variants of `MoveObjectType`. Common types have their own variants to save space.
_OTHER, _GAS_COIN, _STAKED_SUI, _COIN = 0, 1, 2, 3
_SUI_BALANCE_FIELD, _BALANCE_FIELD = 4, 5
_STAKED_SUI_TAG = StructTag(SUI_SYSTEM, "staking_pool", "StakedSui")


def _balance_field_tag(coin_type: TypeTag) -> StructTag:
    return field_tag(accumulator_key_tag(balance_tag(coin_type)), ACCUMULATOR_VALUE)


_SUI_BALANCE_TAG = _balance_field_tag(SUI)


def _read_object_type(data: bytes, position: int) -> tuple[StructTag, int]:
    number, position = data[position], position + 1
    if number == _GAS_COIN:
        return GAS_COIN, position
    if number == _STAKED_SUI:
        return _STAKED_SUI_TAG, position
    if number == _SUI_BALANCE_FIELD:
        return _SUI_BALANCE_TAG, position
    if number == _OTHER:
        tag, position = STRUCT_TAG.read(data, position)
    elif number in (_COIN, _BALANCE_FIELD):
        coin_type, position = TYPE_TAG.read(data, position)
        tag = coin_tag(coin_type) if number == _COIN else _balance_field_tag(coin_type)
    else:
        raise BcsError(f"MoveObjectType has no variant {number}")
    if _object_type_number(tag) != number:
        raise BcsError(f"{tag} must not be encoded as variant {number} of MoveObjectType")
    return tag, position


def _object_type_number(tag: StructTag) -> int:
    """Return the number of the `MoveObjectType` variant that encodes a type."""
    if tag == GAS_COIN:
        return _GAS_COIN
    if tag.datatype == COIN and len(tag.type_params) == 1:
        return _COIN
    if tag == _STAKED_SUI_TAG:
        return _STAKED_SUI
    if tag == _SUI_BALANCE_TAG:
        return _SUI_BALANCE_FIELD
    return _OTHER if _balance_field_coin(tag) is None else _BALANCE_FIELD


def _balance_field_coin(tag: StructTag) -> TypeTag | None:
    """Return the coin type if `tag` is the type of an address balance object, or else None."""
    if tag.datatype != DYNAMIC_FIELD:
        return None
    if len(tag.type_params) != 2:  # possible only in untrusted input
        return None
    key = tag.type_params[0]
    balance = key.type_params[0] if isinstance(key, StructTag) and key.type_params else None
    coin = (
        balance.type_params[0] if isinstance(balance, StructTag) and balance.type_params else None
    )
    return coin if coin is not None and tag == _balance_field_tag(coin) else None


def _write_object_type(tag: StructTag, out: bytearray) -> None:
    number = _object_type_number(tag)
    out.append(number)
    if number == _COIN:
        TYPE_TAG.write(tag.type_params[0], out)
    elif number == _BALANCE_FIELD and (coin := _balance_field_coin(tag)) is not None:
        TYPE_TAG.write(coin, out)
    elif number == _OTHER:
        STRUCT_TAG.write(tag, out)


OBJECT_TYPE: Codec[StructTag] = Codec(_read_object_type, _write_object_type)

OBJECT_DATA: Codec[MoveObject | MovePackage] = choice(
    "Data",
    (MoveObject, struct(MoveObject, OBJECT_TYPE, boolean, u64, byte_vector)),
    (
        MovePackage,
        struct(
            MovePackage,
            ADDRESS,
            u64,
            vector(record((string, byte_vector))),
            vector(struct(TypeOrigin, string, string, ADDRESS)),
            vector(struct(Linkage, ADDRESS, ADDRESS, u64)),
        ),
    ),
)
OBJECT: Codec[Object] = struct(Object, OBJECT_DATA, OWNER, DIGEST, u64)
