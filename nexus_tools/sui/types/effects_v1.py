"""Transaction effects of version 1, from Sui's first year, and a codec for both versions.

Source: `sui-types/src/effects/{mod,effects_v1}.rs`.
"""

from msgspec import Struct

from nexus_tools.sui.bcs import BcsError, Codec, option, record, struct, u64, vector
from nexus_tools.sui.types.address import ADDRESS, Address
from nexus_tools.sui.types.digest import DIGEST, Digest, effects_digest
from nexus_tools.sui.types.effects import (
    GAS_COST_SUMMARY,
    TRANSACTION_EFFECTS,
    GasCostSummary,
    TransactionEffects,
)
from nexus_tools.sui.types.execution_status import EXECUTION_STATUS, ExecutionStatus
from nexus_tools.sui.types.object import OBJECT_REFERENCE, OWNER, ObjectReference, Owner

OwnedReference = tuple[ObjectReference, Owner]


class TransactionEffectsV1(Struct, frozen=True):
    """The effects of a transaction (`TransactionEffectsV1`).

    `modified_at_versions` contains the IDs and previous versions of modified objects. `mutated`
    includes `gas_object`.
    """

    status: ExecutionStatus
    epoch: int
    gas_used: GasCostSummary
    modified_at_versions: tuple[tuple[Address, int], ...]
    shared_objects: tuple[ObjectReference, ...]
    transaction_digest: Digest
    created: tuple[OwnedReference, ...]
    mutated: tuple[OwnedReference, ...]
    unwrapped: tuple[OwnedReference, ...]
    deleted: tuple[ObjectReference, ...]
    unwrapped_then_deleted: tuple[ObjectReference, ...]
    wrapped: tuple[ObjectReference, ...]
    gas_object: OwnedReference
    events_digest: Digest | None
    dependencies: tuple[Digest, ...]

    def encode(self) -> bytes:
        """Return the BCS bytes."""
        return ANY_EFFECTS.encode(self)

    def digest(self) -> Digest:
        """Return the digest of the effects."""
        return effects_digest(self.encode())


_REFERENCES = vector(OBJECT_REFERENCE)
_OWNED_REFERENCE = record((OBJECT_REFERENCE, OWNER))
_OWNED_REFERENCES = vector(_OWNED_REFERENCE)

_EFFECTS_V1 = struct(
    TransactionEffectsV1,
    EXECUTION_STATUS,
    u64,
    GAS_COST_SUMMARY,
    vector(record((ADDRESS, u64))),
    _REFERENCES,
    DIGEST,
    _OWNED_REFERENCES,
    _OWNED_REFERENCES,
    _OWNED_REFERENCES,
    _REFERENCES,
    _REFERENCES,
    _REFERENCES,
    _OWNED_REFERENCE,
    option(DIGEST),
    vector(DIGEST),
)
_V1, _V2 = 0, 1


def _read(data: bytes, position: int) -> tuple[TransactionEffects | TransactionEffectsV1, int]:
    version = data[position]
    if version == _V1:
        return _EFFECTS_V1.read(data, position + 1)
    if version == _V2:
        return TRANSACTION_EFFECTS.read(data, position)
    raise BcsError(f"TransactionEffects has no variant {version}")


def _write(effects: TransactionEffects | TransactionEffectsV1, out: bytearray) -> None:
    if isinstance(effects, TransactionEffects):
        TRANSACTION_EFFECTS.write(effects, out)
    else:
        out.append(_V1)
        _EFFECTS_V1.write(effects, out)


ANY_EFFECTS: Codec[TransactionEffects | TransactionEffectsV1] = Codec(_read, _write)
