"""The test-only and source-only declarations of the framework, which no released bytecode has.

A function without a body is native and implemented in `testing_natives`, `framework_natives`,
`tx_context_natives` or `scenario_natives`. All names are those that the framework documents.
"""

from collections.abc import Mapping

from nexus_tools.sui.localnet.move_test.compilation.declarations.framework import (
    FRAMEWORK,
    UNIT_TEST_MACROS,
)
from nexus_tools.sui.localnet.move_test.compilation.declarations.scenario import (
    CONTEXT_BUILDER,
    TEST_SCENARIO,
)
from nexus_tools.sui.localnet.move_test.compilation.declarations.system import (
    GOVERNANCE,
    SUI_SYSTEM,
)
from nexus_tools.sui.localnet.move_test.compilation.declarations.utilities import (
    KIOSK,
    TOKENS,
    TRANSFER_POLICY,
)

__all__ = ["DECLARATIONS", "TEST_MACROS"]

DECLARATIONS: Mapping[str, str] = {
    **FRAMEWORK,
    "sui::test_scenario": TEST_SCENARIO + CONTEXT_BUILDER,
    "sui::kiosk_test_utils": KIOSK,
    "sui::token_test_utils": TOKENS,
    "sui::transfer_policy_tests": TRANSFER_POLICY,
    "sui_system::governance_test_utils": GOVERNANCE,
    "sui_system::sui_system": SUI_SYSTEM,
}
"""The test-only functions and datatypes by module."""

TEST_MACROS: Mapping[str, str] = {"std::unit_test": UNIT_TEST_MACROS}
"""The test-only macros by module."""
