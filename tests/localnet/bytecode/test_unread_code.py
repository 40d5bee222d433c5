import pytest

from nexus_tools.localnet.bytecode import MalformedModule, deserialize, deserialize_published
from nexus_tools.localnet.bytecode.code import OPERANDS
from nexus_tools.localnet.bytecode.module import Code, Instruction
from nexus_tools.localnet.bytecode.opcode import Opcode

RET = 0x02
# An enum definition of a datatype `m` with two empty variants, and a jump table for it.
ENUM = {2: bytes([0, 0, 0, 0]), 0x11: bytes([0, 2, 2, 0, 0, 0, 0])}
JUMP_TABLE = bytes([1, 0, 2, 1, 0, 1])


def parts(code):
    return code and (code.locals, code.instructions, code.jump_tables)


def test_code_that_is_read_late_is_the_same(framework_modules):
    for data in framework_modules:
        whole, late = deserialize(data), deserialize_published(data)
        for one, other in zip(whole.function_definitions, late.function_definitions, strict=True):
            assert parts(other.code) == parts(one.code)
            assert (other.handle, other.visibility) == (one.handle, one.visibility)


# Which operand an instruction has is said in `file_format.rs` of Sui's Move.
@pytest.mark.parametrize("opcode", [each for each in Opcode if each.name.startswith("LD_")])
def test_a_literal_or_a_constant_is_passed_over(assembly, opcode):
    sizes = {"LD_U8": 1, "LD_U16": 2, "LD_U32": 4, "LD_U64": 8, "LD_U128": 16, "LD_U256": 32}
    size = sizes.get(opcode.name, 1 if opcode in OPERANDS else 0)
    with_constant = assembly.with_tables({6: bytes([2, 1, 7])})  # u8, one byte: 7
    module = with_constant.with_code(2, bytes([opcode, *[0] * size, RET]))
    (function,) = deserialize_published(bytes(module)).function_definitions
    assert function.code.instructions[-1] == Instruction(Opcode.RET)


def test_jump_tables_are_passed_over(assembly):
    switch = assembly.with_tables(ENUM).with_code(2, bytes([0x56, 0, RET]), JUMP_TABLE)
    (function,) = deserialize_published(bytes(switch)).function_definitions
    assert function.code.jump_tables[0].offsets == (0, 1)


def test_wrong_code_is_found_when_it_is_read(assembly):
    module = deserialize_published(bytes(assembly.with_code(1, b"\xff")))
    code = module.function_definitions[0].code
    for _ in range(2):
        with pytest.raises(MalformedModule, match="no instruction 0xff"):
            _ = code.instructions


@pytest.mark.parametrize(
    "code", [b"", bytes([0x06, 1, 2]), bytes([0x0B]), bytes([0x0B, 0x80]), bytes([0x40, 0, 1])]
)
def test_code_without_an_end_is_refused_at_once(assembly, code):
    with pytest.raises(MalformedModule, match="ends too early"):
        deserialize_published(bytes(assembly.with_code(1, code, jump_tables=b"")))


def test_only_code_has_been_put_off(assembly):
    code = deserialize_published(bytes(assembly.with_code(1, bytes([RET])))).function_definitions[0]
    assert isinstance(code.code, Code)
    assert not hasattr(code.code, "nothing")
