"""Declarations of test-only and source-only framework items, which bytecode does not contain.

Each module has a Move file in `std`, `sui` or `sui_system`. A module with test-only macros also has
a file in `macros`. A function without a body is native and implemented in
`nexus_tools.sui.localnet.move_test.natives`. All names are from the documentation of the framework.
"""

from collections.abc import Mapping
from pathlib import Path

__all__ = ["DECLARATIONS", "TEST_MACROS"]


def _members(folder: Path) -> Mapping[str, str]:
    """Return the text of each Move file after `module PACKAGE::NAME;`, by module."""
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
