import pytest

from nexus_tools.sui.localnet.vm import InvalidCode

VECTOR = ("vector", ("vector", "u64"))


def test_copy_is_independent_of_original(run):
    code = [
        ("COPY_LOC", 0),
        ("ST_LOC", 1),
        ("MUT_BORROW_LOC", 0),
        ("LD_U64", 0),
        ("VEC_MUT_BORROW", ("vector", "u64")),
        ("LD_U64", 9),
        ("VEC_PUSH_BACK", "u64"),
        ("MOVE_LOC", 0),
        ("MOVE_LOC", 1),
        "RET",
    ]
    assert run(code, (VECTOR,), (VECTOR, VECTOR), [[1]], local_types=(VECTOR,)) == [[[1, 9]], [[1]]]


def test_stack_value_is_unchanged_by_later_store(run):
    code = [("COPY_LOC", 0), ("LD_U64", 7), ("ST_LOC", 0), ("COPY_LOC", 0), "RET"]
    assert run(code, ("u64",), ("u64", "u64"), 5) == [5, 7]


def test_stack_expression_is_unchanged_by_later_store(run):
    code = [("COPY_LOC", 0), ("LD_U64", 1), "XOR", ("LD_U64", 7), ("ST_LOC", 0), "RET"]
    assert run(code, ("u64",), ("u64",), 4) == [5]


def test_stored_result_leaves_lower_operands_unchanged(run):
    code = [
        ("COPY_LOC", 0),
        ("COPY_LOC", 0),
        ("LD_U64", 1),
        "ADD",
        ("ST_LOC", 0),
        ("COPY_LOC", 0),
        "RET",
    ]
    assert run(code, ("u64",), ("u64", "u64"), 5) == [5, 6]


def test_borrowed_local_keeps_value_read_before_write(run):
    code = [
        ("MUT_BORROW_LOC", 0),
        ("ST_LOC", 1),
        ("COPY_LOC", 1),
        "READ_REF",
        ("LD_U64", 8),
        ("MOVE_LOC", 1),
        "WRITE_REF",
        ("COPY_LOC", 0),
        "RET",
    ]
    assert run(code, ("u64",), ("u64", "u64"), 5, local_types=(("&mut", "u64"),)) == [5, 8]


def test_two_locals_can_be_swapped_without_third(run):
    code = [("MOVE_LOC", 0), ("MOVE_LOC", 1), ("ST_LOC", 0), ("ST_LOC", 1)]
    code += [("MOVE_LOC", 0), ("MOVE_LOC", 1), "RET"]
    assert run(code, ("u64", "u64"), ("u64", "u64"), 1, 2) == [2, 1]


def test_constant_is_copied_at_each_use(assembler, call):
    constant = assembler.constant(("vector", "u8"), b"\x02ab")
    code = [
        ("LD_CONST", constant),
        ("ST_LOC", 0),
        ("MUT_BORROW_LOC", 0),
        ("LD_U8", 99),
        ("VEC_PUSH_BACK", "u8"),
        ("MOVE_LOC", 0),
        ("LD_CONST", constant),
        "RET",
    ]
    bytes_ = ("vector", "u8")
    assembler.function("f", (), (bytes_, bytes_), code, local_types=(bytes_,))
    assert call(assembler, "f") == [bytearray(b"abc"), bytearray(b"ab")]


@pytest.mark.parametrize(
    ("type_", "data", "value"),
    [
        ("u64", (2**63).to_bytes(8, "little"), 2**63),
        ("bool", b"\1", True),
        ("address", bytes(31) + b"\7", bytes(31) + b"\7"),
        (("vector", ("vector", "u8")), b"\x02\x01a\x00", [bytearray(b"a"), bytearray()]),
    ],
)
def test_constants_have_values_of_their_bytes(assembler, call, type_, data, value):
    code = [("LD_CONST", assembler.constant(type_, data)), "RET"]
    assembler.function("f", (), (type_,), code)
    assert call(assembler, "f") == [value]


def test_constant_with_trailing_bytes_is_rejected(assembler, call):
    code = [("LD_CONST", assembler.constant("u8", b"\1\2")), "RET"]
    assembler.function("f", (), ("u8",), code)
    with pytest.raises(InvalidCode, match="constant"):
        call(assembler, "f")


def test_store_to_local_of_other_type_is_rejected(run):
    with pytest.raises(InvalidCode, match="expected u64, got u8"):
        run([("LD_U8", 1), ("ST_LOC", 0), "RET"], ("u64",), (), 1)
