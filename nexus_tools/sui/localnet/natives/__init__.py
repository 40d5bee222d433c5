"""Native functions of the framework, with one file per Move module that has native functions.

`NATIVES` has all native functions. `object_runtime.py` has the transaction state that native
functions share.
"""

from nexus_tools.sui.localnet.natives.accumulators import Accumulators, StreamEvent
from nexus_tools.sui.localnet.natives.child_objects import ChildObject
from nexus_tools.sui.localnet.natives.errors import (
    LimitExceeded,
    MalformedArgument,
    UnsupportedNative,
)
from nexus_tools.sui.localnet.natives.gas import INTERNAL_UNITS_PER_GAS_UNIT, NativeGas, charge
from nexus_tools.sui.localnet.natives.limits import (
    MAX_NUM_TRANSFERRED_MOVE_OBJECT_IDS,
    METERED_LIMITS,
    UNMETERED_LIMITS,
    Limits,
)
from nexus_tools.sui.localnet.natives.object_runtime import (
    EmittedEvent,
    ObjectRuntime,
    TransactionContext,
    Transfer,
    object_id_of,
)
from nexus_tools.sui.localnet.natives.std import NATIVES as STD_NATIVES
from nexus_tools.sui.localnet.natives.std.type_name import canonical_text
from nexus_tools.sui.localnet.natives.sui import NATIVES as SUI_NATIVES
from nexus_tools.sui.localnet.natives.sui.protocol_config import ENABLED_FEATURES
from nexus_tools.sui.localnet.natives.sui.transfer import UNASSIGNED_VERSION
from nexus_tools.sui.localnet.natives.sui_crypto import NATIVES as SUI_CRYPTO_NATIVES
from nexus_tools.sui.localnet.natives.table import NativeTable, natives_of, object_type, runtime_of

NATIVES: NativeTable = {**STD_NATIVES, **SUI_NATIVES, **SUI_CRYPTO_NATIVES}
"""The native functions of packages 0x1, 0x2 and 0x3, by address, module name and function name."""

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
    "StreamEvent",
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
