"""What the framework offers to tests or to sources alone, and what no bytecode of a release has.

A function without a body is native: `testing_natives`, `framework_natives`, `tx_context_natives`
and `scenario_natives` have those. All names are those that the framework documents.
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
"""Module -> the functions and datatypes that it has in tests."""

TEST_MACROS: Mapping[str, str] = {"std::unit_test": UNIT_TEST_MACROS}
"""Module -> the macros that it has in tests alone."""
