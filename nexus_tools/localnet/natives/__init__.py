"""Functions of the framework that are not written in Move: one file per module that has some."""

from nexus_tools.localnet.natives import (
    std_bcs,
    std_debug,
    std_hash,
    std_string,
    std_type_name,
    std_vector,
    sui_accumulator,
    sui_address,
    sui_bls12381,
    sui_config,
    sui_dynamic_field,
    sui_ecdsa_k1,
    sui_ecdsa_r1,
    sui_ecvrf,
    sui_ed25519,
    sui_event,
    sui_groth16,
    sui_group_ops,
    sui_hash,
    sui_hmac,
    sui_nitro_attestation,
    sui_object,
    sui_poseidon,
    sui_protocol_config,
    sui_system_validator,
    sui_transfer,
    sui_tx_context,
    sui_types,
    sui_vdf,
    sui_zklogin,
)
from nexus_tools.localnet.natives.accumulators import Accumulators, StreamedEvent
from nexus_tools.localnet.natives.child_objects import ChildObject
from nexus_tools.localnet.natives.errors import LimitExceeded, MalformedArgument, UnsupportedNative
from nexus_tools.localnet.natives.gas import INTERNAL_UNITS_PER_GAS_UNIT, NativeGas, charge
from nexus_tools.localnet.natives.limits import (
    MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS,
    METERED_LIMITS,
    UNMETERED_LIMITS,
    Limits,
)
from nexus_tools.localnet.natives.object_runtime import (
    EmittedEvent,
    ObjectRuntime,
    TransactionContext,
    Transfer,
    object_id_of,
)
from nexus_tools.localnet.natives.std_type_name import canonical_text
from nexus_tools.localnet.natives.sui_protocol_config import ENABLED_FEATURES
from nexus_tools.localnet.natives.sui_transfer import UNASSIGNED_VERSION
from nexus_tools.localnet.natives.table import NativeTable, natives_of, object_type, runtime_of

_MODULES = (
    std_bcs,
    std_debug,
    std_hash,
    std_string,
    std_type_name,
    std_vector,
    sui_accumulator,
    sui_address,
    sui_bls12381,
    sui_config,
    sui_dynamic_field,
    sui_ecdsa_k1,
    sui_ecdsa_r1,
    sui_ecvrf,
    sui_ed25519,
    sui_event,
    sui_groth16,
    sui_group_ops,
    sui_hash,
    sui_hmac,
    sui_nitro_attestation,
    sui_object,
    sui_poseidon,
    sui_protocol_config,
    sui_transfer,
    sui_tx_context,
    sui_types,
    sui_vdf,
    sui_zklogin,
    sui_system_validator,
)

NATIVES: NativeTable = {
    key: native for module in _MODULES for key, native in module.NATIVES.items()
}
"""Every native of the packages 0x1, 0x2 and 0x3, by address, module and function."""

__all__ = [
    "ENABLED_FEATURES",
    "INTERNAL_UNITS_PER_GAS_UNIT",
    "MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS",
    "METERED_LIMITS",
    "NATIVES",
    "UNASSIGNED_VERSION",
    "UNMETERED_LIMITS",
    "Accumulators",
    "ChildObject",
    "EmittedEvent",
    "LimitExceeded",
    "Limits",
    "MalformedArgument",
    "NativeGas",
    "NativeTable",
    "ObjectRuntime",
    "StreamedEvent",
    "TransactionContext",
    "Transfer",
    "UnsupportedNative",
    "canonical_text",
    "charge",
    "natives_of",
    "object_id_of",
    "object_type",
    "runtime_of",
]
