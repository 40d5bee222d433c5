"""The native functions that only Move unit tests use, with one file for each group."""

from nexus_tools.sui.localnet.move_test.natives.debug import NATIVES as DEBUG_NATIVES
from nexus_tools.sui.localnet.move_test.natives.ecdsa import NATIVES as ECDSA_NATIVES
from nexus_tools.sui.localnet.move_test.natives.framework import NATIVES as FRAMEWORK_NATIVES
from nexus_tools.sui.localnet.move_test.natives.scenario import NATIVES as SCENARIO_NATIVES
from nexus_tools.sui.localnet.move_test.natives.system import NATIVES as SYSTEM_NATIVES
from nexus_tools.sui.localnet.move_test.natives.tx_context import NATIVES as TX_CONTEXT_NATIVES
from nexus_tools.sui.localnet.move_test.natives.values import NATIVES as TESTING_NATIVES
from nexus_tools.sui.localnet.natives import NativeTable

NATIVES: NativeTable = {
    **DEBUG_NATIVES,
    **ECDSA_NATIVES,
    **FRAMEWORK_NATIVES,
    **SCENARIO_NATIVES,
    **SYSTEM_NATIVES,
    **TESTING_NATIVES,
    **TX_CONTEXT_NATIVES,
}
"""The native functions by address, module name and function name."""

__all__ = ["NATIVES"]
