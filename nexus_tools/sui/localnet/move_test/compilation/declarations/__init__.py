"""The test-only and source-only declarations of the framework, which no released bytecode has.

Each module has a Move file in `std`, `sui` or `sui_system`, and test-only macros have one in
`macros`. A function without a body is native and implemented in `testing_natives`,
`framework_natives`, `tx_context_natives`, `scenario_natives` or `system_natives`. All names are
those that the framework documents.
"""

from collections.abc import Mapping
from pathlib import Path

__all__ = ["DECLARATIONS", "TEST_MACROS"]


def _members(folder: Path) -> Mapping[str, str]:
    """Return the text after the header `module PACKAGE::NAME;` of each Move file, by module."""
    members_by_module = {}
    for path in sorted(folder.glob("*/*.move")):
        module = f"{path.parent.name}::{path.stem}"
        _, _, members = path.read_text(encoding="utf-8").partition(f"module {module};\n")
        members_by_module[module] = members
    return members_by_module


_FOLDER = Path(__file__).parent

DECLARATIONS = _members(_FOLDER)
"""The test-only functions and datatypes by module."""

TEST_MACROS = _members(_FOLDER / "macros")
"""The test-only macros by module."""
