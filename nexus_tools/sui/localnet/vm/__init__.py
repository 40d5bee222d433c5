"""The Move virtual machine of the localnet, which translates bytecode to Python and runs it.

Start with `machine.py`, which calls functions, and `translator/`, which writes their Python code.
"""

from nexus_tools.sui.localnet.vm.definitions import (
    Datatype,
    Function,
    ModuleId,
    ReferenceType,
    Type,
    TypeParameter,
    substitute,
)
from nexus_tools.sui.localnet.vm.errors import (
    ErrorKind,
    InvalidCode,
    LinkError,
    Location,
    MoveAbort,
    MoveFailure,
    NativeAbort,
    NativeLimit,
    OutOfGas,
    PrimitiveError,
    UnknownNative,
)
from nexus_tools.sui.localnet.vm.loaded_module import LoadedModule
from nexus_tools.sui.localnet.vm.loaded_package import LoadedPackage
from nexus_tools.sui.localnet.vm.machine import Machine
from nexus_tools.sui.localnet.vm.metering import Meter
from nexus_tools.sui.localnet.vm.native import (
    AnyNative,
    HashNative,
    Native,
    Natives,
    PricedNative,
    TypedNative,
)
from nexus_tools.sui.localnet.vm.observed_machine import (
    CallObserver,
    LinkedFunction,
    ObservedMachine,
)
from nexus_tools.sui.localnet.vm.program import TypeArguments
from nexus_tools.sui.localnet.vm.runtime import Context
from nexus_tools.sui.localnet.vm.translator.control_flow import ControlFlowGraph
from nexus_tools.sui.localnet.vm.types import Types
from nexus_tools.sui.localnet.vm.values.size import REFERENCE_BYTES
from nexus_tools.sui.localnet.vm.values.values import Reference, Value, Variant, borrow, copy_value

__all__ = [
    "REFERENCE_BYTES",
    "AnyNative",
    "CallObserver",
    "Context",
    "ControlFlowGraph",
    "Datatype",
    "ErrorKind",
    "Function",
    "HashNative",
    "InvalidCode",
    "LinkError",
    "LinkedFunction",
    "LoadedModule",
    "LoadedPackage",
    "Location",
    "Machine",
    "Meter",
    "ModuleId",
    "MoveAbort",
    "MoveFailure",
    "Native",
    "NativeAbort",
    "NativeLimit",
    "Natives",
    "ObservedMachine",
    "OutOfGas",
    "PricedNative",
    "PrimitiveError",
    "Reference",
    "ReferenceType",
    "Type",
    "TypeArguments",
    "TypeParameter",
    "TypedNative",
    "Types",
    "UnknownNative",
    "Value",
    "Variant",
    "borrow",
    "copy_value",
    "substitute",
]
