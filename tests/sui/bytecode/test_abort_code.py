"""Hand-made abort codes, with the constants of a module from Sui's compiler.

Bits from the highest: version (4), reserved (4), code (8), line (16), name (16), value (16).
"""

from pathlib import Path

import pytest

import nexus_tools.contracts
from nexus_tools.sui.bytecode import clever_error, deserialize

NONE = 0xFFFF


@pytest.fixture
def module():
    folder = Path(nexus_tools.contracts.__file__).parent / "bytecode"
    return (folder / "definition.mv").read_bytes()


def constant(module, data):
    return [constant.data for constant in deserialize(module).constants].index(data)


def code_of(name, value, *, version=0b1100, code=0xFF, line=33):
    return version << 60 | code << 48 | line << 32 | name << 16 | value


def test_plain_number_is_not_a_clever_error(module):
    assert clever_error(7, module) is None
    assert clever_error(2**63 - 1, module) is None


def test_abort_without_constant_has_its_line(module):
    found = clever_error(code_of(NONE, NONE), module)
    assert (found.line_number, found.code, found.constant_name) == (33, None, None)


def test_abort_may_have_a_code(module):
    assert clever_error(code_of(NONE, NONE, code=9), module).code == 9
    assert clever_error(code_of(NONE, NONE, code=9, version=0b1000), module).code is None


def test_constant_has_name_and_text(module):
    index = constant(module, b"\x08offchain")
    found = clever_error(code_of(index, index), module)
    assert (found.constant_name, found.rendered, found.raw) == ("offchain", "offchain", None)


def test_number_is_rendered_in_decimal(module):
    name = constant(module, b"\x08offchain")
    value = constant(module, (2048).to_bytes(8, "little"))
    assert clever_error(code_of(name, value), module).rendered == "2048"


def test_unknown_constants_are_ignored(module):
    assert clever_error(code_of(9_999, 0), module) is None
    assert clever_error(code_of(NONE, NONE), None) is None
