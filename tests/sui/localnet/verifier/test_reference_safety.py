import pytest

from nexus_tools.sui.bytecode import DatatypeToken, ReferenceToken, VectorToken

PAIR, SHAPE = DatatypeToken(1), DatatypeToken(3)
IMM, MUT = ReferenceToken("u64", mutable=False), ReferenceToken("u64", mutable=True)
MUT_PAIR = ReferenceToken(PAIR, mutable=True)
NUMBERS = VectorToken("u64")

# Each entry has the code, parameters, results, types of the other locals, and the status.
CASES = {
    "a reference to a local is returned": (
        ["IMM_BORROW_LOC 0", "RET"],
        ("u64",),
        (IMM,),
        (),
        "UNSAFE_RET_LOCAL_OR_RESOURCE_STILL_BORROWED",
    ),
    "a reference to a field of a local is returned": (
        ["MUT_BORROW_LOC 0", "MUT_BORROW_FIELD 0", "CALL 1", "RET"],
        (PAIR,),
        (MUT,),
        (),
        "UNSAFE_RET_LOCAL_OR_RESOURCE_STILL_BORROWED",
    ),
    "a reference that was given is returned": (
        ["MOVE_LOC 0", "MUT_BORROW_FIELD 0", "CALL 1", "RET"],
        (MUT_PAIR,),
        (MUT,),
        (),
        None,
    ),
    "a borrowed local is moved": (
        ["IMM_BORROW_LOC 0", "MOVE_LOC 0", "POP", "POP", "RET"],
        ("u64",),
        (),
        (),
        "MOVELOC_EXISTS_BORROW_ERROR",
    ),
    "a mutably borrowed local is copied": (
        ["MUT_BORROW_LOC 0", "COPY_LOC 0", "POP", "POP", "RET"],
        ("u64",),
        (),
        (),
        "COPYLOC_EXISTS_BORROW_ERROR",
    ),
    "an immutably borrowed local is copied": (
        ["IMM_BORROW_LOC 0", "COPY_LOC 0", "POP", "POP", "RET"],
        ("u64",),
        (),
        (),
        None,
    ),
    "a borrowed local is overwritten": (
        ["IMM_BORROW_LOC 0", "LD_U64 1", "ST_LOC 0", "POP", "RET"],
        ("u64",),
        (),
        (),
        "STLOC_UNSAFE_TO_DESTROY_ERROR",
    ),
    "a mutably borrowed local is borrowed": (
        ["MUT_BORROW_LOC 0", "IMM_BORROW_LOC 0", "POP", "POP", "RET"],
        ("u64",),
        (),
        (),
        "BORROWLOC_EXISTS_BORROW_ERROR",
    ),
    "the elder of two mutable references writes": (
        [
            "LD_U64 1",
            "MUT_BORROW_LOC 0",
            "ST_LOC 1",
            "MUT_BORROW_LOC 0",
            "ST_LOC 2",
            "COPY_LOC 2",
            "WRITE_REF",
            "LD_U64 1",
            "MOVE_LOC 1",
            "WRITE_REF",
            "RET",
        ],
        ("u64",),
        (),
        (MUT, MUT),
        "WRITEREF_EXISTS_BORROW_ERROR",
    ),
    "a mutable reference is frozen while a copy of it lives": (
        ["COPY_LOC 0", "MOVE_LOC 0", "FREEZE_REF", "POP", "POP", "RET"],
        (MUT,),
        (),
        (),
        "FREEZEREF_EXISTS_MUTABLE_BORROW_ERROR",
    ),
    "a mutable reference is frozen while a part is borrowed mutably": (
        ["COPY_LOC 0", "MUT_BORROW_FIELD 0", "MOVE_LOC 0", "FREEZE_REF", "POP", "POP", "RET"],
        (MUT_PAIR,),
        (),
        (),
        "FREEZEREF_EXISTS_MUTABLE_BORROW_ERROR",
    ),
    "what is borrowed mutably is read": (
        ["COPY_LOC 0", "MUT_BORROW_FIELD 0", "MOVE_LOC 0", "READ_REF", "POP", "POP", "RET"],
        (MUT_PAIR,),
        (),
        (),
        "READREF_EXISTS_MUTABLE_BORROW_ERROR",
    ),
    "two fields are borrowed mutably": (
        [
            "COPY_LOC 0",
            "MUT_BORROW_FIELD 0",
            "MOVE_LOC 0",
            "MUT_BORROW_FIELD 1",
            "ST_LOC 1",
            "LD_U64 1",
            "MOVE_LOC 1",
            "WRITE_REF",
            "POP",
            "RET",
        ],
        (MUT_PAIR,),
        (),
        (MUT,),
        None,
    ),
    "one field is borrowed twice, once mutably": (
        [
            "COPY_LOC 0",
            "MUT_BORROW_FIELD 0",
            "MOVE_LOC 0",
            "IMM_BORROW_FIELD 0",
            "POP",
            "POP",
            "RET",
        ],
        (MUT_PAIR,),
        (),
        (),
        "FIELD_EXISTS_MUTABLE_BORROW_ERROR",
    ),
    "the result of a call is passed on": (
        ["MOVE_LOC 0", "CALL 1", "CALL 1", "POP", "RET"],
        (MUT,),
        (),
        (),
        None,
    ),
    "a mutable reference is passed on while what was made of it lives": (
        [
            "COPY_LOC 0",
            "ST_LOC 1",
            "COPY_LOC 1",
            "CALL 1",
            "MOVE_LOC 1",
            "CALL 1",
            "POP",
            "POP",
            "RET",
        ],
        (MUT,),
        (),
        (MUT,),
        "CALL_BORROWED_MUTABLE_REFERENCE_ERROR",
    ),
    "a mutable reference is returned with a copy": (
        ["COPY_LOC 0", "MOVE_LOC 0", "RET"],
        (MUT,),
        (MUT, MUT),
        (),
        "RET_BORROWED_MUTABLE_REFERENCE_ERROR",
    ),
    "a variant is unpacked while a part of it is borrowed": (
        [
            "COPY_LOC 0",
            "UNPACK_VARIANT_MUT_REF 0",
            "MOVE_LOC 0",
            "FREEZE_REF",
            "UNPACK_VARIANT_IMM_REF 0",
            "POP",
            "POP",
            "RET",
        ],
        (ReferenceToken(SHAPE, mutable=True),),
        (),
        (),
        "FREEZEREF_EXISTS_MUTABLE_BORROW_ERROR",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_unsafe_references_are_rejected(assemble, status, name):
    code, parameters, returns, local_types, expected = CASES[name]
    assert status(assemble(code, parameters, returns, local_types)) == expected


@pytest.mark.parametrize(
    ("ending", "expected"),
    [
        ("VEC_PUSH_BACK", "VEC_UPDATE_EXISTS_MUTABLE_BORROW_ERROR"),
        ("VEC_MUT_BORROW", "VEC_BORROW_ELEMENT_EXISTS_MUTABLE_BORROW_ERROR"),
    ],
)
def test_vector_change_while_element_is_borrowed_is_rejected(assembler, status, ending, expected):
    numbers = assembler.signature("u64")
    code = ["COPY_LOC 0", "LD_U64 0", f"VEC_IMM_BORROW {numbers}", "MOVE_LOC 0", "LD_U64 0"]
    code += [f"{ending} {numbers}", *(["POP"] if ending == "VEC_MUT_BORROW" else []), "POP", "RET"]
    module = assembler.module(code, (ReferenceToken(NUMBERS, mutable=True),))
    assert status(module) == expected


def test_borrow_in_loop_is_known_at_loop_start(assemble, status):
    """In the second iteration, the reference in local 1 still borrows the local."""
    code = ["LD_U64 1", "ST_LOC 0", "MUT_BORROW_LOC 0", "ST_LOC 1", "LD_TRUE", "BR_TRUE 0", "RET"]
    module = assemble(code, ("u64", MUT))
    assert status(module) == "STLOC_UNSAFE_TO_DESTROY_ERROR"
