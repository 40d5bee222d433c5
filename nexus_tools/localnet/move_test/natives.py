"""All natives of a test run: those of the network, and those for tests alone."""

from nexus_tools.localnet.move_test import (
    debug_natives,
    framework_natives,
    scenario_natives,
    testing_natives,
    tx_context_natives,
)
from nexus_tools.localnet.natives import NATIVES, NativeTable

TEST_NATIVES: NativeTable = {
    **NATIVES,
    **debug_natives.NATIVES,
    **framework_natives.NATIVES,
    **scenario_natives.NATIVES,
    **testing_natives.NATIVES,
    **tx_context_natives.NATIVES,
}
"""Every native by address, module and function."""
