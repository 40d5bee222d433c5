"""Unit tests of Move packages, run in the localnet's VM without framework sources.

Start with `compilation/build.py`, which compiles a package with its tests, and `runner.py`, which
runs them.
"""

from nexus_tools.sui.localnet.move_test.compilation.annotated_sources import MoveTest
from nexus_tools.sui.localnet.move_test.compilation.build import MoveTestBuild, build_tests
from nexus_tools.sui.localnet.move_test.compilation.compilation import (
    BuiltDependencies,
    build_dependencies,
)
from nexus_tools.sui.localnet.move_test.compilation.markers import MarkedBuild, build_marked
from nexus_tools.sui.localnet.move_test.coverage import (
    Coverage,
    ModuleCoverage,
    coverage_lcov,
    coverage_record,
    coverage_rows,
    coverage_text_lines,
)
from nexus_tools.sui.localnet.move_test.report import (
    failure_lines,
    result_line,
    result_record,
    summary_line,
)
from nexus_tools.sui.localnet.move_test.runner import (
    GAS_LIMIT,
    TIMEOUT_S,
    MoveTestResult,
    MoveTestRunner,
    Verdict,
)

__all__ = [
    "GAS_LIMIT",
    "TIMEOUT_S",
    "BuiltDependencies",
    "Coverage",
    "MarkedBuild",
    "ModuleCoverage",
    "MoveTest",
    "MoveTestBuild",
    "MoveTestResult",
    "MoveTestRunner",
    "Verdict",
    "build_dependencies",
    "build_marked",
    "build_tests",
    "coverage_lcov",
    "coverage_record",
    "coverage_rows",
    "coverage_text_lines",
    "failure_lines",
    "result_line",
    "result_record",
    "summary_line",
]
