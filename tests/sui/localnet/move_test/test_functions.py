"""The framework's test-only functions.

The verdicts of `values`, `scenarios` and `utilities` are those of the unit-test runner of Sui
1.71.1 with the framework's sources of August 2025. `release` has newer functions, and keys that
this runner does not check.
"""

from pathlib import Path

import pytest

from nexus_tools.sui.localnet.compiler import read_sources
from nexus_tools.sui.localnet.move_test import MoveTestRunner, Verdict, build_tests
from nexus_tools.sui.localnet.move_test.machine import TEST_NATIVES
from nexus_tools.sui.localnet.natives import NATIVES
from nexus_tools.sui.types.address import SUI_FRAMEWORK

FUNCTIONS = Path(__file__).parent / "functions"


@pytest.fixture(scope="module")
def verdicts(builder):
    build = build_tests(builder, read_sources(FUNCTIONS))
    return {
        result.test.title.removeprefix("functions::"): result.verdict
        for result in MoveTestRunner(build, seed=1).run(build.tests)
    }


@pytest.mark.parametrize(
    ("module", "count"),
    [
        ("values", 11),
        ("scenarios", 5),
        ("utilities", 6),
        ("release", 9),
        ("modes", 1),
        ("signatures", 6),
    ],
)
def test_only_functions_match_framework_sources(verdicts, module, count):
    found = {title: verdict for title, verdict in verdicts.items() if title.startswith(module)}
    assert len(found) == count
    assert set(found.values()) == {Verdict.PASS}


def test_object_funds_withdrawal_is_enabled_in_tests():
    # It has the newest protocol; frameworks from 1.63 on ask it for this flag.
    function, flag = (
        (SUI_FRAMEWORK, "protocol_config", "is_feature_enabled"),
        bytearray(b"enable_object_funds_withdraw"),
    )
    assert TEST_NATIVES[function](None, (), flag)
    assert NATIVES[function] is not TEST_NATIVES[function]
