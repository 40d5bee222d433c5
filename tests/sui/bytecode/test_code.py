import pytest

from nexus_tools.sui.bytecode import (
    OPERAND_KINDS,
    Instruction,
    JumpTable,
    MalformedModule,
    Opcode,
    VecOperand,
    deserialize,
    deserialize_published,
)

RET = 0x02
# A datatype `m` and an enum definition of it with two empty variants.
ENUM = {2: bytes([0, 0, 0, 0]), 0x11: bytes([0, 2, 2, 0, 0, 0, 0])}


def code(assembly):
    return deserialize(bytes(assembly)).function_definitions[0].code


def refused(assembly, message):
    with pytest.raises(MalformedModule, match=message):
        deserialize(bytes(assembly))


def test_instructions_are_read_with_their_operands(assembly):
    literals = bytes([0x31, 0xFF, 0x48, 0x01, 0x02, 0x06, *range(8)])
    unit = code(assembly.with_code(4, literals + bytes([RET])))
    assert unit.instructions == (
        Instruction(Opcode.LD_U8, 0xFF),
        Instruction(Opcode.LD_U16, 0x0201),
        Instruction(Opcode.LD_U64, 0x0706050403020100),
        Instruction(Opcode.RET),
    )


def test_vector_instruction_has_signature_and_length(assembly):
    unit = code(assembly.with_code(2, bytes([0x40, 0, 3, 0, 0, 0, 0, 0, 0, 0, RET])))
    assert unit.instructions[0] == Instruction(Opcode.VEC_PACK, VecOperand(0, 3))


@pytest.mark.parametrize("number", [0x00, 0x57, 0xFF])
def test_unknown_instruction_is_rejected(assembly, number):
    refused(assembly.with_code(1, bytes([number])), "unknown instruction")


def test_all_opcodes_of_the_format_are_known(assembly):
    numbers = set(range(1, 0x57))
    for number in numbers:
        with pytest.raises(MalformedModule) as caught:
            deserialize(bytes(assembly.with_code(1, bytes([number]), b"")))
        assert "unknown instruction" not in caught.value.message


@pytest.mark.parametrize("opcode", [0x03, 0x04, 0x05])
def test_branch_must_stay_in_the_code(assembly, opcode):
    assert code(assembly.with_code(2, bytes([opcode, 1, RET]))).instructions[0].operand == 1
    refused(assembly.with_code(2, bytes([opcode, 2, RET])), "the code has no row 2")


@pytest.mark.parametrize("opcode", [0x0A, 0x0B, 0x0C, 0x0D, 0x0E])
def test_instruction_must_refer_to_existing_local(assembly, opcode):
    # Signature 0 has one type, and is both the parameters and the further locals.
    two_locals = assembly.with_tables({5: bytes([1, 0x3])})
    assert code(two_locals.with_code(1, bytes([opcode, 1]))).instructions[0].operand == 1
    refused(two_locals.with_code(1, bytes([opcode, 2])), "the locals has no row 2")


INDICES = [
    (Opcode.LD_CONST, "constants"),
    (Opcode.CALL, "function handles"),
    (Opcode.CALL_GENERIC, "instantiations"),
    (Opcode.PACK, "struct definitions"),
    (Opcode.UNPACK, "struct definitions"),
    (Opcode.PACK_GENERIC, "instantiations"),
    (Opcode.UNPACK_GENERIC, "instantiations"),
    (Opcode.IMM_BORROW_FIELD, "field handles"),
    (Opcode.MUT_BORROW_FIELD_GENERIC, "instantiations"),
    (Opcode.VEC_LEN, "signatures"),
    (Opcode.VEC_UNPACK, "signatures"),
    (Opcode.PACK_VARIANT, "variant handles"),
    (Opcode.UNPACK_VARIANT_GENERIC, "variant instantiations"),
    (Opcode.MOVE_TO_DEPRECATED, "struct definitions"),
    (Opcode.EXISTS_GENERIC_DEPRECATED, "instantiations"),
]


@pytest.mark.parametrize(("opcode", "table"), INDICES)
def test_instruction_must_refer_to_existing_row(assembly, opcode, table):
    refused(assembly.with_code(1, bytes([opcode, 7])), f"{table} has no row 7")


def test_instruction_uses_only_type_parameters_of_its_function(assembly):
    generic = {5: bytes([0, 1, 0x9, 0])}
    length = bytes([Opcode.VEC_LEN, 1])
    refused(assembly.with_tables(generic).with_code(1, length), "type parameter")
    with_parameter = assembly.with_tables(generic | {3: bytes([0, 0, 0, 0, 1, 0])})
    assert code(with_parameter.with_code(1, length)).instructions[0].operand == 1


def test_locals_use_only_type_parameters_of_their_function(assembly):
    generic = assembly.with_tables({5: bytes([0, 1, 0x9, 0]), 12: bytes([0, 0, 0, 0, 1, 0, 0])})
    refused(generic, "a local variable uses an undeclared type parameter")


@pytest.mark.parametrize(("parameters", "more", "accepted"), [(200, 55, True), (200, 56, False)])
def test_function_has_at_most_255_locals(assembly, parameters, more, accepted):
    signatures = bytes([200, 1, *[0x3] * parameters, more, *[0x3] * more])
    many = assembly.with_tables({5: signatures, 12: bytes([0, 0, 0, 0, 1, 1, RET, 0])})
    if accepted:
        assert code(many).locals == 1
    else:
        refused(many, "256 locals")


def test_newer_instructions_need_newer_version(version_5, version_6):
    assert code(version_6.with_code(1, bytes([Opcode.CAST_U16])))
    refused(version_5.with_code(1, bytes([Opcode.CAST_U16])), "newer version")
    refused(version_6.with_code(1, bytes([Opcode.VARIANT_SWITCH, 0])), "newer version")


def test_switch_has_a_jump_table_with_a_branch_for_each_variant(assembly):
    tables = bytes([1, 0, 2, 1, 1, 0])
    unit = code(assembly.with_tables(ENUM).with_code(2, bytes([0x56, 0, RET]), tables))
    assert unit.jump_tables == (JumpTable(0, (1, 0)),)


JUMP_TABLES = [
    (bytes([0]), "jump table 0 does not exist"),
    (bytes([1, 0, 1, 1, 0]), "one branch for each variant"),
    (bytes([1, 0, 2, 1, 0, 2]), "the code has no row 2"),
    (bytes([1, 0, 2, 2, 0, 0]), "unknown kind of jump table"),
    (bytes([1, 1, 2, 1, 0, 0]), "enum definitions has no row 1"),
]


@pytest.mark.parametrize(("tables", "message"), JUMP_TABLES)
def test_jump_table_must_match_its_enum(assembly, tables, message):
    refused(assembly.with_tables(ENUM).with_code(2, bytes([0x56, 0, RET]), tables), message)


def test_code_must_end_in_its_table(assembly):
    refused(assembly.with_code(2, bytes([RET]), b""), "ends too early")


# Code that is read when it is first asked for

JUMP_TABLE = bytes([1, 0, 2, 1, 0, 1])


def parts(code):
    return code and (code.locals, code.instructions, code.jump_tables)


def test_lazily_parsed_code_is_equal(framework_modules):
    for data in framework_modules:
        whole, late = deserialize(data), deserialize_published(data)
        for one, other in zip(whole.function_definitions, late.function_definitions, strict=True):
            assert parts(other.code) == parts(one.code)
            assert (other.handle, other.visibility) == (one.handle, one.visibility)


# Which operand an instruction has is said in `file_format.rs` of Sui's Move.
@pytest.mark.parametrize("opcode", [item for item in Opcode if item.name.startswith("LD_")])
def test_literals_and_constants_are_skipped(assembly, opcode):
    sizes = {"LD_U8": 1, "LD_U16": 2, "LD_U32": 4, "LD_U64": 8, "LD_U128": 16, "LD_U256": 32}
    size = sizes.get(opcode.name, 1 if opcode in OPERAND_KINDS else 0)
    with_constant = assembly.with_tables({6: bytes([2, 1, 7])})  # u8, one byte: 7
    module = with_constant.with_code(2, bytes([opcode, *[0] * size, RET]))
    (function,) = deserialize_published(bytes(module)).function_definitions
    assert function.code.instructions[-1] == Instruction(Opcode.RET)


def test_jump_tables_are_skipped(assembly):
    switch = assembly.with_tables(ENUM).with_code(2, bytes([0x56, 0, RET]), JUMP_TABLE)
    (function,) = deserialize_published(bytes(switch)).function_definitions
    assert function.code.jump_tables[0].offsets == (0, 1)


def test_invalid_code_is_found_when_parsed(assembly):
    module = deserialize_published(bytes(assembly.with_code(1, b"\xff")))
    code = module.function_definitions[0].code
    for _ in range(2):
        with pytest.raises(MalformedModule, match="unknown instruction 0xff"):
            _ = code.instructions


@pytest.mark.parametrize(
    "code", [b"", bytes([0x06, 1, 2]), bytes([0x0B]), bytes([0x0B, 0x80]), bytes([0x40, 0, 1])]
)
def test_code_without_end_is_rejected_at_once(assembly, code):
    with pytest.raises(MalformedModule, match="ends too early"):
        deserialize_published(bytes(assembly.with_code(1, code, jump_tables=b"")))


def test_only_code_is_parsed_lazily(assembly):
    code = deserialize_published(bytes(assembly.with_code(1, bytes([RET])))).function_definitions[0]
    assert isinstance(code.code.instructions, tuple)
    assert not hasattr(code.code, "nothing")
