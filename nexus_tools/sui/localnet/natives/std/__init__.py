"""The native functions of the Move standard library (0x1), with one file per Move module."""

from nexus_tools.sui.localnet.natives.std.bcs import NATIVES as BCS_NATIVES
from nexus_tools.sui.localnet.natives.std.debug import NATIVES as DEBUG_NATIVES
from nexus_tools.sui.localnet.natives.std.hash import NATIVES as HASH_NATIVES
from nexus_tools.sui.localnet.natives.std.string import NATIVES as STRING_NATIVES
from nexus_tools.sui.localnet.natives.std.type_name import NATIVES as TYPE_NAME_NATIVES
from nexus_tools.sui.localnet.natives.std.vector import NATIVES as VECTOR_NATIVES
from nexus_tools.sui.localnet.natives.table import NativeTable

NATIVES: NativeTable = {
    **BCS_NATIVES,
    **DEBUG_NATIVES,
    **HASH_NATIVES,
    **STRING_NATIVES,
    **TYPE_NAME_NATIVES,
    **VECTOR_NATIVES,
}
"""The native functions by address, module name and function name."""

__all__ = ["NATIVES"]
