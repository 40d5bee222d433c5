import pytest

from nexus_tools.sui.bytecode import DatatypeToken, Instruction, Opcode, ReferenceToken, VecOperand

RESOURCE, PAIR, BOX, SHAPE = (DatatypeToken(handle) for handle in range(4))
IMM, MUT = ReferenceToken("u64", mutable=False), ReferenceToken("u64", mutable=True)

# Each entry has the code, parameters, results, and the status.
REFUSED = {
    "what may not be dropped is popped": (
        ["MOVE_LOC 0", "POP", "RET"],
        (RESOURCE,),
        (),
        "POP_WITHOUT_DROP_ABILITY",
    ),
    "a number is a condition": (
        ["LD_U8 1", "BR_TRUE 2", "RET"],
        (),
        (),
        "BR_TYPE_MISMATCH_ERROR",
    ),
    "a bool goes to a local of numbers": (
        ["LD_TRUE", "ST_LOC 0", "RET"],
        ("u64",),
        (),
        "STLOC_TYPE_MISMATCH_ERROR",
    ),
    "a bool is an abort code": (["LD_TRUE", "ABORT"], (), (), "ABORT_TYPE_MISMATCH_ERROR"),
    "a bool is returned as a number": (
        ["LD_TRUE", "RET"],
        (),
        ("u64",),
        "RET_TYPE_MISMATCH_ERROR",
    ),
    "an immutable reference is frozen": (
        ["MOVE_LOC 0", "FREEZE_REF", "POP", "RET"],
        (IMM,),
        (),
        "FREEZEREF_TYPE_MISMATCH_ERROR",
    ),
    "a field is borrowed of a number": (
        ["MOVE_LOC 0", "IMM_BORROW_FIELD 0", "POP", "RET"],
        (IMM,),
        (),
        "BORROWFIELD_TYPE_MISMATCH_ERROR",
    ),
    "a field is borrowed mutably through an immutable reference": (
        ["MOVE_LOC 0", "MUT_BORROW_FIELD 0", "POP", "RET"],
        (ReferenceToken(PAIR, mutable=False),),
        (),
        "BORROWFIELD_TYPE_MISMATCH_ERROR",
    ),
    "a reference is borrowed": (
        ["IMM_BORROW_LOC 0", "POP", "RET"],
        (IMM,),
        (),
        "BORROWLOC_REFERENCE_ERROR",
    ),
    "a resource is copied": (
        ["COPY_LOC 0", "RET"],
        (RESOURCE,),
        (RESOURCE,),
        "COPYLOC_WITHOUT_COPY_ABILITY",
    ),
    "a function is given a bool for a reference": (
        ["LD_TRUE", "CALL 1", "POP", "RET"],
        (),
        (),
        "CALL_TYPE_MISMATCH_ERROR",
    ),
    "a struct is packed of a bool": (
        ["LD_TRUE", "PACK 0", "RET"],
        (),
        (RESOURCE,),
        "PACK_TYPE_MISMATCH_ERROR",
    ),
    "another struct is unpacked": (
        ["MOVE_LOC 0", "UNPACK 1", "POP", "POP", "RET"],
        (RESOURCE,),
        (),
        "UNPACK_TYPE_MISMATCH_ERROR",
    ),
    "a resource is read through a reference": (
        ["MOVE_LOC 0", "READ_REF", "RET"],
        (ReferenceToken(RESOURCE, mutable=False),),
        (RESOURCE,),
        "READREF_WITHOUT_COPY_ABILITY",
    ),
    "a number is read through": (
        ["LD_U64 1", "READ_REF", "POP", "RET"],
        (),
        (),
        "READREF_TYPE_MISMATCH_ERROR",
    ),
    "an immutable reference is written through": (
        ["LD_U64 1", "MOVE_LOC 0", "WRITE_REF", "RET"],
        (IMM,),
        (),
        "WRITEREF_NO_MUTABLE_REFERENCE_ERROR",
    ),
    "a resource is overwritten": (
        ["MOVE_LOC 1", "MOVE_LOC 0", "WRITE_REF", "RET"],
        (ReferenceToken(RESOURCE, mutable=True), RESOURCE),
        (),
        "WRITEREF_WITHOUT_DROP_ABILITY",
    ),
    "a bool is written to a number": (
        ["LD_TRUE", "MOVE_LOC 0", "WRITE_REF", "RET"],
        (MUT,),
        (),
        "WRITEREF_TYPE_MISMATCH_ERROR",
    ),
    "a bool is cast": (
        ["LD_TRUE", "CAST_U8", "POP", "RET"],
        (),
        (),
        "INTEGER_OP_TYPE_MISMATCH_ERROR",
    ),
    "numbers of two types are added": (
        ["LD_U8 1", "LD_U64 1", "ADD", "POP", "RET"],
        (),
        (),
        "INTEGER_OP_TYPE_MISMATCH_ERROR",
    ),
    "a number is shifted by a u64": (
        ["LD_U64 1", "LD_U64 1", "SHL", "POP", "RET"],
        (),
        (),
        "INTEGER_OP_TYPE_MISMATCH_ERROR",
    ),
    "bools are ordered": (
        ["LD_TRUE", "LD_TRUE", "LT", "POP", "RET"],
        (),
        (),
        "INTEGER_OP_TYPE_MISMATCH_ERROR",
    ),
    "a number is negated": (
        ["LD_U8 1", "NOT", "POP", "RET"],
        (),
        (),
        "BOOLEAN_OP_TYPE_MISMATCH_ERROR",
    ),
    "numbers are or-ed as bools": (
        ["LD_U8 1", "LD_U8 1", "OR", "POP", "RET"],
        (),
        (),
        "BOOLEAN_OP_TYPE_MISMATCH_ERROR",
    ),
    "a number is compared with a bool": (
        ["LD_U8 1", "LD_TRUE", "EQ", "POP", "RET"],
        (),
        (),
        "EQUALITY_OP_TYPE_MISMATCH_ERROR",
    ),
    "resources are compared": (
        ["MOVE_LOC 0", "MOVE_LOC 1", "EQ", "POP", "RET"],
        (RESOURCE, RESOURCE),
        (),
        "EQUALITY_OP_TYPE_MISMATCH_ERROR",
    ),
    "another type is unpacked as a variant": (
        ["MOVE_LOC 0", "UNPACK_VARIANT 0", "POP", "RET"],
        (PAIR,),
        (),
        "UNPACK_TYPE_MISMATCH_ERROR",
    ),
    "a variant is unpacked mutably through an immutable reference": (
        ["MOVE_LOC 0", "UNPACK_VARIANT_MUT_REF 0", "POP", "RET"],
        (ReferenceToken(SHAPE, mutable=False),),
        (),
        "UNPACK_TYPE_MISMATCH_ERROR",
    ),
    "a variant is packed of a bool": (
        ["LD_TRUE", "PACK_VARIANT 0", "POP", "RET"],
        (),
        (),
        "PACK_TYPE_MISMATCH_ERROR",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_operand_of_wrong_type_is_rejected(assemble, status, name):
    code, parameters, returns, expected = REFUSED[name]
    assert status(assemble(code, parameters, returns)) == expected


@pytest.mark.parametrize(
    ("parameter", "offsets", "expected"),
    [
        (ReferenceToken(SHAPE, mutable=False), (2, 2), None),
        (ReferenceToken(SHAPE, mutable=True), (2, 2), "ENUM_SWITCH_BAD_OPERAND"),
        (ReferenceToken(PAIR, mutable=False), (2, 2), "ENUM_TYPE_MISMATCH"),
        (ReferenceToken(SHAPE, mutable=False), (2,), "INVALID_ENUM_SWITCH"),
        (ReferenceToken(SHAPE, mutable=False), (2, 3), "INDEX_OUT_OF_BOUNDS"),
    ],
)
def test_switch_requires_reference_to_its_enum(switching, status, parameter, offsets, expected):
    module = switching(["MOVE_LOC 0", "VARIANT_SWITCH 0", "RET"], offsets, parameters=(parameter,))
    assert status(module) == expected


@pytest.mark.parametrize("pushed", ["LD_U64 1", "LD_TRUE"])
def test_vector_pack_requires_element_type(assembler, status, pushed):
    pack = Instruction(Opcode.VEC_PACK, VecOperand(assembler.signature("u64"), 1))
    module = assembler.module([pushed, pack, "POP", "RET"])
    assert status(module) == (None if pushed == "LD_U64 1" else "TYPE_MISMATCH")


def test_generic_field_types_use_type_arguments(assemble, status):
    code = ["LD_U64 1", "PACK_GENERIC 0", "UNPACK_GENERIC 0", "CALL_GENERIC 0", "RET"]
    assert status(assemble(code, returns=("u64",))) is None
    assert status(assemble(["LD_U8 1", *code[1:]], returns=("u64",))) == "PACK_TYPE_MISMATCH_ERROR"
